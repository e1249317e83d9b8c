"""The keys that a warm process knows: each is read from the table again after KEPT_S, so that a revoked one soon stops."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from typing import TYPE_CHECKING, NamedTuple

from chalicelib.keys import key_of, place_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from chalicelib.keys import Key, Presented
    from chalicelib.table import Table

KEPT_S = 30.0
MOST_KEPT = 4096


class _Kept(NamedTuple):
    key: Key
    read_at: float


class KeyStore:
    """Reads the table for a key that it does not know, and for a secret that is not the one it knows."""

    def __init__(self, table: Table, *, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._table = table
        self._monotonic = monotonic
        self._kept: OrderedDict[str, _Kept] = OrderedDict()
        self._lock = threading.Lock()

    def matching(self, given: Presented) -> Key | None:
        """The key whose id and secret these are, at most KEPT_S old; None where there is none.

        Raises: 503 `registry_unavailable`.
        """
        known = self._known(given.key_id)
        if known is not None and given.is_secret_of(known):
            return known
        key = self._read(given.key_id)
        return key if given.is_secret_of(key) else None

    def _known(self, key_id: str) -> Key | None:
        with self._lock:
            kept = self._kept.get(key_id)
            return kept.key if kept is not None and self._monotonic() - kept.read_at < KEPT_S else None

    def _read(self, key_id: str) -> Key | None:
        read_at = self._monotonic()
        item = self._table.get(self._table.attempts(), place_of(key_id))
        key = None if item is None else key_of(item)
        with self._lock:
            self._kept.pop(key_id, None)
            if key is not None:
                self._kept[key_id] = _Kept(key, read_at)
                while len(self._kept) > MOST_KEPT:
                    self._kept.popitem(last=False)
        return key
