"""Which devices of a group a candidate gets: the same idea as the strategy that orders the nodes."""

from collections.abc import Callable
from math import inf
from typing import Any

from fedcompute.demand import GpuDemand
from fedcompute.eligibility import free_memory
from fedcompute.inventory import Device
from fedcompute.matching import countable
from fedcompute.request import Strategy
from fedcompute.rounding import rounded

# Sorts before another: the better choice. What is unknown comes last under every strategy.
Preference = Callable[[Device], tuple[Any, ...]]


def choose(eligible: list[Device], demand: GpuDemand, strategy: Strategy) -> list[Device]:
    """The preferred `count` devices, each on a card of its own, the best first."""
    prefer = _PREFERENCES[strategy]
    if demand.count == 1:
        return [min(eligible, key=prefer)] if len(eligible) > 1 else eligible
    return countable(sorted(eligible, key=prefer), demand)[: demand.count]


def share_in_use(device: Device) -> float | None:
    """The mean over memory and compute, where known, of used/total, rounded like a score; None where nothing is known."""
    total, known = 0.0, 0
    for whole, free in (
        (device.memory_total_mib, free_memory(device)),
        (device.compute_total_percent, device.compute_available_percent),
    ):
        if whole and free is not None:
            total += (whole - free) / whole
            known += 1
    return rounded(total / known) if known else None


def _smallest(device: Device) -> tuple[Any, ...]:
    return (_or_last(free_memory(device)), _or_last(device.compute_available_percent), *_tie(device))


def _largest(device: Device) -> tuple[Any, ...]:
    memory, compute = free_memory(device), device.compute_available_percent
    return (inf if memory is None else -memory, inf if compute is None else -compute, *_tie(device))


def _fullest(device: Device) -> tuple[Any, ...]:
    share = share_in_use(device)
    return (inf if share is None else -share, *_tie(device))


def _emptiest(device: Device) -> tuple[Any, ...]:
    return (_or_last(share_in_use(device)), *_tie(device))


def _tie(device: Device) -> tuple[float, str]:
    return _or_last(device.index), device.id


def _or_last(amount: float | None) -> float:
    return inf if amount is None else amount


_PREFERENCES: dict[Strategy, Preference] = {
    Strategy.BEST_FIT: _smallest,
    Strategy.MOST_AVAILABLE: _largest,
    Strategy.BINPACK: _fullest,
    Strategy.SPREAD: _emptiest,
}
