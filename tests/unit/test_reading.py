"""Providers' replies: what is bad in them becomes a warning, what breaks them a named failure, nothing an accident."""

import json
import unicodedata
from typing import Any

import pytest
from documents import DEVICE, DOCUMENT, NODE, damaged_documents, json_values, mutated_documents
from hypothesis import given, settings
from hypothesis import strategies as st

from fedcompute.inventory import Device, Inventory, Node
from fedcompute.reading import MOST_WARNINGS, UnreadableInventoryError, read
from fedcompute.soundness import device_faults, is_sound, node_faults

OUTCOMES = ("not_json", "invalid_inventory", "unsupported_schema", "identity_mismatch")


def reply(*nodes: Any, **members: Any) -> bytes:
    return json.dumps({"provider_id": "lab", "nodes": list(nodes), **members}).encode()


def a_node(name: str = "n", **members: Any) -> dict[str, Any]:
    return {"name": name, "ready": True, "schedulable": True, **members}


def a_device(id: str = "d", **members: Any) -> dict[str, Any]:  # noqa: A002 (the contract's word)
    return {"id": id, "healthy": True, **members}


def without(members: dict[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in members.items() if key != name}


def shape(inventory: Inventory) -> dict[str, list[str]]:
    """Nodes and the ids of their devices."""
    return {node.name: [device.id for device in node.devices] for node in inventory.nodes}


def failure(body: bytes) -> UnreadableInventoryError:
    with pytest.raises(UnreadableInventoryError) as caught:
        read(body, "lab")
    return caught.value


def codes(inventory: Inventory) -> list[str]:
    return [warning.code for warning in inventory.warnings]


# --- what is read


def test_full_document_is_read_as_it_stands() -> None:
    found = read(json.dumps(DOCUMENT).encode(), "lab")

    (node,) = found.nodes
    (device,) = node.devices
    assert (found.source, found.observed_at) == ("static", "2026-01-01T00:00:00Z")
    assert (node.cpu.available_millicores, node.memory.total_bytes) == (40000, 540000000000)
    assert node.pods is not None
    assert node.pods.available == 80
    assert node.taints[0].key == "nvidia.com/gpu"
    assert {name: getattr(device, name) for name in DEVICE} == DEVICE


def test_what_is_left_out_is_unknown_empty_or_false() -> None:
    (node,) = read(reply(a_node(devices=[a_device()])), "lab").nodes

    assert node == Node(name="n", ready=True, schedulable=True, devices=[Device(id="d", healthy=True)])
    assert (node.labels, node.taints, node.pods, node.cpu.total_millicores) == ({}, [], None, None)
    assert (node.devices[0].pool, node.devices[0].vendor, node.devices[0].slots_total) == (False, "", None)


def test_unknown_fields_are_ignored_at_any_depth() -> None:
    extra = {"new": {"deep": [1, None]}}
    device = DEVICE | extra
    node = NODE | extra | {"devices": [device], "cpu": NODE["cpu"] | extra, "taints": [NODE["taints"][0] | extra]}

    found = read(json.dumps(DOCUMENT | extra | {"nodes": [node]}).encode(), "lab")

    assert found == read(json.dumps(DOCUMENT).encode(), "lab")


@pytest.mark.parametrize("name", sorted(DEVICE.keys() - {"id", "healthy"}))
def test_null_of_a_device_means_left_out(name: str) -> None:
    null, absent = reply(a_node(devices=[DEVICE | {name: None}])), reply(a_node(devices=[without(DEVICE, name)]))

    found = read(null, "lab")

    assert found == read(absent, "lab")
    assert found.warnings == []
    assert shape(found) == {"n": ["GPU-1"]}


@pytest.mark.parametrize("name", sorted(NODE.keys() - {"name", "ready", "schedulable"}))
def test_null_of_a_node_means_left_out(name: str) -> None:
    found = read(reply(NODE | {name: None}), "lab")

    assert found == read(reply(without(NODE, name)), "lab")
    assert len(found.nodes) == 1


@pytest.mark.parametrize("name", sorted(DOCUMENT.keys() - {"provider_id"}))
def test_null_at_the_top_means_left_out(name: str) -> None:
    found = read(json.dumps(DOCUMENT | {name: None}).encode(), "lab")

    assert found == read(json.dumps(without(DOCUMENT, name)).encode(), "lab")


def test_null_in_a_providers_own_warning_means_left_out() -> None:
    found = read(reply(warnings=[{"code": None, "message": "odd"}, {"code": "partial"}]), "lab")

    assert [(warning.code, warning.message) for warning in found.warnings] == [("", "odd"), ("partial", "")]


# --- single bad parts


@pytest.mark.parametrize(
    "bad",
    [
        pytest.param(without(a_node("bad"), "name"), id="no name"),
        pytest.param(without(a_node("bad"), "ready"), id="no ready"),
        pytest.param(without(a_node("bad"), "schedulable"), id="no schedulable"),
        pytest.param(a_node("bad", ready=None), id="ready is null"),
        pytest.param(a_node("bad", ready=1), id="ready is a number"),
        pytest.param(a_node("bad", schedulable="true"), id="schedulable is text"),
        pytest.param(a_node(""), id="empty name"),
        pytest.param(a_node() | {"name": 7}, id="name is a number"),
        pytest.param(a_node("bad", labels=[]), id="labels is a list"),
        pytest.param(a_node("bad", labels={"a": 1}), id="a label is a number"),
        pytest.param(a_node("bad", taints={}), id="taints is an object"),
        pytest.param(a_node("bad", devices={}), id="devices is an object"),
        pytest.param(a_node("bad", cpu=4), id="cpu is a number"),
        pytest.param(a_node("bad", cpu={"total_millicores": -1}), id="a negative amount"),
        pytest.param(a_node("bad", cpu={"total_millicores": 1.5}), id="a fraction"),
        pytest.param(a_node("bad", cpu={"total_millicores": True}), id="true for an amount"),
        pytest.param(a_node("bad", memory={"total_bytes": 2**63}), id="an amount beyond any"),
        pytest.param(a_node("bad", cpu={"total_millicores": 1, "available_millicores": 2}), id="cpu above total"),
        pytest.param(a_node("bad", memory={"total_bytes": 1, "available_bytes": 2}), id="memory above total"),
        pytest.param(a_node("bad", pods={"total": 1, "available": 2}), id="pods above total"),
        pytest.param(7, id="a number"),
        pytest.param(None, id="null"),
        pytest.param([a_node()], id="a list"),
    ],
)
def test_bad_node_becomes_a_warning_and_hides_nothing_else(bad: Any) -> None:
    found = read(reply(a_node("first", devices=[a_device()]), bad, a_node("last")), "lab")

    assert shape(found) == {"first": ["d"], "last": []}
    assert codes(found) == ["invalid_node"]


@pytest.mark.parametrize(
    "bad",
    [
        pytest.param(without(a_device("bad"), "id"), id="no id"),
        pytest.param(without(a_device("bad"), "healthy"), id="no healthy"),
        pytest.param(a_device("bad", healthy=None), id="healthy is null"),
        pytest.param(a_device("bad", healthy="yes"), id="healthy is text"),
        pytest.param(a_device(""), id="empty id"),
        pytest.param(a_device("bad", model=100), id="model is a number"),
        pytest.param(a_device("bad", index="0"), id="index is text"),
        pytest.param(a_device("bad", pool=1), id="pool is a number"),
        pytest.param(a_device("bad", slots_total="1"), id="slots is text"),
        pytest.param(a_device("bad", slots_total=-1), id="a negative amount"),
        pytest.param(a_device("bad", slots_total=2**63), id="an amount beyond any"),
        pytest.param(a_device("bad", compute_total_percent=99.5), id="a fraction"),
        pytest.param(a_device("bad", memory_total_mib=1, memory_available_mib=2), id="memory above total"),
        pytest.param(a_device("bad", compute_total_percent=1, compute_available_percent=2), id="compute above total"),
        pytest.param(a_device("bad", slots_total=1, slots_available=2), id="slots above total"),
        pytest.param(a_device("bad", memory_available_mib=1, largest_free_mib=2), id="block above what is available"),
        pytest.param(a_device("bad", memory_total_mib=1, largest_free_mib=2), id="block above the total"),
        pytest.param("GPU", id="text"),
        pytest.param(None, id="null"),
    ],
)
def test_bad_device_becomes_a_warning_and_hides_nothing_else(bad: Any) -> None:
    found = read(reply(a_node("first", devices=[a_device("a"), bad, a_device("z")]), a_node("last")), "lab")

    assert shape(found) == {"first": ["a", "z"], "last": []}
    assert [(warning.code, warning.node) for warning in found.warnings] == [("invalid_device", "first")]


def test_amount_without_its_total_is_believed() -> None:
    device = a_device(memory_available_mib=5, slots_available=5, largest_free_mib=5, compute_available_percent=5)

    found = read(reply(a_node(devices=[device], cpu={"available_millicores": 5}, pods={"available": 5})), "lab")

    assert (shape(found), found.warnings) == ({"n": ["d"]}, [])


def test_node_that_stands_a_second_time_is_left_out() -> None:
    found = read(reply(a_node("a", devices=[a_device("first")]), a_node("b"), a_node("a")), "lab")

    assert shape(found) == {"a": ["first"], "b": []}
    assert [(warning.code, warning.node) for warning in found.warnings] == [("duplicate_node", "a")]


def test_device_that_stands_a_second_time_on_its_node_is_left_out() -> None:
    twice = [a_device("d", index=1), a_device("d", index=2), a_device("e")]

    found = read(reply(a_node("a", devices=twice), a_node("b", devices=[a_device("d")])), "lab")

    assert shape(found) == {"a": ["d", "e"], "b": ["d"]}
    assert found.nodes[0].devices[0].index == 1
    assert [(one.code, one.node, one.device) for one in found.warnings] == [("duplicate_device", "a", "d")]


def test_what_was_left_out_takes_no_name() -> None:
    bad_node, bad_device = (
        a_node("n", pods={"total": 0, "available": 1}),
        a_device("d", slots_total=0, slots_available=1),
    )

    found = read(reply(bad_node, a_node("n", devices=[bad_device, a_device("d", index=7)])), "lab")

    assert shape(found) == {"n": ["d"]}
    assert found.nodes[0].devices[0].index == 7
    assert codes(found) == ["invalid_node", "invalid_device"]


def test_bad_parts_of_every_kind_are_told_together() -> None:
    found = read(reply(a_node("a", devices=[7]), 7, a_node("b", pods={"total": 0, "available": 1}), a_node("a")), "lab")

    assert shape(found) == {"a": []}
    assert sorted(codes(found)) == ["duplicate_node", "invalid_device", "invalid_node", "invalid_node"]


# --- warnings


def test_nodes_own_warnings_are_told_with_its_name() -> None:
    found = read(json.dumps(DOCUMENT).encode(), "lab")

    told = [(warning.code, warning.message, warning.node) for warning in found.warnings]
    assert told == [("partial", "one rack is off", None), ("stale", "two minutes old", "gpu-01")]


def test_provider_that_warns_in_another_shape_still_has_its_nodes() -> None:
    found = read(reply(a_node(), warnings="all is well"), "lab")

    assert (shape(found), codes(found)) == ({"n": []}, ["invalid_warnings"])


def test_strangers_text_is_cleaned_and_cut_and_its_number_bounded() -> None:
    nasty = {"code": "c" * 500, "message": "\x1b[31mred\u202e\n" + "m" * 5000, "node": "\x00n", "device": "\x7f" * 9}

    found = read(reply(warnings=[nasty] * (MOST_WARNINGS + 7)), "lab")

    assert len(found.warnings) == MOST_WARNINGS + 1
    assert found.warnings[-1].code == "more_warnings"
    assert found.warnings[-1].message.startswith("7 ")
    first = found.warnings[0]
    assert (len(first.code), len(first.message), first.node, first.device) == (64, 200, "n", "")
    assert first.message.startswith("[31mred mmm")


def test_names_and_mistakes_of_strangers_are_cleaned_too() -> None:
    found = read(reply(a_node("\x1b" + "n" * 400, pods={"total": 0, "available": 1})), "lab")

    (warning,) = found.warnings
    assert warning.node == "n" * 199 + "…"
    assert len(warning.message) <= 200


def test_providers_warning_does_not_speak_for_another_provider() -> None:
    found = read(reply(warnings=[{"code": "c", "provider_id": "somebody-else"}]), "lab")

    assert found.warnings[0].provider_id is None


# --- replies that are no inventory


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b" ",
        b"<html>",
        b"{",
        b'{"provider_id": "lab", "nodes": [NaN]}',
        b"[" * 200000,
        b'\xff{"provider_id": "lab"}',
        b'{"provider_id": 7, "source": "\xff"}',
        b'{"provider_id": 7, "source": NaN}',
        b'{"provider_id": "\xff"}',
        b'{"provider_id": "lab", "x": ' + b"[" * 200000 + b"]" * 200000 + b"}",
        b'{"provider_id": "lab", "nodes": [' + b"[" * 200000 + b"]" * 200000 + b"]}",
    ],
)
def test_reply_that_is_no_json_is_not_json(body: bytes) -> None:
    assert failure(body).outcome == "not_json"


def test_name_that_stands_twice_is_told_before_whose_document_it_is() -> None:
    assert failure(b'{"provider_id": "lab", "provider_id": "other", "nodes": []}').outcome == "invalid_inventory"


@pytest.mark.parametrize(
    "body",
    [
        b"null",
        b"[]",
        b"7",
        b"{}",
        b'{"nodes": []}',
        b'{"provider_id": null}',
        b'{"provider_id": 7}',
        b'{"provider_id": "lab", "nodes": {}}',
        b'{"provider_id": "lab", "nodes": 7}',
        b'{"provider_id": "lab", "source": 7}',
        b'{"provider_id": "lab", "observed_at": 7}',
        b'{"provider_id": "lab", "schema_version": "1"}',
        b'{"provider_id": "lab", "schema_version": 1.5}',
    ],
)
def test_document_that_breaks_at_the_top_is_an_invalid_inventory(body: bytes) -> None:
    assert failure(body).outcome == "invalid_inventory"


@pytest.mark.parametrize("version", [2, 7, 2**63, 10**30])
@pytest.mark.parametrize(
    "others",
    [
        {"provider_id": "lab", "nodes": []},
        {"provider_id": "lab", "nodes": {"by": "name"}},
        {"provider_id": {"id": "lab"}, "nodes": 7, "warnings": {}},
        {"provider_id": "another"},
        {},
    ],
)
def test_later_schema_is_unsupported_whatever_the_other_members_mean(version: int, others: dict[str, Any]) -> None:
    found = failure(json.dumps({"schema_version": version, **others}).encode())

    assert found.outcome == "unsupported_schema"
    assert str(version) in found.message


def test_another_providers_inventory_is_refused_and_its_name_cut_and_cleaned() -> None:
    found = failure(json.dumps({"provider_id": "\x1b\u202eelse" + "w" * 900}).encode())

    assert found.outcome == "identity_mismatch"
    assert found.message.startswith("answered as 'else")
    assert len(found.message) < 120


# --- properties


@given(st.binary(max_size=60) | json_values.map(lambda value: json.dumps(value).encode()) | damaged_documents())
def test_any_bytes_are_read_or_refused_by_name(body: bytes) -> None:
    _read_soundly(body)


@settings(max_examples=300)
@given(mutated_documents())
def test_any_mutation_of_a_document_is_read_or_refused_by_name(body: bytes) -> None:
    _read_soundly(body)


def _read_soundly(body: bytes) -> None:
    found = _read_or_refused(body)
    if isinstance(found, UnreadableInventoryError):
        assert found.outcome in OUTCOMES
        assert len(found.message) < 300
        return
    names = [node.name for node in found.nodes]
    assert len(set(names)) == len(names)
    for node in found.nodes:
        assert not list(node_faults(node))
        ids = [device.id for device in node.devices]
        assert len(set(ids)) == len(ids)
        for device in node.devices:
            assert not list(device_faults(device))
            assert min(_amounts(device), default=0) >= 0
    for warning in found.warnings:
        assert all(unicodedata.category(character) not in ("Cc", "Cf", "Cs") for character in warning.message)


def _read_or_refused(body: bytes) -> Inventory | UnreadableInventoryError:
    try:
        return read(body, "lab")
    except UnreadableInventoryError as error:
        return error


def _amounts(device: Device) -> list[int]:
    names = [name for name in device.__struct_fields__ if name.endswith(("_mib", "_percent", "_total", "_available"))]
    return [amount for name in names if (amount := getattr(device, name)) is not None]


some = st.none() | st.integers(0, 4)


@settings(max_examples=300)
@given(
    st.builds(
        Device,
        id=st.just("d"),
        healthy=st.booleans(),
        **{
            name: some
            for name in Device.__struct_fields__
            if name.endswith(("_mib", "_percent", "_total", "_available"))
        },
    )
)
def test_quick_look_at_a_device_agrees_with_the_list_of_its_faults(device: Device) -> None:
    assert is_sound(device) is (not list(device_faults(device)))
