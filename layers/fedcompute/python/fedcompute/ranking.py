"""How well a node that fits suits a request: scores in [0, 1], higher is better. docs/ranking.md has the formulas."""

from collections.abc import Callable, Sequence

from fedcompute.choice import choose
from fedcompute.demand import GPU_WEIGHT, Demand, GpuDemand
from fedcompute.eligibility import free_memory
from fedcompute.inventory import Device, Node
from fedcompute.matching import Group
from fedcompute.request import GpuRequest, SearchRequest, Strategy
from fedcompute.rounding import rounded

# One thing that was asked for on a node: its part (cpu, memory or gpu), how much there is, is free and is asked, its weight.
Dimension = tuple[str, int | None, int | None, int, float]


_Amounts = list[tuple[int, int, int, float]]  # total, free, asked, weight


class Fit:
    """A node that fits, with the devices chosen for it. `group` is None where no GPU is asked for."""

    __slots__ = ("devices", "group", "node", "score", "told")

    def __init__(self, node: Node, group: Group | None, devices: Sequence[Device], score: float) -> None:
        self.node = node
        self.group = group
        self.devices = devices
        self.score = score
        self.told: object = None  # what an answer has said of it, for whoever makes the next


def best_fit_of(node: Node, groups: Sequence[Group], demand: Demand) -> Fit:
    """The node with its best-scored group; `groups` are those of a Match that fits.

    Ties: resource, model, vendor, as text.
    """
    if demand.gpu is None:
        return Fit(node, None, (), score(demand.strategy, dimensions(node, None, (), demand)))
    fits = [_fit(node, group, demand, demand.gpu) for group in groups]
    if len(fits) == 1:
        return fits[0]
    return min(fits, key=_group_order)


def dimensions(node: Node, group: Group | None, devices: Sequence[Device], demand: Demand) -> list[Dimension]:
    """What was asked for, in the order of every sum: cpu, memory, gpu_count, gpu_memory, gpu_compute."""
    asked = _of_node(node, demand)
    gpu = demand.gpu
    if gpu is None or group is None:
        return asked
    weight = gpu.weight
    asked.append(("gpu", group.healthy(gpu), group.most(gpu), gpu.count, weight))
    if gpu.memory is not None:
        total, free = _sums([(device.memory_total_mib, free_memory(device)) for device in devices])
        asked.append(("gpu", total, free, gpu.count * gpu.memory, weight))
    if gpu.compute is not None:
        total, free = _sums([(d.compute_total_percent, d.compute_available_percent) for d in devices])
        asked.append(("gpu", total, free, gpu.count * gpu.compute, weight))
    return asked


def score(strategy: Strategy, asked: Sequence[Dimension]) -> float:
    """The strategy's formula over the dimensions whose total and free amount are known; 0 where none is."""
    known = _known(asked)
    return rounded(_FORMULAS[strategy](known)) if known else 0.0


def highest_score(node: Node, demand: Demand) -> float:
    """What a node's score would be with ideal devices; no score of the node is above it.

    Found in a quarter of the time of the score itself: most nodes that fit are not among the best, and needn't be scored.
    """
    known = _known(_of_node(node, demand))
    return rounded(_FORMULAS[demand.strategy]([*known, (*_IDEAL[demand.strategy], GPU_WEIGHT)]))


def _of_node(node: Node, demand: Demand) -> list[Dimension]:
    asked: list[Dimension] = []
    if demand.cpu is not None:
        asked.append(("cpu", node.cpu.total_millicores, node.cpu.available_millicores, demand.cpu, 1.0))
    if demand.memory is not None:
        asked.append(("memory", node.memory.total_bytes, node.memory.available_bytes, demand.memory, 1.0))
    return asked


def _known(asked: Sequence[Dimension]) -> _Amounts:
    return [(total, free, need, weight) for _, total, free, need, weight in asked if total and free is not None]


def score_parts(fit: Fit, demand: Demand) -> dict[str, float]:
    """The formula over each part's dimensions alone; one with nothing known is 0."""
    parts: dict[str, list[Dimension]] = {}
    for dimension in dimensions(fit.node, fit.group, fit.devices, demand):
        parts.setdefault(dimension[0], []).append(dimension)
    return {part: score(demand.strategy, asked) for part, asked in parts.items()}


def weights(request: SearchRequest) -> dict[str, float]:
    """The weight of each dimension that was asked for; none under most-available, which takes the scarcest alone."""
    if request.strategy is Strategy.MOST_AVAILABLE:
        return {}
    found = {name: 1.0 for name, asked in (("cpu", request.cpu), ("memory", request.memory)) if asked}
    if request.gpu is not None:
        names = _gpu_dimensions(request.gpu)
        found |= dict.fromkeys(names, GPU_WEIGHT / len(names))
    return found


def _fit(node: Node, group: Group, demand: Demand, gpu: GpuDemand) -> Fit:
    devices = choose(group, gpu, demand.strategy)
    return Fit(node, group, devices, score(demand.strategy, dimensions(node, group, devices, demand)))


def _group_order(fit: Fit) -> tuple[float, str, str, str]:
    group = fit.group
    assert group is not None
    make = group.make
    return -fit.score, make.resource, make.model, make.vendor


def _gpu_dimensions(gpu: GpuRequest) -> list[str]:
    memory, compute = gpu.minimum_memory_mib, gpu.minimum_compute_percent
    asked = (("gpu_count", gpu.count), ("gpu_memory", memory), ("gpu_compute", compute))
    return [name for name, amount in asked if amount is not None]


def _sums(amounts: list[tuple[int | None, int | None]]) -> tuple[int | None, int | None]:
    """Totals and free amounts added up; one that is unknown makes the sums unknown."""
    if len(amounts) == 1:
        return amounts[0]
    total = free = 0
    for whole, left in amounts:
        if whole is None or left is None:
            return None, None
        total += whole
        free += left
    return total, free


def _best_fit(known: _Amounts) -> float:
    total_weight = weighted = 0.0
    for _, free, need, weight in known:
        weighted += weight * ((free - need) / need)
        total_weight += weight
    return 1 / (1 + weighted / total_weight)


def _most_available(known: _Amounts) -> float:
    headroom = min([free / need for _, free, need, _ in known])
    return headroom / (1 + headroom)


def _binpack(known: _Amounts) -> float:
    total_weight = weighted = 0.0
    for total, free, need, weight in known:
        weighted += weight * ((total - free + need) / total)
        total_weight += weight
    return weighted / total_weight


def _spread(known: _Amounts) -> float:
    total_weight = weighted = 0.0
    for total, free, need, weight in known:
        weighted += weight * ((free - need) / total)
        total_weight += weight
    return weighted / total_weight


_FORMULAS: dict[Strategy, Callable[[_Amounts], float]] = {
    Strategy.BEST_FIT: _best_fit,
    Strategy.MOST_AVAILABLE: _most_available,
    Strategy.BINPACK: _binpack,
    Strategy.SPREAD: _spread,
}

# Total, free and asked of the devices that each formula likes best.
_IDEAL: dict[Strategy, tuple[int, int, int]] = {
    Strategy.BEST_FIT: (1, 1, 1),
    Strategy.MOST_AVAILABLE: (1, 1 << 62, 1),
    Strategy.BINPACK: (1, 1, 1),
    Strategy.SPREAD: (1, 1, 0),
}
