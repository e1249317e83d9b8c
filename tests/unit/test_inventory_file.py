"""What the check of an inventory file finds: everything, with its place, whatever the bytes."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedcompute.inventory import Device, Inventory
from fedcompute.inventory_file import InventoryFileError, check, load


def device(**members: Any) -> dict[str, Any]:
    return {"id": "GPU-1", "healthy": True, "vendor": "NVIDIA", **members}


def node(**members: Any) -> dict[str, Any]:
    return {"name": "n1", "ready": True, "schedulable": True, **members}


def document(*nodes: Any, **members: Any) -> bytes:
    return json.dumps({"provider_id": "lab", "nodes": list(nodes), **members}).encode()


def faults_of_node(**members: Any) -> list[tuple[str, str]]:
    return [(place.removeprefix("/nodes/0"), message) for place, message in check(document(node(**members)))]


def faults_of_device(**members: Any) -> list[tuple[str, str]]:
    found = faults_of_node(devices=[device(**members)])
    return [(place.removeprefix("/devices/0"), message) for place, message in found]


def test_file_may_leave_out_what_the_provider_fills_in() -> None:
    raw = document(node(devices=[device()]))

    loaded = load(raw)

    assert check(raw) == []
    assert type(loaded) is Inventory
    assert loaded.provider_id == "lab"
    assert loaded.nodes[0].devices == [Device(id="GPU-1", healthy=True, vendor="NVIDIA")]


def test_every_mistake_is_told_at_once_in_the_order_of_the_file() -> None:
    bad = node(
        pods={"total": 1, "available": 2},
        devices=[device(slots_total=-1), device(id="GPU-2", memory_total_mib=40960, memory_available_mib=50000), 7],
    )

    found = check(document(node(), bad, provider_id=3))

    assert found == [
        ("/nodes/1/devices/0/slots_total", "must be a whole number >= 0, not -1"),
        ("/nodes/1/devices/1/memory_available_mib", "50000 is above the total, 40960"),
        ("/nodes/1/devices/2", "must be an object, not a whole number"),
        ("/nodes/1/name", "'n1' stands at /nodes/0/name too"),
        ("/nodes/1/pods/available", "2 is above the total, 1"),
        ("/provider_id", "must be text, not a whole number"),
    ]


def test_loading_raises_one_error_that_holds_every_mistake() -> None:
    raw = document(node(ready=None), schema_version=2)

    with pytest.raises(InventoryFileError) as caught:
        load(raw)

    assert caught.value.faults == check(raw)
    assert str(caught.value) == (
        "/nodes/0/ready: must be true or false, not null\n/schema_version: is 2; this release reads 1"
    )


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (b'{"provider_id":\n  "a"]', "is not JSON: expecting ',' delimiter at line 2, column 6"),
        (b"", "is not JSON: expecting value at line 1, column 1"),
        (b'{"a":\n\xff}', "is not UTF-8: line 2, byte 1 of the line"),
        (b"[" * 200_000, "is nested too deeply"),
        (b'{"schema_version": ' + b"9" * 5000 + b"}", "holds a number with too many digits"),
        (b"[]", "must be an object, not a list"),
        (b"null", "must be an object, not null"),
    ],
)
def test_what_is_no_inventory_at_all_is_said_with_its_line(raw: bytes, message: str) -> None:
    assert check(raw) == [("", message)]


def test_byte_order_mark_is_let_pass() -> None:
    assert check(b"\xef\xbb\xbf" + document()) == []


@pytest.mark.parametrize("missing", ["provider_id", "nodes"])
def test_file_needs_its_provider_and_its_nodes(missing: str) -> None:
    held = json.loads(document())
    del held[missing]

    assert check(json.dumps(held).encode()) == [(f"/{missing}", "is required")]


@pytest.mark.parametrize("missing", ["name", "ready", "schedulable"])
def test_node_needs_its_name_and_state(missing: str) -> None:
    held = node()
    del held[missing]

    assert check(document(held)) == [(f"/nodes/0/{missing}", "is required")]


@pytest.mark.parametrize("missing", ["id", "healthy"])
def test_device_needs_its_id_and_health(missing: str) -> None:
    held = device()
    del held[missing]

    assert check(document(node(devices=[held]))) == [(f"/nodes/0/devices/0/{missing}", "is required")]


@pytest.mark.parametrize(
    ("members", "fault"),
    [
        ({"lables": {}}, ("/lables", "is not a field here; did you mean labels?")),
        ({"ready": 1}, ("/ready", "must be true or false, not a whole number")),
        ({"name": ""}, ("/name", "must not be empty")),
        ({"labels": {"a/b~c": 3}}, ("/labels/a~1b~0c", "must be text, not a whole number")),
        ({"cpu": None}, ("/cpu", "must be an object, not null")),
        (
            {"cpu": {"total_millicores": 1.5}},
            ("/cpu/total_millicores", "must be a whole number or null, not a number with a fraction"),
        ),
        (
            {"cpu": {"total_millicores": 1, "available_millicores": 2}},
            ("/cpu/available_millicores", "2 is above the total, 1"),
        ),
        (
            {"memory": {"total_bytes": 1, "available_bytes": 2}},
            ("/memory/available_bytes", "2 is above the total, 1"),
        ),
        (
            {"taints": [{"key": "a", "effect": "Never"}]},
            ("/taints/0/effect", "must be NoSchedule, PreferNoSchedule or NoExecute"),
        ),
        ({"taints": [{"effect": "NoExecute"}]}, ("/taints/0/key", "must not be empty")),
        ({"devices": [device(), device()]}, ("/devices/1/id", "'GPU-1' stands at /nodes/0/devices/0/id too")),
        ({"devices": {}}, ("/devices", "must be a list, not an object")),
    ],
)
def test_mistake_in_a_node_is_told_with_its_place(members: dict[str, Any], fault: tuple[str, str]) -> None:
    assert faults_of_node(**members) == [fault]


@pytest.mark.parametrize(
    ("members", "fault"),
    [
        ({"memory_total_mb": 1}, ("/memory_total_mb", "is not a field here; did you mean memory_total_mib?")),
        ({"vendor": "nvidia corporation"}, ("/vendor", "is written NVIDIA here, not nvidia corporation")),
        ({"vendor": "Ascend"}, ("/vendor", "is written Huawei here, not Ascend")),
        ({"mode": True}, ("/mode", "must be text or null, not true or false")),
        ({"index": "0"}, ("/index", "must be a whole number or null, not text")),
        (
            {"memory_available_mib": 10, "largest_free_mib": 20},
            ("/largest_free_mib", "20 is above what is available, 10"),
        ),
        (
            {"compute_total_percent": 100, "compute_available_percent": 101},
            ("/compute_available_percent", "101 is above the total, 100"),
        ),
        ({"slots_total": 1, "slots_available": 2}, ("/slots_available", "2 is above the total, 1")),
        ({"card": "\ud800"}, ("/card", "has half a surrogate pair")),
    ],
)
def test_mistake_in_a_device_is_told_with_its_place(members: dict[str, Any], fault: tuple[str, str]) -> None:
    assert faults_of_device(**members) == [fault]


@pytest.mark.parametrize(
    ("members", "place"),
    [
        ({"provider_id": "Lab A"}, "/provider_id"),
        ({"schema_version": 0}, "/schema_version"),
        ({"source": "rumour"}, "/source"),
        ({"observed_at": "yesterday"}, "/observed_at"),
        ({"observed_at": "2026-01-01T00:00:00"}, "/observed_at"),
        ({"observed": "2026-01-01T00:00:00Z"}, "/observed"),
    ],
)
def test_mistake_at_the_top_is_told_with_its_place(members: dict[str, Any], place: str) -> None:
    assert [found for found, _ in check(document(**members))] == [place]


def test_name_that_stands_twice_in_an_object_is_a_mistake() -> None:
    raw = b'{"provider_id": "a", "provider_id": "b", "nodes": []}'

    assert check(raw) == [("", "'provider_id' stands more than once")]


def test_soundness_is_checked_beside_a_mistake_of_another_kind() -> None:
    found = faults_of_device(healthy="yes", slots_total=1, slots_available=2)

    assert [place for place, _ in found] == ["/healthy", "/slots_available"]


def test_text_of_the_file_reaches_no_terminal_unclean() -> None:
    ((place, message),) = check(document(node(**{"\x1b[31mred": 1})))

    assert "\x1b" not in place + message


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
device_names = st.sampled_from(Device.__struct_fields__)


@given(st.binary() | st.text().map(str.encode))
def test_any_bytes_are_judged_without_an_exception(raw: bytes) -> None:
    assert check(raw)


@given(json_values, st.dictionaries(device_names, json_values), json_values)
def test_any_json_is_judged_without_an_exception(top: Any, members: dict[str, Any], other: Any) -> None:
    raws = [json.dumps(top).encode(), document(node(devices=[members, other]), other), document(node(taints=other))]

    for raw in raws:
        assert all(isinstance(place, str) and message for place, message in check(raw))


amounts = st.none() | st.integers(0, 100)


@given(amounts, amounts, st.booleans())
def test_what_is_loaded_is_what_the_file_says(total: int | None, free: int | None, healthy: bool) -> None:
    if total is not None and free is not None and free > total:
        total, free = free, total
    held = device(healthy=healthy, memory_total_mib=total, memory_available_mib=free)

    (loaded,) = load(document(node(devices=[held]))).nodes[0].devices

    assert (loaded.healthy, loaded.memory_total_mib, loaded.memory_available_mib) == (healthy, total, free)
