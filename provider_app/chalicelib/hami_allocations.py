"""What HAMi's pods hold, by their own annotations: text that any owner of a pod may have written, so nothing is believed.

Source: Project-HAMi/HAMi, pkg/device/devices.go (DecodePodDevices) and initContainer.go. A value is a slot a container, ended
by ";"; a slot is a record a card, ended by ":"; a record is `id,type,memory in MiB,cores`. Init containers stand first in
versions that know them, and do not stand at all in older ones. Only `...-allocated` says what is held: `...-to-allocate` is
the plugin's work list (Project-HAMi/HAMi#987).
"""

from collections.abc import Iterator, Sequence

import msgspec
from msgspec import Struct, field

from chalicelib.core_objects import ClusterPod, Container
from chalicelib.hami_numbers import amount, is_amount
from chalicelib.mig_profiles import MigAllocation, allocations_of

MOST_RECORDS = 1024

_DOMAINS = ("hami.io", "volcano.sh", "4pd.io")  # of Volcano's vGPU, and of HAMi before its name
_SLICES = "hami.io/vgpu-mig-allocations"
_METAX = "metax-tech.com/gpu-devices-allocated"


class Charge(Struct, gc=False):
    """What a pod holds of one card: memory in MiB, cores in the card's unit, slots."""

    memory_mib: int = 0
    cores: int = 0
    slots: int = 0


class Holding(Struct, gc=False):
    """What a pod holds by card id, of the node that HAMi chose for it, and what of its annotations can't be read."""

    node: str
    pod: ClusterPod
    charges: dict[str, Charge] = field(default_factory=dict)
    slices: list[MigAllocation] = field(default_factory=list)
    bad: list[str] = field(default_factory=list)


class _MetaxRecord(Struct):
    uuid: str = ""
    compute: int = 0
    vRam: int = 0  # noqa: N815 (MetaX's spelling)


_METAX_SLOTS = msgspec.json.Decoder(list[list[_MetaxRecord] | None])

Slot = list[tuple[str, Charge]]


def holding_of(pod: ClusterPod) -> Holding | None:
    """What a live pod holds; None for a pod that HAMi placed nowhere."""
    notes = pod.metadata.annotations
    if not notes:
        return None
    for domain in _DOMAINS:
        node = notes.get(f"{domain}/vgpu-node")
        if node:
            holding = Holding(node, pod)
            _read(holding, domain, notes)
            return holding
    return None


def _read(holding: Holding, domain: str, notes: dict[str, str]) -> None:
    keys = [key for key in sorted(notes) if _says_held(key, domain)]
    for key in keys:
        _charge(holding, list(_slots(notes[key], key, holding.bad)))
    if not keys and _METAX in notes:
        _charge(holding, list(_metax_slots(notes[_METAX], holding.bad)))
    if _SLICES in notes:
        slices = allocations_of(notes[_SLICES])
        if slices is None:
            holding.bad.append(f"{_SLICES}: no list of slices")
        holding.slices = slices or []


def _says_held(key: str, domain: str) -> bool:
    prefix, _, name = key.partition("/")
    return prefix == domain and (name.endswith("-allocated") or name == "vgpu-ids-new")


def _slots(text: str, key: str, bad: list[str]) -> Iterator[Slot]:
    slots = text.split(";", MOST_RECORDS)
    if not slots[-1].strip():
        slots.pop()
    for place, slot in enumerate(slots):
        yield list(_records(slot, f"{key}: slot {place}", bad))


def _records(slot: str, where: str, bad: list[str]) -> Slot:
    found: Slot = []
    for record in slot.split(":", MOST_RECORDS):
        if not record or record.isspace() or record[0] == ",":
            continue  # a container without a card: "", or ",,0,0" in older versions
        fields = record.split(",", 4)
        memory_mib, cores = (amount(fields[2]), amount(fields[3])) if len(fields) > 3 else (None, None)
        if memory_mib is None or cores is None:
            bad.append(f"{where} has a record that is not id,type,memory,cores")
            continue
        card = fields[0].partition("[")[0]  # v2.5 to v2.9: UUID[template-slot] of a MIG slice
        found.append((card, Charge(memory_mib, cores, 1)))
    return found


def _metax_slots(text: str, bad: list[str]) -> Iterator[Slot]:
    try:
        containers = _METAX_SLOTS.decode(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        bad.append(f"{_METAX}: no list of lists of cards")
        return
    for container in containers[:MOST_RECORDS]:
        yield [
            (one.uuid, Charge(one.vRam, one.compute, 1))
            for one in container or ()
            if one.uuid and is_amount(one.vRam) and is_amount(one.compute)
        ]


def _charge(holding: Holding, slots: list[Slot]) -> None:
    """The larger of what app containers hold together and the peak while init containers run; sidecars run beside both."""
    spec = holding.pod.spec
    init = spec.init_containers or ()
    if len(slots) <= len(spec.containers or ()):
        init = ()  # a version that leaves init containers out
    app = _together([record for slot in slots[len(init) :] for record in slot])
    if init:
        _beside_init(app, init, slots, are_done=_are_done(holding.pod))
    _add(holding.charges, app)


def _beside_init(app: dict[str, Charge], init: Sequence[Container], slots: list[Slot], *, are_done: bool) -> None:
    beside: dict[str, Charge] = {}
    peak: dict[str, Charge] = {}
    for container, slot in zip(init, slots, strict=False):
        own = _together(slot)
        for charge in own.values():
            charge.slots = 1  # one container takes one slot of a card, however often it names it
        _add(own, beside)
        _raise_to(peak, own)
        if container.restart_policy == "Always":
            beside = own
    _add(app, beside)
    if not are_done:
        _raise_to(app, peak)


def _are_done(pod: ClusterPod) -> bool:
    """Whether every init container that is no sidecar has ended well."""
    names = {one.name for one in pod.spec.init_containers or () if one.restart_policy != "Always"}
    ended = {
        one.name
        for one in pod.status.init_container_statuses or ()
        if one.state is not None and one.state.terminated is not None and one.state.terminated.exit_code == 0
    }
    return names <= ended


def _together(records: Slot) -> dict[str, Charge]:
    """Sums by card."""
    total: dict[str, Charge] = {}
    for card, charge in records:
        held = total.get(card)
        if held is None:
            total[card] = charge
        else:
            _add(total, {card: charge})
    return total


def _add(total: dict[str, Charge], more: dict[str, Charge]) -> None:
    for card, charge in more.items():
        held = total.setdefault(card, Charge())
        held.memory_mib += charge.memory_mib
        held.cores += charge.cores
        held.slots += charge.slots


def _raise_to(total: dict[str, Charge], least: dict[str, Charge]) -> None:
    for card, charge in least.items():
        held = total.setdefault(card, Charge())
        held.memory_mib = max(held.memory_mib, charge.memory_mib)
        held.cores = max(held.cores, charge.cores)
        held.slots = max(held.slots, charge.slots)
