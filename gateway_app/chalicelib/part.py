"""What some of a search's providers come to. A search is one such part, or several that are merged."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime

from msgspec import Struct

from chalicelib.asking import Asking
from chalicelib.candidates import Asked, Candidate, candidate
from chalicelib.comparison import Comparison
from chalicelib.inventories import ProviderEntry
from fedcompute.demand import Demand
from fedcompute.provider import ProviderRecord
from fedcompute.rejections import Tally
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


def part_of(
    request: SearchRequest, records: Sequence[ProviderRecord], asking: Asking, deadline: float, sees: Sees
) -> Part:
    """Ask these providers by `deadline` (monotonic seconds) and compare what they have with the request."""
    demand = Demand.of(request)
    comparison = Comparison(request, demand)
    answers = asking.ask(records, deadline, comparison.add)
    asked = Asked(request, demand, datetime.now(UTC))
    return Part(
        candidates=[
            candidate(fit, answered, asked, answered.record.base_url if sees(answered.record) else None)
            for answered, fit in comparison.best
        ],
        total_candidates=comparison.total,
        providers=[answered.entry for answered in answers],
        rejections=comparison.rejections.tally(),
        is_busy=comparison.is_busy and not comparison.total,
        match_s=comparison.took_s,
    )
