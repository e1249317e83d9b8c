"""Whose turn it is where a search has more calls than connections: no owner's calls keep another owner's waiting.

An owner is next who has the fewest connections at the moment, then who has used them least so far. Each owner's share is
thereby kept: a call that hangs takes one of its own owner's. Calls to providers that failed last time come after all others.
"""

import heapq
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence

from chalicelib.calls import Call


class _Owner:
    """One owner's calls that wait, those that failed last time behind, and what the others took."""

    def __init__(self, place: int) -> None:
        self.place = place
        self.sound: deque[Call] = deque()
        self.failing: deque[Call] = deque()
        self.active = 0
        self.used_s = 0.0
        self.entry: tuple[bool, int, float, int] | None = None  # what the queue has of it; older ones are void

    def standing(self) -> tuple[bool, int, float, int] | None:
        """The least comes first; None: nothing waits."""
        if not (self.sound or self.failing):
            return None
        return (not self.sound, self.active, self.used_s, self.place)


class Turns:
    """One search's calls of one lane."""

    def __init__(
        self, calls: Sequence[Call], connections: int, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self._monotonic = monotonic
        self._waiting = len(calls)
        self._is_free = len(calls) <= connections  # then all begin at once, and there is nothing to be shared
        self._plain = deque(calls) if self._is_free else deque[Call]()
        self._owners: dict[str, _Owner] = {}
        self._queue: list[tuple[bool, int, float, int, str]] = []
        self._began: dict[str, float] = {}
        if not self._is_free:
            self._sort(calls)

    def __bool__(self) -> bool:
        """Whether a call waits."""
        return self._waiting > 0

    def __len__(self) -> int:
        """How many calls wait."""
        return self._waiting

    def next(self) -> Call:
        """The call that is to begin now. IndexError: none waits."""
        self._waiting -= 1
        if self._is_free:
            return self._plain.popleft()
        while True:
            *entry, name = heapq.heappop(self._queue)
            owner = self._owners[name]
            if owner.entry == tuple(entry):
                break
        call = (owner.sound or owner.failing).popleft()
        owner.active += 1
        self._began[call.provider_id] = self._monotonic()
        self._queue_up(name)
        return call

    def ended(self, call: Call) -> None:
        """A call that began has given its connection back."""
        if self._is_free:
            return
        owner = self._owners[call.owner]
        owner.active -= 1
        owner.used_s += self._monotonic() - self._began.pop(call.provider_id)
        self._queue_up(call.owner)

    def left(self) -> Iterable[Call]:
        """The calls that never began."""
        while self:
            yield self.next()

    def _sort(self, calls: Sequence[Call]) -> None:
        for call in calls:
            owner = self._owners.setdefault(call.owner, _Owner(len(self._owners)))
            (owner.failing if call.is_failing else owner.sound).append(call)
        for name in self._owners:
            self._queue_up(name)

    def _queue_up(self, name: str) -> None:
        owner = self._owners[name]
        owner.entry = owner.standing()
        if owner.entry is not None:
            heapq.heappush(self._queue, (*owner.entry, name))
