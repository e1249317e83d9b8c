"""Which nodes can hold a request, and every reason why the others can't. Pure: no clock, no network."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from fedcompute.demand import Demand, GpuDemand
from fedcompute.eligibility import failure_of
from fedcompute.inventory import Device, Node, Pods
from fedcompute.taints import are_tolerated

# Reasons in the order in which a rejection lists them.
REASONS = (
    "node_not_ready",
    "node_not_schedulable",
    "untolerated_taint",
    "no_free_pod",
    "unknown_cpu",
    "insufficient_cpu",
    "unknown_memory",
    "insufficient_memory",
    "no_gpu",
    "gpu_vendor_mismatch",
    "gpu_model_mismatch",
    "gpu_unhealthy",
    "unknown_gpu_slots",
    "no_free_gpu_slot",
    "gpu_in_use",
    "unknown_gpu_memory",
    "insufficient_gpu_memory",
    "unknown_gpu_compute",
    "insufficient_gpu_compute",
    "insufficient_gpu_count",
)
_PLACE = {reason: place for place, reason in enumerate(REASONS)}


class Reason(NamedTuple):
    """One thing that keeps a request off a node. Amounts are None for what is no amount or not known.

    `devices`: how many devices fail so, for a reason that is theirs. `have`: the best among them.
    """

    reason: str
    have: int | None = None
    need: int | None = None
    devices: int | None = None

    @property
    def short_by(self) -> int | None:
        """How much is missing."""
        return None if self.have is None or self.need is None else self.need - self.have


class Group:
    """The devices of a node that share resource, vendor and model; the devices of a candidate come from one group."""

    __slots__ = ("eligible", "healthy", "mismatch", "model", "resource", "vendor")

    def __init__(self, resource: str, vendor: str, model: str, mismatch: str | None) -> None:
        self.resource = resource
        self.vendor = vendor
        self.model = model
        self.mismatch = mismatch  # why these are not the devices asked for
        self.healthy: list[Device] = []
        self.eligible: list[Device] = []


class Match(NamedTuple):
    """How a node and a request compare. It fits when `reasons` is empty; then any of `groups` can serve it.

    `groups` is empty where no GPU is asked for.
    """

    groups: Sequence[Group]
    reasons: Sequence[Reason]


def match(node: Node, demand: Demand) -> Match:
    """Compare one node with a request."""
    groups: Sequence[Group] = ()
    device_reasons: Sequence[Reason] = ()
    is_tolerated = True
    if demand.gpu is None:
        is_tolerated = not node.taints or are_tolerated(node.taints, demand.tolerations, None)
    else:
        groups, device_reasons = _match_devices(node.devices, demand.gpu)
        if node.taints:
            usable = [group for group in groups if are_tolerated(node.taints, demand.tolerations, group.resource)]
            is_tolerated = bool(usable) or (not groups and are_tolerated(node.taints, demand.tolerations, None))
            groups = usable
    reasons = [*_node_reasons(node, demand, is_tolerated), *device_reasons]
    return Match(() if reasons else groups, reasons)


def distinct_cards(devices: Iterable[Device]) -> list[Device]:
    """The first device of each card; one that names no card is a card of its own."""
    seen: set[str] = set()
    firsts = []
    for device in devices:
        if device.card is not None:
            if device.card in seen:
                continue
            seen.add(device.card)
        firsts.append(device)
    return firsts


def countable(devices: list[Device], demand: GpuDemand) -> list[Device]:
    """The devices that `gpu.count` counts: where several are asked for, one per card."""
    return devices if demand.count == 1 else distinct_cards(devices)


def _node_reasons(node: Node, demand: Demand, is_tolerated: bool) -> Iterable[Reason]:
    if not node.ready:
        yield Reason("node_not_ready")
    if not node.schedulable:
        yield Reason("node_not_schedulable")
    if not is_tolerated:
        yield Reason("untolerated_taint")
    if node.pods is not None and _has_no_pod(node.pods):
        yield Reason("no_free_pod", 0, 1)
    if demand.cpu is not None:
        yield from _lacks("cpu", node.cpu.available_millicores, node.cpu.total_millicores, demand.cpu)
    if demand.memory is not None:
        yield from _lacks("memory", node.memory.available_bytes, node.memory.total_bytes, demand.memory)


def _has_no_pod(pods: Pods) -> bool:
    return pods.available == 0 or (pods.available is None and pods.total == 0)


def _lacks(name: str, available: int | None, total: int | None, need: int) -> Iterable[Reason]:
    if available is not None:
        if available < need:
            yield Reason(f"insufficient_{name}", available, need)
    elif total is not None and total < need:
        yield Reason(f"insufficient_{name}", total, need)
    else:
        yield Reason(f"unknown_{name}", None, need)


def _match_devices(devices: Sequence[Device], demand: GpuDemand) -> tuple[Sequence[Group], Sequence[Reason]]:
    """The groups that have enough devices, or all groups that a taint could be tolerated for, and the reasons."""
    groups, failures = _grouped(devices, demand)
    enough = [group for group in groups if len(countable(group.eligible, demand)) >= demand.count]
    if enough:
        return enough, ()
    wanted = [group for group in groups if group.mismatch is None]
    most = max((len(countable(group.eligible, demand)) for group in wanted), default=0)
    reasons = [_described(name, failed, demand) for name, failed in failures.items()]
    if not devices:
        reasons.append(Reason("no_gpu", 0, demand.count))
    reasons.sort(key=lambda reason: _PLACE[reason.reason])
    reasons.append(Reason("insufficient_gpu_count", most, demand.count))
    return wanted or groups, reasons


def _grouped(devices: Sequence[Device], demand: GpuDemand) -> tuple[list[Group], dict[str, list[int | None]]]:
    """The groups, and for each failed test what the devices that fail it first have."""
    groups: dict[tuple[str, str, str], Group] = {}
    failures: dict[str, list[int | None]] = {}
    for device in devices:
        key = (device.resource, device.vendor, device.model)
        group = groups.get(key)
        if group is None:
            group = groups[key] = Group(*key, demand.mismatch(device.vendor, device.model))
        if group.mismatch is not None:
            failures.setdefault(group.mismatch, []).append(None)
            continue
        failure = failure_of(device, demand)
        if device.healthy:
            group.healthy.append(device)
        if failure is None:
            group.eligible.append(device)
        else:
            failures.setdefault(failure[0], []).append(failure[1])
    return list(groups.values()), failures


def _described(name: str, have: list[int | None], demand: GpuDemand) -> Reason:
    need: int | None = None
    if name in ("unknown_gpu_slots", "no_free_gpu_slot"):
        need = 1
    elif name.endswith("gpu_memory"):
        need = demand.memory or 1
    elif name.endswith("gpu_compute"):
        need = demand.compute or 1
    best = max((amount for amount in have if amount is not None), default=None)
    return Reason(name, best, need, len(have))
