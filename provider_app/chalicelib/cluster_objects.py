"""Pages of the Kubernetes API, decoded to what is read of them.

An object whose members have odd types is left out of its page with a warning; the others stand.
"""

from collections.abc import Callable
from typing import Any, Literal

import msgspec
from msgspec import Raw, Struct

from chalicelib.core_objects import ClusterNode, ClusterPod
from chalicelib.dra_objects import ResourceClaim, ResourceSlice
from fedcompute.inventory import Warning as InventoryWarning
from fedcompute.text import clean

Kind = Literal["nodes", "pods", "resourceslices", "resourceclaims"]


class UnreadablePageError(Exception):
    """A body that is no list of the API: `message` says why, without the body."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class Page[Item](Struct):
    """One page of a list: its objects, and the token of the next page ("" on the last)."""

    items: list[Item]
    continue_token: str
    resource_version: str
    warnings: list[InventoryWarning]


class _ListMetadata(Struct, rename={"continue_token": "continue", "resource_version": "resourceVersion"}):
    continue_token: str | None = None
    resource_version: str | None = None


class _List[Item](Struct):
    metadata: _ListMetadata | None = None
    items: list[Item] | None = None


_ITEMS: dict[str, type[Any]] = {
    "nodes": ClusterNode,
    "pods": ClusterPod,
    "resourceslices": ResourceSlice,
    "resourceclaims": ResourceClaim,
}
_TYPED = {kind: msgspec.json.Decoder(_List[item]) for kind, item in _ITEMS.items()}  # type: ignore[valid-type]
_RAW = msgspec.json.Decoder(_List[Raw])
_NAMED = msgspec.json.Decoder(dict[str, Raw])

# Annotations that are read, by what their keys hold; the rest is dropped with the page's body.
_NODE_NOTES = ("register", "handshake", "cordon", "vnpu-core", "gpu-devices", "drs-capacity")
_POD_NOTES = ("-allocated", "vgpu-node", "vgpu-ids-new", "mig-allocations")


def decode_page(kind: Kind, body: bytes | bytearray) -> Page[Any]:
    """A page of `kind` with ClusterNode, ClusterPod, ResourceSlice or ResourceClaim items.

    An item that can't be decoded is left out, and named in `warnings` (code `unreadable_object`).
    Raises UnreadablePageError for a body that is no list at all.
    """
    try:
        listed, warnings = _decoded(kind, body)
    except RecursionError as error:
        raise UnreadablePageError(f"the list of {kind} is nested too deeply") from error
    except (msgspec.DecodeError, UnicodeError) as error:
        raise UnreadablePageError(f"no list of {kind}: {clean(str(error))}") from error
    items = listed.items or []
    _keep_notes(kind, items)
    metadata = listed.metadata or _ListMetadata()
    return Page(items, metadata.continue_token or "", metadata.resource_version or "", warnings)


def _decoded(kind: str, body: bytes | bytearray) -> tuple[_List[Any], list[InventoryWarning]]:
    try:
        return _TYPED[kind].decode(body), []
    except (msgspec.ValidationError, UnicodeError):
        return _by_items(kind, _RAW.decode(body))


def _by_items(kind: str, listed: _List[Raw]) -> tuple[_List[Any], list[InventoryWarning]]:
    """Leaves out each item of odd types. Slow, and seldom needed."""
    decode: Callable[[Raw], Any] = msgspec.json.Decoder(_ITEMS[kind]).decode
    kept: list[Any] = []
    warnings: list[InventoryWarning] = []
    for raw in listed.items or []:
        try:
            kept.append(decode(raw))
        except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
            message = f"{kind}: {_name_of(raw)} left out: {error}"
            warnings.append(InventoryWarning(code="unreadable_object", message=clean(message)))
    return _List(listed.metadata, kept), warnings


def _name_of(raw: Raw) -> str:
    try:
        metadata = _NAMED.decode(_NAMED.decode(raw)["metadata"])
        return msgspec.json.decode(metadata["name"], type=str)
    except (KeyError, msgspec.DecodeError, UnicodeError, RecursionError):
        return "an object without a name"


def _keep_notes(kind: str, items: list[Any]) -> None:
    if kind not in ("nodes", "pods"):
        return
    wanted = _NODE_NOTES if kind == "nodes" else _POD_NOTES
    for item in items:
        notes = item.metadata.annotations
        if notes:
            item.metadata.annotations = {
                key: value for key, value in notes.items() if any(part in key for part in wanted)
            }
