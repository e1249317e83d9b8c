"""If-Match: which headers let a change pass, and what the others are told."""

import pytest
from fakes.registry_table import a_record
from hypothesis import given
from hypothesis import strategies as st

from chalicelib.preconditions import check_if_match
from fedcompute.errors import Problem


@pytest.mark.parametrize("if_match", [None, "*", " * ", '"3"', '"1","3"', '"a,b", "3"', 'W/"3", "3"'])
def test_header_that_matches_passes(if_match):
    check_if_match(if_match, a_record(version=3))


@pytest.mark.parametrize(
    ("if_match", "words"),
    [
        ('"2"', "read it again"),
        ('"2", "33"', "read it again"),
        ("3", 'write 3 as "3"'),
        ("3, 4", 'write 3 as "3"'),
        ('"3', 'write 3 as "3"'),
        ('W/"3"', 'write it as "3"'),
        ('w/"3"x', "in quotes"),
        ("", "read it again"),
    ],
)
def test_header_that_does_not_match_is_refused_with_the_current_version_and_advice(if_match, words):
    with pytest.raises(Problem) as refusal:
        check_if_match(if_match, a_record(version=3))

    assert refusal.value.code == "version_conflict"
    assert 'version "3"' in refusal.value.detail
    assert words in refusal.value.detail


@given(st.text())
def test_any_header_passes_or_is_a_version_conflict(if_match):
    try:
        check_if_match(if_match, a_record(version=3))
    except Problem as problem:
        assert problem.code == "version_conflict"  # noqa: PT017
    else:
        assert if_match.strip() == "*" or '"3"' in if_match
