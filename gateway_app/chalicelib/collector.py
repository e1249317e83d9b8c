"""Python's cyclic collector, held back while a search runs."""

import gc
from threading import Lock


class _CollectorOff:
    """No cyclic collection inside: it would walk every parsed inventory again and again, to find nothing.

    Several may run at once; the last one to end turns it on again.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._running = 0

    def __enter__(self) -> None:
        with self._lock:
            self._running += 1
            gc.disable()

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._running -= 1
            if not self._running:
                gc.enable()


collector_off = _CollectorOff()  # one for all: the collector is the process's as well
