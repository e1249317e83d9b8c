"""The main job: choose the providers, ask and compare them, merge what that comes to, and answer."""

import heapq
import uuid
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from chalicelib.candidates import Candidate
from chalicelib.choosing import choose_providers
from chalicelib.collector import collector_off
from chalicelib.counters import tally
from chalicelib.division import Division
from chalicelib.inventories import ProviderEntry, is_answered
from chalicelib.part import Part, Sees
from chalicelib.registry import Registry
from chalicelib.stopwatch import Stopwatch
from fedcompute.inventory import Warning  # noqa: A004 (the contract's word)
from fedcompute.ranking import weights
from fedcompute.rejections import merged
from fedcompute.request import SearchRequest

MOST_WARNINGS = 200


class Found(NamedTuple):
    """What a search found out; `took_ms` in the answer is still to be set."""

    answer: dict[str, Any]
    is_complete: bool  # whether every provider that was asked answered
    clock: Stopwatch
    parts: int  # how many invocations asked the providers, this one included

    @property
    def log_fields(self) -> dict[str, Any]:
        """What the request's log line says of it."""
        outcomes = tally([entry.outcome for entry in self.answer["providers"]])
        return {
            "search_id": self.answer["search_id"],
            "strategy": self.answer["strategy"]["name"],
            "feasibility": self.answer["feasibility"],
            "candidates": self.answer["total_candidates"],
            "outcomes": outcomes,
            "parts": self.parts,
            "timings_ms": self.clock.parts_ms,
        }


def search(request: SearchRequest, registry: Registry, division: Division, sees: Sees = lambda _: True) -> Found:
    """Answer a request from what the registry's providers have now. `sees`: whose address the caller may know.

    Raises: 503 `registry_unavailable`, `not_ready`. Whatever the providers do is part of the answer.
    """
    assert request.deadline_ms is not None
    with collector_off:
        clock = Stopwatch()
        chosen, warnings = choose_providers(request, registry.all())
        clock.lap("registry")
        parts, waited_s = division.parts(request, chosen, clock.started + request.deadline_ms / 1000, sees)
        clock.lap("fanout")
        if len(parts) > 1:
            clock.move("parts", "fanout", waited_s)
        clock.move("match", "fanout", parts[0].match_s)
        answer = _answer(request, parts, warnings)
        clock.lap("rank")
        return Found(answer, not answer["partial"], clock, len(parts))


def _answer(request: SearchRequest, parts: Sequence[Part], warnings: list[Warning]) -> dict[str, Any]:
    entries = sorted((entry for part in parts for entry in part.providers), key=lambda entry: entry.id)
    total = sum(part.total_candidates for part in parts)
    is_complete = all(map(is_answered, entries))
    is_busy = any(part.is_busy for part in parts)
    return {
        "search_id": str(uuid.uuid4()),
        "request": request.as_told,
        "strategy": {"name": request.strategy.value, "weights": weights(request)},
        "feasibility": _feasibility(entries, total, is_busy=is_busy, is_complete=is_complete),
        "partial": not is_complete,
        "took_ms": 0,
        "candidates": _ranked(parts, request.limit),
        "total_candidates": total,
        "providers": entries,
        "rejections": merged([part.rejections for part in parts]).answer(request.explain),
        "warnings": [*warnings, *(warning for entry in entries for warning in entry.warnings)][:MOST_WARNINGS],
    }


def _ranked(parts: Sequence[Part], limit: int) -> list[dict[str, Any]]:
    best: Iterable[Candidate] = parts[0].candidates
    if len(parts) > 1:
        best = heapq.merge(*(part.candidates for part in parts), key=lambda candidate: candidate.order)
    return [candidate.described | {"rank": rank} for rank, candidate in zip(range(1, limit + 1), best, strict=False)]


def _feasibility(entries: Sequence[ProviderEntry], total: int, *, is_busy: bool, is_complete: bool) -> str:
    if total:
        return "feasible"
    if is_busy:
        return "busy"
    return "infeasible" if entries and is_complete else "unknown"
