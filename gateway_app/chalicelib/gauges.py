"""What is now, as far as this process knows: the registry, and the inventories that its last searches confirmed."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from fedcompute import __version__
from fedcompute.eligibility import is_unused
from fedcompute.exposition import Family, Sample, gauge, labelled

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence
    from datetime import datetime

    from chalicelib.inventories import Inventories, Known
    from fedcompute.provider import ProviderRecord

MIB = 1 << 20


class _Sums(NamedTuple):
    """What one inventory comes to, by vendor and model, in the order of _DEVICES."""

    known: Known
    nodes: int
    by_model: dict[tuple[str, str], list[int]]


_DEVICES = (
    ("fedcompute_devices", "Devices, MIG slices and pools."),
    ("fedcompute_devices_unused", "Healthy devices that nobody has a share of."),
    ("fedcompute_device_memory_bytes", "Memory of devices, where it is known."),
    ("fedcompute_device_memory_free_bytes", "Free memory of devices, where it is known."),
)


class Gauges:
    """Adds up an inventory once, however often it is scraped."""

    def __init__(self) -> None:
        self._sums: dict[str, _Sums] = {}

    def families(
        self, records: Sequence[ProviderRecord], inventories: Inventories, paused: Collection[str], now: datetime
    ) -> Iterator[Family]:
        """Every gauge. `paused`: the ids of the providers whose circuit is open."""
        enabled = {record.id: record for record in records if record.enabled}
        known = {one.provider_id: one for one in inventories.known() if one.provider_id in enabled}
        yield Family("fedcompute_build_info", "gauge", "The version that runs.", [Sample({"version": __version__}, 1)])
        states = {"enabled": float(len(enabled)), "disabled": float(len(records) - len(enabled))}
        yield labelled("fedcompute_providers", "Providers in the registry.", "state", states)
        about = "1 for a provider that this process leaves alone because it kept failing."
        open_now = {one: float(one in paused) for one in enabled}
        yield labelled("fedcompute_provider_circuit_open", about, "provider_id", open_now)
        ages = {
            one.provider_id: max(0.0, (now - one.observed_at).total_seconds())
            for one in known.values()
            if one.observed_at is not None
        }
        about = "How old what this process knows of a provider is."
        yield labelled("fedcompute_provider_inventory_age_seconds", about, "provider_id", ages)
        yield from self._devices(known)

    def _devices(self, known: dict[str, Known]) -> Iterator[Family]:
        self._sums = {name: self._sums_of(name, one) for name, one in known.items()}
        if known:
            nodes = sum(sums.nodes for sums in self._sums.values())
            yield gauge("fedcompute_nodes", "Nodes of the inventories that this process knows.", nodes)
        models = sorted({model for sums in self._sums.values() for model in sums.by_model})
        for place, (name, about) in enumerate(_DEVICES):
            values = Counter[tuple[str, str]]()
            for sums in self._sums.values():
                values.update({model: amounts[place] for model, amounts in sums.by_model.items()})
            samples = [Sample({"vendor": vendor, "model": model}, values[vendor, model]) for vendor, model in models]
            yield Family(name, "gauge", about, samples)

    def _sums_of(self, provider_id: str, known: Known) -> _Sums:
        before = self._sums.get(provider_id)
        if before is not None and before.known is known:
            return before
        inventory = known.inventory
        nodes = [] if inventory is None else inventory.nodes
        by_model: dict[tuple[str, str], list[int]] = {}
        for device in (device for node in nodes for device in node.devices):
            amounts = by_model.setdefault((device.vendor, device.model), [0, 0, 0, 0])
            amounts[0] += 1
            amounts[1] += device.healthy and is_unused(device)
            amounts[2] += (device.memory_total_mib or 0) * MIB
            amounts[3] += (device.memory_available_mib or 0) * MIB
        return _Sums(known, len(nodes), by_model)
