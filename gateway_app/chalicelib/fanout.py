"""Asks many providers at once: a thread pool whose threads each multiplex a share of them over libcurl."""

import zlib
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait

from chalicelib.addresses import AddressPolicy
from chalicelib.calls import Call, Reply
from chalicelib.crews import MOST_SEARCHES, Crews, Lent
from chalicelib.lane import Deliver, Lane

OnError = Callable[[str, BaseException], None]


class Fanout:
    """Gives each search a crew of lanes, and each lane a share of its calls."""

    def __init__(
        self, policy: AddressPolicy, *, threads: int, connections: int, most_body_bytes: int, on_error: OnError
    ) -> None:
        self._policy = policy
        self._threads = min(threads, connections)
        self._most_body_bytes = most_body_bytes
        self._on_error = on_error
        self._pool = ThreadPoolExecutor(MOST_SEARCHES * self._threads, thread_name_prefix="fanout")
        self._crews = Crews(self._new_lane, connections, self._threads)

    def ask(self, calls: Sequence[Call], deadline: float, deliver: Deliver) -> None:
        """Make every call by `deadline` (monotonic seconds). `deliver` gets each reply once, in this thread or one of the pool.

        Nothing that a provider does, and no fault in `deliver`, is raised here.
        """
        lent = self._crews.lend(-(-len(calls) // self._threads), deadline)
        if lent is None:
            for call in calls:
                deliver(call, Reply("deadline_exceeded", "other searches kept the gateway busy until the deadline"))
            return
        try:
            self._run(lent, calls, deadline, deliver)
        finally:
            self._crews.take_back(lent.crew)

    def _new_lane(self, connections: int) -> Lane:
        return Lane(self._policy, self._most_body_bytes, connections)

    def _run(self, lent: Lent, calls: Sequence[Call], deadline: float, deliver: Deliver) -> None:
        lanes = lent.lanes
        shares: list[list[Call]] = [[] for _ in lanes]
        for call in calls:  # by the id, so that a provider meets the connection that it had last time
            shares[zlib.crc32(call.provider_id.encode()) % len(lanes)].append(call)
        work = [(lent, place, share, deadline, deliver) for place, share in enumerate(shares) if share]
        # The caller is one of the threads: beside them it would only wait.
        running = [self._pool.submit(self._run_lane, *one) for one in work[1:]]
        for one in work[:1]:
            self._run_lane(*one)
        if running:
            wait(running)

    def _run_lane(self, lent: Lent, place: int, calls: list[Call], deadline: float, deliver: Deliver) -> None:
        """Delivers each call exactly once, also when the lane itself breaks."""
        lanes = lent.lanes
        delivered: set[str] = set()

        def deliver_once(call: Call, reply: Reply) -> int | None:
            delivered.add(call.provider_id)
            try:
                return deliver(call, reply)
            except Exception as error:  # noqa: BLE001 (one provider's reply must not cost the others theirs)
                self._on_error(call.provider_id, error)
                return deliver(call, Reply("internal", "the gateway could not read its reply; see the log"))

        try:
            lanes[place].run(calls, deadline, deliver_once, lent.spare, lent.most)
        except Exception as error:  # noqa: BLE001 (the fan-out's edge: every provider gets an outcome)
            self._on_error("", error)
            lanes[place] = self._new_lane(lanes[place].connections)
            for call in calls:
                if call.provider_id not in delivered:
                    deliver(call, Reply("internal", "the gateway could not ask it; see the log"))
