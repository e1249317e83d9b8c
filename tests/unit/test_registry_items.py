"""Records as DynamoDB items, and back."""

from typing import Any

import pytest
from fakes.registry_table import a_record
from hypothesis import given
from hypothesis import strategies as st

from chalicelib.items import UnreadableItemError, item_of, stored_of

SHOWN = st.characters(exclude_categories=("Cc", "Cf", "Cn", "Cs", "Zl", "Zp"))
LABELS = st.dictionaries(st.text(SHOWN, min_size=1, max_size=10), st.text(SHOWN, max_size=10), max_size=5)
VALUES = st.one_of(
    st.builds(lambda text: {"S": text}, st.text()),
    st.builds(lambda text: {"N": text}, st.text()),
    st.builds(lambda truth: {"BOOL": truth}, st.booleans()),
    st.just({"NULL": True}),
    st.just({"L": [{"S": "x"}]}),
    st.just({"M": {"a": {"L": []}}}),
    st.just({}),
)


@given(
    labels=LABELS,
    owner=st.none() | st.text(min_size=1),
    enabled=st.booleans(),
    timeout_ms=st.integers(100, 20000),
    version=st.integers(1, 2**63),
)
def test_record_comes_back_as_it_was_stored(**fields: Any):
    record = a_record(**fields)

    stored = stored_of(item_of(record, "write-1"))

    assert stored.record == record
    assert stored.write_id == "write-1"


def test_what_is_optional_and_not_said_takes_no_room():
    item = item_of(a_record(), "write-1")

    assert not {"owner", "verified_at", "labels"} & set(item)
    assert item["version"] == {"N": "1"}
    assert item["created_at"] == {"S": "2026-01-01T00:00:00.000Z"}


@pytest.mark.parametrize("attribute", ["name", "base_url", "version", "created_at"])
def test_item_that_lacks_what_it_needs_is_unreadable_and_says_what(attribute):
    item = item_of(a_record(), "write-1")
    del item[attribute]

    with pytest.raises(UnreadableItemError, match=f"^{attribute}$"):
        stored_of(item)


def test_attributes_that_nobody_knows_are_passed_over():
    item = {**item_of(a_record(), "write-1"), "note": {"S": "by hand"}}

    assert stored_of(item).record == a_record()


@given(
    attribute=st.sampled_from(sorted(item_of(a_record(owner="alice", labels={"a": "b"}), "w").keys() - {"pk", "sk"})),
    value=VALUES,
)
def test_item_that_was_edited_by_hand_is_a_record_or_unreadable(attribute, value):
    item = {**item_of(a_record(owner="alice", labels={"a": "b"}), "w"), attribute: value}

    try:
        record = stored_of(item).record
    except UnreadableItemError as error:
        assert str(error) == attribute  # noqa: PT017
    else:
        assert record.id == "provider-a"
