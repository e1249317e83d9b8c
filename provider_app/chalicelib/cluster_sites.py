"""A cluster's nodes with what live pods take of each: by Kubernetes' requests, and by HAMi's books."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime

from chalicelib.core_objects import ClusterNode, ClusterPod
from chalicelib.findings import Findings
from chalicelib.hami_allocations import Holding, holding_of
from chalicelib.hami_registers import Register, registers_of
from chalicelib.node_cards import pod_key
from chalicelib.pod_requests import Amounts, is_live, requests_of
from fedcompute.inventory import Device
from fedcompute.text import clean

_LONGEST_NAME = 256


@dataclass(slots=True)
class Site:
    """A node while its devices are put together, and its load by live pods.

    `taken`: what they ask for; `asking`: those, by key, that ask for extended resources; `holdings`: what HAMi gave them.
    """

    node: ClusterNode
    findings: Findings
    registers: list[Register]
    dra: list[Device] = field(default_factory=list)
    pods: int = 0
    taken: Amounts = field(default_factory=dict)
    asking: list[tuple[str, Amounts]] = field(default_factory=list)
    holdings: list[Holding] = field(default_factory=list)


def sites_of(nodes: Iterable[ClusterNode], now: datetime, findings: Findings) -> dict[str, Site]:
    """The nodes by name, nothing on them yet; one without a name of its own is left out."""
    sites: dict[str, Site] = {}
    for node in nodes:
        name = node.metadata.name
        if not name or clean(name, _LONGEST_NAME) != name or name in sites:
            findings.add("unusable_node", f"a node named {name!r} left out: no name of its own")
            continue
        of_node = Findings(name)
        sites[name] = Site(node, of_node, registers_of(node, now, of_node))
    return sites


def load(sites: dict[str, Site], pods: Iterable[ClusterPod], findings: Findings) -> None:
    """Charges each live pod to the node that it runs on, and what HAMi gave it to the node of HAMi's books."""
    for pod in pods:
        if not is_live(pod):
            continue
        site = sites.get(pod.spec.node_name or "")
        if site is not None:
            _take(site, pod)
        holding = holding_of(pod)
        if holding is not None:
            _settle(holding, sites, findings)


def _take(site: Site, pod: ClusterPod) -> None:
    amounts = requests_of(pod)
    site.pods += 1
    extended = False
    for name, amount in amounts.items():
        site.taken[name] = site.taken.get(name, 0) + amount
        extended = extended or "/" in name
    if extended:
        site.asking.append((pod_key(pod), amounts))


def _settle(holding: Holding, sites: dict[str, Site], findings: Findings) -> None:
    """HAMi's books go by its own annotation; where the pod runs elsewhere, cards that only are there are charged there."""
    booked = sites.get(holding.node)
    if booked is None:
        told = f"pod {pod_key(holding.pod)} holds cards of {holding.node}, which is no node here"
        findings.add("orphan_allocation", told)
    else:
        booked.holdings.append(holding)
    runs_on = sites.get(holding.pod.spec.node_name or "")
    if runs_on is None or runs_on is booked:
        return
    runs_on.findings.add(
        "placed_elsewhere", f"pod {pod_key(holding.pod)} runs here, but HAMi placed it on {holding.node}"
    )
    here, there = _ids(runs_on), _ids(booked)
    moved = {card: charge for card, charge in holding.charges.items() if card in here and card not in there}
    if moved:
        runs_on.holdings.append(Holding(runs_on.node.metadata.name, holding.pod, moved))
        for card in moved:
            del holding.charges[card]


def _ids(site: Site | None) -> set[str]:
    return set() if site is None else {card.id for register in site.registers for card in register.cards}
