"""The main job: ask the providers, compare every node with the request, rank what fits, say why the rest does not."""

import gc
import heapq
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from threading import Lock
from typing import Any, NamedTuple

from chalicelib.asking import Asking
from chalicelib.inventories import Answered, ProviderEntry, is_answered
from chalicelib.registry import Registry
from chalicelib.stopwatch import Stopwatch
from fedcompute.copies import copies
from fedcompute.demand import Demand
from fedcompute.feasibility import would_fit_when_idle
from fedcompute.hints import hint
from fedcompute.inventory import Warning  # noqa: A004 (the contract's word)
from fedcompute.matching import match_surveyed
from fedcompute.provider import ProviderRecord
from fedcompute.ranking import Fit, best_fit_of, score_parts, weights
from fedcompute.rejections import Rejections
from fedcompute.request import SearchRequest

MOST_WARNINGS = 200

type Sees = Callable[[ProviderRecord], bool]


class Found(NamedTuple):
    """What a search found out; `took_ms` in the answer is still to be set."""

    answer: dict[str, Any]
    is_complete: bool  # whether every provider that was asked answered
    clock: Stopwatch

    @property
    def log_fields(self) -> dict[str, Any]:
        """What the request's log line says of it."""
        outcomes = Counter(entry.outcome for entry in self.answer["providers"])
        return {
            "search_id": self.answer["search_id"],
            "strategy": self.answer["strategy"]["name"],
            "feasibility": self.answer["feasibility"],
            "candidates": self.answer["total_candidates"],
            "outcomes": outcomes,
            "timings_ms": self.clock.parts_ms,
        }


class Considered(NamedTuple):
    """One provider's nodes compared with the request."""

    fits: list[Fit]
    rejections: Rejections
    took_s: float


def search(request: SearchRequest, registry: Registry, asking: Asking, sees: Sees = lambda _: True) -> Found:
    """Answer a request from what the registry's providers have now. `sees`: whose address the caller may know.

    Raises: 503 `registry_unavailable`, `not_ready`. Whatever the providers do is part of the answer.
    """
    with _collector_off():
        return _search(request, registry, asking, sees)


def _search(request: SearchRequest, registry: Registry, asking: Asking, sees: Sees) -> Found:
    assert request.deadline_ms is not None
    clock = Stopwatch()
    demand = Demand(request)
    chosen, warnings = choose_providers(request, registry.all())
    clock.lap("registry")
    considered: dict[str, Considered] = {}

    def consider(answered: Answered) -> None:
        considered[answered.record.id] = _consider(answered, demand)

    answers = asking.ask(chosen, clock.started + request.deadline_ms / 1000, consider)
    clock.lap("fanout")
    clock.move("match", "fanout", sum(one.took_s for one in considered.values()))
    rejections = Rejections()
    for answered in answers:
        if answered.record.id in considered:
            rejections.merge(considered[answered.record.id].rejections)
            answered.entry.candidates = len(considered[answered.record.id].fits)
    winners, total = _top(answers, considered, request.limit)
    entries = [answered.entry for answered in answers]
    is_complete = all(map(is_answered, entries))
    now = datetime.now(UTC)
    answer = {
        "search_id": str(uuid.uuid4()),
        "request": request.model_dump(mode="json"),
        "strategy": {"name": request.strategy.value, "weights": weights(request)},
        "feasibility": _feasibility(total, answers, demand, is_complete=is_complete),
        "partial": not is_complete,
        "took_ms": 0,
        "candidates": [
            _described(rank, *winner, request, demand, now=now, sees=sees) for rank, winner in enumerate(winners, 1)
        ],
        "total_candidates": total,
        "providers": entries,
        "rejections": rejections.answer(request.explain),
        "warnings": _all_warnings(warnings, entries),
    }
    clock.lap("rank")
    return Found(answer, is_complete, clock)


def choose_providers(
    request: SearchRequest, records: Sequence[ProviderRecord]
) -> tuple[list[ProviderRecord], list[Warning]]:
    """(include, or all enabled) and labels, minus exclude; and warnings for ids that lead nowhere."""
    wanted = request.providers
    by_id = {record.id: record for record in records}
    warnings = []
    for provider_id in sorted({*wanted.include, *wanted.exclude}):
        record = by_id.get(provider_id)
        if record is None:
            message = "no provider of this id is registered"
            warnings.append(Warning(code="unknown_provider", message=message, provider_id=provider_id))
        elif not record.enabled and provider_id in wanted.include:
            message = "this provider is disabled and was not asked"
            warnings.append(Warning(code="provider_disabled", message=message, provider_id=provider_id))
    chosen = [
        record
        for record in records
        if record.enabled
        and (not wanted.include or record.id in wanted.include)
        and record.id not in wanted.exclude
        and all(record.labels.get(key) == value for key, value in wanted.labels.items())
    ]
    if not chosen:
        warnings.append(Warning(code="no_providers", message="no enabled provider was asked"))
    return chosen, warnings


def _consider(answered: Answered, demand: Demand) -> Considered:
    started = time.perf_counter()
    fits: list[Fit] = []
    rejections = Rejections()
    assert answered.surveyed is not None
    for surveyed in answered.surveyed.nodes:
        groups, reasons = match_surveyed(surveyed, demand)
        if reasons:
            rejections.add(answered.record.id, surveyed.node.name, reasons)
        else:
            fits.append(best_fit_of(surveyed.node, groups, demand))
    return Considered(fits, rejections, time.perf_counter() - started)


def _top(
    answers: list[Answered], considered: dict[str, Considered], limit: int
) -> tuple[list[tuple[Answered, Fit]], int]:
    """The best `limit`, by score, then provider id, then node name; and how many there are."""
    total = sum(len(one.fits) for one in considered.values())
    ranked = (
        (-fit.score, answered.record.id, fit.node.name, answered, fit)
        for answered in answers
        if answered.record.id in considered
        for fit in considered[answered.record.id].fits
    )
    return [(winner[3], winner[4]) for winner in heapq.nsmallest(limit, ranked, key=lambda entry: entry[:3])], total


def _feasibility(total: int, answers: list[Answered], demand: Demand, *, is_complete: bool) -> str:
    if total:
        return "feasible"
    nodes = (node for answered in answers if answered.inventory is not None for node in answered.inventory.nodes)
    if any(would_fit_when_idle(node, demand) for node in nodes):
        return "busy"
    return "infeasible" if answers and is_complete else "unknown"


def _described(
    rank: int, answered: Answered, fit: Fit, request: SearchRequest, demand: Demand, *, now: datetime, sees: Sees
) -> dict[str, Any]:
    node, record, inventory, observed_at = fit.node, answered.record, answered.inventory, answered.observed_at
    assert inventory is not None
    base_url = record.base_url if sees(record) else None
    age_ms = None if observed_at is None else max(0, round((now - observed_at).total_seconds() * 1000))
    return {
        "rank": rank,
        "score": fit.score,
        "score_parts": score_parts(fit, demand),
        "copies": copies(fit, demand),
        "node": {
            "name": node.name,
            "labels": node.labels,
            "taints": node.taints,
            "cpu": node.cpu,
            "memory": node.memory,
            "pods": node.pods,
        },
        "devices": fit.devices,
        "provenance": {
            "provider_id": record.id,
            "provider_name": record.name,
            "base_url": base_url,
            "source": inventory.source,
            "observed_at": None if observed_at is None else observed_at.isoformat().replace("+00:00", "Z"),
            "age_ms": age_ms,
            "etag": answered.reply.etag,
        },
        "hint": hint(request, node, fit.devices, source=inventory.source, name=record.name, base_url=base_url),
    }


def _all_warnings(warnings: list[Warning], entries: list[ProviderEntry]) -> list[Warning]:
    """The search's own, then every provider's; bounded in number."""
    return [*warnings, *(warning for entry in entries for warning in entry.warnings)][:MOST_WARNINGS]


_searches_lock = Lock()
_searches = 0


@contextmanager
def _collector_off() -> Iterator[None]:
    """No cyclic collection during a search: it would walk every parsed inventory again and again, to find nothing."""
    global _searches  # noqa: PLW0603 (the collector is the process's as well)
    with _searches_lock:
        _searches += 1
        gc.disable()
    try:
        yield
    finally:
        with _searches_lock:
            _searches -= 1
            if not _searches:
                gc.enable()
