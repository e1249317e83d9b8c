"""What the federation has now: totals, and the same by provider, by vendor and by model."""

import time
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

from chalicelib.asking import Asking
from chalicelib.inventories import is_answered
from chalicelib.registry import Registry
from fedcompute.eligibility import is_unused
from fedcompute.inventory import Device, Node

_SUMMED = ("slots_total", "slots_available", "memory_total_mib", "memory_available_mib")


def resources(registry: Registry, asking: Asking, deadline_ms: int) -> dict[str, Any]:
    """Ask every enabled provider within `deadline_ms` and add up what they have; unknown amounts are counted, not guessed.

    Raises: 503 `registry_unavailable`.
    """
    deadline = time.monotonic() + deadline_ms / 1000
    answers = asking.ask([record for record in registry.all() if record.enabled], deadline)
    by_provider = {a.record.id: a.inventory.nodes for a in answers if a.inventory is not None}
    nodes = [node for nodes in by_provider.values() for node in nodes]
    entries = [answered.entry for answered in answers]
    return {
        "totals": _totals(nodes),
        "by_provider": [
            {"provider_id": a.record.id, "provider_name": a.record.name, **_totals(by_provider[a.record.id])}
            for a in answers
            if a.record.id in by_provider
        ],
        "by_vendor": _by(("vendor",), nodes),
        "by_model": _by(("vendor", "model"), nodes),
        "providers": entries,
        "partial": not all(map(is_answered, entries)),
        "observed_at": datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
    }


def _totals(nodes: Sequence[Node]) -> dict[str, Any]:
    return {
        "nodes": len(nodes),
        "cpu": _sums(("total_millicores", "available_millicores"), [node.cpu for node in nodes]),
        "memory": _sums(("total_bytes", "available_bytes"), [node.memory for node in nodes]),
        "devices": _devices([device for node in nodes for device in node.devices]),
    }


def _by(names: tuple[str, ...], nodes: Sequence[Node]) -> list[dict[str, Any]]:
    groups: dict[tuple[str, ...], list[Device]] = {}
    for node in nodes:
        for device in node.devices:
            groups.setdefault(tuple(getattr(device, name) for name in names), []).append(device)
    return [
        {**dict(zip(names, key, strict=True)), "devices": _devices(devices)} for key, devices in sorted(groups.items())
    ]


def _devices(devices: Sequence[Device]) -> dict[str, int]:
    return {
        "count": len(devices),
        "healthy": sum(device.healthy for device in devices),
        "unused": sum(map(is_unused, devices)),
        **_sums(_SUMMED, devices),
    }


def _sums(names: tuple[str, ...], parts: Iterable[object]) -> dict[str, int]:
    """Each amount added up where it is known; `unknown`: how many parts had one that is not."""
    sums, unknown = dict.fromkeys(names, 0), 0
    for part in parts:
        amounts = {name: getattr(part, name) for name in names}
        unknown += any(amount is None for amount in amounts.values())
        for name, amount in amounts.items():
            sums[name] += amount or 0
    return {**sums, "unknown": unknown}
