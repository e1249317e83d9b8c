"""Cards that pods share, what pods hold of them, and the device that is published of each."""

from typing import Literal

from msgspec import Struct, field

from chalicelib.mig_profiles import MigProfile, Placement, largest_free_mib
from fedcompute.inventory import Device
from fedcompute.text import clean

# What cores count: percent points of a card (over 100 where scaled), parts of it (AI cores, compute units, sixteenths of a
# card), or bits, one a core.
CoreUnit = Literal["percent", "parts", "bits"]

_LONGEST_ID = 256


class Use(Struct, gc=False):
    """What pods hold of a card. `cores` in the card's unit, `slices` where the card is cut by MIG."""

    memory_mib: int = 0
    cores: int = 0
    slots: int = 0
    slices: list[Placement] = field(default_factory=list)
    without_slice: bool = False  # somebody holds a part whose place on the card nobody knows


class Card(Struct, gc=False):
    """A card before anybody holds anything. `memory_mib` is None where nobody says. Texts are clean, but for `id`."""

    id: str
    vendor: str
    resource: str
    model: str
    slots: int
    memory_mib: int | None
    cores: int
    unit: CoreUnit = "percent"
    healthy: bool = True
    index: int | None = None
    numa: int | None = None
    mode: str | None = None
    profiles: tuple[MigProfile, ...] = ()
    closed: bool = False  # takes nothing new: cordoned
    slot_bound: int | None = None  # kubelet admits no more pods than that, whatever the books say


def device_of(card: Card, use: Use | None) -> Device:
    """The device: total minus use, never below 0; nothing where the card is sick or closed, null where use is unknown."""
    healthy = card.healthy and not (use is not None and card.profiles and use.without_slice)
    held = Use(card.memory_mib or 0, card.cores, card.slots) if not healthy or card.closed else use
    total, left = _percent(card, held)
    memory = None if held is None or card.memory_mib is None else max(0, card.memory_mib - held.memory_mib)
    return Device(
        id=clean(card.id, _LONGEST_ID),
        resource=card.resource,
        vendor=card.vendor,
        model=card.model,
        index=card.index,
        numa=card.numa,
        mode=card.mode,
        healthy=healthy,
        memory_total_mib=card.memory_mib,
        memory_available_mib=memory,
        largest_free_mib=_largest_free(card, held, memory),
        compute_total_percent=total,
        compute_available_percent=left,
        slots_total=card.slots,
        slots_available=_slots(card, held),
    )


def is_overdrawn(card: Card, use: Use) -> bool:
    """Whether pods hold more of a card than there is."""
    return (
        use.slots > card.slots
        or (card.memory_mib is not None and use.memory_mib > card.memory_mib)
        or _cores_held(card, use) > _cores(card)
    )


def _largest_free(card: Card, held: Use | None, memory: int | None) -> int | None:
    if not card.profiles or held is None or memory is None:
        return None
    return 0 if not memory else min(memory, largest_free_mib(card.profiles, held.slices))


def _slots(card: Card, held: Use | None) -> int | None:
    if held is None:
        return None
    taken = max(held.slots, _cores_held(card, held)) if card.unit == "bits" else held.slots  # a slot is a core there
    left = max(0, card.slots - taken)
    return left if card.slot_bound is None else min(left, max(0, card.slot_bound - held.slots))


def _percent(card: Card, held: Use | None) -> tuple[int, int | None]:
    """Compute in percent, total and left. Parts and bits make 100 together; what is left is rounded down."""
    cores = _cores(card)
    left = None if held is None else max(0, cores - _cores_held(card, held))
    if card.unit == "percent":
        return cores, left
    if cores == 0:
        return 0, None if left is None else 0
    return 100, None if left is None else left * 100 // cores


def _cores(card: Card) -> int:
    return card.cores.bit_count() if card.unit == "bits" else card.cores


def _cores_held(card: Card, use: Use) -> int:
    return min(use.cores, card.cores).bit_count() if card.unit == "bits" else use.cores
