"""A provider's reply, read with tolerance: what is bad in it becomes a warning, and what breaks it a named failure."""

from collections.abc import Iterator

import msgspec
from msgspec import structs

from fedcompute import pieces
from fedcompute.inventory import SCHEMA_VERSION, Device, Inventory, Node, Warning  # noqa: A004 (the contract's word)
from fedcompute.soundness import MOST_NODES, device_faults, is_node_sound, node_faults
from fedcompute.survey import Surveyed, SurveyedNode, are_sound, survey
from fedcompute.text import clean
from fedcompute.tidy import tidied
from fedcompute.wellformed import Looks, check_json, flaw_of, looks_of

MOST_WARNINGS = 50

_DECODER = msgspec.json.Decoder(Inventory)


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
    inventory = checked(_decoded(body), body, looks_of(body), provider_id)
    sound = Sound()
    for node in inventory.nodes:
        sound.add(node)
    return sound.of(inventory)


def checked(inventory: Inventory, body: bytes, looks: Looks, provider_id: str) -> Inventory:
    """What was decoded of a body that looks so, its texts made fit to be shown.

    Raises UnreadableInventoryError for what `read` names.
    """
    if inventory.schema_version > SCHEMA_VERSION:
        raise _too_new(inventory.schema_version)
    flaw = flaw_of(body, looks)
    if flaw is not None:
        raise UnreadableInventoryError(*flaw)
    if inventory.provider_id != provider_id:
        raise UnreadableInventoryError("identity_mismatch", f"answered as {clean(inventory.provider_id, 80)!r}")
    if len(inventory.nodes) > MOST_NODES:
        raise UnreadableInventoryError("invalid_inventory", f"no inventory: more than {MOST_NODES} nodes")
    return inventory if looks.is_plain else tidied(inventory)


class Sound:
    """Gathers an inventory's nodes without what can't be believed or stands a second time."""

    def __init__(self) -> None:
        self._found: list[Warning] = []
        self._names: set[str] = set()
        self._nodes: list[SurveyedNode] = []

    def add(self, node: Node) -> SurveyedNode | None:
        """One more. What was made of it, where nothing is wrong with it: then `add_known` takes that for the same node."""
        found = self._found
        if not is_node_sound(node):
            fault = next(node_faults(node))
            found.append(Warning(code="invalid_node", message=f"node left out: {': '.join(fault)}", node=node.name))
            return None
        if not self._is_first(node.name):
            return None
        before = len(found)
        surveyed = _with_sound_devices(survey(node), found)
        self._nodes.append(surveyed)
        return surveyed if len(found) == before else None

    def add_known(self, surveyed: SurveyedNode) -> bool:
        """One in which nothing is wrong; whether it is the first of its name."""
        if not self._is_first(surveyed.node.name):
            return False
        self._nodes.append(surveyed)
        return True

    def of(self, inventory: Inventory) -> Surveyed:
        """The inventory with them; the same one where all is well and it has them."""
        nodes = [surveyed.node for surveyed in self._nodes]
        if self._found or inventory.warnings or any([node.warnings for node in nodes]):  # noqa: C419 (a list: faster)
            warnings = list(_all_warnings(inventory, nodes, self._found))
            inventory = structs.replace(inventory, nodes=nodes, warnings=warnings)
        elif len(nodes) != len(inventory.nodes):  # some were known
            inventory = structs.replace(inventory, nodes=nodes)
        return Surveyed(inventory, self._nodes)

    def _is_first(self, name: str) -> bool:
        if name in self._names:
            message = "a second node of this name left out"
            self._found.append(Warning(code="duplicate_node", message=message, node=name))
            return False
        self._names.add(name)
        return True


def _decoded(body: bytes) -> Inventory:
    try:
        try:
            return _DECODER.decode(body)
        except msgspec.ValidationError:
            check_json(body)  # the decoder has ended at the first member that is wrong
            return _by_pieces(pieces.top_of(body))
    except msgspec.ValidationError as error:
        raise UnreadableInventoryError("invalid_inventory", f"no inventory: {clean(str(error))}") from error
    except RecursionError as error:
        raise UnreadableInventoryError("not_json", "nested too deeply") from error
    except (msgspec.DecodeError, UnicodeError) as error:
        raise UnreadableInventoryError("not_json", f"not JSON: {clean(str(error))}") from error


def _by_pieces(top: pieces.Top) -> Inventory:
    version = pieces.version_of(top)
    if version > SCHEMA_VERSION:
        raise _too_new(version)
    return pieces.inventory_of(top)


def _too_new(version: int) -> UnreadableInventoryError:
    return UnreadableInventoryError(
        "unsupported_schema", f"schema_version {version}; this gateway reads {SCHEMA_VERSION}"
    )


def _with_sound_devices(surveyed: SurveyedNode, found: list[Warning]) -> SurveyedNode:
    node = surveyed.node
    if are_sound(surveyed.kinds) and len({device.id for device in node.devices}) == len(node.devices):
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
