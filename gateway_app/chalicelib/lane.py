"""One thread's share of a fan-out: many transfers over one libcurl multi, driven by what its sockets do."""

import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence

import pycurl

from chalicelib.addresses import AddressPolicy
from chalicelib.calls import NOT_MODIFIED, Call, Reply
from chalicelib.in_turn import InTurn
from chalicelib.resting import Peer, Resting
from chalicelib.sockets import Sockets
from chalicelib.transfer import FIRST_PACE, Transfer
from chalicelib.turns import Turns

# Called in the lane's thread, once per call, as soon as it has ended. Returns how many bytes of it were read, if any were:
# what is known already takes no time.
Deliver = Callable[[Call, Reply], int | None]

LEAST_BUDGET_MS = 1
LONGEST_WAIT_S = 1.0
GROWTH_S = 0.02  # after which it is looked whether a share that is borrowed from has grown
GRACE_S = 0.05  # past the deadline, for replies that came in time and were not yet read
SPARE_HANDLES = 64
# For which a search may keep others from working; handing on after each reply made each of 8 slower by a half.
TURN_S = 0.01
TELLING_BYTES = 256 << 10  # of a reply whose reading tells the pace
PATIENT_ROUNDS = 8  # how often busy sockets may go before a reply that waits to be read
# Of replies that wait to be read, if time allows; what comes meanwhile waits in its socket.
MOST_WAITING_BYTES = 4 << 20
MOST_SOCKETS = 32  # whose pieces are taken before what has come whole is looked at, if time allows
# Before something times out, or twice as long as sockets were left alone so far: then time does not allow it.
NEAR_S = 0.2


# Of the searches at once in a process one works, the others wait for their providers: Python runs one thread at a time, and
# hands over at each of the hundred calls into libcurl that a search makes. Not so, each of 8 searches took 1.7 times as long.
_WORKING = InTurn()


class _Ended:
    """Replies that wait to be read, the first that came first; and how large they are together."""

    def __init__(self) -> None:
        self._waiting: deque[tuple[Call, Reply]] = deque()
        self.bytes = 0

    def __bool__(self) -> bool:
        return bool(self._waiting)

    def extend(self, ended: Iterable[tuple[Call, Reply]]) -> None:
        for call, reply in ended:
            self._waiting.append((call, reply))
            self.bytes += len(reply.body)

    def take(self) -> tuple[Call, Reply]:
        call, reply = self._waiting.popleft()
        self.bytes -= len(reply.body)
        return call, reply


class Lane:
    """Keeps its multi, and with it its connections, for the life of the process. One search at a time uses it."""

    def __init__(self, policy: AddressPolicy, most_body_bytes: int, connections: int) -> None:
        self._policy = policy
        self._most_body_bytes = most_body_bytes
        self.connections = connections  # that it keeps
        self.spare_held = 0  # of these, at the moment, or that the run is still going to need
        self._spare_calls: set[str] = set()  # whose connections are closed after them
        self._transfers: dict[str, Transfer] = {}
        self._sockets = Sockets()
        self._resting = Resting()
        self._timer_at: float | None = None
        self._is_prompted = False  # by libcurl, to act at once: calls that were added begin
        self._has_turn = False
        self._turn_ends = 0.0
        self._looked_at = 0.0  # the sockets, last
        self._longest_gap_s = 0.0  # between two looks, in this run
        self._ready: deque[tuple[int, int]] = deque()  # sockets on which something has happened, and what
        self._multi = pycurl.CurlMulti()
        self._limit = 0
        self._limited_to(connections)
        self._multi.setopt(pycurl.M_SOCKETFUNCTION, self._on_socket)
        self._multi.setopt(pycurl.M_TIMERFUNCTION, self._on_timer)

    def run(
        self,
        calls: Sequence[Call],
        deadline: float,
        deliver: Deliver,
        spare: int = 0,
        most: Callable[[], int] | None = None,
    ) -> None:
        """Make every call and deliver each reply. Ends at `deadline` (monotonic seconds), whatever happens.

        `most`: how many connections it may use at the moment, all that it keeps by default; and `spare` more, which are
        closed when they were used.
        """
        self._take_turn(deadline)
        try:
            self._run(calls, deadline, deliver, spare, most or (lambda: self.connections))
        finally:
            self.spare_held = 0
            self._end_turn()

    def _run(
        self, calls: Sequence[Call], deadline: float, deliver: Deliver, spare: int, most: Callable[[], int]
    ) -> None:
        self._forget_others(calls)
        self._spare_calls.clear()
        disturbed = self._resting.disturbed()
        turns = Turns(calls, most() + spare)
        rounds = 0
        active: dict[pycurl.Curl, tuple[Call, Transfer]] = {}
        ended = _Ended()
        self._looked_at, self._longest_gap_s = time.monotonic(), 0.0
        self._ready.clear()
        try:
            while (turns or active or ended) and time.monotonic() < deadline:
                # Sockets first: a reply that is decoded now must not cost another its timeout.
                is_urgent = self._is_urgent(deadline)
                is_looked = bool(active) and (is_urgent or ended.bytes <= MOST_WAITING_BYTES)
                limit = self._limited_to(most() + spare)
                longest_s = GROWTH_S if turns and limit < self.connections else LONGEST_WAIT_S
                wait_s = 0 if ended else self._patience(deadline, longest_s)
                is_busy = is_looked and self._advance(wait_s, deadline, None if is_urgent else MOST_SOCKETS)
                for call in self._next(turns, limit - len(active), spare):
                    self._begin(call, deadline, active, disturbed)
                is_busy |= self._act_if_prompted()
                if is_busy:
                    ended.extend(self._end(active, turns))
                rounds += 1
                if ended and (not is_busy or rounds >= PATIENT_ROUNDS):
                    rounds = 0
                    self._hand_over(*ended.take(), deadline, deliver)
                    if _WORKING.is_waited_for and time.monotonic() > self._turn_ends:
                        self._end_turn()  # who waits has sockets that must not be left alone for long
                        self._take_turn(deadline)
        finally:
            for curl in active:
                self._multi.remove_handle(curl)
        while ended:
            self._hand_over(*ended.take(), deadline, deliver)
        for call, transfer in active.values():
            deliver(call, transfer.too_late())
        for call in turns.left():
            deliver(call, Reply("deadline_exceeded", "still waiting for its turn at the search's deadline"))

    def _next(self, turns: Turns, count: int, spare: int) -> Iterator[Call]:
        """The calls that begin now, at most so many. Connections of the last ones are closed when they were used."""
        for _ in range(min(count, len(turns))):
            call = turns.next()
            if len(turns) < spare:
                self._spare_calls.add(call.provider_id)
            yield call
        self.spare_held = min(spare, len(turns)) + len(self._spare_calls)

    def _hand_over(self, call: Call, reply: Reply, deadline: float, deliver: Deliver) -> None:
        """Deliver a reply, if it can be read in time: reading is not interrupted once it has begun."""
        began = time.monotonic()
        transfer = self._transfers[call.provider_id]
        size = call.kept_bytes if reply.outcome == NOT_MODIFIED else len(reply.body)
        if began + size / transfer.pace > deadline + GRACE_S:
            deliver(call, Reply("deadline_exceeded", "answered too late to be read", reply.took_ms))
            transfer.pace = min(FIRST_PACE, 2 * transfer.pace)  # one slow moment must not keep it out for ever
            return
        read_bytes = deliver(call, reply) or 0
        took_s = max(time.monotonic() - began, 1e-6)
        if read_bytes >= TELLING_BYTES:
            transfer.pace = read_bytes / took_s
        elif size >= TELLING_BYTES:  # most of it was known: that is what to expect, however slow the first reading was
            transfer.pace = max(transfer.pace, min(FIRST_PACE, size / took_s))

    def _limited_to(self, connections: int) -> int:
        """So many connections, those that rest included, may be open from now on."""
        if connections != self._limit:
            self._limit = connections
            self._multi.setopt(pycurl.M_MAXCONNECTS, connections)
            self._multi.setopt(pycurl.M_MAX_TOTAL_CONNECTIONS, connections)
        return connections

    def close(self) -> None:
        """Close all connections. Never inside a search: libcurl waits here for resolvers that still run."""
        self._multi.close()
        for transfer in self._transfers.values():
            transfer.close()
        self._sockets.close()

    def _forget_others(self, calls: Sequence[Call]) -> None:
        """Handles of providers that are gone would otherwise stay for the life of the process."""
        if len(self._transfers) > 2 * len(calls) + SPARE_HANDLES:
            asked = {call.provider_id for call in calls}
            for provider_id in [known for known in self._transfers if known not in asked]:
                self._transfers.pop(provider_id).close()

    def _begin(
        self,
        call: Call,
        deadline: float,
        active: dict[pycurl.Curl, tuple[Call, Transfer]],
        disturbed: frozenset[Peer],
    ) -> None:
        transfer = self._transfers.get(call.provider_id)
        if transfer is None:
            transfer = self._transfers[call.provider_id] = Transfer(self._policy, self._most_body_bytes)
        left_ms = max(LEAST_BUDGET_MS, int((deadline - time.monotonic()) * 1000))
        is_fresh = bool(disturbed) and transfer.peer in (None, *disturbed)
        transfer.begin(
            call,
            min(call.timeout_ms, left_ms),
            is_cut=left_ms < call.timeout_ms,
            is_fresh=is_fresh,
            is_kept=call.provider_id not in self._spare_calls,
        )
        active[transfer.curl] = (call, transfer)
        self._multi.add_handle(transfer.curl)

    def _patience(self, deadline: float, longest_s: float) -> float:
        until = deadline if self._timer_at is None else min(deadline, self._timer_at)
        return min(longest_s, max(0.0, until - time.monotonic()))

    def _act_if_prompted(self) -> bool:
        """Let libcurl do what it wants to do at once, whatever else waits. What is late by now was looked at before."""
        if not self._is_prompted:
            return False
        self._timer_at, self._is_prompted = None, False
        self._multi.socket_action(pycurl.SOCKET_TIMEOUT, 0)
        return True

    def _is_urgent(self, deadline: float) -> bool:
        """Whether every socket is to be looked at now, however much waits to be read.

        libcurl sees that a call's time is over before it sees what has come for it.
        """
        now = time.monotonic()
        self._longest_gap_s = max(self._longest_gap_s, now - self._looked_at)
        until = deadline if self._timer_at is None else min(deadline, self._timer_at)
        # While another search waits for its turn, how long sockets are left alone is not up to this one.
        return until - now < max(NEAR_S, 2 * self._longest_gap_s) or _WORKING.is_waited_for

    def _take_turn(self, deadline: float) -> None:
        """Wait until no other search of this process works, at most until the deadline."""
        self._has_turn = _WORKING.acquire(max(0.0, deadline - time.monotonic()))
        self._turn_ends = time.monotonic() + TURN_S

    def _end_turn(self) -> None:
        if self._has_turn:
            self._has_turn = False
            _WORKING.release()

    def _advance(self, wait_s: float, deadline: float, most: int | None) -> bool:
        """Let libcurl act on what has happened within `wait_s`, on at most so many sockets; whether anything had."""
        if most is None or not self._ready:
            self._ready.clear()
            # Who waits for the turn would get it for nothing: then it is first seen whether there is nothing to do here.
            is_alone = wait_s > 0 and not _WORKING.is_waited_for
            happened = [] if is_alone else self._sockets.happened(0)
            if not happened and wait_s > 0:
                self._end_turn()
                happened = self._sockets.happened(wait_s)
                self._take_turn(deadline)
            self._ready.extend(happened)
        count = len(self._ready) if most is None else min(most, len(self._ready))
        for _ in range(count):  # one that was closed meanwhile libcurl does not know, and one that is new it only tries
            self._multi.socket_action(*self._ready.popleft())
        now = time.monotonic()
        if not self._ready:
            self._looked_at = now
        if self._timer_at is not None and now >= self._timer_at:
            self._timer_at, self._is_prompted = None, False
            self._multi.socket_action(pycurl.SOCKET_TIMEOUT, 0)
            return True
        return count > 0

    def _end(self, active: dict[pycurl.Curl, tuple[Call, Transfer]], turns: Turns) -> list[tuple[Call, Reply]]:
        """The calls that have ended by now, and what came of them."""
        ended = []
        left = 1
        while left:
            left, succeeded, failed = self._multi.info_read()
            errors = {curl: errno for curl, errno, _ in failed}
            for curl in (*succeeded, *errors):
                call, transfer = active.pop(curl)
                self._multi.remove_handle(curl)
                turns.ended(call)
                if call.provider_id in self._spare_calls:
                    self._spare_calls.remove(call.provider_id)
                    self.spare_held -= 1
                ended.append((call, transfer.end(errors.get(curl, 0))))
        return ended

    def _on_socket(self, event: int, fd: int, multi: object, data: object) -> None:  # noqa: ARG002 (libcurl's signature)
        if event == pycurl.POLL_REMOVE:
            self._sockets.forget(fd)
            self._resting.add(fd)
        else:
            self._sockets.watch(fd, event)
            self._resting.discard(fd)

    def _on_timer(self, timeout_ms: int) -> None:
        self._timer_at = None if timeout_ms < 0 else time.monotonic() + timeout_ms / 1000
        self._is_prompted = timeout_ms == 0
