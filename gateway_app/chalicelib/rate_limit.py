"""How often one key may call: a token bucket per key. It is this process's own; each other has its own too."""

import math
import threading
import time
from collections import OrderedDict
from collections.abc import Callable

from fedcompute.errors import Problem

BURST_S = 3  # what a bucket holds, in seconds of its rate
MOST_BUCKETS = 4096


class RateLimit:
    """`per_s` calls a second for each key, and BURST_S times as many at once."""

    def __init__(self, per_s: float, *, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._per_s = per_s
        self._full = per_s * BURST_S
        self._monotonic = monotonic
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()  # tokens, and when that was
        self._lock = threading.Lock()

    def take(self, key_id: str) -> None:
        """One call. Raises: 429 `rate_limited`, with how many seconds to wait as Retry-After."""
        now = self._monotonic()
        with self._lock:
            tokens, then = self._buckets.pop(key_id, (self._full, now))
            tokens = min(self._full, tokens + (now - then) * self._per_s)
            is_allowed = tokens >= 1
            self._buckets[key_id] = (tokens - 1 if is_allowed else tokens, now)
            while len(self._buckets) > MOST_BUCKETS:
                self._buckets.popitem(last=False)
        if not is_allowed:
            wait_s = max(1, math.ceil((1 - tokens) / self._per_s))
            detail = f"This key may make {self._per_s:g} calls a second; try again in {wait_s} s."
            raise Problem("rate_limited", detail, headers={"Retry-After": str(wait_s)})
