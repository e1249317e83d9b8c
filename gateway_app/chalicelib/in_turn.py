"""A lock that is handed on in the order in which threads came: who gives it back does not get it before those who wait."""

import threading
from collections import deque


class InTurn:
    """At most one thread has it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._is_taken = False
        self._waiting: deque[threading.Event] = deque()

    @property
    def is_waited_for(self) -> bool:
        """Whether another thread waits for it."""
        return bool(self._waiting)

    def acquire(self, timeout_s: float) -> bool:
        """Wait for it; False: not within this time."""
        with self._lock:
            if not self._is_taken:
                self._is_taken = True
                return True
            mine = threading.Event()
            self._waiting.append(mine)
        if mine.wait(timeout_s):
            return True
        with self._lock:
            if mine.is_set():  # handed over just then
                return True
            self._waiting.remove(mine)
            return False

    def release(self) -> None:
        """Hand it to who has waited longest."""
        with self._lock:
            if self._waiting:
                self._waiting.popleft().set()
            else:
                self._is_taken = False
