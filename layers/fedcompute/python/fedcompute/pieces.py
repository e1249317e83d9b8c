"""An inventory of which a part is bad, read piece by piece: each node and device that can't be read is left out.

Slow, and seldom needed. What a hostile document can make of its size is bounded: pieces are taken one at a time, and
a piece that is too large to be looked into is left out whole.
"""

import json
import re
from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import Raw, Struct, field, structs

from fedcompute.inventory import Device, Inventory, Node, Warning  # noqa: A004 (the contract's word)
from fedcompute.soundness import MOST_NODES

MOST_BAD_NODES = 1000
MOST_NODE_BYTES = 1 << 20
MOST_WARNINGS_BYTES = 64 << 10

# Steps over a value and makes nothing of it: no objects, and no numbers, however many digits they have.
_STEP = json.JSONDecoder(object_pairs_hook=len, parse_int=len, parse_float=len, parse_constant=len).raw_decode
_SEPARATOR = re.compile(r"[ \t\n\r]*,?[ \t\n\r]*")
_NULL = Raw(b"null")


class Top(Struct, frozen=True):
    """The document, its members not looked into; null stands for what was left out."""

    schema_version: Raw = _NULL
    provider_id: Raw = _NULL
    source: Raw = _NULL
    observed_at: Raw = _NULL
    nodes: Raw = _NULL
    warnings: Raw = _NULL


class _OpenNode(Node, frozen=True, kw_only=True):
    """A node whose devices are not looked into."""

    devices: list[Raw] = field(default_factory=list)  # type: ignore[assignment]


_TOP = msgspec.json.Decoder(Top)
_RAW_LIST = msgspec.json.Decoder(list[Raw])
NODE = msgspec.json.Decoder(Node)
_OPEN_NODE = msgspec.json.Decoder(_OpenNode)
_DEVICE = msgspec.json.Decoder(Device)
_PLAIN_FIELDS = [name for name in Node.__struct_fields__ if name != "devices"]


def top_of(body: bytes) -> Top:
    """A document's members. Raises msgspec's errors, and RecursionError."""
    return _TOP.decode(body)


def version_of(top: Top) -> int:
    """The schema's version, before all else: a later one may mean anything by the other members."""
    version = _given(top.schema_version)
    return 1 if version is None else msgspec.json.decode(version, type=int)


def inventory_of(top: Top) -> Inventory:
    """The inventory, without what can't be read; `warnings` names that. Raises msgspec.ValidationError."""
    plain = {name: _given(getattr(top, name)) for name in ("schema_version", "provider_id", "source", "observed_at")}
    members = {name: msgspec.json.decode(raw) for name, raw in plain.items() if raw is not None}
    inventory = msgspec.convert(members, Inventory)
    warnings = _warnings(_given(top.warnings) or b"[]")
    nodes = list(_nodes(_given(top.nodes) or b"[]", warnings))
    return structs.replace(inventory, nodes=nodes, warnings=warnings)


def _given(raw: Raw) -> bytes | None:
    plain = bytes(raw)
    return None if plain == b"null" else plain


def _warnings(raw: bytes) -> list[Warning]:
    if len(raw) <= MOST_WARNINGS_BYTES:
        try:
            return msgspec.convert(_without_nulls(msgspec.json.decode(raw)), list[Warning])
        except msgspec.ValidationError:
            pass
    return [Warning(code="invalid_warnings", message="the inventory's own warnings could not be read")]


class Mending:
    """Reads nodes of which a part can't be read; `warnings` names what was left out."""

    def __init__(self, warnings: list[Warning]) -> None:
        self.warnings = warnings
        self._bad = 0

    def node(self, place: int, piece: bytes, fault: msgspec.ValidationError) -> Node | None:
        """What can be read of the inventory's node at `place`; None: nothing. Raises msgspec.ValidationError: too many are bad."""
        try:
            return _node_by_pieces(piece, fault, self.warnings)
        except msgspec.ValidationError as error:
            self._bad += 1
            if self._bad > MOST_BAD_NODES:
                raise msgspec.ValidationError(f"more than {MOST_BAD_NODES} bad nodes; the last: {error}") from error
            self.warnings.append(Warning(code="invalid_node", message=f"node {place} left out: {error}"))
            return None


def _nodes(raw: bytes, warnings: list[Warning]) -> Iterator[Node]:
    mending = Mending(warnings)
    for place, piece in enumerate(elements(raw)):
        if place >= MOST_NODES:
            raise msgspec.ValidationError(f"more than {MOST_NODES} nodes")
        try:
            node: Node | None = NODE.decode(piece)
        except msgspec.ValidationError as fault:
            node = mending.node(place, piece, fault)
        if node is not None:
            yield node


def elements(raw: bytes) -> Iterator[bytes]:
    """The elements of a JSON list that is known to be well-formed. Raises msgspec.ValidationError: it is no list."""
    if len(raw) <= MOST_NODE_BYTES:
        yield from map(bytes, _RAW_LIST.decode(raw))
        return
    text = raw.decode().strip()
    if not text.startswith("["):
        raise msgspec.ValidationError("nodes: expected an array")
    at = _end_of_separator(text, 1)
    while text[at] != "]":
        _, end = _STEP(text, at)
        yield text[at:end].encode()
        at = _end_of_separator(text, end)


def _end_of_separator(text: str, at: int) -> int:
    found = _SEPARATOR.match(text, at)
    assert found is not None
    return found.end()


def _node_by_pieces(piece: bytes, fault: msgspec.ValidationError, warnings: list[Warning]) -> Node:
    if len(piece) > MOST_NODE_BYTES:
        raise msgspec.ValidationError(f"{fault}, in a node of {len(piece)} bytes")
    node, devices = _open(piece)
    kept = []
    for place, device in enumerate(devices):
        try:
            kept.append(_device(device))
        except msgspec.ValidationError as error:
            message = f"device {place} left out: {error}"
            warnings.append(Warning(code="invalid_device", message=message, node=node.name))
    return Node(**{name: getattr(node, name) for name in _PLAIN_FIELDS}, devices=kept)


def _open(piece: bytes) -> tuple[Node, list[Any]]:
    """A node, and its devices as they stand there."""
    try:
        node = _OPEN_NODE.decode(piece)
    except msgspec.ValidationError:
        members = _without_nulls(msgspec.json.decode(piece))
        devices = members.pop("devices", []) if isinstance(members, dict) else []
        return msgspec.convert(members, Node), msgspec.convert(devices, list[Any])
    return node, node.devices


def _device(device: Any) -> Device:
    if isinstance(device, Raw):
        try:
            return _DEVICE.decode(device)
        except msgspec.ValidationError:
            device = _without_nulls(msgspec.json.decode(device))
    return msgspec.convert(device, Device)


def _without_nulls(value: Any) -> Any:
    """Null stands for what was left out."""
    if isinstance(value, dict):
        return {name: _without_nulls(member) for name, member in value.items() if member is not None}
    if isinstance(value, list):
        return [_without_nulls(member) for member in value]
    return value
