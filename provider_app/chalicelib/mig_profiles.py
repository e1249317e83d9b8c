"""MIG slices on a card: which of its profiles still find a place beside those that pods hold.

Source: Project-HAMi/HAMi v2.10.0, pkg/device/nvidia/mig_profiles.go (`migProfiles` of the register) and mig_allocations.go
(the pods' annotation hami.io/vgpu-mig-allocations).
"""

from collections.abc import Iterable

import msgspec
from msgspec import Struct

from chalicelib.hami_numbers import is_amount


class Placement(Struct, frozen=True):
    """Memory slices of a card: `size` of them from `start` on."""

    start: int = 0
    size: int = 0


class MigProfile(Struct, frozen=True, rename={"memory_mib": "memoryMB"}):
    """A slice that a card can be cut into, its memory in MiB, and where it may lie."""

    name: str = ""
    memory_mib: int = 0
    placements: list[Placement] | None = None


class MigAllocation(Struct, frozen=True, rename={"gpu": "gpuUUID"}):
    """A slice that a pod holds on the card `gpu`."""

    gpu: str = ""
    profile: str = ""
    placement: Placement = Placement()


_PROFILES = msgspec.json.Decoder(list[MigProfile] | None)
_ALLOCATIONS = msgspec.json.Decoder(list[MigAllocation])


def profiles_of(document: bytes) -> tuple[MigProfile, ...] | None:
    """The profiles of a register entry; None where they can't be read."""
    try:
        return tuple(_PROFILES.decode(document) or ())
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return None


def allocations_of(text: str) -> list[MigAllocation] | None:
    """The slices that a pod's annotation names; None where it can't be read."""
    if not text:
        return []
    try:
        found = _ALLOCATIONS.decode(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return None
    return found if all(one.gpu and one.profile and one.placement.size > 0 for one in found) else None


def largest_free_mib(profiles: Iterable[MigProfile], held: Iterable[Placement]) -> int:
    """Memory of the largest slice that still finds a place; 0 where none does."""
    taken = list(held)
    return max(
        (one.memory_mib for one in profiles if is_amount(one.memory_mib) and _finds_place(one, taken)), default=0
    )


def _finds_place(profile: MigProfile, taken: list[Placement]) -> bool:
    return any(
        place.size > 0 and not any(_overlap(place, other) for other in taken) for place in profile.placements or ()
    )


def _overlap(one: Placement, other: Placement) -> bool:
    return one.start < other.start + other.size and other.start < one.start + one.size
