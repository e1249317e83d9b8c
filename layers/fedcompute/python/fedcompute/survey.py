"""An inventory's devices as matching looks at them: prepared once when a reply is read, used by every search.

Devices that differ in nothing that matching compares are of one kind, and a kind is judged once per search, however many
devices are of it. A fleet has few kinds: idle cards are alike.
"""

from collections.abc import Sequence
from typing import NamedTuple

from fedcompute.inventory import Device, Inventory, Node
from fedcompute.soundness import is_sound

MOST_KINDS = 100_000  # in memory at once; past that they are found anew


class Kind:
    """What matching compares of a device, by the first one that was met. Kinds are compared by identity."""

    __slots__ = ("device", "is_sound")

    def __init__(self, device: Device) -> None:
        self.device = device
        self.is_sound = is_sound(device)


class Bunch(NamedTuple):
    """The devices of a node that share resource, vendor and model, and the kind of each."""

    resource: str
    vendor: str
    model: str
    devices: Sequence[Device]
    kinds: Sequence[Kind]


class SurveyedNode(NamedTuple):
    """A node and its bunches, in the order in which their first devices stand."""

    node: Node
    bunches: Sequence[Bunch]


class Surveyed(NamedTuple):
    """An inventory and its nodes, ready to be matched."""

    inventory: Inventory
    nodes: Sequence[SurveyedNode]


_kinds: dict[tuple[object, ...], Kind] = {}


def survey(node: Node) -> SurveyedNode:
    """Sort a node's devices into bunches, and say the kind of each."""
    devices = node.devices
    if not devices:
        return SurveyedNode(node, ())
    first = devices[0]
    resource, vendor, model = first.resource, first.vendor, first.model
    for device in devices:
        if device.model != model or device.resource != resource or device.vendor != vendor:
            return SurveyedNode(node, _mixed(devices))
    return SurveyedNode(node, (Bunch(resource, vendor, model, devices, _kinds_of(devices)),))


def _mixed(devices: Sequence[Device]) -> list[Bunch]:
    groups: dict[tuple[str, str, str], list[Device]] = {}
    for device in devices:
        groups.setdefault((device.resource, device.vendor, device.model), []).append(device)
    return [Bunch(*key, members, _kinds_of(members)) for key, members in groups.items()]


def _kinds_of(devices: Sequence[Device]) -> list[Kind]:
    if len(_kinds) > MOST_KINDS:
        _kinds.clear()  # kinds in use stay; equal ones met later are merely judged once more
    kinds = []
    for device in devices:
        # All that eligibility and soundness read; spelled out, since every device of every reply passes here.
        key = (
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
        )
        kind = _kinds.get(key)
        if kind is None:
            kind = _kinds[key] = Kind(device)
        kinds.append(kind)
    return kinds
