"""Why a node can't hold a request, told in full."""

from collections.abc import Collection, Sequence
from typing import NamedTuple

from fedcompute.demand import Demand, GpuDemand
from fedcompute.eligibility import failure_of
from fedcompute.inventory import Node
from fedcompute.matching import Group, failures_of, groups_of, judge
from fedcompute.reasons import PLACE, Reason
from fedcompute.survey import SurveyedNode, survey


class Match(NamedTuple):
    """How a node and a request compare. It fits when `reasons` is empty; then any of `groups` can serve it.

    `groups` is empty where no GPU is asked for.
    """

    groups: Sequence[Group]
    reasons: Sequence[Reason]


def match(node: Node, demand: Demand) -> Match:
    """Compare one node with a request."""
    surveyed = survey(node)
    groups, names = judge(surveyed, demand)
    return Match(groups, explained(surveyed, demand, names))


def explained(surveyed: SurveyedNode, demand: Demand, names: Collection[str]) -> list[Reason]:
    """The reasons that `judge` has named, in order."""
    return [_explained(name, surveyed, demand) for name in sorted(names, key=PLACE.__getitem__)]


def _explained(name: str, surveyed: SurveyedNode, demand: Demand) -> Reason:
    cpu, memory = surveyed.node.cpu, surveyed.node.memory
    if demand.gpu is not None and "gpu" in name:
        return _of_devices(name, surveyed, demand.gpu)
    amounts: dict[str, tuple[int | None, int | None]] = {  # what there is, and what is needed
        "unknown_cpu": (None, demand.cpu),
        "insufficient_cpu": (_first(cpu.available_millicores, cpu.total_millicores), demand.cpu),
        "unknown_memory": (None, demand.memory),
        "insufficient_memory": (_first(memory.available_bytes, memory.total_bytes), demand.memory),
        "no_free_pod": (0, 1),
    }
    return Reason(name, *amounts.get(name, (None, None)))


def _first(available: int | None, total: int | None) -> int | None:
    return total if available is None else available


def _of_devices(name: str, surveyed: SurveyedNode, demand: GpuDemand) -> Reason:
    """`have` is the best of what those devices have that fail so."""
    if name == "no_gpu":
        return Reason(name, 0, demand.count)
    if name == "insufficient_gpu_count":
        groups = groups_of(surveyed, failures_of(surveyed.kinds, demand))
        return Reason(name, max((group.most(demand) for group in groups), default=0), demand.count)
    found = [failure_of(kind, demand) for kind in surveyed.kinds]
    amounts = [failure[1] for failure in found if failure is not None and failure[0] == name]
    best = max((amount for amount in amounts if amount is not None), default=None)
    return Reason(name, best, _need(name, demand), len(amounts))


def _need(name: str, demand: GpuDemand) -> int | None:
    """How much of what it lacks a device would need; None for what is no amount."""
    if name in ("unknown_gpu_slots", "no_free_gpu_slot"):
        return 1
    if name in ("unknown_gpu_memory", "insufficient_gpu_memory"):
        return demand.memory or 1
    if name in ("unknown_gpu_compute", "insufficient_gpu_compute"):
        return demand.compute or 1
    return None
