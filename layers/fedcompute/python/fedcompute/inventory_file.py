"""A file that holds an inventory: all that is wrong with it, before anybody is answered from it.

Stricter than what a provider's reply is read with: who writes a file wants to be told, a search wants to go on.
"""

from collections.abc import Iterable, Iterator
from datetime import datetime

import msgspec
from msgspec import UNSET

from fedcompute import strict, vendors
from fedcompute.documents import pointer
from fedcompute.inventory import SCHEMA_VERSION, Device, Inventory, Node, Taint
from fedcompute.provider import is_provider_id
from fedcompute.soundness import device_faults, node_faults
from fedcompute.strict import Mistake, Path
from fedcompute.text import clean

Fault = tuple[str, str]  # a JSON pointer ("" is the document), and in words what is wrong there

SOURCES = ("static", "kubernetes", "hami")
EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")


class InventoryFileError(ValueError):
    """A document that is no sound inventory; `faults` has every mistake with its JSON pointer."""

    def __init__(self, faults: list[Fault]) -> None:
        super().__init__("\n".join(f"{place}: {message}" if place else message for place, message in faults))
        self.faults = faults


class InventoryFile(Inventory, frozen=True, kw_only=True):
    """An inventory as it stands in a file: its nodes must be named, be it as []."""

    nodes: list[Node]


def check(document: bytes) -> list[Fault]:
    """Every mistake of a document, in the order of its parts; none where it is a sound inventory."""
    return _read(document)[1]


def load(document: bytes) -> Inventory:
    """The inventory that a document holds. Raises InventoryFileError with every mistake."""
    inventory, faults = _read(document)
    if inventory is None or faults:
        raise InventoryFileError(faults)
    return Inventory(**{name: getattr(inventory, name) for name in Inventory.__struct_fields__})


def _read(document: bytes) -> tuple[Inventory | None, list[Fault]]:
    try:
        value = strict.decode(document)
    except strict.NotJsonError as error:
        return None, [("", clean(str(error)))]
    mistakes: list[Mistake] = []
    inventory = strict.convert(value, InventoryFile, (), mistakes)
    if inventory is UNSET:
        inventory = None
    else:
        mistakes.extend(_inventory_mistakes(inventory))
    mistakes.sort(key=lambda mistake: _order(mistake[0]))
    return inventory, [(clean(pointer(path)), clean(message)) for path, message in mistakes]


def _order(path: Path) -> list[tuple[int, str]]:
    """Sorts places: the elements of a list by their number."""
    return [(step, "") if isinstance(step, int) else (-1, step) for step in path]


def _inventory_mistakes(inventory: Inventory) -> Iterator[Mistake]:
    """What the types can't tell. Parts that could not be read are UNSET, and told already."""
    if inventory.schema_version < 1 or inventory.schema_version > SCHEMA_VERSION:
        yield ("schema_version",), f"is {inventory.schema_version}; this release reads {SCHEMA_VERSION}"
    if _was_read(inventory.provider_id) and not is_provider_id(inventory.provider_id):
        yield ("provider_id",), "must be lower-case letters, digits and inner hyphens, at most 64"
    if inventory.source and inventory.source not in SOURCES:
        yield ("source",), f"must be {', '.join(SOURCES[:-1])} or {SOURCES[-1]}"
    if inventory.observed_at is not None and not _is_time(inventory.observed_at):
        yield ("observed_at",), "must be a time like 2026-01-01T00:00:00Z"
    if _was_read(inventory.nodes):
        yield from _named_twice((("nodes", at, "name"), node.name) for at, node in _readable(inventory.nodes))
        for at, node in _readable(inventory.nodes):
            yield from _node_mistakes(node, ("nodes", at))


def _node_mistakes(node: Node, place: Path) -> Iterator[Mistake]:
    yield from (((*place, *field.split("/")), message) for field, message in node_faults(node))
    for at, taint in _readable(node.taints):
        yield from _taint_mistakes(taint, (*place, "taints", at))
    devices = [((*place, "devices", at), device) for at, device in _readable(node.devices)]
    yield from _named_twice(((*path, "id"), device.id) for path, device in devices)
    for path, device in devices:
        yield from _device_mistakes(device, path)


def _taint_mistakes(taint: Taint, place: Path) -> Iterator[Mistake]:
    if not taint.key:
        yield (*place, "key"), "must not be empty"
    if taint.effect not in EFFECTS:
        yield (*place, "effect"), f"must be {', '.join(EFFECTS[:-1])} or {EFFECTS[-1]}"


def _device_mistakes(device: Device, place: Path) -> Iterator[Mistake]:
    yield from (((*place, field), message) for field, message in device_faults(device))
    spelling = vendors.canonical(device.vendor.strip())
    if spelling != device.vendor:
        yield (*place, "vendor"), f"is written {spelling} here, not {device.vendor}"


def _named_twice(names: Iterable[tuple[Path, str]]) -> Iterator[Mistake]:
    seen: dict[str, Path] = {}
    for path, name in names:
        if _was_read(name) and seen.setdefault(name, path) != path:
            yield path, f"{name!r} stands at {pointer(seen[name])} too"


def _readable[Part](parts: Iterable[Part]) -> Iterator[tuple[int, Part]]:
    """The parts that could be read, each with its place in the file."""
    return ((at, part) for at, part in enumerate(parts) if _was_read(part))


def _was_read(part: object) -> bool:
    return part is not UNSET


def _is_time(text: str) -> bool:
    try:
        return msgspec.convert(text, datetime).tzinfo is not None
    except msgspec.ValidationError:
        return False
