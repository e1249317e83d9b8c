"""Why the rest does not fit: counts per reason, and the few nodes that are nearest to fitting."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from fedcompute.reasons import Reason

MOST_NEAREST = 5

# Fewest reasons first, then the least sum of short_by/need, then provider id, node name.
Entry = tuple[int, float, str, str, Sequence[Reason]]


Bar = tuple[int, float, str, str]


class Tally(Struct, frozen=True):
    """The rejected nodes of a part of a search."""

    nodes: int
    by_reason: dict[str, int]
    nearest: list[Entry]

    def answer(self, explain: bool) -> dict[str, Any]:
        """As in a search's answer; without `nearest` where the caller wants no explanation."""
        by_reason = dict(sorted(self.by_reason.items(), key=lambda item: (-item[1], item[0])))
        nearest = [_described(entry) for entry in self.nearest] if explain else []
        return {"nodes": self.nodes, "by_reason": by_reason, "nearest": nearest}


class Rejections:
    """The rejected nodes of one search, tallied; memory does not grow with their number."""

    def __init__(self, bar: Bar | None = None) -> None:
        """`bar`: five nodes that are nearer are known already; who is not below it need not be kept."""
        self.nodes = 0
        self._by_reasons: dict[tuple[str, ...], int] = {}  # one by one they are counted in the end: nodes are many
        self._nearest: list[Entry] = []
        self.bar = bar

    def add(self, provider_id: str, node: str, names: tuple[str, ...]) -> bool:
        """Count a node that does not fit. True: it may be among the nearest, and `keep` is to be told its reasons in full."""
        self.nodes += 1
        counts, bar = self._by_reasons, self.bar
        counts[names] = counts.get(names, 0) + 1
        return bar is None or (len(names) <= bar[0] and (len(names), 0.0, provider_id, node) < bar)

    def keep(self, provider_id: str, node: str, reasons: Sequence[Reason]) -> None:
        """Hold on to a node that was counted, if it is among the nearest."""
        self._keep([(len(reasons), lack(reasons), provider_id, node, reasons)])

    def merge(self, other: "Rejections") -> None:
        """Count what another has counted."""
        self._add(other.nodes, other._by_reasons, other._nearest)

    @property
    def by_reason(self) -> dict[str, int]:
        """How many nodes each reason keeps off."""
        counts: dict[str, int] = {}
        for names, nodes in self._by_reasons.items():
            for name in names:
                counts[name] = counts.get(name, 0) + nodes
        return counts

    def tally(self) -> Tally:
        """What was counted so far."""
        return Tally(self.nodes, self.by_reason, self._nearest)

    def count(self, tally: Tally) -> None:
        """Count what a part of the search has counted."""
        self._add(tally.nodes, {(name,): count for name, count in tally.by_reason.items()}, tally.nearest)

    def _add(self, nodes: int, by_reasons: Mapping[tuple[str, ...], int], nearest: Sequence[Entry]) -> None:
        self.nodes += nodes
        counts = self._by_reasons
        for names, count in by_reasons.items():
            counts[names] = counts.get(names, 0) + count
        self._keep(nearest)

    def _keep(self, entries: Sequence[Entry]) -> None:
        bar = self.bar
        if not entries or (bar is not None and _standing(entries[0]) >= bar):  # the first is the nearest of them
            return
        self._nearest = sorted([*self._nearest, *entries], key=_standing)[:MOST_NEAREST]
        if len(self._nearest) == MOST_NEAREST:
            last = _standing(self._nearest[-1])
            self.bar = last if bar is None else min(last, bar)


def merged(tallies: Sequence[Tally]) -> Tally:
    """All that the parts of a search have counted."""
    if len(tallies) == 1:
        return tallies[0]
    rejections = Rejections()
    for tally in tallies:
        rejections.count(tally)
    return rejections.tally()


def _standing(entry: Entry) -> Bar:
    return entry[:4]


def lack(reasons: Iterable[Reason]) -> float:
    """How far from fitting: the sum of short_by/need over the reasons that are amounts."""
    total = 0.0
    for reason in reasons:
        if reason.short_by is not None and reason.need:
            total += reason.short_by / reason.need
    return total


def _described(entry: Entry) -> dict[str, Any]:
    _, _, provider_id, node, reasons = entry
    described = [
        {"reason": r.reason, "have": r.have, "need": r.need, "short_by": r.short_by, "devices": r.devices}
        for r in reasons
    ]
    return {"provider_id": provider_id, "node": node, "reasons": described}
