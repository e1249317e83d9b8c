"""What a warm process knows: a 304 is of what was asked for, and what is kept is bounded."""

import gc
import random
import tracemalloc
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import pytest
from factories import devices, node
from fakes.registry_table import a_record
from msgspec import structs

from chalicelib.calls import Reply
from chalicelib.gauges import Gauges
from chalicelib.inventories import DEVICE_BYTES, VOLATILE_FOR, Answered, Inventories, Known
from fedcompute.inventory import Inventory, Taint, Warning  # noqa: A004 (the contract's word)

NOW = datetime(2026, 1, 1, tzinfo=UTC)
RECORD = a_record("a")


def whole(name: str, etag: str | None, provider_id: str = "a") -> Reply:
    """A reply of 200 with one node."""
    return of_nodes(etag, name, provider_id=provider_id)


def of_nodes(etag: str | None, *names: str, provider_id: str = "a") -> Reply:
    """A reply of 200 with such nodes."""
    nodes = [node(*devices(2), name=name) for name in names]
    return Reply("ok", body=msgspec.json.encode(Inventory(provider_id=provider_id, nodes=nodes)), etag=etag)


def nodes_of(answered: Answered) -> list[str]:
    assert answered.inventory is not None
    return [one.name for one in answered.inventory.nodes]


def test_304_is_of_what_was_asked_for_whatever_another_search_has_brought_meanwhile() -> None:
    inventories = Inventories()
    inventories.judge(RECORD, whole("first", '"1"'), NOW)
    call, asked = inventories.call_for(RECORD)
    inventories.judge(RECORD, whole("second", '"2"'), NOW)

    answered = inventories.judge(RECORD, Reply("not_modified"), NOW, asked)

    assert call.etag == '"1"'
    assert nodes_of(answered) == ["first"]
    assert answered.reply.etag == '"1"'
    assert inventories.call_for(RECORD)[0].etag == '"2"'


def test_304_of_what_was_dropped_meanwhile_is_answered_all_the_same() -> None:
    inventories = Inventories(most_kept_bytes=size_of(whole("first", '"1"')) + 10)
    inventories.judge(RECORD, whole("first", '"1"'), NOW)
    _, asked = inventories.call_for(RECORD)
    inventories.judge(a_record("b"), whole("other", '"1"', "b"), NOW)

    answered = inventories.judge(RECORD, Reply("not_modified"), NOW, asked)

    assert [known.provider_id for known in inventories.known()] == ["b"]
    assert (nodes_of(answered), answered.entry.outcome) == (["first"], "not_modified")


def size_of(reply: Reply) -> int:
    """How much is counted of what is kept of a reply."""
    inventories = Inventories()
    inventories.judge(RECORD, reply, NOW)
    return inventories.known()[0].size


def test_inventory_counts_as_what_it_takes() -> None:
    inventories = Inventories()
    inventories.judge(RECORD, whole("first", '"1"'), NOW)
    as_read = inventories.known()[0]
    inventories.judge(RECORD, whole("other", '"2"'), NOW)
    as_it_came = inventories.known()[0]
    before = (as_it_came.size, as_it_came.unread_bytes)

    inventories.judge(RECORD, Reply("not_modified"), NOW, inventories.call_for(RECORD)[1])

    assert as_read.size == as_it_came.size >= 2 * DEVICE_BYTES
    assert as_read.unread_bytes == as_it_came.unread_bytes == 0
    assert before == (len(whole("other", '"2"').body),) * 2


def test_what_grows_beyond_the_bound_makes_others_go() -> None:
    small = [a_record(f"p{number}") for number in range(4)]
    inventories = Inventories(most_kept_bytes=2 * size_of(whole("n", '"1"')))
    for record in small:
        inventories.judge(record, whole("n", '"1"', record.id), NOW)

    for record in small:
        _, asked = inventories.call_for(record)
        if asked is not None:
            inventories.judge(record, Reply("not_modified"), NOW, asked)

    assert 0 < sum(known.size for known in inventories.known()) <= inventories._most_kept_bytes
    assert len(inventories.known()) < 4


def test_what_has_changed_in_part_is_kept_as_it_is_read_and_what_changes_as_a_whole_is_kept_as_it_came() -> None:
    inventories = Inventories()
    unread = []

    for number, names in enumerate(["abcd", "abcx", "abyx", "efgh", "ijkl", "ijkm"]):
        inventories.judge(RECORD, of_nodes(f'"{number}"', *names), NOW)
        (known,) = inventories.known()
        unread.append(known.unread_bytes > 0)

    assert unread == [False, False, False, True, True, True]


@pytest.mark.parametrize("etag", ['"1"', None])
def test_reply_that_brings_nothing_new_leaves_what_is_known(etag: str | None) -> None:
    inventories = Inventories()
    for _ in range(2):  # whoever has a tag may confirm; not so the second time
        inventories.judge(RECORD, whole("n", etag), NOW)
    (known,) = inventories.known()

    answers = [inventories.judge(RECORD, whole("n", etag), NOW) for _ in range(3)]

    assert inventories.known() == [known]
    assert [answered.known for answered in answers] == [known] * 3
    assert [answered.entry.outcome for answered in answers] == ["ok"] * 3
    assert len({id(answered.surveyed) for answered in answers}) == 1
    assert known.unread_bytes == 0


def test_other_tag_is_told_and_sent_though_the_inventory_is_the_same() -> None:
    inventories = Inventories()
    for etag in ('"1"', '"1"', '"2"'):
        answered = inventories.judge(RECORD, whole("n", etag), NOW)

    assert answered.reply.etag == '"2"'
    assert inventories.call_for(RECORD)[0].etag == '"2"'


def test_same_reply_from_another_address_is_read() -> None:
    inventories = Inventories()
    inventories.judge(RECORD, whole("n", '"1"'), NOW)

    answered = inventories.judge(a_record("a", base_url="http://elsewhere.test"), whole("n", '"1"'), NOW)

    assert answered.known is None
    assert nodes_of(answered) == ["n"]


def test_sizes_add_up_whatever_comes() -> None:
    chance = random.Random(7)
    inventories = Inventories(most_kept_bytes=20_000)
    records = [a_record(f"p{number}") for number in range(6)]
    for _ in range(400):
        record = chance.choice(records)
        _, asked = inventories.call_for(record)
        if asked is not None and chance.random() < 0.4:
            inventories.judge(record, Reply("not_modified"), NOW, asked)
        else:
            names = [f"n{chance.randrange(4)}-{place}" for place in range(chance.randrange(5))]
            inventories.judge(record, of_nodes(chance.choice([None, '"1"', '"2"']), *names, provider_id=record.id), NOW)

        assert inventories._size == sum(known.counted for known in inventories.known()) <= 20_000
        assert all(known.counted == known.size for known in inventories.known())


def changed(inventories: Inventories, *replies: str) -> bool:
    """Whether what is known after these replies, each of nodes with one letter as a name, is kept as it is read."""
    for number, names in enumerate(replies):
        inventories.judge(RECORD, of_nodes(f'"{number}"', *names), NOW)
    return not inventories.known()[0].unread_bytes


@pytest.mark.parametrize(
    ("replies", "is_kept_as_read"),
    [
        (["", "abcd"], True),
        (["abcd", "", "abcd", "abce"], True),
        (["abcdefgh", "ab"], True),
        (["ab", "abcdefgh"], True),
        (["abcd", "aefg"], False),
        (["abcd", "abfg"], True),
    ],
)
def test_who_begins_with_nothing_or_shrinks_or_grows_is_kept_as_it_is_read(
    replies: list[str], is_kept_as_read: bool
) -> None:
    assert changed(Inventories(), *replies) == is_kept_as_read


def test_whose_inventory_was_new_each_time_is_looked_at_again_after_a_while() -> None:
    inventories = Inventories()
    changed(inventories, "abcd", "efgh")
    after = []

    for number in range(VOLATILE_FOR + 2):
        inventories.judge(RECORD, of_nodes(f'"later {number}"', *"abc", str(number)), NOW)
        after.append(not inventories.known()[0].unread_bytes)

    assert after == [False] * VOLATILE_FOR + [True] * 2


@pytest.mark.parametrize(
    "members",
    [
        {},
        {"labels": {f"feature.node.kubernetes.io/{number}": "true" for number in range(40)}},
        {"taints": [Taint()] * 100},
        {"warnings": [Warning(code="c", message="m" * 1000)] * 20},
    ],
    ids=["plain", "labels", "taints", "warnings"],
)
def test_what_is_kept_is_counted_as_what_it_takes(members: dict[str, Any]) -> None:
    nodes = [node(*devices(8), name=f"n{place}", **members) for place in range(300)]
    body = msgspec.json.encode(Inventory(provider_id="a", nodes=nodes))
    del nodes
    gc.collect()
    tracemalloc.start()
    inventories = Inventories()
    inventories.judge(RECORD, Reply("ok", body=body), NOW)
    gc.collect()
    taken, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert taken / 1.5 < inventories.known()[0].size < taken * 3


def test_age_is_that_of_what_is_kept_though_its_tag_is_gone() -> None:
    inventories = Inventories()
    for etag, minute in (('"1"', 1), (None, 2)):
        reply = structs.replace(whole("n", etag), observed_at=f"2026-01-01T00:0{minute}:00Z")
        inventories.judge(RECORD, reply, NOW)

    assert [known.observed_at for known in inventories.known()] == [NOW + timedelta(minutes=2)]


def test_what_is_known_is_told_whether_it_is_kept_as_it_is_read_or_as_it_came() -> None:
    inventories = Inventories()
    told = []
    for number, names in enumerate(["ab", "cd"]):
        inventories.judge(RECORD, of_nodes(f'"{number}"', *names), NOW)
        (known,) = inventories.known()
        told.append((bool(known.unread_bytes), [one.name for one in known.inventory.nodes]))

    assert told == [(False, ["a", "b"]), (True, ["c", "d"])]


def test_what_can_not_be_read_when_it_is_confirmed_is_an_outcome_and_no_error() -> None:
    """How deep a text may be nested depends on who calls; that it is another time is made so here."""
    inventories = Inventories()
    body = msgspec.json.encode(Inventory(provider_id="other"))
    known = Known(RECORD.id, RECORD.base_url, '"1"', body)

    answered = inventories.judge(RECORD, Reply("not_modified"), NOW, known)

    assert answered.entry.outcome == "identity_mismatch"
    assert known.inventory is None
    assert list(Gauges().families([RECORD], inventories, (), NOW))
