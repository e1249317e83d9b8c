"""A node's registered cards: every annotation by which a device plugin announces them, and whether that plugin still lives.

An annotation outlives its plugin. What tells of the plugin, in every release, is kubelet: it takes a resource's allocatable
count to 0 soon after the plugin's socket is gone. A handshake only helps where that count is not there.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache

from chalicelib.cards import Card
from chalicelib.core_objects import ClusterNode
from chalicelib.findings import Findings
from chalicelib.hami_families import Family, RegisterKey, register_key
from chalicelib.hami_handshake import is_recent, state_of
from chalicelib.hami_numbers import amount
from chalicelib.hami_record import Record
from chalicelib.hami_records import records_of
from chalicelib.model_names import plain
from chalicelib.node_state import count_of
from chalicelib.plain_resources import is_plain
from fedcompute.text import clean

CORDON = "hami.io/device-cordon"

_shown = lru_cache(maxsize=1024)(clean)  # a cluster has few models


@dataclass(slots=True)
class Register:
    """The cards of one annotation.

    `allocatable`: kubelet's count of `resource`, None where there is none. `stale`: the plugin is gone. `bad`: there are
    records that can't be read.
    """

    key: str
    family: Family
    resource: str
    allocatable: int | None
    stale: bool = False
    bad: bool = False
    cards: list[Card] = field(default_factory=list)


def registers_of(node: ClusterNode, now: datetime, findings: Findings) -> list[Register]:
    """All registers of a node, by key; cards that stand a second time are left out."""
    notes = node.metadata.annotations or {}
    found = []
    seen: set[tuple[str, str]] = set()
    cordoned = {part.strip() for part in notes.get(CORDON, "").split(",")}
    for key in sorted(notes):
        named = register_key(key)
        if named is None:
            continue
        register = _register(key, named, node, now, findings)
        register.cards = list(_once(register, seen, findings))
        for card in register.cards:
            card.closed = card.id in cordoned
        found.append(register)
    return found


def _register(key: str, named: RegisterKey, node: ClusterNode, now: datetime, findings: Findings) -> Register:
    family = named.family
    notes = node.metadata.annotations or {}
    register = Register(key, family, *_counted(named, node))
    in_percent = family.whole_core or notes.get(family.percent_note, "").lower() == "true"
    for record in records_of(notes[key], family.form):
        if isinstance(record, str):
            findings.add("bad_register", f"{key}: {record}")
            register.bad = True
        else:
            register.cards.append(_card(record, register, node, in_percent=in_percent))
    register.stale = _is_stale(register, named, node, now, findings)
    for card in register.cards:
        card.healthy = card.healthy and not register.stale
    if register.stale and register.cards:
        told = f"{key}: no live device plugin; {register.resource or 'its resource'} is not allocatable"
        findings.add("stale_register", told)
    if register.allocatable and not register.cards and not register.bad:
        findings.add(
            "empty_register", f"{key}: no cards, but {register.resource} is allocatable: none of them is listed"
        )
    _tell_scaling(register, node, findings)
    return register


def _card(record: Record, register: Register, node: ClusterNode, *, in_percent: bool) -> Card:
    family = register.family
    return Card(
        id=f"{node.metadata.name}-{record.id}" if family.form == "enflame" else record.id,
        vendor=family.vendor,
        resource=register.resource,
        model=_shown(plain(record.model)),
        slots=record.slots,
        memory_mib=record.memory_mib or None,  # no card has none: such a record says that its plugin could not tell
        cores=100 if family.whole_core else record.cores,
        unit="percent" if in_percent else family.unit,
        healthy=record.healthy,
        index=record.index,
        numa=record.numa,
        mode=_shown(record.mode, 64) if record.mode else family.mode,
        profiles=record.profiles if record.mode == "mig" else (),
    )


def _counted(named: RegisterKey, node: ClusterNode) -> tuple[str, int | None]:
    """The resource that counts a register's slots, by the name that the node uses, and how many are allocatable."""
    names = [named.named(name) for name in named.family.counts]
    counts = [(name, count_of(node.status.allocatable, name)) for name in names]
    return next((one for one in counts if one[1] is not None), (clean(names[0]) if names else "", None))


def _is_renamed(named: RegisterKey, node: ClusterNode) -> bool:
    """Whether the vendor's resources stand under names of somebody's choice, which HAMi's charts allow.

    A chip's resource is told from another chip's by its name alone, so those are not renamed.
    """
    counts = named.family.counts
    if not counts or "{chip}" in counts[0]:
        return False
    domain = counts[0].partition("/")[0] + "/"
    parts = (named.family.memory, named.family.cores)
    return any(
        name.startswith(domain) and name not in parts and not is_plain(name) and count_of(node.status.allocatable, name)
        for name in node.status.allocatable or {}
    )


def _is_stale(register: Register, named: RegisterKey, node: ClusterNode, now: datetime, findings: Findings) -> bool:
    if not any(card.healthy for card in register.cards):
        return False  # all sick: fresh news, and nothing to be had
    handshake = _handshake(named, node)
    state = state_of(handshake)
    if register.allocatable is not None:
        if register.allocatable and state == "deleted":
            findings.add(
                "deleted_handshake", f"{register.key}: HAMi's scheduler dropped it, but {register.resource} is there"
            )
        return register.allocatable == 0
    if not named.family.counts:  # whose resource nobody knows
        return state == "deleted" or (state == "requested" and not is_recent(handshake, now))
    return not (_is_renamed(named, node) or (state == "reported" and is_recent(handshake, now)))


def _handshake(named: RegisterKey, node: ClusterNode) -> str:
    notes = node.metadata.annotations or {}
    for domain in ("hami.io", "4pd.io"):
        found = notes.get(f"{domain}/node-handshake-{named.chip}")
        if found is None and named.family.vendor == "NVIDIA":
            found = notes.get(f"{domain}/node-handshake")
        if found is not None:
            return found
    return ""


def _once(register: Register, seen: set[tuple[str, str]], findings: Findings) -> Iterable[Card]:
    for card in register.cards:
        if (card.vendor, card.id) in seen:
            findings.add("duplicate_device", f"{register.key}: a second card of this id left out", card.id)
        else:
            seen.add((card.vendor, card.id))
            yield card


def _tell_scaling(register: Register, node: ClusterNode, findings: Findings) -> None:
    """Warns where more is registered than the cards have: by their cores, or by what GPU Feature Discovery measured."""
    if any(card.unit == "percent" and card.cores > 100 for card in register.cards):
        findings.add("scaled", f"{register.key}: cores are scaled over 100 % of a card; memory may be scaled likewise")
    measured = amount((node.metadata.labels or {}).get("nvidia.com/gpu.memory", ""))
    if (
        measured
        and register.family.vendor == "NVIDIA"
        and any((one.memory_mib or 0) > measured for one in register.cards)
    ):
        findings.add("scaled", f"{register.key}: more memory is registered than the {measured} MiB that a card has")
