"""One part of a search on its way: the order to another invocation of this app, and what that one answers."""

import time
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct, structs

from chalicelib.answer_size import LARGEST_BYTES, MOST_GROWTH, escaped
from chalicelib.asking import Asking
from chalicelib.collector import collector_off
from chalicelib.inventories import ProviderEntry
from chalicelib.part import Part, Sees, part_of
from chalicelib.stopwatch import Stopwatch
from fedcompute.inventory import Warning  # noqa: A004 (the contract's word)
from fedcompute.log import Log
from fedcompute.provider import ProviderRecord
from fedcompute.rejections import Tally
from fedcompute.request import SearchRequest
from fedcompute.text import clean

MOST_BUDGET_MS = 25_000  # the longest deadline of a search
MOST_START_S = 1.0

# Labels have chosen the providers already, and may be most of a record: the rest of 2,000 records is below 6 MB.
_SENT = tuple(name for name in ProviderRecord.model_fields if name != "labels")
_UNTOLD = Warning(code="answer_cut", message="its warnings are not told: this part of the answer would be over 6 MB")


class Order(Struct, frozen=True):
    """What an invocation is to do. How long it has is told, and not until when: clocks of two machines differ."""

    request: dict[str, Any]
    records: list[dict[str, Any]]
    visible: list[str]  # ids of the providers whose address the caller may know
    budget_ms: Annotated[int, Meta(ge=0, le=MOST_BUDGET_MS)]
    request_id: str  # of the search, for the log


def order_of(
    request: SearchRequest, share: Sequence[ProviderRecord], sees: Sees, budget_ms: int, request_id: str
) -> bytes:
    """The order to ask these providers."""
    order = Order(
        request=dict(request.as_told),
        records=[{name: getattr(record, name) for name in _SENT} for record in share],
        visible=[record.id for record in share if sees(record)],
        budget_ms=min(max(0, budget_ms), MOST_BUDGET_MS),
        request_id=request_id,
    )
    return msgspec.json.encode(order)


class Orders:
    """Does what other invocations order. `cpu_s`: the seconds that this process has worked since it was started."""

    def __init__(
        self, asking: Asking, log: Log, cpu_s: Callable[[], float] = time.process_time, largest: int = LARGEST_BYTES
    ) -> None:
        self._asking = asking
        self._log = log
        self._cpu_s = cpu_s
        self._largest = largest
        self._is_first = True

    def done(self, event: object) -> str:
        """The answer to an order: a part, as JSON in a text. One log line, with the request id of the search.

        Raises: msgspec's and pydantic's ValidationError for what is no order; 503 `not_ready` as a search does.
        """
        clock = Stopwatch()
        order = msgspec.convert(event, Order)
        request_id = clean(order.request_id, 64)
        try:
            part = self._part(order, clock.started + order.budget_ms / 1000 - self._start_s())
        except Exception as error:
            self._log.exception("part", error, request_id=request_id)
            raise
        self._log.write(
            "INFO",
            "part",
            request_id=request_id,
            providers=len(part.providers),
            candidates=part.total_candidates,
            outcomes=Counter(entry.outcome for entry in part.providers),
            took_ms=clock.total_ms,
        )
        return answer_of(part, self._largest)

    def _part(self, order: Order, deadline: float) -> Part:
        request = SearchRequest.model_validate_json(msgspec.json.encode(order.request))
        records = [ProviderRecord.model_validate_json(msgspec.json.encode(record)) for record in order.records]
        visible = frozenset(order.visible)
        with collector_off:
            return part_of(request, records, self._asking, deadline, lambda record: record.id in visible)

    def _start_s(self) -> float:
        """How long the first order has waited for this process to start, about: no clock tells when it was sent."""
        is_first, self._is_first = self._is_first, False
        return min(self._cpu_s(), MOST_START_S) if is_first else 0.0


def answer_of(part: Part, largest: int = LARGEST_BYTES) -> str:
    """A part as JSON. One that is over `largest` bytes as a text in JSON loses its last candidates.

    If candidates would be left no more than half of that, all warnings go first, and a warning of each provider says so.
    """
    body = msgspec.json.encode(part)
    if len(body) * MOST_GROWTH <= largest or escaped(body) <= largest:
        return body.decode()
    rest = structs.replace(part, candidates=[])
    taken = escaped(msgspec.json.encode(rest))
    if taken > largest // 2:
        rest.providers = [structs.replace(one, warnings=[_UNTOLD] if one.warnings else []) for one in part.providers]
        taken = escaped(msgspec.json.encode(rest))
    sizes = accumulate(escaped(msgspec.json.encode(one)) for one in part.candidates)
    rest.candidates = [one for one, size in zip(part.candidates, sizes, strict=True) if taken + size <= largest]
    return msgspec.json.encode(rest).decode()


def part_in(answer: bytes, share: Sequence[ProviderRecord]) -> Part:
    """The part that was ordered. Raises ValueError, of which msgspec's errors are kinds, for anything else."""
    part = msgspec.json.decode(msgspec.json.decode(answer, type=str), type=Part)
    if [entry.id for entry in part.providers] != [record.id for record in share]:
        raise ValueError("what came back tells of other providers than those that were to be asked")
    return part


def lost(share: Sequence[ProviderRecord], outcome: str, message: str) -> Part:
    """What is known of a part that did not come back: one outcome for each of its providers."""
    entries = [ProviderEntry(id=one.id, name=one.name, outcome=outcome, message=message) for one in share]
    return Part([], 0, entries, Tally(0, {}, []), is_busy=False, match_s=0.0)
