"""What no single field of an inventory can tell: more available than there is, and parts larger than the whole."""

from collections.abc import Iterator

from fedcompute.inventory import Device, Node

MOST_NODES = 20_000  # of an inventory
# Of a node.
MOST_DEVICES = 1024
MOST_LABELS = 512
MOST_TAINTS = 128

Fault = tuple[str, str]  # the field, and in words what is wrong with it


def node_faults(node: Node) -> Iterator[Fault]:
    """Why a node can't be believed, its devices apart."""
    cpu, memory, pods = node.cpu, node.memory, node.pods
    yield from _above("cpu/available_millicores", cpu.available_millicores, "the total", cpu.total_millicores)
    yield from _above("memory/available_bytes", memory.available_bytes, "the total", memory.total_bytes)
    if pods is not None:
        yield from _above("pods/available", pods.available, "the total", pods.total)
    if len(node.labels) > MOST_LABELS:
        yield "labels", _too_many(len(node.labels), MOST_LABELS)
    if len(node.taints) > MOST_TAINTS:
        yield "taints", _too_many(len(node.taints), MOST_TAINTS)
    if len(node.devices) > MOST_DEVICES:
        yield "devices", _too_many(len(node.devices), MOST_DEVICES)


def is_node_sound(node: Node) -> bool:
    """Whether node_faults finds nothing; in one expression, since every node of every reply passes here."""
    cpu, memory, pods = node.cpu, node.memory, node.pods
    return not (
        _exceeds(cpu.available_millicores, cpu.total_millicores)
        or _exceeds(memory.available_bytes, memory.total_bytes)
        or (pods is not None and _exceeds(pods.available, pods.total))
        or len(node.labels) > MOST_LABELS
        or len(node.taints) > MOST_TAINTS
        or len(node.devices) > MOST_DEVICES
    )


def _exceeds(amount: int | None, most: int | None) -> bool:
    return amount is not None and most is not None and amount > most


def _too_many(count: int, most: int) -> str:
    return f"{count} are more than the {most} that a node may have"


def device_faults(device: Device) -> Iterator[Fault]:
    """Why a device can't be believed."""
    yield from _above("memory_available_mib", device.memory_available_mib, "the total", device.memory_total_mib)
    yield from _above("largest_free_mib", device.largest_free_mib, "what is available", device.memory_available_mib)
    yield from _above("largest_free_mib", device.largest_free_mib, "the total", device.memory_total_mib)
    yield from _above(
        "compute_available_percent", device.compute_available_percent, "the total", device.compute_total_percent
    )
    yield from _above("slots_available", device.slots_available, "the total", device.slots_total)


def _above(field: str, amount: int | None, bound: str, most: int | None) -> Iterator[Fault]:
    if _exceeds(amount, most):
        yield field, f"{amount} is above {bound}, {most}"


def is_sound(device: Device) -> bool:
    """Whether device_faults finds nothing; in one expression, since every device of every reply passes here."""
    return not (
        (
            (memory := device.memory_available_mib) is not None
            and (total := device.memory_total_mib) is not None
            and memory > total
        )
        or (
            (largest := device.largest_free_mib) is not None
            and (
                (memory is not None and largest > memory)
                or ((total := device.memory_total_mib) is not None and largest > total)
            )
        )
        or (
            (compute := device.compute_available_percent) is not None
            and (total := device.compute_total_percent) is not None
            and compute > total
        )
        or (
            (slots := device.slots_available) is not None
            and (total := device.slots_total) is not None
            and slots > total
        )
    )
