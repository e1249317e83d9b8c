"""Python's cyclic collector, held back while a search runs."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

_lock = Lock()
_running = 0


@contextmanager
def collector_off() -> Iterator[None]:
    """No cyclic collection inside: it would walk every parsed inventory again and again, to find nothing.

    Several may run at once; the last one to end turns it on again.
    """
    global _running  # noqa: PLW0603 (the collector is the process's as well)
    with _lock:
        _running += 1
        gc.disable()
    try:
        yield
    finally:
        with _lock:
            _running -= 1
            if not _running:
                gc.enable()
