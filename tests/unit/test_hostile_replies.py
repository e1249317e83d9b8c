"""Replies that try to be read in two ways, to be shown as something else, or to be larger than can be read."""

import json
import tracemalloc
from typing import Any

import pytest
from fakes.inventories import a_device, a_node, an_inventory
from hypothesis import given
from hypothesis import strategies as st

from fedcompute.inventory import LONGEST_NAME, Inventory
from fedcompute.pieces import MOST_BAD_NODES, MOST_NODE_BYTES, elements
from fedcompute.reading import UnreadableInventoryError, read
from fedcompute.soundness import MOST_DEVICES, MOST_LABELS, MOST_NODES, MOST_TAINTS


def reply(*nodes: Any, **members: Any) -> bytes:
    return json.dumps({**an_inventory("lab", *nodes), **members}).encode()


def with_member(text: bytes) -> bytes:
    """A good reply with something more in it."""
    return reply()[:-1] + b", " + text + b"}"


def outcome_of(body: bytes) -> str:
    try:
        read(body, "lab")
    except UnreadableInventoryError as error:
        return error.outcome
    return "ok"


def names(found: Inventory) -> list[str]:
    return [node.name for node in found.nodes]


# In two ways


@pytest.mark.parametrize(
    ("member", "outcome"),
    [
        (b'"provider_id": "lab"', "invalid_inventory"),
        (b'"provider_id": "other"', "invalid_inventory"),
        (b'"provider\\u005fid": "lab"', "invalid_inventory"),
        (b'"new": {"provider_id": "other"}', "ok"),
        (b'"new": {"provider_id": 1, "provider_id": 2}', "invalid_inventory"),
        (b'"new": "\\u0041"', "ok"),
        (b'"new": "\xff"', "not_json"),
        (b'"new": "\xc3\xa9"', "ok"),
        (b'"new": NaN', "not_json"),
        (b'"new": -Infinity', "not_json"),
        (b'"new": 1e999', "ok"),  # a number by JSON's rules, in a member that nobody reads
        (b'"new": ' + b"9" * 5000, "ok"),
        (b'"new": {"provider_id": ' + b"9" * 5000 + b"}", "ok"),
        (b'"new": "\\ud800"', "not_json"),
        (b'"new": "\\x"', "not_json"),
        (b'"new": "\x01"', "not_json"),
        (b'"new": 01', "not_json"),
        (b'"new": ' + b"[" * 100_000 + b"]" * 100_000, "not_json"),
    ],
)
def test_document_is_judged_as_a_whole(member: bytes, outcome: str) -> None:
    found = outcome_of(with_member(member))

    # Said twice and not as the one asked, it may also be taken for somebody else.
    assert found == outcome or (b'"other"' in member and found == "identity_mismatch")


@pytest.mark.parametrize("before", [b"\xef\xbb\xbf", b"\x00", b"//\n", b",", b"{}"])
def test_nothing_stands_before_or_after_the_document(before: bytes) -> None:
    assert outcome_of(before + reply()) == "not_json"
    assert outcome_of(reply() + before) == "not_json"


# Shown as something else


@pytest.mark.parametrize("evil", ["\x1b[2J", "\u202e", "\u200b", "\x07", "\x7f", "\u0085", "\ufeff"])
def test_texts_that_are_shown_hold_no_character_that_acts(evil: str) -> None:
    node = a_node(
        f"gpu{evil}-01",
        a_device(
            f"GPU{evil}-1", model=f"A{evil}100", vendor=f"N{evil}", resource=f"r{evil}", mode=f"m{evil}", card=evil
        ),
        labels={f"k{evil}": f"v{evil}"},
        taints=[{"key": f"t{evil}", "value": evil, "effect": "NoSchedule"}],
    )

    found = read(reply(node, source=f"s{evil}"), "lab")

    (shown,) = found.nodes
    (device,) = shown.devices
    texts = [found.source, shown.name, *shown.labels, *shown.labels.values(), shown.taints[0].key, device.id]
    texts += [device.model, device.vendor, device.resource, str(device.mode), str(device.card), shown.taints[0].value]
    assert all(text.isprintable() for text in texts)
    assert device.model.startswith("A")
    assert device.memory_total_mib == 40960


def test_texts_in_other_alphabets_stay_as_they_are() -> None:
    node = a_node("gpu-é", a_device(model="昇腾 910B"), labels={"Stadt": "Köln"})

    (shown,) = read(reply(node), "lab").nodes

    assert (shown.name, shown.devices[0].model, shown.labels) == ("gpu-é", "昇腾 910B", {"Stadt": "Köln"})


def test_names_that_differ_in_what_is_not_shown_are_one_name() -> None:
    found = read(reply(a_node("gpu-01"), a_node("gpu\u200b-01")), "lab")

    assert names(found) == ["gpu-01"]
    assert [warning.code for warning in found.warnings] == ["duplicate_node"]


# Larger than can be read


@pytest.mark.parametrize(
    ("bad", "code"),
    [
        (a_node("n" * (LONGEST_NAME + 1)), "invalid_node"),
        (a_node("bad", labels={"k": "v" * (LONGEST_NAME + 1)}), "invalid_node"),
        (a_node("bad", labels={"k" * (LONGEST_NAME + 1): "v"}), "invalid_node"),
        (a_node("bad", labels={str(number): "" for number in range(MOST_LABELS + 1)}), "invalid_node"),
        (a_node("bad", taints=[{"key": "k"}] * (MOST_TAINTS + 1)), "invalid_node"),
        (a_node("bad", *[a_device(str(number)) for number in range(MOST_DEVICES + 1)]), "invalid_node"),
        (a_node("bad", labels={"k": 1, "pad": "x" * MOST_NODE_BYTES}), "invalid_node"),
    ],
)
def test_node_past_a_limit_is_left_out_with_a_warning(bad: dict[str, Any], code: str) -> None:
    found = read(reply(bad, a_node("good")), "lab")

    assert names(found) == ["good"]
    assert [warning.code for warning in found.warnings] == [code]


@pytest.mark.parametrize(("bad", "outcome"), [(MOST_BAD_NODES, "ok"), (MOST_BAD_NODES + 1, "invalid_inventory")])
def test_inventory_has_a_most_of_bad_nodes(bad: int, outcome: str) -> None:
    assert outcome_of(reply(a_node("good"), *[{"name": 1}] * bad)) == outcome


def test_node_at_every_limit_is_read() -> None:
    devices = [a_device(f"{number:04}", model="m" * LONGEST_NAME) for number in range(MOST_DEVICES)]
    labels = {f"{number:0{LONGEST_NAME}}": "v" * LONGEST_NAME for number in range(MOST_LABELS)}
    node = a_node("n" * LONGEST_NAME, *devices, labels=labels, taints=[{"key": "k"}] * MOST_TAINTS)

    (shown,) = read(reply(node), "lab").nodes

    assert len(shown.devices) == MOST_DEVICES
    assert shown.labels == labels


@pytest.mark.parametrize(("size", "names_left"), [(MOST_NODE_BYTES, ["n", "good"]), (MOST_NODE_BYTES + 1, ["good"])])
def test_node_with_a_bad_device_is_looked_into_up_to_a_size(size: int, names_left: list[str]) -> None:
    bare = json.dumps(a_node("n", a_device(healthy=1), a_device("GPU-2"), pad=""))
    bad = a_node("n", a_device(healthy=1), a_device("GPU-2"), pad="x" * (size - len(bare)))

    assert names(read(reply(bad, a_node("good")), "lab")) == names_left


def test_device_past_a_limit_is_left_out_with_a_warning() -> None:
    found = read(reply(a_node("n", a_device("x" * (LONGEST_NAME + 1)), a_device("good"))), "lab")

    assert [device.id for device in found.nodes[0].devices] == ["good"]
    assert [warning.code for warning in found.warnings] == ["invalid_device"]


@pytest.mark.parametrize(("count", "outcome"), [(MOST_NODES, "ok"), (MOST_NODES + 1, "invalid_inventory")])
def test_inventory_has_a_most_of_nodes(count: int, outcome: str) -> None:
    node = b'{"name":"%d","ready":true,"schedulable":true}'
    good = b'{"provider_id":"lab","nodes":[' + b",".join(node % number for number in range(count)) + b"]}"
    with_a_bad_one = good.replace(b"true}]", b"1}]")

    assert outcome_of(good) == outcome
    assert outcome_of(with_a_bad_one) == outcome


@pytest.mark.parametrize("piece", [b"0", b"{}", b"[]", b'""', b"null", b'{"a":{}}'])
def test_millions_of_pieces_that_are_nothing_take_little_memory_and_are_refused(piece: bytes) -> None:
    body = b'{"provider_id":"lab","nodes":[' + b",".join([piece] * 2_000_000) + b"]}"
    tracemalloc.start()

    found = outcome_of(body)

    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert found == "invalid_inventory"
    assert peak < 3 * len(body) + (16 << 20)


def test_members_that_nobody_knows_take_no_memory() -> None:
    body = b'{"schema_version":"1","more":[' + b",".join([b'{"a":1}'] * 500_000) + b"]}"
    tracemalloc.start()

    found = outcome_of(body)

    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert found == "invalid_inventory"
    assert peak < len(body)


def test_warnings_without_end_are_one_warning() -> None:
    found = read(reply(a_node("good"), warnings=[{"code": 1, "message": "x" * 100}] * 10_000), "lab")

    assert names(found) == ["good"]
    assert [warning.code for warning in found.warnings] == ["invalid_warnings"]


# The pieces of a list

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(st.lists(json_values), st.booleans(), st.sampled_from([None, 1]))
def test_pieces_of_a_list_are_its_elements(values: list[Any], is_ascii: bool, indent: int | None) -> None:
    raw = json.dumps(values, ensure_ascii=is_ascii, indent=indent).encode("utf-8", "surrogatepass")
    try:
        raw.decode()
    except UnicodeDecodeError:
        return

    assert [json.loads(piece) for piece in elements(raw)] == values
