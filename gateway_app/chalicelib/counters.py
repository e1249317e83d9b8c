"""What the gateway counts, by the names that the table has the numbers under, and as Prometheus reads them.

A histogram's observations stand under the bucket that they fall in, so that each is one addition; a sum is in ms, which is whole.
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate

from chalicelib.calls import OUTCOMES
from fedcompute.answer import FEASIBILITIES
from fedcompute.exposition import Family, Sample
from fedcompute.reasons import REASONS
from fedcompute.request import Strategy

BOUNDS_S = (0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 25.0)
_BOUNDS_MS = [bound * 1000 for bound in BOUNDS_S]
_PLACES = [*(f"{bound:g}" for bound in BOUNDS_S), "+Inf"]

SEARCHES, SEARCH_TIME = "searches", "search_time"
CALLS, CALL_TIME = "calls", "call_time"
REJECTED, FAILED_FLUSHES = "rejected", "failed_flushes"


def tally(values: Iterable[str]) -> dict[str, int]:
    """How often each stands there. A Counter does the same; of the few that a small search has, it took three times as long."""
    counts: dict[str, int] = {}
    for value in values:
        counts[value] = counts.get(value, 0) + 1
    return counts


def observed(name: str, durations_ms: Sequence[int]) -> dict[str, int]:
    """The counts of durations; there may be thousands."""
    places = tally([_PLACES[bisect_left(_BOUNDS_MS, one)] for one in durations_ms])
    return {**{f"{name}:{place}": count for place, count in places.items()}, f"{name}:sum": sum(durations_ms)}


def families(counts: Mapping[str, int]) -> Iterator[Family]:
    """Every counter, also where nothing was counted yet: a series that is there from the start has a rate."""
    pairs = [(strategy.value, feasibility) for strategy in Strategy for feasibility in FEASIBILITIES]
    yield Family(
        "fedcompute_searches_total",
        "counter",
        "Searches that were answered.",
        [
            Sample({"strategy": one, "feasibility": other}, counts.get(f"{SEARCHES}:{one}:{other}", 0))
            for one, other in pairs
        ],
    )
    yield _histogram("fedcompute_search_duration_seconds", "How long searches took.", counts, SEARCH_TIME)
    calls = {one: counts.get(f"{CALLS}:{one}", 0) for one in OUTCOMES}
    yield _counter("fedcompute_provider_calls_total", "How asking providers ended.", "outcome", calls)
    yield _histogram("fedcompute_provider_call_duration_seconds", "How long providers took.", counts, CALL_TIME)
    about = "Nodes that did not fit, by reason; one node may have several."
    rejected = {one: counts.get(f"{REJECTED}:{one}", 0) for one in REASONS}
    yield _counter("fedcompute_rejected_nodes_total", about, "reason", rejected)
    yield Family(
        "fedcompute_metrics_flushes_failed_total",
        "counter",
        "How often counts could not be added to the table.",
        [Sample({}, counts.get(FAILED_FLUSHES, 0))],
    )


def _counter(name: str, about: str, label: str, values: Mapping[str, int]) -> Family:
    return Family(name, "counter", about, [Sample({label: one}, value) for one, value in values.items()])


def _histogram(name: str, about: str, counts: Mapping[str, int], stored: str) -> Family:
    sums = list(accumulate(counts.get(f"{stored}:{place}", 0) for place in _PLACES))
    buckets = [Sample({"le": place}, count, "_bucket") for place, count in zip(_PLACES, sums, strict=True)]
    total_s = counts.get(f"{stored}:sum", 0) / 1000
    return Family(name, "histogram", about, [*buckets, Sample({}, total_s, "_sum"), Sample({}, sums[-1], "_count")])
