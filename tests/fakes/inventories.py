"""Inventories as providers send them: everything has a default, so that a test shows only what matters."""

from typing import Any

JsonObject = dict[str, Any]

OBSERVED_AT = "2026-01-01T00:00:00Z"


def a_device(device_id: str = "GPU-1", **fields: Any) -> JsonObject:
    """An unused card that HAMi shares; 40 GiB."""
    return {
        "id": device_id,
        "resource": "nvidia.com/gpu",
        "vendor": "NVIDIA",
        "model": "NVIDIA A100-SXM4-40GB",
        "index": 0,
        "numa": 0,
        "mode": "hami-core",
        "card": None,
        "pool": False,
        "healthy": True,
        "memory_total_mib": 40960,
        "memory_available_mib": 40960,
        "largest_free_mib": None,
        "compute_total_percent": 100,
        "compute_available_percent": 100,
        "slots_total": 10,
        "slots_available": 10,
        **fields,
    }


def a_node(name: str = "gpu-01", *devices: JsonObject, **fields: Any) -> JsonObject:
    """A machine that is ready; with one default device unless `devices` are given."""
    return {
        "name": name,
        "ready": True,
        "schedulable": True,
        "labels": {"zone": "z1"},
        "taints": [],
        "cpu": {"total_millicores": 64000, "available_millicores": 40000},
        "memory": {"total_bytes": 540 << 30, "available_bytes": 300 << 30},
        "pods": {"total": 110, "available": 80},
        "devices": list(devices) or [a_device()],
        "warnings": [],
        **fields,
    }


def an_inventory(provider_id: str, *nodes: JsonObject, **fields: Any) -> JsonObject:
    """What a provider replies with; one default node unless `nodes` are given."""
    return {
        "schema_version": 1,
        "provider_id": provider_id,
        "source": "static",
        "observed_at": OBSERVED_AT,
        "nodes": list(nodes) or [a_node()],
        "warnings": [],
        **fields,
    }
