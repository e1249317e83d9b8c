"""What the providers that have answered so far come to: the best nodes that fit, and a tally of the others."""

import heapq
import time
from collections.abc import Sequence
from operator import itemgetter
from threading import Lock

from chalicelib.compared import Compared
from chalicelib.inventories import Answered
from fedcompute.demand import Demand
from fedcompute.explanation import explained
from fedcompute.feasibility import would_fit_when_idle
from fedcompute.matching import judge
from fedcompute.ranking import Fit, best_fit_of, highest_score
from fedcompute.reasons import Reason
from fedcompute.rejections import Bar, Rejections
from fedcompute.request import SearchRequest
from fedcompute.survey import Surveyed, SurveyedNode

# By score, then provider id, then node name; sorts before another: ranks before it.
Order = tuple[float, str, str]

SLACK = 1e-8  # more than what rounding makes of a score


class _Outcome:
    """What a node comes to for one demand: the reasons that keep it off, or else how well it suits, as far as anybody asked.

    Holds neither the node, which holds it, nor the demand, which knows thousands of kinds and would live as long as the node.
    """

    __slots__ = ("_fit", "_groups", "_highest", "_reasons", "names", "token")

    def __init__(self, one: SurveyedNode, demand: Demand) -> None:
        groups, names = judge(one, demand)
        self.token = demand.token
        self.names = tuple(names)
        self._groups = groups
        self._highest: float | None = None
        self._fit: Fit | None = None
        self._reasons: Sequence[Reason] | None = None

    def highest(self, one: SurveyedNode, demand: Demand) -> float:
        """A score that its own is not above, sooner found."""
        if self._highest is None:
            self._highest = highest_score(one.node, demand)
        return self._highest

    def fit(self, one: SurveyedNode, demand: Demand) -> Fit:
        """The node with what it would give."""
        if self._fit is None:
            self._fit = best_fit_of(one.node, self._groups, demand)
        return self._fit

    def reasons(self, one: SurveyedNode, demand: Demand) -> Sequence[Reason]:
        """The reasons in full."""
        if self._reasons is None:
            self._reasons = explained(one, demand, self.names)
        return self._reasons


def _outcome(surveyed: SurveyedNode, demand: Demand) -> _Outcome:
    """As it was found the last time, where the same was asked: who waits for a node asks again and again."""
    outcome = surveyed.outcome
    if not isinstance(outcome, _Outcome) or outcome.token is not demand.token:
        outcome = surveyed.outcome = _Outcome(surveyed, demand)
    return outcome


class Comparison:
    """Grows while others are still being asked; holds on to no node that the answer won't show. Safe under threads.

    What was added is held on to as well: who adds it lets its inventory go.
    """

    def __init__(self, request: SearchRequest, demand: Demand) -> None:
        self._demand = demand
        self._limit = request.limit
        self._question = demand.token, request.limit
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
        if self._demand.gpu is not None:
            self._demand.gpu.make_room()
        one = self._remembered(answered)
        answered.entry.candidates = one.total
        ranked = [((-fit.score, answered.record.id, fit.node.name), answered, fit) for fit in one.fits]
        with self._lock:
            self.total += one.total
            self.rejections.merge(one.rejections)
            self.is_busy = self.is_busy or bool(one.is_busy)
            if ranked:
                self._best = sorted([*self._best, *ranked], key=itemgetter(0))[: self._limit]
            self.took_s += time.perf_counter() - started

    def _remembered(self, answered: Answered) -> Compared:
        """From the last time where the request and the inventory are the same; else compared now."""
        assert answered.surveyed is not None
        known, score_bar, rejections_bar = answered.known, self._score_bar(), self.rejections.bar
        one = None if known is None else known.compared(self._question)
        if one is None or not one.is_enough(score_bar, rejections_bar):
            one = self._compared(answered.surveyed, answered.record.id, score_bar, rejections_bar)
        if one.is_busy is None and not (one.total or self.total or self.is_busy):
            one = one._replace(is_busy=any(would_fit_when_idle(node, self._demand) for node in answered.surveyed.nodes))
        if known is not None:
            known.remember(self._question, one)
        return one

    def _compared(
        self, surveyed: Surveyed, provider_id: str, score_bar: float | None, rejections_bar: Bar | None
    ) -> Compared:
        demand = self._demand
        fits: list[Fit] = []
        total = 0
        rejections = Rejections(rejections_bar)
        for one in surveyed.nodes:
            outcome = _outcome(one, demand)
            names = outcome.names
            if not names:
                total += 1
                if score_bar is None or outcome.highest(one, demand) >= score_bar:
                    fits.append(outcome.fit(one, demand))
            elif rejections.add(provider_id, one.node.name, names):
                rejections.keep(provider_id, one.node.name, outcome.reasons(one, demand))
        if len(fits) > self._limit:
            fits = heapq.nsmallest(self._limit, fits, key=lambda fit: (-fit.score, fit.node.name))
        return Compared(fits, total, rejections, None, score_bar, rejections_bar)

    def _score_bar(self) -> float | None:
        """A score below which no node is shown any more; None: not known, or not worth a look."""
        best = self._best
        if self._demand.gpu is None or len(best) < self._limit:
            return None
        return best[-1][2].score - SLACK
