"""Which lists are read, and how: in pages, and from the start again when a place in a list is gone.

Everything that is called here stands in the role of infra/kubernetes/reader.yaml.
"""

from dataclasses import dataclass, field
from typing import Any

import msgspec
from msgspec import Struct

from chalicelib.cluster_calls import Api
from chalicelib.cluster_errors import ROLE, ClusterError, ExpiredError, ForbiddenError, NotThereError
from chalicelib.cluster_objects import Kind, Page, UnreadablePageError, decode_page
from chalicelib.core_objects import ClusterNode, ClusterPod
from chalicelib.dra_objects import ResourceClaim, ResourceSlice
from fedcompute.inventory import Warning as InventoryWarning
from fedcompute.text import clean

PAGE = 500
STARTS = 3  # of one list, when its places are gone (410: compacted while it was read)
WARNINGS_KEPT = 100  # of one list

DRA = "/apis/resource.k8s.io"
DRA_VERSIONS = ("v1", "v1beta2", "v1beta1")  # the one that is taken stands first

# Pods that hold nothing any more; the others are what a node's free amounts are counted from.
_LIVE = {"fieldSelector": "status.phase!=Succeeded,status.phase!=Failed"}


@dataclass(slots=True)
class Listing[Item]:
    """A list that was read to its end, and what of it was left out."""

    items: list[Item] = field(default_factory=list)
    warnings: list[InventoryWarning] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class DraLists:
    """What dynamic resource allocation publishes; `claims` is None where they may not be read."""

    slices: list[ResourceSlice]
    claims: list[ResourceClaim] | None
    warnings: list[InventoryWarning]


class _Version(Struct):
    version: str = ""


class _Group(Struct):
    versions: list[_Version] = []


def read_nodes(api: Api, deadline: float) -> Listing[ClusterNode]:
    """All nodes. Raises: ClusterError, also where they may not be read: without them there is no inventory."""
    return _read(api, "nodes", "/api/v1/nodes", deadline)


def read_pods(api: Api, deadline: float) -> Listing[ClusterPod] | None:
    """The pods that hold something, of all namespaces; None where they may not be read. Raises: ClusterError."""
    try:
        return _read(api, "pods", "/api/v1/pods", deadline, _LIVE)
    except ForbiddenError:
        return None


def read_dra(api: Api, deadline: float) -> DraLists:
    """Slices and claims, of the newest version that the cluster and this reader have; none where there are none.

    Raises: ClusterError for what is neither 403 nor 404.
    """
    try:
        served = _served_versions(api, deadline)
        version = next((one for one in DRA_VERSIONS if one in served), None)
        if version is None:
            return DraLists([], [], [])
        slices: Listing[ResourceSlice] = _read(api, "resourceslices", f"{DRA}/{version}/resourceslices", deadline)
    except NotThereError:
        return DraLists([], [], [])
    except ForbiddenError:
        told = _unreadable("dra_unreadable", "resourceslices", "the devices of DRA are not listed")
        return DraLists([], [], [told])
    try:
        claims: Listing[ResourceClaim] = _read(api, "resourceclaims", f"{DRA}/{version}/resourceclaims", deadline)
    except (ForbiddenError, NotThereError):
        told = _unreadable("dra_unreadable", "resourceclaims", "what of DRA's devices is free is unknown")
        return DraLists(slices.items, None, [*slices.warnings, told])
    return DraLists(slices.items, claims.items, slices.warnings + claims.warnings)


def pods_unreadable() -> InventoryWarning:
    """What an inventory says where the pods may not be read."""
    return _unreadable("pods_unreadable", "pods", "what is free is unknown")


def _unreadable(code: str, what: str, so: str) -> InventoryWarning:
    return InventoryWarning(code=code, message=f"{what} may not be read (403), so {so}; {ROLE}")


def _served_versions(api: Api, deadline: float) -> set[str]:
    body = api.get(DRA, {}, deadline, "the versions of resource.k8s.io")
    try:
        return {one.version for one in msgspec.json.decode(body, type=_Group).versions}
    except (msgspec.DecodeError, UnicodeError):
        return set()


def _read(api: Api, kind: Kind, path: str, deadline: float, query: dict[str, str] | None = None) -> Listing[Any]:
    for start in range(STARTS):
        try:
            return _all_pages(api, kind, path, deadline, {"limit": str(PAGE), **(query or {})})
        except ExpiredError:
            if start == STARTS - 1:
                raise
    raise AssertionError("the last start returned or raised")


def _all_pages(api: Api, kind: Kind, path: str, deadline: float, query: dict[str, str]) -> Listing[Any]:
    read: Listing[Any] = Listing()
    token = ""
    while True:
        page = _page(api, kind, path, deadline, {**query, "continue": token} if token else query)
        read.items += page.items
        read.warnings += page.warnings[: WARNINGS_KEPT - len(read.warnings)]
        if page.continue_token in ("", token):
            return read
        token = page.continue_token


def _page(api: Api, kind: Kind, path: str, deadline: float, query: dict[str, str]) -> Page[Any]:
    """One page; its body is let go of before the next one comes."""
    try:
        return decode_page(kind, api.get(path, query, deadline, kind))
    except UnreadablePageError as error:
        raise ClusterError(f"The API server's answer can't be read: {clean(error.message, 100)}.") from error
