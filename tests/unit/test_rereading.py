"""An inventory that comes again is read as if it came for the first time, whatever of it is familiar."""

import copy
import json
import tracemalloc
from typing import Any

import pytest
from documents import DEVICE, DOCUMENT, NODE, damaged_documents, json_values, mutated_documents
from hypothesis import example, given, settings
from hypothesis import strategies as st

from fedcompute import rereading
from fedcompute.pieces import MOST_BAD_NODES
from fedcompute.reading import UnreadableInventoryError, read_surveyed
from fedcompute.rereading import Familiar, Reread, read_again
from fedcompute.soundness import MOST_NODES

type Read = tuple[Any, ...]


def a_node(name: str, **members: Any) -> dict[str, Any]:
    return NODE | {"name": name} | members


def reply(*nodes: Any, **members: Any) -> bytes:
    return json.dumps(DOCUMENT | {"nodes": list(nodes)} | members).encode()


def again(body: bytes, familiar: Familiar) -> tuple[Read, Familiar]:
    try:
        reread = read_again(body, "lab", familiar)
    except UnreadableInventoryError as error:
        return (error.outcome, error.message), familiar
    return _essence(reread), reread.familiar


def for_the_first_time(body: bytes) -> Read:
    try:
        return _essence(Reread(read_surveyed(body, "lab"), {}, 0, 0))
    except UnreadableInventoryError as error:
        return error.outcome, error.message


def _essence(reread: Reread) -> Read:
    inventory, nodes = reread.surveyed
    assert [one.node for one in nodes] == inventory.nodes
    return inventory, [one.kinds for one in nodes], [one.make for one in nodes]


def familiar_of(body: bytes) -> Familiar:
    return read_again(body, "lab", {}).familiar


@st.composite
def documents_of_familiar_nodes(draw: st.DrawFn) -> bytes:
    """Documents that are made of the same few nodes, sound and bad, plain and not."""
    nodes = [
        a_node("a"),
        a_node("b", labels={"text": "caf\u00e9 \u202e"}),
        a_node("c", ready=None),
        a_node("d", pods={"total": 1, "available": 2}),
        a_node("e", devices=[DEVICE, DEVICE]),
        a_node("f", devices=[DEVICE, DEVICE | {"id": "GPU-2", "healthy": None}]),
        a_node("a", ready=False),
        a_node("g", warnings=[]),
        3,
        draw(json_values),
    ]
    members = draw(
        st.sampled_from(
            [{}, {"observed_at": "2026-02-02T00:00:00Z"}, {"warnings": [1]}, {"schema_version": 2}, {"x": 1}]
        )
    )
    chosen = draw(st.lists(st.sampled_from(nodes), max_size=6))
    return json.dumps(DOCUMENT | {"nodes": chosen} | members, ensure_ascii=draw(st.booleans())).encode()


@settings(max_examples=400)
@given(st.lists(documents_of_familiar_nodes() | mutated_documents() | damaged_documents(), min_size=2, max_size=4))
@example([reply(a_node("a"), a_node("a")), reply(a_node("a"), a_node("a"))])
def test_what_comes_again_is_read_as_for_the_first_time(bodies: list[bytes]) -> None:
    familiar: Familiar = {}
    for body in [*bodies, *bodies]:
        found, familiar = again(body, familiar)
        assert found == for_the_first_time(body)


def test_only_what_is_new_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    familiar = familiar_of(reply(a_node("a"), a_node("b"), a_node("c")))
    read: list[bytes] = []

    class Counted:
        def decode(self, text: Any) -> Any:
            read.append(bytes(text))
            return decode(text)

    decode = rereading.NODE.decode
    monkeypatch.setattr(rereading, "NODE", Counted())

    reread = read_again(reply(a_node("new"), a_node("c"), a_node("b", ready=False), a_node("a")), "lab", familiar)

    assert [json.loads(text)["name"] for text in read] == ["new", "b"]
    assert reread.recognized == 2
    assert [one.node.name for one in reread.surveyed.nodes] == ["new", "c", "b", "a"]


def test_familiar_node_is_the_same_object() -> None:
    body = reply(a_node("a"), a_node("b"))
    first = read_again(body, "lab", {})

    second = read_again(reply(a_node("b"), a_node("a", ready=False)), "lab", first.familiar)

    assert second.surveyed.nodes[0] is first.surveyed.nodes[1]
    assert second.surveyed.nodes[1].node.ready is False


def test_node_in_which_something_is_wrong_is_told_each_time() -> None:
    bad = [
        a_node("a", ready=None),
        a_node("b", devices=[DEVICE, DEVICE]),
        a_node("c", pods={"total": 0, "available": 1}),
    ]
    body = reply(*copy.deepcopy(bad), a_node("well"))

    reread = read_again(body, "lab", familiar_of(body))

    assert [warning.code for warning in reread.surveyed.inventory.warnings] == [
        "duplicate_device",
        "invalid_node",
        "partial",
        "invalid_node",
        "stale",
        "stale",
    ]
    assert [one.node.name for one in reread.familiar.values()] == ["well"]


@pytest.mark.parametrize(
    "nodes",
    [
        [a_node(str(place)) for place in range(MOST_NODES + 1)],
        [a_node("a", ready=None)] * (MOST_BAD_NODES + 1),
    ],
    ids=["too many", "too many bad"],
)
def test_what_is_too_much_is_refused_as_for_the_first_time(nodes: list[Any]) -> None:
    body = reply(*nodes)

    assert again(body, familiar_of(reply(a_node("1"))))[0] == for_the_first_time(body)


BAD = a_node("bad", ready=None)


@pytest.mark.parametrize(
    "body",
    [
        reply(BAD, warnings=[{"code": "long", "message": "m" * 70_000}]),
        reply(BAD, x="y" * 70_000, warnings=[1]),
        reply(a_node("first"))[:-1] + b', "nodes": ' + json.dumps([BAD]).encode() + b"}",
        reply(BAD)[:-1] + b', "nodes": ' + json.dumps([a_node("last")]).encode() + b"}",
        reply(BAD, a_node("caf\u00e9")).replace(b"\\u00e9", "\u00e9".encode()),
        reply(BAD, a_node("caf\u00e9")).replace(b"\\u00e9", b"\xe9"),
    ],
    ids=["long warnings", "much beside", "nodes twice, bad last", "nodes twice, bad first", "no ASCII", "no UTF-8"],
)
def test_document_with_bad_nodes_is_read_as_for_the_first_time(body: bytes) -> None:
    familiar = familiar_of(reply(a_node("first"), a_node("last")))

    assert again(body, familiar)[0] == for_the_first_time(body)


@pytest.mark.parametrize("element", [b"1", b"{}", b'""', b"[]", b"null", b'{"name":"n"}'])
def test_memory_is_bounded_by_the_size_whatever_the_nodes_are(element: bytes) -> None:
    size = 8 << 20
    body = b'{"provider_id":"lab","nodes":[' + b",".join([element] * (size // (len(element) + 1))) + b"]}"
    tracemalloc.start()
    again(body, {})
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.reset_peak()
    for_the_first_time(body)
    _, most_the_first_time = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert most < 1.2 * most_the_first_time + size
