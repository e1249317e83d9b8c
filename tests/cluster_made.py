"""Small clusters for tests: each factory has a default for everything, so that a test shows what it is about."""

import json
from datetime import UTC, datetime
from typing import Any

from chalicelib.cluster_inventory import Cluster, inventory_of
from chalicelib.cluster_objects import decode_page
from fedcompute.inventory import Device, Inventory, Node

NOW = datetime(2026, 7, 1, 12, tzinfo=UTC)

READY = {"type": "Ready", "status": "True"}
NVIDIA = "hami.io/node-nvidia-register"
ALLOCATED = "hami.io/vgpu-devices-allocated"


def node(
    name: str = "n0",
    allocatable: dict[str, Any] | None = None,
    capacity: dict[str, Any] | None = None,
    annotations: dict[str, str] | None = None,
    labels: dict[str, str] | None = None,
    conditions: list[dict[str, str]] | None = None,
    spec: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """A ready node of 8 cores, 64 GiB and 110 pods; `allocatable` comes on top."""
    amounts = {"cpu": "8", "memory": "64Gi", "pods": "110", **(allocatable or {})}
    return {
        "metadata": {"name": name, "annotations": annotations or {}, "labels": labels or {}},
        "spec": spec or {},
        "status": {
            "allocatable": amounts,
            "capacity": capacity or amounts,
            "conditions": [READY] if conditions is None else conditions,
        },
    }


def hami_node(
    register: str | list[dict[str, Any]], slots: int | None = 20, key: str = NVIDIA, **more: Any
) -> dict[str, Any]:
    """A node with a register annotation; `slots`: what kubelet counts of nvidia.com/gpu."""
    text = register if isinstance(register, str) else json.dumps(register)
    annotations = {key: text, **more.pop("annotations", {})}
    allocatable = {**({} if slots is None else {"nvidia.com/gpu": str(slots)}), **more.pop("allocatable", {})}
    return node(annotations=annotations, allocatable=allocatable, **more)


def card(id: str = "GPU-0", **more: Any) -> dict[str, Any]:  # noqa: A002 (HAMi's word)
    """An entry of a JSON register: ten slots, 40960 MiB, healthy."""
    entry = {
        "id": id,
        "count": 10,
        "devmem": 40960,
        "devcore": 100,
        "type": "NVIDIA A100-SXM4-40GB",
        "health": True,
        **more,
    }
    return {name: value for name, value in entry.items() if value is not None}


def pod(
    name: str = "p0",
    annotations: dict[str, str] | None = None,
    on: str | None = "n0",
    requests: dict[str, Any] | None = None,
    limits: dict[str, Any] | None = None,
    containers: list[dict[str, Any]] | None = None,
    phase: str = "Running",
    status: dict[str, Any] | None = None,
    **spec: Any,
) -> dict[str, Any]:
    """A running pod of one container on node n0."""
    one = {"name": "main", "resources": {"requests": requests or {}, "limits": limits or {}}}
    placed = {"nodeName": on} if on else {}
    return {
        "metadata": {"name": name, "namespace": "team", "annotations": annotations or {}},
        "spec": {"containers": [one] if containers is None else containers, **placed, **spec},
        "status": {"phase": phase, **(status or {})},
    }


def hami_pod(allocated: str, node: str = "n0", key: str = ALLOCATED, **more: Any) -> dict[str, Any]:
    """A pod that HAMi placed on `node`, with what it holds."""
    annotations = {"hami.io/vgpu-node": node, key: allocated, **more.pop("annotations", {})}
    return pod(annotations=annotations, **more)


def container(name: str = "main", requests: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    """A container."""
    return {"name": name, "resources": {"requests": requests or {}}, **more}


def inventory(
    *nodes: dict[str, Any],
    pods: list[dict[str, Any]] | None = None,
    slices: list[dict[str, Any]] | None = None,
    claims: list[dict[str, Any]] | None = None,
    unknown: tuple[str, ...] = (),
) -> Inventory:
    """The inventory of a cluster; `unknown` names what can't be read: pods, claims."""
    cluster = Cluster(
        "provider-a",
        decoded("nodes", list(nodes) or [node()]),
        None if "pods" in unknown else decoded("pods", pods or []),
        decoded("resourceslices", slices or []),
        None if "claims" in unknown else decoded("resourceclaims", claims or []),
    )
    return inventory_of(cluster, NOW)


def decoded(kind: Any, items: list[dict[str, Any]]) -> list[Any]:
    """Objects as the API's pages carry them, decoded."""
    page = decode_page(kind, json.dumps({"items": items}).encode())
    assert page.warnings == []
    return page.items


def only_node(found: Inventory) -> Node:
    """The one node of an inventory."""
    assert len(found.nodes) == 1
    return found.nodes[0]


def devices(found: Inventory) -> dict[str, Device]:
    """The devices of the one node, by id."""
    return {device.id: device for device in only_node(found).devices}


def only_device(found: Inventory) -> Device:
    """The one device of the one node."""
    (device,) = only_node(found).devices
    return device


def codes(found: Inventory) -> list[str]:
    """The codes of all warnings."""
    return [one.code for one in [*found.warnings, *(one for node in found.nodes for one in node.warnings)]]


def free(device: Device) -> tuple[int | None, int | None, int | None]:
    """Memory in MiB, compute in percent and slots that are available."""
    return device.memory_available_mib, device.compute_available_percent, device.slots_available


def total(device: Device) -> tuple[int | None, int | None, int | None]:
    """Memory in MiB, compute in percent and slots in all."""
    return device.memory_total_mib, device.compute_total_percent, device.slots_total
