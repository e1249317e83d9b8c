"""A provider's reply, read with tolerance: what is bad in it becomes a warning, and what breaks it a named failure."""

from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import Raw, structs

from fedcompute.inventory import SCHEMA_VERSION, Device, Inventory, Node, Warning  # noqa: A004 (the contract's word)
from fedcompute.soundness import device_faults, node_faults
from fedcompute.survey import Surveyed, SurveyedNode, survey
from fedcompute.text import clean

MOST_WARNINGS = 50

_DECODER = msgspec.json.Decoder(Inventory)
_TOP = msgspec.json.Decoder(dict[str, Raw])
_NODES = msgspec.json.Decoder(list[Raw])


class UnreadableInventoryError(Exception):
    """A reply that is no inventory. `outcome` is the code that its provider's entry carries."""

    def __init__(self, outcome: str, message: str) -> None:
        super().__init__(message)
        self.outcome = outcome
        self.message = message


def read(body: bytes, provider_id: str) -> Inventory:
    """The inventory that a provider replied with, without its bad nodes and devices; `warnings` names those.

    Raises UnreadableInventoryError with `not_json`, `invalid_inventory`, `unsupported_schema` or `identity_mismatch`.
    """
    return read_surveyed(body, provider_id).inventory


def read_surveyed(body: bytes, provider_id: str) -> Surveyed:
    """The same, with its nodes ready to be matched."""
    inventory = _decoded(body)
    if inventory.schema_version > SCHEMA_VERSION:
        raise _too_new(inventory.schema_version)
    if inventory.provider_id != provider_id:
        raise UnreadableInventoryError("identity_mismatch", f"answered as {clean(inventory.provider_id, 80)!r}")
    return _only_sound(inventory)


def _decoded(body: bytes) -> Inventory:
    try:
        try:
            return _DECODER.decode(body)
        except msgspec.ValidationError:
            return _by_pieces(_TOP.decode(body))
    except msgspec.ValidationError as error:
        raise UnreadableInventoryError("invalid_inventory", f"no inventory: {clean(str(error))}") from error
    except RecursionError as error:
        raise UnreadableInventoryError("not_json", "nested too deeply") from error
    except (msgspec.DecodeError, UnicodeError) as error:
        raise UnreadableInventoryError("not_json", f"not JSON: {clean(str(error))}") from error


def _by_pieces(top: dict[str, Raw]) -> Inventory:
    """Leaves out each node and device that has a field of the wrong type. Slow, and seldom needed."""
    members = {name: raw for name, raw in top.items() if bytes(raw) != b"null"}
    version = msgspec.json.decode(members.get("schema_version", b"1"), type=int)
    if version > SCHEMA_VERSION:  # before all else: a later version may mean anything by the other members
        raise _too_new(version)
    raw_nodes, raw_warnings = members.pop("nodes", b"[]"), members.pop("warnings", b"[]")
    inventory = msgspec.convert({name: msgspec.json.decode(raw) for name, raw in members.items()}, Inventory)
    warnings = _warnings(raw_warnings)
    nodes = list(_nodes(_NODES.decode(raw_nodes), warnings))
    return structs.replace(inventory, nodes=nodes, warnings=warnings)


def _too_new(version: int) -> UnreadableInventoryError:
    return UnreadableInventoryError(
        "unsupported_schema", f"schema_version {version}; this gateway reads {SCHEMA_VERSION}"
    )


def _warnings(raw: bytes | Raw) -> list[Warning]:
    try:
        return msgspec.convert(_without_nulls(msgspec.json.decode(raw)), list[Warning])
    except msgspec.ValidationError:
        return [Warning(code="invalid_warnings", message="the inventory's own warnings could not be read")]


def _nodes(raws: list[Raw], warnings: list[Warning]) -> Iterator[Node]:
    for place, raw in enumerate(raws):
        try:
            yield msgspec.json.decode(raw, type=Node)
        except msgspec.ValidationError:
            try:
                yield _node_by_pieces(_without_nulls(msgspec.json.decode(raw)), warnings)
            except msgspec.ValidationError as error:
                warnings.append(Warning(code="invalid_node", message=f"node {place} left out: {error}"))


def _node_by_pieces(members: Any, warnings: list[Warning]) -> Node:
    devices = members.pop("devices", []) if isinstance(members, dict) else []
    node = msgspec.convert(members, Node)
    kept = []
    for place, device in enumerate(msgspec.convert(devices, list[Any])):
        try:
            kept.append(msgspec.convert(device, Device))
        except msgspec.ValidationError as error:
            message = f"device {place} left out: {error}"
            warnings.append(Warning(code="invalid_device", message=message, node=node.name))
    return structs.replace(node, devices=kept)


def _without_nulls(value: Any) -> Any:
    """Null stands for what was left out."""
    if isinstance(value, dict):
        return {name: _without_nulls(member) for name, member in value.items() if member is not None}
    if isinstance(value, list):
        return [_without_nulls(member) for member in value]
    return value


def _only_sound(inventory: Inventory) -> Surveyed:
    """Without what can't be believed or stands a second time; the same inventory where all is well."""
    found: list[Warning] = []
    seen: set[str] = set()
    nodes: list[SurveyedNode] = []
    for node in inventory.nodes:
        fault = next(node_faults(node), None)
        if fault is not None:
            found.append(Warning(code="invalid_node", message=f"node left out: {': '.join(fault)}", node=node.name))
        elif node.name in seen:
            found.append(Warning(code="duplicate_node", message="a second node of this name left out", node=node.name))
        else:
            seen.add(node.name)
            nodes.append(_with_sound_devices(survey(node), found))
    if found or inventory.warnings or any(surveyed.node.warnings for surveyed in nodes):
        sound = [surveyed.node for surveyed in nodes]
        warnings = list(_all_warnings(inventory, sound, found))
        inventory = structs.replace(inventory, nodes=sound, warnings=warnings)
    return Surveyed(inventory, nodes)


def _with_sound_devices(surveyed: SurveyedNode, found: list[Warning]) -> SurveyedNode:
    node = surveyed.node
    is_each_sound = all(kind.is_sound for bunch in surveyed.bunches for kind in bunch.kinds)
    if is_each_sound and len({device.id for device in node.devices}) == len(node.devices):
        return surveyed
    kept: dict[str, Device] = {}
    for device in node.devices:
        fault = next(device_faults(device), None)
        if fault is not None:
            code, message = "invalid_device", f"device left out: {': '.join(fault)}"
        elif device.id in kept:
            code, message = "duplicate_device", "a second device of this id left out"
        else:
            kept[device.id] = device
            continue
        found.append(Warning(code=code, message=message, node=node.name, device=device.id))
    return survey(structs.replace(node, devices=list(kept.values())))


def _all_warnings(inventory: Inventory, nodes: list[Node], found: list[Warning]) -> Iterator[Warning]:
    """Ours first, then the provider's own; cut and cleaned, and bounded in number."""
    own = [structs.replace(warning, node=node.name) for node in nodes for warning in node.warnings]
    warnings = [*found, *inventory.warnings, *own]
    for warning in warnings[:MOST_WARNINGS]:
        yield Warning(
            code=clean(warning.code, 64),
            message=clean(warning.message),
            node=warning.node and clean(warning.node),
            device=warning.device and clean(warning.device),
        )
    if len(warnings) > MOST_WARNINGS:
        yield Warning(code="more_warnings", message=f"{len(warnings) - MOST_WARNINGS} more warnings left out")
