"""What a warm process knows: a 304 is of what was asked for, and what is kept is bounded."""

from datetime import UTC, datetime

import msgspec
from factories import devices, node
from fakes.registry_table import a_record

from chalicelib.calls import Reply
from chalicelib.inventories import DEVICE_BYTES, Answered, Inventories
from fedcompute.inventory import Inventory

NOW = datetime(2026, 1, 1, tzinfo=UTC)
RECORD = a_record("a")


def whole(name: str, etag: str, provider_id: str = "a") -> Reply:
    """A reply of 200 with one node."""
    body = msgspec.json.encode(Inventory(provider_id=provider_id, nodes=[node(*devices(2), name=name)]))
    return Reply("ok", body=body, etag=etag)


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
    size = len(whole("first", '"1"').body)
    inventories = Inventories(most_kept_bytes=size + 10)
    inventories.judge(RECORD, whole("first", '"1"'), NOW)
    _, asked = inventories.call_for(RECORD)
    inventories.judge(a_record("b"), whole("other", '"1"', "b"), NOW)

    answered = inventories.judge(RECORD, Reply("not_modified"), NOW, asked)

    assert [known.provider_id for known in inventories.known()] == ["b"]
    assert (nodes_of(answered), answered.entry.outcome) == (["first"], "not_modified")


def test_inventory_counts_as_what_it_takes_once_it_is_kept_as_objects() -> None:
    inventories = Inventories()
    inventories.judge(RECORD, whole("first", '"1"'), NOW)
    (known,) = inventories.known()
    before = (known.size, known.unread_bytes)

    inventories.judge(RECORD, Reply("not_modified"), NOW, inventories.call_for(RECORD)[1])

    assert before[0] == before[1] > 0
    assert known.size >= 2 * DEVICE_BYTES
    assert known.unread_bytes == 0


def test_what_grows_beyond_the_bound_makes_others_go() -> None:
    small = [a_record(f"p{number}") for number in range(4)]
    bodies = {record.id: whole("n", '"1"', record.id) for record in small}
    inventories = Inventories(most_kept_bytes=sum(len(reply.body) for reply in bodies.values()))
    for record in small:
        inventories.judge(record, bodies[record.id], NOW)

    for record in small:
        _, asked = inventories.call_for(record)
        if asked is not None:
            inventories.judge(record, Reply("not_modified"), NOW, asked)

    assert 0 < sum(known.size for known in inventories.known()) <= inventories._most_kept_bytes
    assert len(inventories.known()) < 4
