"""The cards of a node that HAMi keeps the books of, and the devices that they make once pods are charged."""

from collections.abc import Iterable
from dataclasses import dataclass

from chalicelib.cards import Card, Use, device_of, is_overdrawn
from chalicelib.core_objects import ClusterPod
from chalicelib.findings import Findings
from chalicelib.hami_allocations import Charge, Holding
from chalicelib.pod_requests import Amounts
from chalicelib.unseen_pods import AskedBy, charge_unseen
from fedcompute.inventory import Device


@dataclass(slots=True)
class CardGroup:
    """Cards of one kind on one node. `slots_allocatable`: how many slots kubelet counts, where it counts them."""

    asked_by: AskedBy
    cards: list[Card]
    slots_allocatable: int | None = None


def devices_of(
    groups: list[CardGroup], holdings: list[Holding] | None, asking: list[tuple[str, Amounts]], findings: Findings
) -> list[Device]:
    """The devices of a node's groups.

    `holdings`: what HAMi's pods hold here, None where the pods are unknown. `asking`: of each live pod here that asks for
    extended resources, its key and what it asks for.
    """
    if holdings is None:
        return [device_of(card, None) for group in groups for card in group.cards]
    uses = _charged({card.id: card for group in groups for card in group.cards}, holdings, findings)
    for group in groups:
        mine = {card.id for card in group.cards}
        seen = {pod_key(holding.pod) for holding in holdings if not mine.isdisjoint(holding.charges)}
        unseen = [amounts for pod, amounts in asking if pod not in seen]
        charge_unseen(group.cards, uses, unseen, group.asked_by, findings)
        _bound_by_kubelet(group, uses, findings)
        _tell(group, uses, findings)
    return [device_of(card, uses.get(card.id) or Use()) for group in groups for card in group.cards]


def pod_key(pod: ClusterPod) -> str:
    """A pod's namespace and name."""
    return f"{pod.metadata.namespace}/{pod.metadata.name}"


def _charged(cards: dict[str, Card], holdings: Iterable[Holding], findings: Findings) -> dict[str, Use]:
    uses: dict[str, Use] = {}
    for holding in holdings:
        for text in holding.bad:
            findings.add("bad_allocation", f"pod {pod_key(holding.pod)}: {text}")
        for card_id, charge in holding.charges.items():
            if card_id not in cards:
                findings.add("orphan_allocation", f"pod {pod_key(holding.pod)} names a card that is not here", card_id)
                continue
            _charge(uses.setdefault(card_id, Use()), charge)
        _charge_slices(cards, uses, holding)
    return uses


def _charge(use: Use, charge: Charge) -> None:
    use.memory_mib += charge.memory_mib
    use.cores += charge.cores
    use.slots += charge.slots


def _charge_slices(cards: dict[str, Card], uses: dict[str, Use], holding: Holding) -> None:
    """Which places on MIG cards are taken; who holds a part and names no place makes the card unfit for more.

    Source: getNodesUsage in pkg/scheduler/scheduler.go, v2.10.0, which takes such a card out of service.
    """
    placed: dict[str, int] = {}
    for slice_ in holding.slices:
        if slice_.gpu in cards:
            uses.setdefault(slice_.gpu, Use()).slices.append(slice_.placement)
            placed[slice_.gpu] = placed.get(slice_.gpu, 0) + 1
    for card_id in holding.charges:
        if card_id in cards and cards[card_id].profiles and not placed.get(card_id):
            uses[card_id].without_slice = True


def _bound_by_kubelet(group: CardGroup, uses: dict[str, Use], findings: Findings) -> None:
    """Where kubelet counts fewer slots than are registered, no more are offered: of busy cards first, one each if few.

    Two plugins that fight over a resource leave the number of cards (Project-HAMi/HAMi#829); a card that kubelet lost,
    fewer (#1741).
    """
    healthy = [card for card in group.cards if card.healthy]
    allocatable, registered = group.slots_allocatable, sum(card.slots for card in healthy)
    if allocatable is None or allocatable >= registered:
        return
    told = f"{group.asked_by.count}: {allocatable} allocatable, but {registered} slots are registered on healthy cards"
    findings.add("fewer_slots_than_registered", told)
    one_each = allocatable <= len(healthy)
    for card in sorted(healthy, key=lambda card: (-_slots(uses, card), card.index or 0, card.id)):
        card.slot_bound = min(1 if one_each else card.slots, allocatable)
        allocatable -= card.slot_bound


def _slots(uses: dict[str, Use], card: Card) -> int:
    return uses[card.id].slots if card.id in uses else 0


def _tell(group: CardGroup, uses: dict[str, Use], findings: Findings) -> None:
    for card in group.cards:
        use = uses.get(card.id)
        if use is not None and is_overdrawn(card, use):
            findings.add("over_allocated", "live pods hold more of this card than there is", card.id)
        if use is not None and use.without_slice:
            findings.add("unplaced_mig", "a pod holds a slice whose place is unknown: nothing is offered", card.id)
