"""The lists' next_token."""

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chalicelib.page_token import id_in, token_after
from fedcompute.errors import Problem
from fedcompute.provider import is_provider_id


@given(st.from_regex(r"[a-z0-9]([a-z0-9-]{0,62}[a-z0-9])?", fullmatch=True))
def test_token_leads_back_to_its_id_and_needs_no_escaping(provider_id):
    token = token_after(provider_id)

    assert id_in(token) == provider_id
    assert token.replace("-", "").replace("_", "").isalnum()


@given(st.text() | st.binary().map(lambda raw: base64.urlsafe_b64encode(raw).decode()))
def test_any_other_text_is_a_malformed_token(text):
    try:
        found = id_in(text)
    except Problem as problem:
        assert problem.code == "malformed_token"  # noqa: PT017
    else:
        assert is_provider_id(found)
        assert token_after(found) == text


@pytest.mark.parametrize("text", ["", "a", "====", "cHJvdmlkZXItYQ==", "cHJv dmlkZXItYQ", "UHJvdmlkZXI", "é"])
def test_text_that_no_list_answers_with_is_refused(text):
    with pytest.raises(Problem, match="malformed_token"):
        id_in(text)
