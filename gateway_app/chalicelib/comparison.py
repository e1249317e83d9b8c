"""What the providers that have answered so far come to: the best nodes that fit, and a tally of the others."""

import time
from operator import itemgetter
from threading import Lock
from typing import NamedTuple

from chalicelib.inventories import Answered
from fedcompute.demand import Demand
from fedcompute.explanation import explained
from fedcompute.feasibility import would_fit_when_idle
from fedcompute.matching import judge
from fedcompute.ranking import Fit, best_fit_of, highest_score
from fedcompute.rejections import Rejections
from fedcompute.survey import Surveyed

# By score, then provider id, then node name; sorts before another: ranks before it.
Order = tuple[float, str, str]


SLACK = 1e-8  # more than what rounding makes of a score


class _Compared(NamedTuple):
    """One provider's nodes: those that may be shown, how many fit, and the others."""

    fits: list[Fit]
    total: int
    rejections: Rejections


class Comparison:
    """Grows while others are still being asked; holds on to no node that the answer won't show. Safe under threads."""

    def __init__(self, demand: Demand, limit: int) -> None:
        self._demand = demand
        self._limit = limit
        self._best: list[tuple[Order, Answered, Fit]] = []
        self._lock = Lock()
        self.total = 0  # nodes that fit
        self.rejections = Rejections()
        self.is_busy = False  # whether a node would fit if nothing ran on it; looked for only while nothing fits
        self.took_s = 0.0

    @property
    def best(self) -> list[tuple[Answered, Fit]]:
        """The best `limit` nodes, the best first."""
        return [(answered, fit) for _, answered, fit in self._best]

    def add(self, answered: Answered) -> None:
        """Compare one provider's nodes with the request, and write in its entry how many fit."""
        started = time.perf_counter()
        assert answered.surveyed is not None
        one = self._compared(answered.surveyed, answered.record.id)
        is_busy = not one.total and self._is_busy(answered.surveyed)
        answered.entry.candidates = one.total
        shown = answered._replace(surveyed=None)
        ranked = [((-fit.score, answered.record.id, fit.node.name), shown, fit) for fit in one.fits]
        with self._lock:
            self.total += one.total
            self.rejections.merge(one.rejections)
            self.is_busy = self.is_busy or is_busy
            if ranked:
                self._best = sorted([*self._best, *ranked], key=itemgetter(0))[: self._limit]
            self.took_s += time.perf_counter() - started

    def _compared(self, surveyed: Surveyed, provider_id: str) -> _Compared:
        demand = self._demand
        bar = self._bar()
        fits: list[Fit] = []
        total = 0
        rejections = Rejections(self.rejections.bar)
        for one in surveyed.nodes:
            groups, names = judge(one, demand)
            if not names:
                total += 1
                if bar is None or highest_score(one.node, demand) >= bar:
                    fits.append(best_fit_of(one.node, groups, demand))
            elif rejections.add(provider_id, one.node.name, names):
                rejections.keep(provider_id, one.node.name, explained(one, demand, names))
        return _Compared(fits, total, rejections)

    def _bar(self) -> float | None:
        """A score below which no node is shown any more; None: not known, or not worth a look."""
        best = self._best
        if self._demand.gpu is None or len(best) < self._limit:
            return None
        return best[-1][2].score - SLACK

    def _is_busy(self, surveyed: Surveyed) -> bool:
        if self.total or self.is_busy:
            return False
        return any(would_fit_when_idle(one, self._demand) for one in surveyed.nodes)
