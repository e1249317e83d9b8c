"""What some of a search's providers come to. A search is one such part, or several that are merged."""

import heapq
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import partial
from threading import Lock
from typing import NamedTuple

from msgspec import Struct

from chalicelib.asking import Asking
from chalicelib.candidates import Asked, Candidate, candidate
from chalicelib.inventories import Answered, ProviderEntry
from fedcompute.demand import Demand
from fedcompute.feasibility import would_fit_when_idle
from fedcompute.explanation import explained
from fedcompute.matching import judge
from fedcompute.provider import ProviderRecord
from fedcompute.ranking import Fit, best_fit_of
from fedcompute.rejections import Bar, Rejections, Tally
from fedcompute.request import SearchRequest

type Sees = Callable[[ProviderRecord], bool]  # whether the caller may know where a provider is


class Part(Struct):
    """Everything that the answer needs of these providers, and no more; travels as JSON between invocations."""

    candidates: list[Candidate]  # the best `limit` of them, the best first
    total_candidates: int
    providers: list[ProviderEntry]  # by id
    rejections: Tally
    is_busy: bool  # whether a node would fit if nothing ran on it; looked for only where nothing fits
    match_s: float


class _Considered(NamedTuple):
    """One provider's nodes compared with the request."""

    fits: list[Fit]
    rejections: Rejections
    took_s: float


def part_of(
    request: SearchRequest, records: Sequence[ProviderRecord], asking: Asking, deadline: float, sees: Sees
) -> Part:
    """Ask these providers by `deadline` (monotonic seconds) and compare what they have with the request."""
    demand = Demand(request)
    considered: dict[str, _Considered] = {}
    rejections = Rejections()
    merging = Lock()

    def consider(answered: Answered) -> None:
        one = considered[answered.record.id] = _consider(answered, demand, rejections.bar)
        answered.entry.candidates = len(one.fits)
        with merging:
            rejections.merge(one.rejections)

    answers = asking.ask(records, deadline, consider)
    asked = Asked(request, demand, datetime.now(UTC))
    total = sum(len(one.fits) for one in considered.values())
    return Part(
        candidates=[
            candidate(fit, answered, asked, answered.record.base_url if sees(answered.record) else None)
            for answered, fit in _best(answers, considered, request.limit)
        ],
        total_candidates=total,
        providers=[answered.entry for answered in answers],
        rejections=rejections.tally(),
        is_busy=not total and _is_busy(answers, demand),
        match_s=sum(one.took_s for one in considered.values()),
    )


def _consider(answered: Answered, demand: Demand, bar: Bar | None) -> _Considered:
    started = time.perf_counter()
    fits: list[Fit] = []
    rejections = Rejections(bar)
    assert answered.surveyed is not None
    for surveyed in answered.surveyed.nodes:
        groups, names = judge(surveyed, demand)
        if names:
            rejections.add(answered.record.id, surveyed.node.name, names, partial(explained, surveyed, demand, names))
        else:
            fits.append(best_fit_of(surveyed.node, groups, demand))
    return _Considered(fits, rejections, time.perf_counter() - started)


def _best(answers: list[Answered], considered: dict[str, _Considered], limit: int) -> list[tuple[Answered, Fit]]:
    """The best `limit`, by score, then provider id, then node name."""
    ranked = (
        (-fit.score, answered.record.id, fit.node.name, answered, fit)
        for answered in answers
        if answered.record.id in considered
        for fit in considered[answered.record.id].fits
    )
    return [(winner[3], winner[4]) for winner in heapq.nsmallest(limit, ranked, key=lambda entry: entry[:3])]


def _is_busy(answers: list[Answered], demand: Demand) -> bool:
    nodes = (node for answered in answers if answered.surveyed is not None for node in answered.surveyed.nodes)
    return any(would_fit_when_idle(node, demand) for node in nodes)
