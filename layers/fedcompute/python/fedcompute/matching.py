"""Which nodes can hold a request, and every reason why the others can't. Pure: no clock, no network.

Reasons are only named here; fedcompute.explanation tells them in full, for the few nodes of which an answer shows them.
"""

from collections.abc import Iterable, Sequence

from fedcompute.demand import Demand, GpuDemand
from fedcompute.eligibility import failure_of
from fedcompute.inventory import Device, Node
from fedcompute.survey import Kind, Make, SurveyedNode
from fedcompute.taints import are_tolerated


class Group:
    """Devices of a node that share resource, vendor and model; the devices of a candidate come from one group."""

    __slots__ = ("devices", "failures", "kinds", "make")

    def __init__(
        self, make: Make, devices: Sequence[Device], kinds: Sequence[Kind], failures: Sequence[str | None]
    ) -> None:
        self.make = make
        self.devices = devices
        self.kinds = kinds
        self.failures = failures  # the test that each device fails; None: it can serve the request

    @property
    def eligible(self) -> list[Device]:
        """The devices that can serve the request."""
        return [device for device, failure in zip(self.devices, self.failures, strict=True) if failure is None]

    def healthy(self, demand: GpuDemand) -> int:
        """How many healthy devices `gpu.count` counts: where several are asked for, one per card."""
        if demand.count == 1:
            return len(self.devices) - self.failures.count("gpu_unhealthy")
        return len(distinct_cards(device for device in self.devices if device.healthy))

    def most(self, demand: GpuDemand) -> int:
        """How many devices it could give to one job, counted likewise."""
        return self.failures.count(None) if demand.count == 1 else len(distinct_cards(self.eligible))


# The groups that can serve a request, none where no GPU is asked for; and the reasons that keep it off, none where it fits.
Verdict = tuple[Sequence[Group], Sequence[str]]


def judge(surveyed: SurveyedNode, demand: Demand) -> Verdict:
    """Compare one node with a request."""
    names = _node_reasons(surveyed.node, demand)
    gpu, make = demand.gpu, surveyed.make
    if gpu is not None and make is not None:
        return _judge_one_group(surveyed, make, demand, gpu, names)
    if gpu is not None and surveyed.kinds:
        return _judge_several_groups(surveyed, demand, gpu, names)
    if not are_tolerated(surveyed.node.taints, demand.tolerations, None):
        names.append("untolerated_taint")
    if gpu is not None:
        names += ["no_gpu", "insufficient_gpu_count"]
    return (), names


def groups_of(surveyed: SurveyedNode, failures: Sequence[str | None]) -> list[Group]:
    """The node's groups, in the order in which their first devices stand."""
    devices, kinds = surveyed.node.devices, surveyed.kinds
    members: dict[tuple[str, str, str], list[int]] = {}
    for place, kind in enumerate(kinds):
        members.setdefault(kind.make.key, []).append(place)
    return [
        Group(
            kinds[places[0]].make,
            [devices[place] for place in places],
            [kinds[place] for place in places],
            [failures[place] for place in places],
        )
        for places in members.values()
    ]


def failures_of(kinds: Sequence[Kind], demand: GpuDemand) -> list[str | None]:
    """The test that each device fails first, None for none; found once for each kind."""
    known = demand.failures
    try:
        return [known[kind] for kind in kinds]
    except KeyError:
        for kind in kinds:
            if kind not in known:
                failure = failure_of(kind, demand)
                known[kind] = None if failure is None else failure[0]
        return [known[kind] for kind in kinds]


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


def _node_reasons(node: Node, demand: Demand) -> list[str]:
    """What keeps the request off, devices and taints apart."""
    names = []
    if not node.ready:
        names.append("node_not_ready")
    if not node.schedulable:
        names.append("node_not_schedulable")
    pods = node.pods
    if pods is not None and (pods.available == 0 or (pods.available is None and pods.total == 0)):
        names.append("no_free_pod")
    if demand.cpu is not None:
        available = node.cpu.available_millicores
        if available is None or available < demand.cpu:
            names.append(_lack("cpu", available, node.cpu.total_millicores, demand.cpu))
    if demand.memory is not None:
        available = node.memory.available_bytes
        if available is None or available < demand.memory:
            names.append(_lack("memory", available, node.memory.total_bytes, demand.memory))
    return names


def _lack(what: str, available: int | None, total: int | None, need: int) -> str:
    """A total that is known to be too small is enough to tell, whatever is available of it."""
    is_known = available is not None or (total is not None and total < need)
    return f"insufficient_{what}" if is_known else f"unknown_{what}"


def _judge_one_group(surveyed: SurveyedNode, make: Make, demand: Demand, gpu: GpuDemand, names: list[str]) -> Verdict:
    """Compare the devices of a node that has one group, as most have. `names`: what keeps the request off anyway."""
    node, kinds = surveyed.node, surveyed.kinds
    if node.taints and not are_tolerated(node.taints, demand.tolerations, make.resource):
        names.append("untolerated_taint")
    failures = failures_of(kinds, gpu)
    if failures.count(None) < gpu.count:
        names += _lacking(failures)
    if names and (gpu.count == 1 or "insufficient_gpu_count" in names):
        return (), names
    group = Group(make, node.devices, kinds, failures)
    if gpu.count > 1 and group.most(gpu) < gpu.count:
        names += _lacking(failures)
    return () if names else (group,), names


def _judge_several_groups(surveyed: SurveyedNode, demand: Demand, gpu: GpuDemand, names: list[str]) -> Verdict:
    failures = failures_of(surveyed.kinds, gpu)
    taints = surveyed.node.taints
    if failures.count(None) < gpu.count and not taints:
        return (), names + _lacking(failures)
    groups = groups_of(surveyed, failures)
    usable = enough = [group for group in groups if group.most(gpu) >= gpu.count]
    if taints:
        # Where none has enough, it is the right devices of which a taint is told, if there are any, or else all.
        wanted = [group for group in groups if gpu.mismatch(group.make.vendor, group.make.model) is None]
        usable = [
            group
            for group in enough or wanted or groups
            if are_tolerated(taints, demand.tolerations, group.make.resource)
        ]
        if not usable:
            names.append("untolerated_taint")
    if not enough:
        names += _lacking(failures)
    return () if names else usable, names


def _lacking(failures: Sequence[str | None]) -> list[str]:
    """What devices lack of which too few can serve the request."""
    return [name for name in {*failures, "insufficient_gpu_count"} if name is not None]
