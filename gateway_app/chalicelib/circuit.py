"""Which providers are left alone for a while because they keep failing: what this process has seen of each, no more.

A provider that is not known here is asked. After three failed calls in a row it is not asked for 10 s; then one search
tries it, and each try that fails doubles the pause, up to 5 minutes. Any answer at all ends it at once.
"""

import random
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from fedcompute.provider import ProviderRecord

# Nothing of HTTP came back. An answer that is no good still shows that somebody is there.
FAILURES = frozenset({"timeout", "unreachable", "dns_failure", "tls_failure", "protocol_error"})
# These say nothing of the provider: the search was over first, or the gateway itself failed.
SILENT = frozenset({"deadline_exceeded", "internal"})

FAILURES_TO_OPEN = 3
FIRST_PAUSE_S = 10.0
LONGEST_PAUSE_S = 300.0
JITTER = 0.25  # what chance may take off a pause, so that many processes do not all try at once
TRY_SPARE_S = 1.0  # past its own timeout a try is given up, and another search may try
MOST_KEPT = 10_000


class Skipped(NamedTuple):
    """Why a provider is not asked now, and for how many seconds still."""

    failures: int
    last_outcome: str
    retry_in_s: float


class Turn(NamedTuple):
    """What `begin` says of a call; `end` wants it back. `skipped`: it is not to be made."""

    skipped: Skipped | None = None
    is_try: bool = False
    is_failing: bool = False  # the last call failed


@dataclass
class _Circuit:
    address: tuple[str, int]
    failures: int = 0  # in a row
    last_outcome: str = ""
    pauses: int = 0  # so far, the present one included; 0: closed
    until: float = 0.0  # the pause's end, or that of a try


class Circuits:
    """Safe under threads. `monotonic` is in seconds, `chance` in [0, 1)."""

    def __init__(
        self, monotonic: Callable[[], float] = time.monotonic, chance: Callable[[], float] = random.random
    ) -> None:
        self._monotonic = monotonic
        self._chance = chance
        self._kept: OrderedDict[str, _Circuit] = OrderedDict()
        self._lock = threading.Lock()

    def begin(self, record: ProviderRecord, *, is_forced: bool = False) -> Turn:
        """Whether to call a provider. Once its pause is over, the first who asks is to try, and the others wait for that.

        A record with another address or timeout begins anew. `is_forced`: whatever is known of it.
        """
        with self._lock:
            circuit = self._kept.get(record.id)
            if circuit is None:
                return Turn()
            if circuit.address != _address(record):
                del self._kept[record.id]
                return Turn()
            now = self._monotonic()
            if not circuit.pauses or is_forced:
                return Turn(is_failing=True)
            if now < circuit.until:
                return Turn(Skipped(circuit.failures, circuit.last_outcome, circuit.until - now), is_failing=True)
            circuit.until = now + record.timeout_ms / 1000 + TRY_SPARE_S
            return Turn(is_try=True, is_failing=True)

    def end(self, record: ProviderRecord, turn: Turn, outcome: str) -> None:
        """How the call that `begin` allowed has ended."""
        with self._lock:
            circuit = self._kept.get(record.id)
            if circuit is not None and circuit.address != _address(record):
                return  # it is about an address that the provider had
            if outcome in SILENT:
                if circuit is not None and turn.is_try:
                    circuit.until = self._monotonic() + self._pause_s(1)
            elif outcome not in FAILURES:
                self._kept.pop(record.id, None)
            else:
                self._fail(record, turn, outcome)

    def open_now(self) -> frozenset[str]:
        """The ids of the providers that are not asked now."""
        with self._lock:
            now = self._monotonic()
            return frozenset(name for name, one in self._kept.items() if one.pauses and now < one.until)

    def _fail(self, record: ProviderRecord, turn: Turn, outcome: str) -> None:
        circuit = self._kept.setdefault(record.id, _Circuit(_address(record)))
        circuit.failures += 1
        circuit.last_outcome = outcome
        is_open = circuit.pauses > 0
        if turn.is_try or (not is_open and circuit.failures >= FAILURES_TO_OPEN):
            circuit.pauses += 1
            circuit.until = self._monotonic() + self._pause_s(circuit.pauses)
        self._kept.move_to_end(record.id)
        if len(self._kept) > MOST_KEPT:
            self._kept.popitem(last=False)

    def _pause_s(self, pauses: int) -> float:
        longest = min(LONGEST_PAUSE_S, FIRST_PAUSE_S * 2.0 ** min(pauses - 1, 10))
        return longest * (1 - JITTER * self._chance())


def _address(record: ProviderRecord) -> tuple[str, int]:
    return record.base_url, record.timeout_ms
