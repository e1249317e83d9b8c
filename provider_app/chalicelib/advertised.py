"""Which way of advertising a node's devices counts, vendor by vendor: the same card never twice.

The first that has live devices: HAMi's register annotations, DRA, what HAMi takes from extended resources, extended
resources. A register whose plugin is gone counts where no other way has anything: its cards are known, and not to be had.
"""

from collections.abc import Iterator

from chalicelib.capacity_cards import capacity_cards
from chalicelib.core_objects import ClusterNode
from chalicelib.findings import Findings
from chalicelib.hami_families import Family, register_key
from chalicelib.hami_numbers import amount
from chalicelib.hami_registers import Register
from chalicelib.node_cards import CardGroup
from chalicelib.plain_devices import plain_devices
from chalicelib.pod_requests import Amounts
from chalicelib.unseen_pods import AskedBy
from fedcompute.inventory import Device

Found = CardGroup | Device

_REGISTER, _DRA, _PLAIN, _DEAD = "HAMi's register", "DRA", "the extended resource", "a dead register"


def ways_to_devices(
    node: ClusterNode, registers: list[Register], dra: list[Device], taken: Amounts | None, findings: Findings
) -> tuple[list[CardGroup], list[Device]]:
    """The groups of cards whose pods are still to be charged, and the devices that are ready as they are."""
    chosen: dict[str, str] = {}
    groups: list[CardGroup] = []
    devices: list[Device] = []
    for vendor, way, found in _ways(node, registers, dra, taken, findings):
        if chosen.setdefault(vendor, way) != way:
            told = f"{vendor}: {way} is left out, since {chosen[vendor]} tells of the same cards"
            findings.add("advertised_twice", told)
        elif isinstance(found, CardGroup):
            groups.append(found)
        else:
            devices.append(found)
    return groups, devices


def _ways(
    node: ClusterNode, registers: list[Register], dra: list[Device], taken: Amounts | None, findings: Findings
) -> Iterator[tuple[str, str, Found]]:
    """All that is advertised, by vendor and way; the first way of a vendor is the one that counts."""
    live = {one.family.vendor for one in registers if not one.stale and (one.cards or one.bad)}
    for register in registers:
        if register.family.vendor in live:
            yield register.family.vendor, _REGISTER, _group(register)
    for device in dra:
        yield device.vendor, _DRA, device
    for kind, cards in capacity_cards(node, findings):
        by = AskedBy(kind.count, kind.memory, kind.memory_unit, kind.cores)
        yield kind.vendor, f"{_PLAIN} {kind.count}", CardGroup(by, cards)
    slices_apart = _are_slices_apart(node, registers)
    for device in plain_devices(node, {one.resource for one in registers}, taken, findings):
        apart = device.vendor in live and slices_apart and device.resource.startswith("nvidia.com/mig-")
        yield device.vendor, _REGISTER if apart else _PLAIN, device
    for register in registers:
        if register.family.vendor not in live and register.cards:
            yield register.family.vendor, _DEAD, _group(register)


def _group(register: Register) -> CardGroup:
    family = register.family
    return CardGroup(_asked_by(register, family), register.cards, _slots_allocatable(register))


def _asked_by(register: Register, family: Family) -> AskedBy:
    named = register_key(register.key)
    if named is None:
        return AskedBy(register.resource)
    return AskedBy(register.resource, named.named(family.memory), family.memory_unit, named.named(family.cores))


def _slots_allocatable(register: Register) -> int | None:
    return register.allocatable if register.family.slots_are_allocatable and not register.stale else None


def _are_slices_apart(node: ClusterNode, registers: list[Register]) -> bool:
    """Whether MIG resources beside NVIDIA's register are of other cards: none is registered in MIG mode, and not all are."""
    cards = [card for one in registers if one.family.vendor == "NVIDIA" for card in one.cards]
    count = amount((node.metadata.labels or {}).get("nvidia.com/gpu.count", ""))
    return all(card.mode != "mig" for card in cards) and (count is None or count > len(cards))
