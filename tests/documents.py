"""Providers' replies as documents: a full one, and what hypothesis makes of it."""

import copy
import json
from typing import Any

from fakes.inventories import a_device
from hypothesis import strategies as st

DEVICE: dict[str, Any] = a_device(memory_available_mib=30960, compute_available_percent=70, slots_available=9)
NODE: dict[str, Any] = {
    "name": "gpu-01",
    "ready": True,
    "schedulable": True,
    "labels": {"topology.kubernetes.io/zone": "z1"},
    "taints": [{"key": "nvidia.com/gpu", "value": "", "effect": "NoSchedule"}],
    "cpu": {"total_millicores": 64000, "available_millicores": 40000},
    "memory": {"total_bytes": 540000000000, "available_bytes": 300000000000},
    "pods": {"total": 110, "available": 80},
    "devices": [DEVICE],
    "warnings": [{"code": "stale", "message": "two minutes old"}],
}
DOCUMENT: dict[str, Any] = {
    "schema_version": 1,
    "provider_id": "lab",
    "source": "static",
    "observed_at": "2026-01-01T00:00:00Z",
    "nodes": [NODE],
    "warnings": [{"code": "partial", "message": "one rack is off"}],
}

json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 2**64) | st.floats() | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["id", "name", "x"]), inner, max_size=2)
    ),
    max_leaves=4,
)


def _places(value: Any, place: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [place, *(deeper for step, member in inner for deeper in _places(member, (*place, step)))]


@st.composite
def mutated_documents(draw: st.DrawFn) -> bytes:
    """A valid document in which a few members are replaced, left out or stand twice."""
    document: Any = copy.deepcopy(DOCUMENT)
    second = copy.deepcopy(NODE) | {"name": "gpu-02"}
    second["devices"].append(DEVICE | {"id": "GPU-2", "memory_available_mib": 5, "largest_free_mib": 5})
    document["nodes"].append(second)
    for _ in range(draw(st.integers(1, 4))):
        *path, last = draw(st.sampled_from(_places(document)[1:] or [("x",)]))
        holder = document
        for step in path:
            holder = holder[step]
        how = draw(st.sampled_from(["replace", "replace", "remove", "repeat"]))
        if how == "replace":
            holder[last] = draw(json_values)
        elif how == "remove":
            holder.pop(last, None) if isinstance(holder, dict) else holder.pop(last)
        elif isinstance(holder, list):
            holder.insert(0, copy.deepcopy(holder[last]))
    return json.dumps(document).encode()


@st.composite
def damaged_documents(draw: st.DrawFn) -> bytes:
    """A valid document in which a few bytes are others."""
    body = bytearray(json.dumps(DOCUMENT).encode())
    for _ in range(draw(st.integers(1, 3))):
        body[draw(st.integers(0, len(body) - 1))] = draw(st.sampled_from(b'{}[]",:0-9e\\\xff\x00n'))
    return bytes(body)
