"""What is counted of a request, and the text of /metrics. Searches pay for it with additions in memory."""

import time
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from chalicelib.asking import Asking
from chalicelib.counters import CALL_TIME, CALLS, REJECTED, SEARCH_TIME, SEARCHES, families, observed, tally
from chalicelib.gauges import Gauges
from chalicelib.inventories import ProviderEntry, is_answered
from chalicelib.registry import Registry
from chalicelib.search import Found
from chalicelib.totals import Totals
from fedcompute.errors import Problem
from fedcompute.exposition import text_of

NAMESPACE = "fedcompute"
# Nobody was called, so these say nothing of how long a call takes.
_NOT_CALLED = ("circuit_open", "address_blocked")


class Metrics:
    """The gateway's numbers. Without `totals` (METRICS=off) nothing is counted. `function`: its name on AWS, else empty."""

    def __init__(self, totals: Totals | None, function: str = "") -> None:
        self._totals = totals
        self._function = function
        self._gauges = Gauges()

    def searched(self, found: Found) -> dict[str, Any]:
        """Counts a search, once its answer is made. Returns what CloudWatch wants in the request's log line."""
        if self._totals is None:
            return {}
        answer = found.answer
        counts = {
            f"{SEARCHES}:{answer['strategy']['name']}:{answer['feasibility']}": 1,
            **observed(SEARCH_TIME, [answer["took_ms"]]),
            **{f"{REJECTED}:{reason}": nodes for reason, nodes in answer["rejections"]["by_reason"].items()},
            **_asked(answer["providers"]),
        }
        self._totals.add(counts)
        return embedded(answer, self._function, time.time()) if self._function else {}

    def asked(self, entries: Sequence[ProviderEntry]) -> None:
        """Counts providers that were asked for another reason than a search."""
        if self._totals is not None:
            self._totals.add(_asked(entries))

    def text(self, registry: Registry, asking: Asking) -> str:
        """The body of /metrics. Raises: 404 `not_found` with METRICS=off; 503 `registry_unavailable`."""
        if self._totals is None:
            raise Problem("not_found", "Metrics are switched off here: METRICS is off.")
        gauges = self._gauges.families(
            registry.all(), asking.inventories, asking.circuits.open_now(), datetime.now(UTC)
        )
        return text_of([*families(self._totals.read()), *gauges])


def embedded(answer: dict[str, Any], function: str, now: float) -> dict[str, Any]:
    """Members of a log line that CloudWatch makes metrics of (its embedded metric format); `now` is Unix time in s."""
    directives = [
        _directive([["function"]], SearchDuration="Milliseconds", ProvidersAsked="Count", ProvidersMissing="Count"),
        _directive([["function", "feasibility"]], Searches="Count"),
    ]
    return {
        "_aws": {"Timestamp": round(now * 1000), "CloudWatchMetrics": directives},
        "function": function,
        "Searches": 1,
        "SearchDuration": answer["took_ms"],
        "ProvidersAsked": len(answer["providers"]),
        "ProvidersMissing": sum(not is_answered(entry) for entry in answer["providers"]),
    }


def _directive(dimensions: list[list[str]], **units: str) -> dict[str, Any]:
    metrics = [{"Name": name, "Unit": unit} for name, unit in units.items()]
    return {"Namespace": NAMESPACE, "Dimensions": dimensions, "Metrics": metrics}


def _asked(entries: Sequence[ProviderEntry]) -> dict[str, int]:
    outcomes = tally([entry.outcome for entry in entries])
    return {
        **{f"{CALLS}:{outcome}": count for outcome, count in outcomes.items()},
        **observed(CALL_TIME, [entry.took_ms for entry in entries if entry.outcome not in _NOT_CALLED]),
    }
