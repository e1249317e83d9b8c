"""A cluster's inventory from its objects: the one entry to everything that reads them. No I/O, no clock, never raises.

The same card may be advertised in several ways. Of each vendor on a node one way counts, the first that has live devices:
HAMi's register annotations, DRA's slices, what HAMi takes from extended resources, extended resources themselves.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from chalicelib.advertised import ways_to_devices
from chalicelib.cluster_sites import Site, load, sites_of
from chalicelib.core_objects import ClusterNode, ClusterPod
from chalicelib.dra_claims import held_by
from chalicelib.dra_devices import dra_devices
from chalicelib.dra_objects import ResourceClaim, ResourceSlice
from chalicelib.dra_pools import pools_of
from chalicelib.findings import MOST_PER_CLUSTER, Findings
from chalicelib.node_cards import devices_of
from chalicelib.node_state import (
    cpu_of,
    is_ready,
    is_schedulable,
    labels_of,
    memory_of,
    pods_of,
    taints_of,
    tell_of_virtual,
)
from fedcompute.inventory import Device, Inventory, Node
from fedcompute.inventory import Warning as InventoryWarning
from fedcompute.soundness import MOST_DEVICES, MOST_NODES, MOST_TAINTS


@dataclass(frozen=True, slots=True)
class Cluster:
    """What was read of a cluster. `pods` and `claims` are None where they may not be read: then what is free is unknown.

    `warnings`: what the reading itself left out.
    """

    provider_id: str
    nodes: Sequence[ClusterNode]
    pods: Sequence[ClusterPod] | None
    slices: Sequence[ResourceSlice] = ()
    claims: Sequence[ResourceClaim] | None = ()
    warnings: Sequence[InventoryWarning] = ()


def inventory_of(cluster: Cluster, now: datetime) -> Inventory:
    """What the cluster has at `now`, which handshakes are compared with. Whatever is odd in it becomes a warning."""
    findings = Findings(most=MOST_PER_CLUSTER)
    sites = sites_of(cluster.nodes, now, findings)
    load(sites, cluster.pods or (), findings)
    _place_dra(cluster, sites, findings)
    source = "hami" if any(map(_has_hami, sites.values())) else "kubernetes"
    # A site is let go as soon as its node is made: a large cluster's cards and devices need not be held at once.
    if len(sites) > MOST_NODES:
        findings.add("too_many_nodes", f"only the first {MOST_NODES} of {len(sites)} are listed")
    names = sorted(sites)[:MOST_NODES]
    nodes = [_node(name, sites.pop(name), knows_pods=cluster.pods is not None) for name in names]
    return Inventory(
        provider_id=cluster.provider_id,
        source=source,
        observed_at=now.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        nodes=nodes,
        warnings=[*_unread(cluster), *findings.warnings()],
    )


def _has_hami(site: Site) -> bool:
    return bool(site.holdings) or any(register.cards for register in site.registers)


def _place_dra(cluster: Cluster, sites: dict[str, Site], findings: Findings) -> None:
    held = None if cluster.claims is None else held_by(cluster.claims)
    for pool in pools_of(cluster.slices, findings):
        if not pool.is_whole:
            told = f"{pool.slices_seen} of {pool.slices_wanted} slices: nothing of it is given out"
            findings.add("incomplete_pool", f"{pool.driver}: pool {pool.name} has {told}")
        for name, device in dra_devices(pool, held):
            if name in sites:
                sites[name].dra.append(device)


def _node(name: str, site: Site, *, knows_pods: bool) -> Node:
    node, findings = site.node, site.findings
    taken = site.taken if knows_pods else None
    groups, ready = ways_to_devices(node, site.registers, site.dra, taken, findings)
    devices = devices_of(groups, site.holdings if knows_pods else None, site.asking, findings) + ready
    tell_of_virtual(node, findings)
    taints = taints_of(node, findings)
    return Node(
        name=name,
        ready=is_ready(node),
        schedulable=is_schedulable(node) and len(taints) <= MOST_TAINTS,
        labels=labels_of(node, findings),
        taints=taints[:MOST_TAINTS],
        cpu=cpu_of(node, taken, findings),
        memory=memory_of(node, taken, findings),
        pods=pods_of(node, site.pods if knows_pods else None, findings),
        devices=_in_order(devices, findings),
        warnings=findings.warnings(),
    )


def _in_order(devices: list[Device], findings: Findings) -> list[Device]:
    """By resource, index and id, whatever order annotations have; an id that stands a second time is left out."""
    kept: dict[str, Device] = {}
    for device in devices:
        if device.id in kept:
            findings.add("duplicate_device", "a second device of this id left out", device.id)
        elif device.id:
            kept[device.id] = device
    if len(kept) > MOST_DEVICES:
        findings.add("too_many_devices", f"only the first {MOST_DEVICES} of {len(kept)} are listed")
    return sorted(kept.values(), key=_order)[:MOST_DEVICES]


def _order(device: Device) -> tuple[str, bool, int, int, str]:
    return device.resource, device.index is None, device.index or 0, len(device.id), device.id


def _unread(cluster: Cluster) -> list[InventoryWarning]:
    """The reading's own warnings, and that pods are unknown where it did not say so."""
    told = list(cluster.warnings)[:MOST_PER_CLUSTER]
    if cluster.pods is None and all(one.code != "pods_unreadable" for one in told):
        message = "pods can't be read, so what is free is unknown"
        told.append(InventoryWarning(code="pods_unreadable", message=message))
    return told
