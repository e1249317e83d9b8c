"""How many such requests fit on a node side by side."""

from collections.abc import Sequence

from fedcompute.demand import Demand, GpuDemand
from fedcompute.eligibility import needs_unused
from fedcompute.inventory import Device
from fedcompute.ranking import Fit


def copies(fit: Fit, demand: Demand) -> int:
    """The least of what cpu, memory, pods and devices allow; unknown amounts do not bound it."""
    node = fit.node
    bounds = [_times(node.cpu.available_millicores, demand.cpu), _times(node.memory.available_bytes, demand.memory)]
    if node.pods is not None:
        bounds.append(node.pods.available)
    if demand.gpu is not None and fit.group is not None:
        bounds.append(most_placements(_shares_by_card(fit.group.eligible, demand.gpu), demand.gpu.count))
    return min(bound for bound in bounds if bound is not None)


def most_placements(shares: Sequence[int], count: int) -> int:
    """The largest k with sum over cards of min(shares, k) >= k * count: k requests, each on `count` distinct cards."""
    # sum of min(share, k) is the least, over j, of j * k + (the sum of all shares but the j largest). So the condition
    # holds when (count - j) * k is at most the sum of the others, for each j below count: one pass, however large the shares.
    others = sum(shares)
    most = others // count
    for j, share in enumerate(sorted(shares, reverse=True)[: count - 1], 1):
        others -= share
        most = min(most, others // (count - j))
    return most


def _shares_by_card(eligible: list[Device], demand: GpuDemand) -> list[int]:
    cards: dict[str | int, int] = {}
    for place, device in enumerate(eligible):
        card = place if device.card is None else device.card
        cards[card] = cards.get(card, 0) + _shares(device, demand)
    return list(cards.values())


def _shares(device: Device, demand: GpuDemand) -> int:
    """How many requests one eligible device can serve at once, each with one share of it."""
    if needs_unused(device, demand) or device.largest_free_mib is not None:
        return 1
    bounds = (
        device.slots_available,
        _times(device.memory_available_mib, demand.memory),
        _times(device.compute_available_percent, demand.compute),
    )
    return min(bound for bound in bounds if bound is not None)


def _times(free: int | None, asked: int | None) -> int | None:
    return None if free is None or asked is None else free // asked
