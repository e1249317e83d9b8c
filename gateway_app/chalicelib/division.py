"""A search of more providers than one Lambda does well: divided among invocations of the same code, one level deep."""

import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import NamedTuple

from msgspec import structs

from chalicelib.asking import Asking
from chalicelib.invocations import NotSentError
from chalicelib.orders import lost, order_of, part_in
from chalicelib.part import Part, Sees, part_of
from fedcompute.provider import ProviderRecord
from fedcompute.request import SearchRequest

MOST_AT_ONCE = 16  # invocations of one search
# Of the time that is left, for a part's way there and back and for merging; no more than a quarter of it.
RETURN_MS = 250

type Invoke = Callable[[bytes], bytes]  # an order, and its answer; raises NotSentError, and anything for a lost one
type OnLost = Callable[[BaseException, int], None]  # why a part was lost, and how many providers it had

_BEFORE_ALL = (float("-inf"), "", "")


class Divided(NamedTuple):
    """All parts of a search, the one that this process did first."""

    parts: list[Part]
    waited_s: float  # for the others, after this one was done


def parts_for(providers: int, providers_each: int) -> int:
    """How many parts a search of so many providers has."""
    return max(1, min(-(-providers // providers_each), MOST_AT_ONCE + 1))


class Division:
    """Divides a search of more than `providers_each` providers; a smaller one stays whole, and each without `invoke`."""

    def __init__(
        self, asking: Asking, invoke: Invoke | None, providers_each: int, on_lost: OnLost, request_id: str = ""
    ) -> None:
        self._asking = asking
        self._invoke = invoke
        self._providers_each = providers_each
        self._on_lost = on_lost
        self._request_id = request_id

    def parts(self, request: SearchRequest, records: Sequence[ProviderRecord], deadline: float, sees: Sees) -> Divided:
        """All parts by `deadline` (monotonic seconds). A lost one is a set of outcomes, not an error.

        Raises: 503 `not_ready` where calls are signed and there is no key to sign with.
        """
        count = parts_for(len(records), self._providers_each)
        if self._invoke is None or count == 1:
            return Divided([part_of(request, records, self._asking, deadline, sees)], 0.0)
        own, *others = (records[place::count] for place in range(count))
        pool = ThreadPoolExecutor(len(others), thread_name_prefix="parts")
        try:
            sent = [(share, pool.submit(self._ordered, request, share, deadline, sees)) for share in others]
            done = part_of(request, own, self._asking, deadline, sees)
            finished = time.monotonic()
            received = [self._received(share, future, deadline) for share, future in sent]
            return Divided(_without_gaps([done, *received], request.limit), time.monotonic() - finished)
        finally:
            pool.shutdown(wait=False, cancel_futures=True)  # a lost invocation must not hold the answer

    def _ordered(self, request: SearchRequest, share: Sequence[ProviderRecord], deadline: float, sees: Sees) -> Part:
        try:
            return self._tried(request, share, deadline, sees)
        except NotSentError:  # over a connection that ended while this process was frozen; the next one is new
            return self._tried(request, share, deadline, sees)

    def _tried(self, request: SearchRequest, share: Sequence[ProviderRecord], deadline: float, sees: Sees) -> Part:
        assert self._invoke is not None
        left_ms = int((deadline - time.monotonic()) * 1000)
        budget_ms = left_ms - min(RETURN_MS, left_ms // 4)
        return part_in(self._invoke(order_of(request, share, sees, budget_ms, self._request_id)), share)

    def _received(self, share: Sequence[ProviderRecord], future: Future[Part], deadline: float) -> Part:
        try:
            return future.result(max(0.0, deadline - time.monotonic()))
        except TimeoutError as error:
            self._on_lost(error, len(share))
            return lost(share, "deadline_exceeded", "its part of the search did not come back before the deadline")
        except Exception as error:  # noqa: BLE001 (the edge of another invocation: whatever it was, the rest answers)
            self._on_lost(error, len(share))
            return lost(share, "internal", "its part of the search was lost; the log has it")


def _without_gaps(parts: list[Part], limit: int) -> list[Part]:
    """A part that was cut to its size has candidates after the last one that it tells: others may not pass that one."""
    cut = [part for part in parts if len(part.candidates) < min(limit, part.total_candidates)]
    if not cut:
        return parts
    last = min(part.candidates[-1].order if part.candidates else _BEFORE_ALL for part in cut)
    return [structs.replace(part, candidates=[one for one in part.candidates if one.order <= last]) for part in parts]
