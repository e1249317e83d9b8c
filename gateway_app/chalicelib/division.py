"""A search of more providers than one Lambda does well: divided among invocations of the same code, one level deep."""

import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import msgspec
from msgspec import Struct

from chalicelib.asking import Asking
from chalicelib.collector import collector_off
from chalicelib.inventories import ProviderEntry
from chalicelib.part import Part, Sees, part_of
from fedcompute.provider import ProviderRecord
from fedcompute.rejections import Tally
from fedcompute.request import SearchRequest

MOST_AT_ONCE = 16  # invocations of one search
RETURN_MS = 250  # of the deadline, kept for a part's way back and for merging

type Invoke = Callable[[bytes, float], bytes]  # a payload and how many seconds it may take; raises for a lost one
type OnError = Callable[[str, BaseException], None]


class Order(Struct, frozen=True):
    """One part of a search, as it travels to the invocation that does it."""

    request: dict[str, Any]
    records: list[dict[str, Any]]
    visible: list[str]  # ids of the providers whose address the caller may know
    budget_ms: int


class Division:
    """Divides a search of more than `providers_each` providers; a smaller one stays whole."""

    def __init__(self, asking: Asking, invoke: Invoke | None, providers_each: int, on_error: OnError) -> None:
        self._asking = asking
        self._invoke = invoke
        self._providers_each = providers_each
        self._on_error = on_error

    def parts(
        self, request: SearchRequest, records: Sequence[ProviderRecord], deadline: float, sees: Sees
    ) -> list[Part]:
        """All parts by `deadline` (monotonic seconds). A lost one is a set of outcomes, not an error."""
        count = min(-(-len(records) // self._providers_each), MOST_AT_ONCE + 1)
        if self._invoke is None or count <= 1:
            return [part_of(request, records, self._asking, deadline, sees)]
        own, *others = (records[place::count] for place in range(count))
        pool = ThreadPoolExecutor(len(others), thread_name_prefix="parts")
        try:
            sent = [(share, pool.submit(self._ordered, request, share, deadline, sees)) for share in others]
            done = [part_of(request, own, self._asking, deadline, sees)]
            return [*done, *(self._received(share, future, deadline) for share, future in sent)]
        finally:
            pool.shutdown(wait=False, cancel_futures=True)  # a lost invocation must not hold the answer

    def _ordered(self, request: SearchRequest, share: Sequence[ProviderRecord], deadline: float, sees: Sees) -> Part:
        assert self._invoke is not None
        left_s = deadline - time.monotonic()
        order = Order(
            request=request.model_dump(mode="json"),
            records=[record.model_dump(mode="json") for record in share],
            visible=[record.id for record in share if sees(record)],
            budget_ms=max(1, int(left_s * 1000) - RETURN_MS),
        )
        return msgspec.json.decode(self._invoke(msgspec.json.encode(order), left_s), type=Part)

    def _received(self, share: Sequence[ProviderRecord], future: Future[Part], deadline: float) -> Part:
        try:
            return future.result(max(0.0, deadline - time.monotonic()))
        except TimeoutError:
            return _lost(share, "deadline_exceeded", "its part of the search did not come back before the deadline")
        except Exception as error:  # noqa: BLE001 (the edge of another invocation: whatever it was, the rest answers)
            self._on_error("", error)
            return _lost(share, "internal", "its part of the search was lost; see the log")


def done_order(payload: Mapping[str, Any], asking: Asking) -> Any:
    """What an invocation answers to an order, as plain JSON values."""
    order = msgspec.convert(payload, Order)
    request = SearchRequest.model_validate_json(msgspec.json.encode(order.request))
    records = [ProviderRecord.model_validate_json(msgspec.json.encode(record)) for record in order.records]
    visible = frozenset(order.visible)
    deadline = time.monotonic() + order.budget_ms / 1000
    with collector_off():
        part = part_of(request, records, asking, deadline, lambda record: record.id in visible)
    return msgspec.to_builtins(part)


def _lost(share: Sequence[ProviderRecord], outcome: str, message: str) -> Part:
    entries = [ProviderEntry(id=one.id, name=one.name, outcome=outcome, message=message) for one in share]
    return Part([], 0, entries, Tally(0, {}, []), is_busy=False, match_s=0.0)
