"""A folder of tests/data/cases: the cluster in it, and in what an inventory differs from the right answer."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from chalicelib.cluster_inventory import Cluster
from chalicelib.cluster_objects import decode_page
from fedcompute.inventory import Device, Inventory, Node
from fedcompute.soundness import device_faults, node_faults
from fedcompute.vendors import is_same

FOLDER = Path(__file__).parent / "data" / "cases"

_COMPARED = ("memory_total_mib", "memory_available_mib", "compute_total_percent", "compute_available_percent")
_COMPARED += ("slots_total", "slots_available", "healthy", "mode", "numa")
_OFFERED = ("memory_available_mib", "compute_available_percent", "slots_available")


@dataclass(frozen=True)
class Case:
    """A cluster's objects, the time that they were so, and the right answer."""

    cluster: Cluster
    now: datetime
    expected: dict[str, Any]


def load(name: str) -> Case:
    """The case of a folder."""
    folder = FOLDER / name
    expected = json.loads((folder / "expected.json").read_text())
    lists = {kind: _listed(folder, kind) for kind in ("nodes", "pods", "resourceslices")}
    cluster = Cluster("provider-a", lists["nodes"], lists["pods"], lists["resourceslices"], ())
    return Case(cluster, datetime.fromisoformat(expected["now"]), expected)


def _listed(folder: Path, kind: Any) -> list[Any]:
    file = folder / f"{kind}.json"
    page = decode_page(kind, file.read_bytes() if file.exists() else b'{"items": []}')
    assert not page.warnings
    return page.items


def differences(expected: dict[str, Any], inventory: Inventory) -> Iterator[str]:
    """What is not as expected, each in words; what is debatable, or null in the answer, is not compared."""
    nodes = {node.name: node for node in inventory.nodes}
    if set(nodes) != set(expected["nodes"]):
        yield f"nodes: {sorted(nodes)}"
    for name, wanted in expected["nodes"].items():
        if name in nodes:
            yield from _of_node(nodes[name], wanted, expected)
            yield from _unbelievable(nodes[name])
            yield from _over_bound(nodes[name], wanted, expected)


def _of_node(node: Node, wanted: dict[str, Any], expected: dict[str, Any]) -> Iterator[str]:
    debatable = wanted.get("debatable", [])
    for field in ("ready", "schedulable"):
        if field not in debatable and getattr(node, field) != wanted[field]:
            yield f"{node.name}: {field} is {getattr(node, field)}"
    slack = {"memory": expected.get("tolerance", {}).get("memory_bytes", 0), "cpu": 0}
    for part in ("cpu", "memory"):
        for field, value in wanted[part].items():
            found = getattr(getattr(node, part), field, None)
            if field.startswith("capacity_") or value is None or part in debatable:
                continue
            if found is None or abs(found - value) > slack[part]:
                yield f"{node.name}: {part}.{field} is {found}, not {value}"
    if wanted.get("devices") is not None:
        yield from _of_devices(node, wanted)
    else:
        yield from _of_resources(node, wanted)


def _of_devices(node: Node, wanted: dict[str, Any]) -> Iterator[str]:
    left = list(node.devices)
    for device in wanted["devices"]:
        debatable = set(device.get("debatable", []))
        found = _picked(left, device, debatable)
        if found is None:
            yield f"{node.name}: no device {device['id']}"
            continue
        left.remove(found)
        for field in _COMPARED:
            if field not in debatable and device.get(field) is not None and getattr(found, field) != device[field]:
                yield f"{node.name}/{found.id}: {field} is {getattr(found, field)}, not {device[field]}"
        if "vendor" not in debatable and not is_same(found.vendor, device["vendor"]):
            yield f"{node.name}/{found.id}: vendor is {found.vendor}"
        words = [] if "model" in debatable else device["model_must_contain"]
        yield from (f"{node.name}/{found.id}: no {word} in {found.model}" for word in words if word not in found.model)
    optional = {device["id"]: device for device in wanted.get("optional_devices", [])}
    for extra in left:
        if extra.id not in optional:
            yield f"{node.name}: a device too many, {extra.id}"
        elif any(getattr(extra, field) != optional[extra.id][field] for field in _OFFERED):
            yield f"{node.name}/{extra.id}: offered, though it is not to be had"


def _picked(left: list[Device], device: dict[str, Any], debatable: set[str]) -> Device | None:
    """The device of that id; where there is none to go by, the one that differs least."""
    if device["id"] is not None and "id" not in debatable:
        return next((one for one in left if one.id == device["id"]), None)
    compared = [field for field in _COMPARED if field not in debatable and device.get(field) is not None]
    return min(left, key=lambda one: sum(getattr(one, field) != device[field] for field in compared), default=None)


def _of_resources(node: Node, wanted: dict[str, Any]) -> Iterator[str]:
    for resource, counts in wanted.get("extended_resources", {}).items():
        mine = [device for device in node.devices if device.resource == resource]
        for word, field in (("allocatable", "slots_total"), ("available", "slots_available")):
            found = sum(getattr(device, field) for device in mine)
            if found != counts[word]:
                yield f"{node.name}: {field} of {resource} are {found}, not {counts[word]}"


def _unbelievable(node: Node) -> Iterator[str]:
    yield from (f"{node.name}: {fault}" for fault in node_faults(node))
    yield from (f"{node.name}/{device.id}: {fault}" for device in node.devices for fault in device_faults(device))
    if len({device.id for device in node.devices}) != len(node.devices):
        yield f"{node.name}: an id stands twice"
    for device in node.devices:
        if not device.healthy and any(getattr(device, field) for field in _OFFERED):
            yield f"{node.name}/{device.id}: sick, and offered"


def _over_bound(node: Node, wanted: dict[str, Any], expected: dict[str, Any]) -> Iterator[str]:
    """`sum(memory_total_mib over offered devices) <= 81920`, of all nodes or of the one that the text begins with."""
    for text in [*wanted.get("invariants", []), *expected.get("invariants", [])]:
        bound = re.search(r"sum\(memory_total_mib over offered devices\) <= (\d+)", text)
        if bound is None or (":" in text and not text.startswith(node.name)):
            continue
        offered = sum(
            device.memory_total_mib or 0 for device in node.devices if device.healthy and device.slots_available
        )
        if offered > int(bound[1]):
            yield f"{node.name}: {offered} MiB are offered, more than {bound[1]}"
