"""An inventory's devices as matching looks at them: prepared once when a reply is read, used by every search.

Devices that differ in nothing that matching compares are of one kind, and a kind is judged once per search, however many
devices are of it. A fleet has few kinds: idle cards are alike.
"""

from collections.abc import Iterable, Sequence
from operator import attrgetter
from typing import NamedTuple

from msgspec import structs

from fedcompute.inventory import Device, Inventory, Node
from fedcompute.soundness import is_sound

MOST_KINDS = 20_000  # in memory at once; past that they are found anew


class Make:
    """What the devices of a group share. Makes that are equal are mostly, but not always, one object."""

    __slots__ = ("model", "resource", "vendor")

    def __init__(self, device: Device) -> None:
        self.resource = device.resource
        self.vendor = device.vendor
        self.model = device.model

    @property
    def key(self) -> tuple[str, str, str]:
        """Equal for equal makes."""
        return self.resource, self.vendor, self.model


class Kind:
    """What matching compares of a device, by the first one that was met. Kinds are compared by identity."""

    __slots__ = ("device", "is_sound", "make")

    def __init__(self, device: Device, make: Make) -> None:
        self.device = device
        self.make = make
        self.is_sound = is_sound(device)


class SurveyedNode:
    """A node and the kind of each of its devices. A node of which anything is new is another one."""

    __slots__ = ("kinds", "make", "node", "outcome", "text_bytes")

    def __init__(self, node: Node, kinds: Sequence[Kind], make: Make | None) -> None:
        self.node = node
        self.text_bytes = 0  # how long the text was that it was read from, where that may come again
        self.kinds = kinds
        self.make = make  # of all its devices; None where they are of several, or there is none
        self.outcome: object = None  # what it came to when it was compared last: whoever compares it knows


class Surveyed(NamedTuple):
    """An inventory and its nodes, ready to be matched."""

    inventory: Inventory
    nodes: Sequence[SurveyedNode]


# All that eligibility and soundness read of a device, and what makes its group.
_KEY = attrgetter(
    "healthy",
    "slots_available",
    "memory_available_mib",
    "compute_available_percent",
    "memory_total_mib",
    "slots_total",
    "compute_total_percent",
    "largest_free_mib",
    "mode",
    "pool",
    "resource",
    "vendor",
    "model",
)

_kinds: dict[tuple[object, ...], Kind] = {}
_makes: dict[tuple[str, str, str], Make] = {}


def survey(node: Node) -> SurveyedNode:
    """Say the kind of each device of a node."""
    known = _kinds.get
    # _KEY's fields, spelled out, since every device of every reply passes here: half the time of a call of _KEY.
    kinds = [
        known(
            (
                device.healthy,
                device.slots_available,
                device.memory_available_mib,
                device.compute_available_percent,
                device.memory_total_mib,
                device.slots_total,
                device.compute_total_percent,
                device.largest_free_mib,
                device.mode,
                device.pool,
                device.resource,
                device.vendor,
                device.model,
            )
        )
        or _new_kind(device)
        for device in node.devices
    ]
    makes = {kind.make for kind in kinds}
    return SurveyedNode(node, kinds, makes.pop() if len(makes) == 1 else None)


def share_texts(nodes: Iterable[SurveyedNode]) -> None:
    """Let devices of a kind have the same texts and amounts in memory: for inventories that are kept, at half the size."""
    share = structs.force_setattr
    for one in nodes:
        for device, kind in zip(one.node.devices, one.kinds, strict=True):
            first = kind.device
            if device is first:
                continue
            share(device, "resource", first.resource)
            share(device, "vendor", first.vendor)
            share(device, "model", first.model)
            share(device, "mode", first.mode)
            share(device, "memory_total_mib", first.memory_total_mib)
            share(device, "memory_available_mib", first.memory_available_mib)


def are_sound(kinds: Iterable[Kind]) -> bool:
    """Whether devices of these kinds can be believed."""
    return all([kind.is_sound for kind in kinds])  # noqa: C419 (a list: three times as fast for so few)


def _new_kind(device: Device) -> Kind:
    if len(_kinds) > MOST_KINDS:
        _kinds.clear()  # kinds in use stay; equal ones met later are merely judged once more
        _makes.clear()
    make = Make(device)
    kind = _kinds[_KEY(device)] = Kind(device, _makes.setdefault(make.key, make))
    return kind
