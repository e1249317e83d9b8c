"""Which lanes a search may use, and how many connections each may hold: never more in all than there may be."""

import heapq
import threading
import time
from collections.abc import Callable
from concurrent.futures import Executor
from typing import NamedTuple

from chalicelib.lane import Lane

MOST_SEARCHES = 8  # at once in one process; on Lambda there is one
FIRST_SHARE = 3 / 4  # of the connections, for the crew that a process with one search at a time uses
MEANWHILE_SHARE = 1 / 3  # of its own share, that a second search has while the first crew holds almost all

MakeLane = Callable[[int], Lane]  # with at most so many connections


class Shares(NamedTuple):
    """The most connections of each lane of a crew."""

    alone: int  # of the first, where no two searches were ever at once
    first: int
    others: tuple[int, ...]  # of each other one
    meanwhile: tuple[int, ...]  # of the same, until the first has given back what it had more


def shares_of(connections: int, lanes: int) -> Shares:
    """How connections are divided among crews of so many lanes each: few make few crews."""
    each = connections // lanes
    first = max(1, int(each * FIRST_SHARE))
    count = min(each - first, MOST_SEARCHES - 1)
    if not count:
        return Shares(first, first, (), ())
    other = (each - first) // count
    meanwhile = (max(1, int(other * MEANWHILE_SHARE)), *[1] * (count - 1))
    return Shares(each - sum(meanwhile), first, (other,) * count, meanwhile)


class Crews:
    """Lends each search a crew that no other search uses meanwhile, and gets it back with its connections.

    A search that is alone may have almost all connections: with a thousand providers that saves it a third of its waiting.
    Once two searches have been at once, the first crew closes what is above its share, and never has more again.
    """

    def __init__(self, make_lane: MakeLane, connections: int, lanes: int, closing: Executor) -> None:
        self._make_lane = make_lane
        self._lanes = lanes
        self._closing = closing
        self.shares = shares_of(connections, lanes)
        self._crews: list[list[Lane]] = [[] for _ in range(1 + len(self.shares.others))]
        self._idle = list(range(len(self._crews)))
        self._is_shared = False  # two searches were at once
        self._is_widened = False  # the first crew may hold more than its share
        self._returned = threading.Condition()

    def lend(self, calls: int, deadline: float) -> tuple[int, list[Lane]] | None:
        """The lowest crew that is idle, so that the same connections are used again, and its lanes; None: none until the deadline.

        `calls`: how many each lane is to make, about.
        """
        with self._returned:
            while not self._idle:
                left_s = deadline - time.monotonic()
                if left_s <= 0:
                    return None
                self._returned.wait(left_s)
            crew = heapq.heappop(self._idle)
            most = self._most(crew, calls)
        try:
            return crew, self._ready(crew, most)
        except BaseException:
            self._give_back(crew)
            raise

    def take_back(self, crew: int) -> None:
        """The search that had it is over."""
        with self._returned:
            is_too_wide = crew == 0 and self._is_widened and self._is_shared
        if is_too_wide:  # in a thread of its own: libcurl may wait for resolvers that still run
            self._closing.submit(self._narrow)
        else:
            self._give_back(crew)

    def _most(self, crew: int, calls: int) -> int:
        shares = self.shares
        if crew:
            self._is_shared = True
            return (shares.meanwhile if self._is_widened else shares.others)[crew - 1]
        if calls > shares.first and not self._is_shared:
            self._is_widened = True
        return shares.alone if self._is_widened else shares.first

    def _ready(self, crew: int, most: int) -> list[Lane]:
        lanes = self._crews[crew]
        while len(lanes) < self._lanes:
            lanes.append(self._make_lane(most))
        for lane in lanes:
            if lane.connections < most:
                lane.widen(most)
        return lanes

    def _narrow(self) -> None:
        lanes, self._crews[0] = self._crews[0], []
        try:
            for lane in lanes:
                lane.close()
        finally:
            with self._returned:
                self._is_widened = False
            self._give_back(0)

    def _give_back(self, crew: int) -> None:
        with self._returned:
            heapq.heappush(self._idle, crew)
            self._returned.notify()
