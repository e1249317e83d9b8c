"""The registry's patience: which failed DynamoDB calls are repeated, and until when."""

import random
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from chalicelib.dynamodb import CONNECT_TIMEOUT_S, READ_TIMEOUT_S
from chalicelib.dynamodb_faults import ERRORS, Fault, Meaning
from fedcompute.errors import Problem, unavailable

LONGEST_CALL_S = 5.0
MOST_ATTEMPTS = 3  # of one DynamoDB call, those that met a conflict not counted


@dataclass(frozen=True)
class Pacing:
    """Where time and chance come from. Seconds; `random` is in [0, 1)."""

    monotonic: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep
    random: Callable[[], float] = random.random


class RefusedError(Exception):
    """A write whose condition does not hold; `may_have_applied`: an earlier attempt at it got no answer."""

    def __init__(self, found: Mapping[str, Any] | None, *, may_have_applied: bool) -> None:
        super().__init__("a condition of the write does not hold")
        self.found = found
        self.may_have_applied = may_have_applied


class Attempts:
    """One call to the registry, however many DynamoDB calls it takes: it ends within LONGEST_CALL_S."""

    def __init__(self, pacing: Pacing, fault_of: Callable[[Exception], Fault]) -> None:
        self._pacing = pacing
        self._fault_of = fault_of
        self._end = pacing.monotonic() + LONGEST_CALL_S
        self._longest = float(CONNECT_TIMEOUT_S + READ_TIMEOUT_S)  # that one attempt may take, as far as is known

    def run[Result](self, operation: Callable[[], Result], *, is_write: bool = False) -> Result:
        """What one DynamoDB call answers, after as many attempts as it is worth.

        Raises: RefusedError; 503 `registry_unavailable`.
        """
        self._need_time(0, "The registry's database is too slow.")
        may_have_applied = False
        tries = busy = 0
        while True:
            started = self._pacing.monotonic()
            try:
                return operation()
            except ERRORS as error:
                fault = self._fault_of(error)
                may_have_applied = may_have_applied or fault.may_have_applied
                if fault.meaning is Meaning.REFUSED:
                    raise RefusedError(fault.found, may_have_applied=may_have_applied) from error
                tries, busy = tries + 1, busy + (fault.meaning is Meaning.BUSY)
                detail = fault.detail + (_MAY_HAVE_APPLIED if is_write and may_have_applied else "")
                if fault.meaning is Meaning.BROKEN or busy == MOST_ATTEMPTS:
                    raise out_of_reach(detail) from error
            finally:
                self._longest = max(self._longest, self._pacing.monotonic() - started)
            self.pause(tries, detail)

    def pause(self, tries: int, detail: str) -> None:
        """Waits before the next attempt, longer after more tries; 503 `registry_unavailable` when there is no time for it."""
        wait_s = min(0.4, 0.025 * 2**tries) * (0.5 + self._pacing.random() / 2)
        self._need_time(wait_s, detail)
        self._pacing.sleep(wait_s)

    def left_s(self) -> float:
        """The seconds in which another attempt may still begin; never below 0."""
        return max(0.0, self._end - self._longest - self._pacing.monotonic())

    def _need_time(self, wait_s: float, detail: str) -> None:
        if wait_s >= self.left_s():
            raise out_of_reach(detail)


_MAY_HAVE_APPLIED = " The change may have been made: read the record before you repeat it."


def out_of_reach(detail: str) -> Problem:
    """503 `registry_unavailable`, with Retry-After."""
    return unavailable("registry_unavailable", detail)
