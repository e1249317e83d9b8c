"""Asks many providers at once: a thread pool whose threads each multiplex a share of them over libcurl."""

import heapq
import threading
import time
import zlib
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait

from chalicelib.addresses import AddressPolicy
from chalicelib.calls import Call, Reply
from chalicelib.lane import Deliver, Lane

MOST_SEARCHES = 8  # at once in one process; on Lambda there is one
FIRST_SHARE = 3 / 4  # of the connections, for the lanes that a process with one search at a time uses

OnError = Callable[[str, BaseException], None]


class Fanout:
    """Lends each search a crew of lanes that no other search uses meanwhile, and gets them back with their connections."""

    def __init__(
        self, policy: AddressPolicy, *, threads: int, connections: int, most_body_bytes: int, on_error: OnError
    ) -> None:
        self._policy = policy
        self._threads = min(threads, connections)
        self._shares = _shares(connections, self._threads)
        self._most_body_bytes = most_body_bytes
        self._on_error = on_error
        self._crews: dict[int, list[Lane]] = {}
        self._idle = list(range(len(self._shares)))
        self._returned = threading.Condition()
        self._pool = ThreadPoolExecutor(len(self._shares) * self._threads, thread_name_prefix="fanout")

    def ask(self, calls: Sequence[Call], deadline: float, deliver: Deliver) -> None:
        """Make every call by `deadline` (monotonic seconds). `deliver` gets each reply once, in this thread or one of the pool.

        Nothing that a provider does, and no fault in `deliver`, is raised here.
        """
        crew = self._lend(deadline)
        if crew is None:
            for call in calls:
                deliver(call, Reply("deadline_exceeded", "other searches kept the gateway busy until the deadline"))
            return
        try:
            lanes = self._crews.setdefault(crew, [])
            while len(lanes) < self._threads:
                lanes.append(Lane(self._policy, self._most_body_bytes, self._shares[crew]))
            self._run(lanes, calls, deadline, deliver)
        finally:
            self._take_back(crew)

    def _run(self, lanes: list[Lane], calls: Sequence[Call], deadline: float, deliver: Deliver) -> None:
        shares: list[list[Call]] = [[] for _ in lanes]
        for call in calls:  # by the id, so that a provider meets the connection that it had last time
            shares[zlib.crc32(call.provider_id.encode()) % len(lanes)].append(call)
        work = [(lanes, place, share, deadline, deliver) for place, share in enumerate(shares) if share]
        # The caller is one of the threads: beside them it would only wait.
        running = [self._pool.submit(self._run_lane, *one) for one in work[1:]]
        for one in work[:1]:
            self._run_lane(*one)
        if running:
            wait(running)

    def _run_lane(self, lanes: list[Lane], place: int, calls: list[Call], deadline: float, deliver: Deliver) -> None:
        """Delivers each call exactly once, also when the lane itself breaks."""
        delivered: set[str] = set()

        def deliver_once(call: Call, reply: Reply) -> int | None:
            delivered.add(call.provider_id)
            try:
                return deliver(call, reply)
            except Exception as error:  # noqa: BLE001 (one provider's reply must not cost the others theirs)
                self._on_error(call.provider_id, error)
                return deliver(call, Reply("internal", "the gateway could not read its reply; see the log"))

        try:
            lanes[place].run(calls, deadline, deliver_once)
        except Exception as error:  # noqa: BLE001 (the fan-out's edge: every provider gets an outcome)
            self._on_error("", error)
            lanes[place] = Lane(self._policy, self._most_body_bytes, lanes[place].connections)
            for call in calls:
                if call.provider_id not in delivered:
                    deliver(call, Reply("internal", "the gateway could not ask it; see the log"))

    def _lend(self, deadline: float) -> int | None:
        """The lowest crew that is idle, so that the same connections are used again; None: none until the deadline."""
        with self._returned:
            while not self._idle:
                left_s = deadline - time.monotonic()
                if left_s <= 0:
                    return None
                self._returned.wait(left_s)
            return heapq.heappop(self._idle)

    def _take_back(self, crew: int) -> None:
        with self._returned:
            heapq.heappush(self._idle, crew)
            self._returned.notify()


def _shares(connections: int, threads: int) -> list[int]:
    """How many connections each lane of each crew may hold, at most `connections` in all: few make few crews."""
    first = max(1, int(connections * FIRST_SHARE) // threads)
    left = connections // threads - first
    others = min(left, MOST_SEARCHES - 1)
    return [first, *[left // others] * others] if others else [first]
