"""Which devices of a group a candidate gets: the same idea as the strategy that orders the nodes."""

from collections.abc import Callable, Sequence
from math import inf

from fedcompute.demand import GpuDemand, Preference
from fedcompute.eligibility import free_memory
from fedcompute.inventory import Device
from fedcompute.matching import Group, distinct_cards
from fedcompute.request import Strategy
from fedcompute.rounding import rounded
from fedcompute.survey import Kind


def choose(group: Group, demand: GpuDemand, strategy: Strategy) -> Sequence[Device]:
    """The preferred `count` devices, each on a card of its own, the best first."""
    known = demand.preferences[strategy]
    if demand.count > 1:
        paired = zip(group.devices, group.kinds, group.failures, strict=True)
        order = sorted(
            ((*_standing(kind, known, strategy), *_tie(device)), device)
            for device, kind, failure in paired
            if failure is None
        )
        return distinct_cards(device for _, device in order)[: demand.count]
    best: Preference | None = None
    chosen: Device | None = None
    for device, kind, failure in zip(group.devices, group.kinds, group.failures, strict=True):
        if failure is None:
            standing = known.get(kind) or _standing(kind, known, strategy)
            if best is None or standing < best or (standing == best and chosen and _tie(device) < _tie(chosen)):
                best, chosen = standing, device
    return [] if chosen is None else [chosen]


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


def _standing(kind: Kind, known: dict[Kind, Preference], strategy: Strategy) -> Preference:
    """Where a device stands, by its kind, for which it is found once."""
    standing = known.get(kind)
    if standing is None:
        standing = known[kind] = _PREFERENCES[strategy](kind.device)
    return standing


def _smallest(device: Device) -> Preference:
    return _or_last(free_memory(device)), _or_last(device.compute_available_percent)


def _largest(device: Device) -> Preference:
    memory, compute = free_memory(device), device.compute_available_percent
    return inf if memory is None else -memory, inf if compute is None else -compute


def _fullest(device: Device) -> Preference:
    share = share_in_use(device)
    return (inf if share is None else -share,)


def _emptiest(device: Device) -> Preference:
    return (_or_last(share_in_use(device)),)


def _tie(device: Device) -> tuple[float, str]:
    return _or_last(device.index), device.id


def _or_last(amount: float | None) -> float:
    """What is unknown comes last under every strategy."""
    return inf if amount is None else amount


_PREFERENCES: dict[Strategy, Callable[[Device], Preference]] = {
    Strategy.BEST_FIT: _smallest,
    Strategy.MOST_AVAILABLE: _largest,
    Strategy.BINPACK: _fullest,
    Strategy.SPREAD: _emptiest,
}
