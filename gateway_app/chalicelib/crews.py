"""Which lanes a search may use, and how many connections each may hold: never more in all than there may be."""

import heapq
import threading
import time
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from chalicelib.lane import Lane

MOST_SEARCHES = 8  # at once in one process; on Lambda there is one
FIRST_SHARE = 3 / 4  # of the connections, for the crew that a process with one search at a time uses

MakeLane = Callable[[int], Lane]  # with its share of the connections


class Shares(NamedTuple):
    """Connections of each lane: all that there are for one of each crew, and those of the first crew and of each other."""

    all: int
    first: int
    others: tuple[int, ...]


class Lent(NamedTuple):
    """A crew's lanes; `spare`: how many connections each may have beyond its share, which it closes when they were used;
    `most`: its share at the moment.
    """

    crew: int
    lanes: list[Lane]
    spare: int
    most: Callable[[], int]


def shares_of(connections: int, lanes: int) -> Shares:
    """How connections are divided among crews of so many lanes each: few make few crews."""
    each = connections // lanes
    first = max(1, int(each * FIRST_SHARE))
    count = min(each - first, MOST_SEARCHES - 1)
    return Shares(each, first, ((each - first) // count,) * count if count else ())


class Crews:
    """Lends each search a crew that no other search uses meanwhile, and gets it back with its connections.

    A search of the first crew may borrow what crews that were never used do not hold: with a thousand providers that saves it
    a third of its waiting, and on Lambda no other crew is ever used. Searches beside it get that back as its calls end.
    """

    def __init__(self, make_lane: MakeLane, connections: int, lanes: int) -> None:
        self._make_lane = make_lane
        self._lanes = lanes
        self.shares = shares_of(connections, lanes)
        self._crews: list[list[Lane]] = [[] for _ in range(1 + len(self.shares.others))]
        self._idle = list(range(len(self._crews)))
        self._used: set[int] = set()  # the others, so far
        self._sure: frozenset[int] = frozenset()  # of whose connections the first crew has borrowed none
        self._returned = threading.Condition()

    def lend(self, calls: int, deadline: float) -> Lent | None:
        """The lowest crew that is idle, so that the same connections are used again; None: none until the deadline.

        `calls`: how many each lane is to make, about.
        """
        with self._returned:
            while not self._idle:
                left_s = deadline - time.monotonic()
                if left_s <= 0:
                    return None
                self._returned.wait(left_s)
            crew = heapq.heappop(self._idle)
            spare = 0 if crew else max(0, min(self._unused, calls - self.shares.first))
            if crew:
                self._used.add(crew)
            elif spare:
                self._sure = frozenset(self._used)
            try:
                lanes = self._ready(crew, spare)
            except BaseException:
                self._give_back(crew)
                raise
        return Lent(crew, lanes, spare, partial(self._most, crew))

    def take_back(self, crew: int) -> None:
        """The search that had it is over."""
        with self._returned:
            for lane in self._crews[crew]:
                lane.spare_held = 0  # also of one that had no calls
            self._give_back(crew)

    def _give_back(self, crew: int) -> None:
        heapq.heappush(self._idle, crew)
        self._returned.notify()

    @property
    def _unused(self) -> int:
        """Connections of each lane that no crew holds or could need at once: each other crew can begin with one."""
        shares = self.shares
        held = sum(share if crew in self._used else 1 for crew, share in enumerate(shares.others, 1))
        return shares.all - shares.first - held

    def _most(self, crew: int) -> int:
        """A lane's share at the moment."""
        shares, sure = self.shares, self._sure
        if crew == 0:
            return shares.first
        share = shares.others[crew - 1]
        if crew in sure:
            return share
        borrowed = max((lane.spare_held for lane in self._crews[0]), default=0)
        left = shares.all - shares.first - share * len(sure) - borrowed
        return max(1, min(share, left // (len(shares.others) - len(sure))))

    def _ready(self, crew: int, spare: int) -> list[Lane]:
        lanes, shares = self._crews[crew], self.shares
        while len(lanes) < self._lanes:
            lanes.append(self._make_lane(shares.others[crew - 1] if crew else shares.first))
        for lane in lanes:
            lane.spare_held = spare  # before another search can look
        return lanes
