"""An inventory that comes again is read as if it came for the first time, whatever of it is familiar."""

import copy
import json
import tracemalloc
from typing import Any

import pytest
from documents import DEVICE, DOCUMENT, NODE, damaged_documents, json_values, mutated_documents
from hypothesis import example, given, settings
from hypothesis import strategies as st

from fedcompute import parting, rereading
from fedcompute.pieces import MOST_BAD_NODES
from fedcompute.reading import UnreadableInventoryError, read_surveyed
from fedcompute.rereading import NOTHING, Reread, read_again
from fedcompute.soundness import MOST_NODES

type Read = tuple[Any, ...]


def a_node(name: str, **members: Any) -> dict[str, Any]:
    return NODE | {"name": name} | members


def reply(*nodes: Any, **members: Any) -> bytes:
    return json.dumps(DOCUMENT | {"nodes": list(nodes)} | members).encode()


def again(body: bytes, last: Reread = NOTHING) -> tuple[Read, Reread]:
    try:
        reread = read_again(body, "lab", last)
    except UnreadableInventoryError as error:
        return (error.outcome, error.message), last
    return _essence(reread), reread


def for_the_first_time(body: bytes) -> Read:
    try:
        return _essence(Reread(read_surveyed(body, "lab"), {}, 0, 0))
    except UnreadableInventoryError as error:
        return error.outcome, error.message


def _essence(reread: Reread) -> Read:
    inventory, nodes = reread.surveyed
    assert [one.node for one in nodes] == inventory.nodes
    return inventory, [one.kinds for one in nodes], [one.make for one in nodes]


def reading_of(body: bytes) -> Reread:
    return read_again(body, "lab")


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
    last = NOTHING
    for body in [*bodies, *bodies]:
        found, last = again(body, last)
        assert found == for_the_first_time(body)


SEPARATORS = [(",", ":"), (", ", ": "), (",", ": "), (" ,", ":")]
SIMPLE_NODES = [
    *(a_node(name) for name in "abc"),
    a_node("a", labels={"rev": "1"}),
    a_node("a", labels={"rev": "2"}),  # as long as the one before
    a_node("b", labels={"nodes": "provider", "text": "],[{"}),
    a_node("d", ready=None),
    a_node("e", warnings=[]),
    {"name": "f", "ready": True, "schedulable": True},
    {"name": "g", "ready": True, "schedulable": True, "warnings": [{"message": "m"}]},
]
BESIDE: list[dict[str, Any]] = [
    {},
    {"warnings": []},
    {"observed_at": "2026-03-03T00:00:00Z"},
    {"x": {"nodes": [SIMPLE_NODES[0], SIMPLE_NODES[1]]}},
    {"x": [1, [2, "]"]]},
    {"provider_id": "other"},
]


@st.composite
def edited_documents(draw: st.DrawFn) -> list[bytes]:
    """A document and what becomes of it: nodes come, go, change and change places, and now and then a byte is another."""
    separators = draw(st.sampled_from(SEPARATORS))
    nodes = draw(st.lists(st.sampled_from(SIMPLE_NODES), max_size=8))
    bodies = []
    for _ in range(draw(st.integers(2, 5))):
        for _ in range(draw(st.integers(0, 2))):
            place = draw(st.integers(0, len(nodes)))
            nodes[place : place + draw(st.integers(0, 2))] = draw(st.lists(st.sampled_from(SIMPLE_NODES), max_size=2))
        document = {key: DOCUMENT[key] for key in ("schema_version", "provider_id", "source")}
        parts = [document, draw(st.sampled_from(BESIDE)), {"nodes": nodes}, draw(st.sampled_from(BESIDE))]
        whole = {key: value for part in parts for key, value in part.items()}
        body = bytearray(json.dumps(whole, separators=separators).encode())
        for _ in range(draw(st.sampled_from([0, 0, 1, 2]))):
            place = draw(st.integers(0, len(body) - 1))
            body[place : place + draw(st.integers(0, 2))] = draw(
                st.sampled_from([b",", b"]", b"[", b"}", b'"', b" ", b"1"])
            )
        bodies.append(bytes(body))
    return bodies


@settings(max_examples=400)
@given(edited_documents())
def test_what_is_like_the_last_time_is_read_as_for_the_first_time(bodies: list[bytes]) -> None:
    last = NOTHING
    for body in bodies:
        found, last = again(body, last)
        assert found == for_the_first_time(body)


A, B, C, OTHER = (json.dumps(a_node(name)) for name in ("a", "b", "c", "x"))
LONGER, LONGEST = json.dumps(a_node("longer")), json.dumps(a_node("longest"))


LONG_WARNINGS = f',"warnings":[{{"message":"{"m" * 70_000}"}}]'


def written(nodes: str, before: str = "", after: str = "") -> bytes:
    return f'{{"provider_id":"lab",{before}"nodes":{nodes}{after}}}'.encode()


@pytest.mark.parametrize(
    ("before", "body", "looked_through"),
    [
        ([A, B, C], written(f"[{A},{B},{C}]"), []),
        ([A, B, C], written(f"[{A}, {B}, {C}]"), []),
        ([A, B, C], written(f"[{OTHER},{B},{C}]"), []),
        ([A, B, C], written(f"[{A},{OTHER},{C}]"), []),
        ([A, B, C], written(f"[{A},{B},{OTHER}]", after=',"warnings":[]'), []),
        ([A, B, C], written(f"[{C},{B},{A}]"), []),
        ([A, B, C], written(f"[{A},{LONGER},{C}]"), [LONGER]),
        ([A, B, C], written(f"[{A},{LONGER},{OTHER},{C}]", after=',"warnings":[]'), [f"{LONGER},{OTHER}"]),
        ([A, LONGER, C], written(f"[{A},{C}]", after=',"warnings":[{"code":"x","message":"],["}]'), []),
        ([A, B, C], written(f"[{LONGER},{A},{B},{C}]"), [LONGER]),
        ([A, B, C], written(f"[{LONGER}, {A}, {B}, {C}]"), [LONGER]),
        ([A, B, C], written(f"[{A},{B},{C},{LONGER}]"), [LONGER]),
        ([LONGER, A, B, C], written(f"[{A},{B},{C}]"), []),
        ([A, B, C, LONGER], written(f"[{A},{B},{C}]"), []),
        ([A, B, C], written("[]"), [""]),
        ([A, LONGER, LONGEST, B], written(f"[{A},{LONGEST},{B}]"), []),
    ],
)
def test_only_what_is_new_is_looked_through(
    monkeypatch: pytest.MonkeyPatch, before: list[str], body: bytes, looked_through: list[str]
) -> None:
    last = reading_of(written(f"[{','.join(before)}]"))
    expected = for_the_first_time(body)
    seen: list[str] = []

    def texts(middle: bytes) -> Any:
        seen.append(middle.decode())
        return parts_of(middle)

    parts_of = parting._texts
    monkeypatch.setattr(parting, "_texts", texts)
    monkeypatch.setattr(rereading, "parted", None)  # whoever takes all of it apart calls this

    assert again(body, last)[0] == expected
    assert seen[-1:] == looked_through


ONES = "1" + ",1" * ((len(A) - 1) // 2) + ("0" if len(A) % 2 == 0 else "")  # as long as a node
ESCAPED = A.replace('"z1"', '"\\u0041"', 1)  # as long as the one with a name that needs no escape
TWICE = json.dumps(a_node("b", labels={"provider_id": "1", "one": "1"})).replace('"one"', '"one": "1", "one"', 1)
SAME_TWICE = json.dumps(a_node("b", labels={"provider_id": "1", "on": "1", "tw": "1"})).replace('"tw"', '"on"')
NAMED = json.dumps(a_node("b", labels={"provider_id": "1"}))


@pytest.mark.parametrize(
    "body",
    [
        written(f"[{A},]"),
        written(f"[,{C}]"),
        written(f"[{A},,{C}]"),
        written(f"[{A},{B},{C},]"),
        written(f"[,{A},{B},{C}]"),
        written(f"[{A} {B},{C}]"),
        written(f"[{A},{B}{C}]"),
        written(f"[{A},{B},{C}"),
        written(f"[{A},{B},{C}]]"),
        written(f"[{A}],[{B},{C}]"),
        written(f"[{A}],{LONGER},[{C}]"),
        written(f"[{A},{B},{C}]", before=f'"x":{{"nodes":[{A},{B},{C}]}},'),
        written(f"[{OTHER}]", before=f'"x":{{"nodes":[{A},{B},{C}]}},'),
        written("3", before=f'"x":{{"nodes":[{A},{B},{C}]}},'),
        written(f"[{A},{B},{C}]", after=f',"nodes":[{OTHER}]'),
        written(f"[{OTHER}]", after=f',"nodes":[{A},{B},{C}]'),
        written(f"[{A},{B},{C}]", after=',"nodes":null'),
        written(f"[{A},{B},{C}]", after=',"provider_id":"lab"'),
        written(f"[{A},{OTHER},{C}]", after=',"provider_id":"other"'),
        written(f"[{A},{B},{C}]", before='"x":"'),
        written(f"[{A},{B},{C}]", before='"x":"y"'),
        written(f"[{A},{B},{C}]", before='"schema_version":2,'),
        written(f"[{A},{B},{C}]", before='"source":"\u0041",'),
        written(f"[{A},{B},{C}]", before='"source":"caf\u00e9",'),
        written(f"[{A},{B},{C}]").replace(b'"lab"', b'"caf\xe9"'),
        written(f"[{A},{B.replace('true', 'trie', 1)},{C}]"),
        written(f"[{A},{B.replace('true', '1e99', 1)},{C}]"),
        written(f"[{A},{json.dumps(a_node('b', labels={'provider_id': 'x'}))},{C}]"),
        written('"text"', before=f'"x":{{"nodes":[{A},{B},{C}]}},'),
        written(f"[{LONGER}\t{C}]"),
        written(f"[{LONGER};{C}]"),
        written(f"[{ONES},{B},{C}]"),
        written(f"[{A},{TWICE},{C}]"),
        written(
            f"[{A},{json.dumps(a_node('b', ready=None))},{C}]", after=f',"warnings":[{{"message":"{"m" * 70_000}"}}]'
        ),
        written(f"[{A}],[{B},{C}]", after=',"warnings":[]'),
        written(f"[{A}],[{LONGER}]", after=',"warnings":[]'),
        written(f"[{A},{B},{C}]", before='"nodes" : "x",', after=LONG_WARNINGS),
        written(f"[{A},{B},{C}]", before='"nodes" : ["\xe9"],'),
        written(f"[{A},{B},{C}]") + b"x",
        written(f"[{A},{B},{C}]")[:-1],
    ],
)
def test_document_that_is_only_somewhat_like_the_last_one_is_read_as_for_the_first_time(body: bytes) -> None:
    last = reading_of(written(f"[{A},{B},{C}]"))

    assert again(body, last)[0] == for_the_first_time(body)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ([A.replace('"z1"', '"z23456"', 1), B], [ESCAPED, B]),
        ([json.dumps(a_node("b", labels={"provider_ix": "1", "on": "1", "tw": "1"})), C], [SAME_TWICE, C]),
        ([NAMED, A], [NAMED, TWICE]),
        ([NAMED, A], [NAMED, A.replace('"ready"', '"name": "a", "ready"', 1)]),
        ([ESCAPED, A], [ESCAPED, B]),
    ],
)
def test_nodes_in_which_something_is_to_be_looked_for_are_read_as_for_the_first_time(
    before: list[str], after: list[str]
) -> None:
    last = reading_of(written(f"[{','.join(before)}]"))
    body = written(f"[{','.join(after)}]")

    assert again(body, last)[0] == for_the_first_time(body)


def test_only_what_is_new_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    last = reading_of(reply(a_node("a"), a_node("b"), a_node("c")))
    read: list[bytes] = []

    class Counted:
        def decode(self, text: Any) -> Any:
            read.append(bytes(text))
            return decode(text)

    decode = rereading.NODE.decode
    monkeypatch.setattr(rereading, "NODE", Counted())

    reread = read_again(reply(a_node("new"), a_node("c"), a_node("b", ready=False), a_node("a")), "lab", last)

    assert [json.loads(text)["name"] for text in read] == ["new", "b"]
    assert reread.recognized == 2
    assert [one.node.name for one in reread.surveyed.nodes] == ["new", "c", "b", "a"]


def test_familiar_node_is_the_same_object() -> None:
    body = reply(a_node("a"), a_node("b"))
    first = read_again(body, "lab")

    second = read_again(reply(a_node("b"), a_node("a", ready=False)), "lab", first)

    assert second.surveyed.nodes[0] is first.surveyed.nodes[1]
    assert second.surveyed.nodes[1].node.ready is False


def test_node_in_which_something_is_wrong_is_told_each_time() -> None:
    bad = [
        a_node("a", ready=None),
        a_node("b", devices=[DEVICE, DEVICE]),
        a_node("c", pods={"total": 0, "available": 1}),
    ]
    body = reply(*copy.deepcopy(bad), a_node("well"))

    reread = read_again(body, "lab", reading_of(body))

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

    assert again(body, reading_of(reply(a_node("1"))))[0] == for_the_first_time(body)


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
    last = reading_of(reply(a_node("first"), a_node("last")))

    assert again(body, last)[0] == for_the_first_time(body)


def test_nodes_nested_as_deeply_as_can_be_are_read_as_for_the_first_time() -> None:
    """Around the depth at which the decoder gives up; a new node is looked at for itself, as deep as it stands."""
    last = reading_of(written(f"[{A},{B},{C}]"))
    refused = 0
    for depth in [*range(9_900, 10_100), 20_000]:
        deep = f'{{"name":"a","ready":true,"schedulable":true,"x":{"[" * depth}{"]" * depth}}}'
        body = written(f"[{A},{deep},{C}]")
        expected = for_the_first_time(body)
        refused += expected[0] == "not_json"
        assert again(body, last)[0] == expected, depth

    assert 0 < refused < 201


def test_second_nodes_of_a_name_are_not_held_on_to() -> None:
    last = NOTHING
    for count in range(1, 20):
        named_alike = [a_node("a", labels={"rev": str(rev)}) for rev in range(count, 0, -1)]
        last = read_again(reply(*named_alike), "lab", last)

    assert [one.node.labels["rev"] for one in last.familiar.values()] == ["19"]


@pytest.mark.parametrize("first_nodes", ["[3]", '"x"', '["\\ud800"]'])
def test_nodes_that_stand_twice_the_first_bad_are_read_as_for_the_first_time(first_nodes: str) -> None:
    body = written(f"[{A}]", before=f'"nodes":{first_nodes},', after=LONG_WARNINGS)

    assert again(body)[0] == for_the_first_time(body)


def test_memory_is_bounded_by_the_size_where_each_node_is_another_state_of_one_that_is_known() -> None:
    names = [f"n{place:05}" for place in range(9_000)]
    bodies = [written(f"[{','.join(json.dumps(a_node(name, labels={'rev': rev})) for name in names)}]") for rev in "12"]
    last = reading_of(bodies[0])
    tracemalloc.start()
    again(bodies[1], last)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.reset_peak()
    for_the_first_time(bodies[1])
    _, most_the_first_time = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert most < 1.2 * most_the_first_time + 2 * len(bodies[1])


@pytest.mark.parametrize("element", [b"1", b"{}", b'""', b"[]", b"null", b'{"name":"n"}'])
def test_memory_is_bounded_by_the_size_whatever_the_nodes_are(element: bytes) -> None:
    size = 8 << 20
    body = b'{"provider_id":"lab","nodes":[' + b",".join([element] * (size // (len(element) + 1))) + b"]}"
    tracemalloc.start()
    again(body)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.reset_peak()
    for_the_first_time(body)
    _, most_the_first_time = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert most < 1.2 * most_the_first_time + size
