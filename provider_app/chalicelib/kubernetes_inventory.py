"""A cluster's inventory: read when what is known is too old, once for all who ask at the same time."""

import threading
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from datetime import datetime, timedelta

from msgspec.structs import replace

from chalicelib.cluster_errors import ClusterError
from chalicelib.inventory_reply import EncodedInventory, Observation, encode
from fedcompute.errors import unavailable
from fedcompute.inventory import Inventory
from fedcompute.inventory import Warning as InventoryWarning
from fedcompute.text import clean
from fedcompute.web import note


@dataclass(frozen=True, slots=True)
class _Reading:
    """What the cluster said, and when the reading began."""

    inventory: Inventory
    encoded: EncodedInventory
    observed_at: datetime


class KubernetesInventory:
    """Serves what `read` gives, and gives it again while it is not older than `fresh_ms`. Safe to share between threads.

    `read` gets the present time, which the age of a HAMi handshake is counted from, and bounds its own duration: who
    waits for somebody else's read waits for no longer than that.
    """

    def __init__(self, read: Callable[[datetime], Inventory], fresh_ms: int) -> None:
        self._read = read
        self._fresh = timedelta(milliseconds=fresh_ms)
        self._lock = threading.Lock()
        self._last: _Reading | None = None
        self._running: Future[_Reading] | None = None

    def observe(self, now: datetime, max_age_ms: int = 0) -> Observation:
        """The cluster's inventory; where it can't be read, the last one, if it is not older than `max_age_ms`.

        Raises: 503 `inventory_unavailable` with why.
        """
        with self._lock:
            last, running = self._last, self._running
            if last is not None and abs(now - last.observed_at) <= self._fresh:
                return Observation(last.encoded, last.observed_at)
            mine = Future[_Reading]()
            if running is None:
                self._running = mine
        if running is None:
            self._fulfil(mine, now)
        try:
            reading = (running or mine).result()
        except ClusterError as error:
            note(cluster=error.detail)
            return _before(last, now - timedelta(milliseconds=max_age_ms), error)
        return Observation(reading.encoded, reading.observed_at)

    def _fulfil(self, mine: Future[_Reading], now: datetime) -> None:
        try:
            inventory = self._read(now)
            reading = _Reading(inventory, encode(inventory), now)
        except BaseException as error:  # noqa: BLE001 (all who wait get it, the caller of this too)
            with self._lock:
                self._running = None
            mine.set_exception(error)
        else:
            with self._lock:
                self._last, self._running = reading, None
            mine.set_result(reading)


def _before(last: _Reading | None, not_before: datetime, error: ClusterError) -> Observation:
    if last is None or last.observed_at < not_before:
        raise unavailable("inventory_unavailable", error.detail) from error
    stale = InventoryWarning(code="stale", message=clean(f"this is what the cluster said before: {error.detail}"))
    inventory = replace(last.inventory, warnings=[*last.inventory.warnings, stale])
    return Observation(encode(inventory), last.observed_at)
