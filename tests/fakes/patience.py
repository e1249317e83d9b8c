"""Bounds in time, checked on machines that have other things to do as well."""

import time
from collections.abc import Callable

SLACK_MS = 150  # past a bound
TRIES = 4


def in_time[Result](bound_ms: float, action: Callable[[], Result]) -> Result:
    """What `action` returns, once it ended within the bound; one that never does breaks it by itself, not by chance."""
    took_ms = []
    for _ in range(TRIES):
        started = time.monotonic()
        result = action()
        took_ms.append(round((time.monotonic() - started) * 1000))
        if took_ms[-1] <= bound_ms + SLACK_MS:
            return result
    raise AssertionError(f"took {took_ms} ms in {TRIES} tries, and had {bound_ms} ms")
