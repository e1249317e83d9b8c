"""A card as its device plugin registers it, whatever form it is written in."""

from msgspec import Struct

from chalicelib.mig_profiles import MigProfile

MOST_RECORDS = 1024


class Record(Struct, frozen=True, gc=False):
    """A registered card. Memory in MiB, scaled where the plugin scales; `cores` in the family's unit."""

    id: str
    model: str
    slots: int
    memory_mib: int
    cores: int
    healthy: bool
    index: int | None = None
    numa: int | None = None
    mode: str | None = None
    profiles: tuple[MigProfile, ...] = ()


Decoded = Record | str  # a card, or why there is none


def place(number: int | None) -> int | None:
    """An index or a NUMA node; negative ones stand for unknown."""
    return number if number is not None and 0 <= number < 1 << 31 else None
