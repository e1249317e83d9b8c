"""A cluster's inventory from its objects: the one entry to everything that reads them. No I/O, no clock, never raises.

The same card may be advertised in several ways. Of each vendor on a node one way counts, the first that has live devices:
HAMi's register annotations, DRA's slices, what HAMi takes from extended resources, extended resources themselves.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from chalicelib.advertised import ways_to_devices
from chalicelib.core_objects import ClusterNode, ClusterPod
from chalicelib.dra_claims import held_by
from chalicelib.dra_devices import dra_devices
from chalicelib.dra_objects import ResourceClaim, ResourceSlice
from chalicelib.dra_pools import pools_of
from chalicelib.findings import MOST_PER_CLUSTER, Findings
from chalicelib.hami_allocations import Holding, holding_of
from chalicelib.hami_registers import Register, registers_of
from chalicelib.node_cards import devices_of, pod_key
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
from chalicelib.pod_requests import Amounts, is_live, requests_of
from fedcompute.inventory import Device, Inventory, Node
from fedcompute.inventory import Warning as InventoryWarning
from fedcompute.text import clean


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


@dataclass(slots=True)
class _Load:
    """What live pods take of one node: `asking` are those that ask for extended resources."""

    pods: int = 0
    taken: Amounts = field(default_factory=dict)
    asking: list[tuple[str, Amounts]] = field(default_factory=list)
    holdings: list[Holding] = field(default_factory=list)


@dataclass(slots=True)
class _Site:
    """A node while its devices are put together."""

    node: ClusterNode
    findings: Findings
    registers: list[Register]
    dra: list[Device] = field(default_factory=list)


def inventory_of(cluster: Cluster, now: datetime) -> Inventory:
    """What the cluster has at `now`, which handshakes are compared with. Whatever is odd in it becomes a warning."""
    findings = Findings(most=MOST_PER_CLUSTER)
    sites = _sites(cluster.nodes, now, findings)
    loads = _loads(cluster.pods, sites, findings)
    _place_dra(cluster, sites, findings)
    nodes = [_node(name, sites[name], loads, knows_pods=cluster.pods is not None) for name in sorted(sites)]
    by_hami = any(site.registers and any(one.cards for one in site.registers) for site in sites.values())
    return Inventory(
        provider_id=cluster.provider_id,
        source="hami" if by_hami or any(load.holdings for load in loads.values()) else "kubernetes",
        observed_at=now.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        nodes=nodes,
        warnings=[*_unread(cluster), *findings.warnings()],
    )


def _sites(nodes: Iterable[ClusterNode], now: datetime, findings: Findings) -> dict[str, _Site]:
    sites: dict[str, _Site] = {}
    for node in nodes:
        name = node.metadata.name
        if not name or clean(name, 256) != name or name in sites:
            findings.add("unusable_node", f"a node named {name!r} left out: no name of its own")
            continue
        of_node = Findings(name)
        sites[name] = _Site(node, of_node, registers_of(node, now, of_node))
    return sites


def _loads(pods: Iterable[ClusterPod] | None, sites: dict[str, _Site], findings: Findings) -> dict[str, _Load]:
    loads = {name: _Load() for name in sites}
    for pod in pods or ():
        if not is_live(pod):
            continue
        load = loads.get(pod.spec.node_name or "")
        if load is not None:
            _take(load, pod)
        holding = holding_of(pod)
        if holding is not None:
            _settle(holding, sites, loads, findings)
    return loads


def _take(load: _Load, pod: ClusterPod) -> None:
    amounts = requests_of(pod)
    load.pods += 1
    extended = False
    for name, amount in amounts.items():
        load.taken[name] = load.taken.get(name, 0) + amount
        extended = extended or "/" in name
    if extended:
        load.asking.append((f"{pod.metadata.namespace}/{pod.metadata.name}", amounts))


def _settle(holding: Holding, sites: dict[str, _Site], loads: dict[str, _Load], findings: Findings) -> None:
    """HAMi's books go by its own annotation; where the pod runs elsewhere, cards that only are there are charged there."""
    runs_on = holding.pod.spec.node_name
    if holding.node not in loads:
        findings.add(
            "orphan_allocation", f"pod {pod_key(holding)} holds cards of {holding.node}, which is no node here"
        )
    else:
        loads[holding.node].holdings.append(holding)
    if not runs_on or runs_on == holding.node or runs_on not in loads:
        return
    told = f"pod {pod_key(holding)} runs here, but HAMi placed it on {holding.node}"
    sites[runs_on].findings.add("placed_elsewhere", told)
    here, there = _ids(sites[runs_on]), _ids(sites.get(holding.node))
    moved = {card: holding.charges[card] for card in holding.charges if card in here and card not in there}
    if moved:
        loads[runs_on].holdings.append(Holding(runs_on, holding.pod, moved))
        for card in moved:
            del holding.charges[card]


def _ids(site: _Site | None) -> set[str]:
    return set() if site is None else {card.id for register in site.registers for card in register.cards}


def _place_dra(cluster: Cluster, sites: dict[str, _Site], findings: Findings) -> None:
    held = None if cluster.claims is None else held_by(cluster.claims)
    for pool in pools_of(cluster.slices, findings):
        if not pool.is_whole:
            told = f"{pool.slices_seen} of {pool.slices_wanted} slices: nothing of it is given out"
            findings.add("incomplete_pool", f"{pool.driver}: pool {pool.name} has {told}")
        for name, device in dra_devices(pool, held):
            if name in sites:
                sites[name].dra.append(device)


def _node(name: str, site: _Site, loads: dict[str, _Load], *, knows_pods: bool) -> Node:
    node, findings = site.node, site.findings
    load = loads[name]
    taken = load.taken if knows_pods else None
    groups, listed = ways_to_devices(node, site.registers, site.dra, taken, findings)
    holdings, asking = (load.holdings, load.asking) if knows_pods else (None, [])
    devices = devices_of(groups, holdings, asking, findings) + listed
    tell_of_virtual(node, findings)
    return Node(
        name=name,
        ready=is_ready(node),
        schedulable=is_schedulable(node),
        labels=labels_of(node),
        taints=taints_of(node),
        cpu=cpu_of(node, taken, findings),
        memory=memory_of(node, taken, findings),
        pods=pods_of(node, load.pods if knows_pods else None, findings),
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
    return sorted(kept.values(), key=_order)


def _order(device: Device) -> tuple[str, bool, int, int, str]:
    return device.resource, device.index is None, device.index or 0, len(device.id), device.id


def _unread(cluster: Cluster) -> list[InventoryWarning]:
    """The reading's own warnings, and that pods are unknown where it did not say so."""
    told = list(cluster.warnings)[:MOST_PER_CLUSTER]
    if cluster.pods is None and all(one.code != "pods_unreadable" for one in told):
        message = "pods can't be read, so what is free is unknown"
        told.append(InventoryWarning(code="pods_unreadable", message=message))
    return told
