"""Asks one provider now and tells its owner how that went; it need not be enabled."""

import time
from collections.abc import Callable
from typing import Any

from chalicelib.asking import Asking
from chalicelib.inventories import Answered
from fedcompute.eligibility import is_unused
from fedcompute.inventory import Device
from fedcompute.provider import ProviderRecord

SPARE_MS = 500  # so that it is the provider's own timeout that ends the call


def check(
    record: ProviderRecord, asking: Asking, tell: Callable[[ProviderRecord, str], None] = lambda _record, _outcome: None
) -> dict[str, Any]:
    """The provider's entry as in a search, the call's timings, and what its inventory holds (None: none came).

    `tell` is called with the record and the outcome before that.
    """
    (answered,) = asking.ask([record], time.monotonic() + (record.timeout_ms + SPARE_MS) / 1000, is_fresh=True)
    tell(record, answered.entry.outcome)
    return {
        "provider": answered.entry,
        "timings_ms": answered.reply.timings._asdict(),
        "inventory": _summary(answered),
    }


def _summary(answered: Answered) -> dict[str, Any] | None:
    inventory = answered.inventory
    if inventory is None:
        return None
    devices: list[Device] = [device for node in inventory.nodes for device in node.devices]
    return {
        "source": inventory.source,
        "observed_at": answered.observed_at and answered.observed_at.isoformat().replace("+00:00", "Z"),
        "nodes": len(inventory.nodes),
        "devices": len(devices),
        "devices_unused": sum(map(is_unused, devices)),
    }
