"""The JSON documents by which device plugins register cards, decoded entry by entry.

Source: Project-HAMi/HAMi: pkg/device/devices.go (UnMarshalNodeDevices; NVIDIA since v2.8, Ascend, Kunlun, Vastai, Biren, AMD),
pkg/device/metax/protocol.go and pkg/device/enflame/device.go. What is zero is left out, so an absent `health` means
unhealthy. Go reads members' names in any case, takes null for absent, and refuses numbers that are quoted or have a fraction.
"""

from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import Raw, Struct

from chalicelib.hami_numbers import amount, is_amount
from chalicelib.hami_record import MOST_RECORDS, Decoded, Record, place
from chalicelib.mig_profiles import profiles_of

_NOTHING = Raw(b"null")


class _Entry(Struct):
    id: str | None = None
    index: int | None = None
    count: int | None = None
    devmem: int | None = None
    devcore: int | None = None
    type: str | None = None
    numa: int | None = None
    mode: str | None = None
    health: bool | None = None
    migProfiles: Raw = _NOTHING  # noqa: N815 (HAMi's spelling)


class _MetaxCard(Struct, rename="camel"):
    uuid: str = ""
    model: str = ""
    total_dev_count: int = 0
    total_compute: int = 0
    total_v_ram: int = msgspec.field(default=0, name="totalVRam")
    numa: int = 0
    healthy: bool = False


class _EnflameCard(Struct):
    index: str = ""
    capacity: int | str = 0


class _Enflame(Struct):
    devices: list[_EnflameCard] = []
    profiles: dict[str, str] = {}


_NO_JSON = (msgspec.DecodeError, UnicodeError, RecursionError)
_LIST = msgspec.json.Decoder(list[Raw])
_ENTRIES = msgspec.json.Decoder(list[_Entry])
_ENFLAME = msgspec.json.Decoder(_Enflame)


def of_list(text: str) -> Iterator[Decoded]:
    """HAMi's own list."""
    try:
        entries: list[_Entry | str] = list(_ENTRIES.decode(text))
        if not all(entry.id for entry in entries if isinstance(entry, _Entry)):
            entries = list(_one_by_one(text, _Entry))
    except msgspec.ValidationError:
        entries = list(_one_by_one(text, _Entry))
    except _NO_JSON:
        yield "no JSON list"
        return
    for number, entry in enumerate(entries[:MOST_RECORDS]):
        if isinstance(entry, str):
            yield entry
        else:
            yield from _of_entry(entry, number)


def _of_entry(entry: _Entry, number: int) -> Iterator[Decoded]:
    slots, memory_mib, cores = entry.count or 0, entry.devmem or 0, entry.devcore or 0
    if not (entry.id and is_amount(slots) and is_amount(memory_mib) and is_amount(cores)):
        yield f"entry {number} has no id, or an amount below 0 or beyond 32 bits"
        return
    profiles = profiles_of(bytes(entry.migProfiles)) if entry.migProfiles is not _NOTHING else ()
    if profiles is None:
        yield f"entry {number} has migProfiles that can't be read; its card stands without them"
    healthy, mode = bool(entry.health), entry.mode or None
    index, numa = place(entry.index or 0), place(entry.numa or 0)
    yield Record(entry.id, entry.type or "", slots, memory_mib, cores, healthy, index, numa, mode, profiles or ())


def of_metax(text: str) -> Iterator[Decoded]:
    """MetaX's own list (sGPU). Source: pkg/device/metax/protocol.go. What it says is available is old by nature: not read."""
    for number, card in enumerate(_one_by_one(text, _MetaxCard)):
        if isinstance(card, str):
            yield card
        elif not card.uuid or not all(map(is_amount, (card.total_dev_count, card.total_v_ram, card.total_compute))):
            yield f"entry {number} has no uuid, or an amount below 0"
        else:
            amounts = (card.total_dev_count, card.total_v_ram, card.total_compute)
            yield Record(card.uuid, card.model, *amounts, card.healthy, number, place(card.numa))


def of_enflame(text: str) -> Iterator[Decoded]:
    """Enflame's DRS: slots, and memory by the largest profile. Source: pkg/device/enflame/device.go."""
    try:
        spec = _ENFLAME.decode(text)
    except _NO_JSON:
        yield "no JSON object with devices and profiles"
        return
    gigabytes = max((_profile_gigabytes(name) for name in spec.profiles), default=0)
    if not gigabytes:
        yield "no profile that says its memory"
        return
    for number, card in enumerate(spec.devices[:MOST_RECORDS]):
        slots = amount(str(card.capacity))
        if not slots:
            yield f"device {number} has no usable capacity"
            continue
        index = amount(card.index)
        index = number if index is None else index
        yield Record(f"enflame-drs-{index}", "Enflame GCU", slots, gigabytes * 1024, 100, True, index)


def _profile_gigabytes(name: str) -> int:
    """Of "6g.36gb" 36; "2g" alone says nothing."""
    size, _, memory = name.strip().lower().partition(".")
    found = amount(memory.partition(".")[0].removesuffix("gb")) if size.removesuffix("g").isdecimal() else None
    return found if found is not None and found <= 1 << 20 else 0


def _one_by_one(text: str, kind: type[Any]) -> Iterator[Any]:
    """Each entry of a JSON list, or why it has none. Names of members in any case, as in Go; null is as good as absent."""
    try:
        raws = _LIST.decode(text)
    except _NO_JSON:
        yield "no JSON list"
        return
    for number, raw in enumerate(raws[:MOST_RECORDS]):
        try:
            members = msgspec.json.decode(raw, type=dict[str, Raw])
            wanted = {name.lower(): name for name in (field.encode_name for field in msgspec.structs.fields(kind))}
            known = {wanted[name.lower()]: value for name, value in members.items() if name.lower() in wanted}
            yield msgspec.json.decode(_rejoined(known), type=kind)
        except _NO_JSON as error:
            yield f"entry {number} can't be read: {error}"


def _rejoined(members: dict[str, Raw]) -> bytes:
    """The members that say something, a NUMA node that is no number left out, as one object."""
    kept = {name: raw for name, raw in members.items() if bytes(raw) != b"null"}
    numa = bytes(kept.get("numa", b"0"))
    if not numa.lstrip(b"-").isdigit() or len(numa) > 10:
        kept["numa"] = Raw(b"-1")
    return msgspec.json.encode(kept)
