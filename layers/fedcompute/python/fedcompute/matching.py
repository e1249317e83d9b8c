"""Which nodes can hold a request, and every reason why the others can't. Pure: no clock, no network."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from fedcompute.demand import Demand, GpuDemand
from fedcompute.eligibility import failure_of
from fedcompute.inventory import Device, Node, Pods
from fedcompute.survey import Bunch, SurveyedNode, survey
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
    """Devices of a node that share resource, vendor and model; the devices of a candidate come from one group."""

    __slots__ = ("devices", "eligible", "mismatch", "model", "resource", "vendor")

    def __init__(self, bunch: Bunch, mismatch: str | None, eligible: list[Device]) -> None:
        self.resource = bunch.resource
        self.vendor = bunch.vendor
        self.model = bunch.model
        self.devices = bunch.devices
        self.mismatch = mismatch  # why these are not the devices asked for
        self.eligible = eligible

    @property
    def healthy(self) -> list[Device]:
        """Those of the devices that are healthy."""
        return [device for device in self.devices if device.healthy]


class Match(NamedTuple):
    """How a node and a request compare. It fits when `reasons` is empty; then any of `groups` can serve it.

    `groups` is empty where no GPU is asked for.
    """

    groups: Sequence[Group]
    reasons: Sequence[Reason]


def match(node: Node, demand: Demand) -> Match:
    """Compare one node with a request."""
    return match_surveyed(survey(node), demand)


def match_surveyed(surveyed: SurveyedNode, demand: Demand) -> Match:
    """Compare one node, prepared before, with a request."""
    node = surveyed.node
    groups: Sequence[Group] = ()
    device_reasons: Sequence[Reason] = ()
    is_tolerated = True
    if demand.gpu is None:
        is_tolerated = not node.taints or are_tolerated(node.taints, demand.tolerations, None)
    else:
        groups, device_reasons = _match_devices(surveyed.bunches, demand.gpu)
        if node.taints:
            usable = [group for group in groups if are_tolerated(node.taints, demand.tolerations, group.resource)]
            is_tolerated = bool(usable) or (not groups and are_tolerated(node.taints, demand.tolerations, None))
            groups = usable
    reasons = _node_reasons(node, demand, is_tolerated)
    if device_reasons:
        reasons.extend(device_reasons)
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


def _node_reasons(node: Node, demand: Demand, is_tolerated: bool) -> list[Reason]:
    reasons = []
    if not node.ready:
        reasons.append(Reason("node_not_ready"))
    if not node.schedulable:
        reasons.append(Reason("node_not_schedulable"))
    if not is_tolerated:
        reasons.append(Reason("untolerated_taint"))
    if node.pods is not None and _has_no_pod(node.pods):
        reasons.append(Reason("no_free_pod", 0, 1))
    if demand.cpu is not None:
        available = node.cpu.available_millicores
        if available is None or available < demand.cpu:
            reasons.append(_lack("cpu", available, node.cpu.total_millicores, demand.cpu))
    if demand.memory is not None:
        available = node.memory.available_bytes
        if available is None or available < demand.memory:
            reasons.append(_lack("memory", available, node.memory.total_bytes, demand.memory))
    return reasons


def _has_no_pod(pods: Pods) -> bool:
    return pods.available == 0 or (pods.available is None and pods.total == 0)


def _lack(name: str, available: int | None, total: int | None, need: int) -> Reason:
    if available is not None:
        return Reason(f"insufficient_{name}", available, need)
    if total is not None and total < need:
        return Reason(f"insufficient_{name}", total, need)
    return Reason(f"unknown_{name}", None, need)


def _match_devices(bunches: Sequence[Bunch], demand: GpuDemand) -> tuple[Sequence[Group], Sequence[Reason]]:
    """The groups that have enough devices, or all groups that a taint could be tolerated for, and the reasons."""
    groups = [_group(bunch, demand) for bunch in bunches]
    enough = [group for group in groups if len(countable(group.eligible, demand)) >= demand.count]
    if enough:
        return enough, ()
    wanted = [group for group in groups if group.mismatch is None]
    most = max((len(countable(group.eligible, demand)) for group in wanted), default=0)
    reasons = [Reason("no_gpu", 0, demand.count)] if not bunches else _device_reasons(bunches, demand)
    reasons.append(Reason("insufficient_gpu_count", most, demand.count))
    return wanted or groups, reasons


def _group(bunch: Bunch, demand: GpuDemand) -> Group:
    mismatch = demand.mismatch(bunch.vendor, bunch.model)
    if mismatch is not None:
        return Group(bunch, mismatch, [])
    failures = demand.failures
    for kind in bunch.kinds:
        if kind not in failures:
            failures[kind] = failure_of(kind.device, demand)
    paired = zip(bunch.devices, bunch.kinds, strict=True)
    return Group(bunch, None, [device for device, kind in paired if failures[kind] is None])


def _device_reasons(bunches: Sequence[Bunch], demand: GpuDemand) -> list[Reason]:
    """One reason for each test that a device fails first, in the fixed order."""
    counts: dict[str, int] = {}
    best: dict[str, int | None] = {}
    for bunch in bunches:
        mismatch = demand.mismatch(bunch.vendor, bunch.model)
        if mismatch is not None:
            counts[mismatch] = counts.get(mismatch, 0) + len(bunch.devices)
            continue
        for kind in bunch.kinds:
            failure = demand.failures[kind]
            if failure is None:
                continue
            name, have = failure
            counts[name] = counts.get(name, 0) + 1
            known = best.get(name)
            if have is not None and (known is None or have > known):
                best[name] = have
    names = sorted(counts, key=_PLACE.__getitem__) if len(counts) > 1 else counts
    return [Reason(name, best.get(name), _need(name, demand), counts[name]) for name in names]


def _need(name: str, demand: GpuDemand) -> int | None:
    """How much of what it lacks a device would need; None for what is no amount."""
    if name in ("unknown_gpu_slots", "no_free_gpu_slot"):
        return 1
    if name in ("unknown_gpu_memory", "insufficient_gpu_memory"):
        return demand.memory or 1
    if name in ("unknown_gpu_compute", "insufficient_gpu_compute"):
        return demand.compute or 1
    return None
