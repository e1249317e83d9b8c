"""What the providers that have answered so far come to: the best nodes that fit, and a tally of the others."""

import time
from operator import itemgetter
from threading import Lock

from chalicelib.inventories import Answered
from fedcompute.demand import Demand
from fedcompute.explanation import explained
from fedcompute.feasibility import would_fit_when_idle
from fedcompute.matching import judge
from fedcompute.ranking import Fit, best_fit_of
from fedcompute.rejections import Rejections
from fedcompute.survey import Surveyed

# By score, then provider id, then node name; sorts before another: ranks before it.
Order = tuple[float, str, str]


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
        fits, rejections = self._compared(answered.surveyed, answered.record.id)
        is_busy = self._is_busy(answered.surveyed) if not fits else False
        answered.entry.candidates = len(fits)
        shown = answered._replace(surveyed=None)
        ranked = [((-fit.score, answered.record.id, fit.node.name), shown, fit) for fit in fits]
        with self._lock:
            self.total += len(fits)
            self.rejections.merge(rejections)
            self.is_busy = self.is_busy or is_busy
            self._best = sorted([*self._best, *ranked], key=itemgetter(0))[: self._limit]
            self.took_s += time.perf_counter() - started

    def _compared(self, surveyed: Surveyed, provider_id: str) -> tuple[list[Fit], Rejections]:
        demand = self._demand
        fits: list[Fit] = []
        rejections = Rejections(self.rejections.bar)
        for one in surveyed.nodes:
            groups, names = judge(one, demand)
            if not names:
                fits.append(best_fit_of(one.node, groups, demand))
            elif rejections.add(provider_id, one.node.name, names):
                rejections.keep(provider_id, one.node.name, explained(one, demand, names))
        return fits, rejections

    def _is_busy(self, surveyed: Surveyed) -> bool:
        if self.total or self.is_busy:
            return False
        return any(would_fit_when_idle(one, self._demand) for one in surveyed.nodes)
