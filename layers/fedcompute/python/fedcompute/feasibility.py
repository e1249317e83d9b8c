"""Whether a request could be met at another time: would the node fit if nothing ran on it and nothing ailed it?"""

from collections.abc import Sequence

from msgspec import structs

from fedcompute.demand import Demand, GpuDemand
from fedcompute.inventory import Device, Node
from fedcompute.matching import judge
from fedcompute.survey import Kind, SurveyedNode


def would_fit_when_idle(surveyed: SurveyedNode, demand: Demand) -> bool:
    """Whether the node would fit if each available amount equalled its total and all were ready and healthy."""
    kinds = _idle_kinds(surveyed.kinds, demand.gpu) if demand.gpu is not None else ()
    return not judge(SurveyedNode(_idle_node(surveyed.node), kinds, surveyed.make), demand)[1]


def _idle_kinds(kinds: Sequence[Kind], demand: GpuDemand) -> list[Kind]:
    """What each device would be judged by: all of a kind at once, since a search may ask of thousands."""
    idle = demand.idle
    for kind in kinds:
        if kind not in idle:
            idle[kind] = Kind(_idle_device(kind.device), kind.make)
    return [idle[kind] for kind in kinds]


def _idle_node(node: Node) -> Node:
    """The node itself, its devices apart."""
    cpu, memory, pods = node.cpu, node.memory, node.pods
    return structs.replace(
        node,
        ready=True,
        schedulable=True,
        cpu=structs.replace(cpu, available_millicores=_all_of(cpu.available_millicores, cpu.total_millicores)),
        memory=structs.replace(memory, available_bytes=_all_of(memory.available_bytes, memory.total_bytes)),
        pods=pods and structs.replace(pods, available=_all_of(pods.available, pods.total)),
    )


def _idle_device(device: Device) -> Device:
    memory = _all_of(device.memory_available_mib, device.memory_total_mib)
    return structs.replace(
        device,
        healthy=True,
        memory_available_mib=memory,
        largest_free_mib=None if device.largest_free_mib is None else _all_of(device.largest_free_mib, memory),
        compute_available_percent=_all_of(device.compute_available_percent, device.compute_total_percent),
        slots_available=_all_of(device.slots_available, device.slots_total),
    )


def _all_of(available: int | None, total: int | None) -> int | None:
    """The total; where that is not known, what is known to be available is the least that there is."""
    return available if total is None else total
