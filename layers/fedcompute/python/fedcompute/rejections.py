"""Why the rest does not fit: counts per reason, and the few nodes that are nearest to fitting."""

from collections.abc import Iterable, Sequence
from typing import Any

from fedcompute.matching import Reason

MOST_NEAREST = 5

# Fewest reasons first, then the least sum of short_by/need, then provider id, node name.
_Entry = tuple[int, float, str, str, Sequence[Reason]]


class Rejections:
    """The rejected nodes of one search, tallied; memory does not grow with their number."""

    def __init__(self) -> None:
        self.nodes = 0
        self.by_reason: dict[str, int] = {}
        self._nearest: list[_Entry] = []

    def add(self, provider_id: str, node: str, reasons: Sequence[Reason]) -> None:
        """Count a node that does not fit."""
        self.nodes += 1
        for reason in reasons:
            self.by_reason[reason.reason] = self.by_reason.get(reason.reason, 0) + 1
        if len(self._nearest) < MOST_NEAREST or len(reasons) <= self._nearest[-1][0]:
            self._keep([(len(reasons), lack(reasons), provider_id, node, reasons)])

    def merge(self, other: "Rejections") -> None:
        """Count what another tally has counted."""
        self.nodes += other.nodes
        for reason, count in other.by_reason.items():
            self.by_reason[reason] = self.by_reason.get(reason, 0) + count
        self._keep(other._nearest)

    def answer(self, explain: bool) -> dict[str, Any]:
        """As in a search's answer; without `nearest` where the caller wants no explanation."""
        by_reason = dict(sorted(self.by_reason.items(), key=lambda item: (-item[1], item[0])))
        nearest = [_described(entry) for entry in self._nearest] if explain else []
        return {"nodes": self.nodes, "by_reason": by_reason, "nearest": nearest}

    def _keep(self, entries: Iterable[_Entry]) -> None:
        self._nearest = sorted([*self._nearest, *entries], key=lambda entry: entry[:4])[:MOST_NEAREST]


def lack(reasons: Iterable[Reason]) -> float:
    """How far from fitting: the sum of short_by/need over the reasons that are amounts."""
    total = 0.0
    for reason in reasons:
        if reason.short_by is not None and reason.need:
            total += reason.short_by / reason.need
    return total


def _described(entry: _Entry) -> dict[str, Any]:
    _, _, provider_id, node, reasons = entry
    described = [
        {"reason": r.reason, "have": r.have, "need": r.need, "short_by": r.short_by, "devices": r.devices}
        for r in reasons
    ]
    return {"provider_id": provider_id, "node": node, "reasons": described}
