"""Whether a request could be met at another time: would the node fit if nothing ran on it and nothing ailed it?"""

from msgspec import structs

from fedcompute.demand import Demand
from fedcompute.inventory import Device, Node
from fedcompute.matching import match


def would_fit_when_idle(node: Node, demand: Demand) -> bool:
    """Whether the node would fit if each available amount equalled its total and all were ready and healthy."""
    return not match(_idle_node(node), demand).reasons


def _idle_node(node: Node) -> Node:
    cpu, memory, pods = node.cpu, node.memory, node.pods
    return structs.replace(
        node,
        ready=True,
        schedulable=True,
        cpu=structs.replace(cpu, available_millicores=_all_of(cpu.available_millicores, cpu.total_millicores)),
        memory=structs.replace(memory, available_bytes=_all_of(memory.available_bytes, memory.total_bytes)),
        pods=pods and structs.replace(pods, available=_all_of(pods.available, pods.total)),
        devices=[_idle_device(device) for device in node.devices],
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
