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
    eligible = group.eligible
    if demand.count == 1 and len(eligible) == 1:
        return eligible
    kinds = [kind for kind, failure in zip(group.kinds, group.failures, strict=True) if failure is None]
    preferences = _preferences(kinds, demand, strategy)
    if demand.count > 1:
        order = sorted(zip(preferences, map(_tie, eligible), eligible, strict=True), key=lambda entry: entry[:2])
        return distinct_cards(device for *_, device in order)[: demand.count]
    best = min(preferences)
    equal = [device for device, preference in zip(eligible, preferences, strict=True) if preference == best]
    return equal if len(equal) == 1 else [min(equal, key=_tie)]


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


def _preferences(kinds: Sequence[Kind], demand: GpuDemand, strategy: Strategy) -> list[Preference]:
    """Where each device stands, by its kind, for which it is found once."""
    known = demand.preferences
    try:
        return [known[kind] for kind in kinds]
    except KeyError:
        prefer = _PREFERENCES[strategy]
        for kind in kinds:
            if kind not in known:
                known[kind] = prefer(kind.device)
        return [known[kind] for kind in kinds]


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
