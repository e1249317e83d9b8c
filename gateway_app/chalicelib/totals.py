"""Counts of all processes together, in one item of the table: a Lambda's own would lie, as there are many and they come and go.

Counts wait in the process and are added to the item at most every FLUSH_S, at the end of a request. What a process counted
since its last flush is lost when the process ends; what a flush may have applied is not sent again, so that nothing counts twice.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from typing import TYPE_CHECKING

from chalicelib.counters import FAILED_FLUSHES
from chalicelib.dynamodb_faults import ERRORS, fault_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from chalicelib.items import Key
    from chalicelib.table import Table

FLUSH_S = 10.0
TOTALS_KEY: Key = {"pk": {"S": "metrics"}, "sk": {"S": "totals"}}


class Totals:
    """Safe under threads. `on_error` is told of a flush that failed; it never fails a request."""

    def __init__(
        self, table: Table, on_error: Callable[[BaseException], None], monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self._table = table
        self._on_error = on_error
        self._monotonic = monotonic
        self._waiting: Counter[str] = Counter()
        self._due = monotonic()
        self._lock = threading.Lock()

    def add(self, counts: Mapping[str, int]) -> None:
        """Counts, and brings what waits to the table when that is due."""
        with self._lock:
            for name, count in counts.items():
                self._waiting[name] = self._waiting.get(name, 0) + count
            is_due = self._monotonic() >= self._due
        if is_due:
            self.flush()

    def flush(self) -> None:
        """Brings what waits to the table, whether it is due or not."""
        with self._lock:
            counts, self._waiting = self._waiting, Counter()
            self._due = self._monotonic() + FLUSH_S
        if not counts:
            return
        try:
            self._table.add(TOTALS_KEY, counts)
        except Exception as error:  # noqa: BLE001 (whatever it was, the request that it happened in is answered)
            may_have_applied = not isinstance(error, ERRORS) or fault_of(error, self._table.name).may_have_applied
            with self._lock:
                self._waiting.update({} if may_have_applied else counts)
                self._waiting[FAILED_FLUSHES] += 1
            self._on_error(error)

    def read(self) -> dict[str, int]:
        """The sums of all processes, with all that waits in this one. Raises: 503 `registry_unavailable`."""
        self.flush()
        item = self._table.get(self._table.attempts(), TOTALS_KEY) or {}
        return {name: int(value["N"]) for name, value in item.items() if "N" in value}
