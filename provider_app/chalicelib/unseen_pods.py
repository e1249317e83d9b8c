"""Pods that hold cards without HAMi knowing: they ask for its resources, and no allocation of theirs names a card.

A pod with a nodeName of its own bypasses HAMi's scheduler (Project-HAMi/HAMi#116). Kubelet gave it cards all the same; which,
nothing in the API says. So it is charged where there is only one to be had, or where any whole card is as good as another;
else the inventory only tells of it.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from chalicelib.cards import Card, Use
from chalicelib.findings import Findings
from chalicelib.pod_requests import Amounts
from fedcompute.quantities import units


@dataclass(frozen=True, slots=True)
class AskedBy:
    """The resources by which a pod asks for cards of one kind, and for a part of one; "" where there is none."""

    count: str
    memory: str = ""
    memory_unit: int = 1
    cores: str = ""


def charge_unseen(
    cards: list[Card], uses: dict[str, Use], asked: Iterable[Amounts], by: AskedBy, findings: Findings
) -> None:
    """Charges `uses` with what pods without an allocation ask for (`asked`), as far as the card is beyond doubt."""
    for amounts in asked:
        count, memory, cores = (units(amounts.get(name, 0)) for name in (by.count, by.memory, by.cores))
        if not (count or memory or cores) or not cards:
            continue
        if cards[0].unit == "bits":
            _take_cores(cards, uses, count * cards[0].slots or cores)
        elif all(card.slots == 1 for card in cards):
            _take_whole(cards, uses, count or 1)
        elif len(cards) == 1:
            _take_part(cards[0], uses.setdefault(cards[0].id, Use()), amounts, by)
        else:
            told = f"{by.count}: a live pod asks for {count or 1} and no allocation says of which cards"
            findings.add("unseen_pod", told)


def _take_whole(cards: list[Card], uses: dict[str, Use], count: int) -> None:
    """Any free cards, from the last: one is as good as another."""
    for card in reversed(cards):
        if count > 0 and not uses.setdefault(card.id, Use()).slots:
            uses[card.id] = Use(card.memory_mib or 0, card.cores, card.slots)
            count -= 1


def _take_cores(cards: list[Card], uses: dict[str, Use], count: int) -> None:
    """Any free cores, a slot each, from the last card on."""
    for card in reversed(cards):
        use = uses.setdefault(card.id, Use())
        for bit in range(card.slots):
            if count > 0 and not use.cores >> bit & 1:
                use.cores |= 1 << bit
                use.slots += 1
                count -= 1


def _take_part(card: Card, use: Use, amounts: Amounts, by: AskedBy) -> None:
    """As HAMi's scheduler would: who names no memory gets all of it, and all cores unless they are named."""
    whole = card.memory_mib or 0
    memory = units(amounts.get(by.memory, 0)) * by.memory_unit
    memory = memory or units(amounts.get(f"{by.memory}-percentage", 0)) * whole // 100
    cores = units(amounts.get(by.cores, 0))
    if by.cores.startswith("amd.com/"):
        cores = cores * card.cores // 100  # asked for in percent, booked in compute units
    use.slots += units(amounts.get(by.count, 0)) or 1
    use.memory_mib += memory or whole
    use.cores += cores or (0 if memory else card.cores)
