"""Whether what clients of a register saw could have happened one call after the other (Wing and Gong, with Lowe's memory).

A history is of one register. A call that was never answered may have happened at any time after it began, or never.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

NEVER = float("inf")

type State = int | None  # the version; None: absent


@dataclass(frozen=True)
class Call:
    """One client's call. `result` None: no answer, and the call may have happened or not."""

    kind: str  # create, change, remove, read
    began: float
    ended: float
    result: str | None  # ok, exists, absent, conflict; of a read the version as text, or absent
    expected: int | None = None  # the version that a change or removal is conditional on
    is_unsure: bool = False  # an answer was lost on the way: a removal that then finds nothing counts as done

    @property
    def last_moment(self) -> float:
        return NEVER if self.result is None else self.ended


class Step(NamedTuple):
    """What a call does to a state, and what it says."""

    state: State
    result: str


def step(state: State, call: Call) -> Step:
    """The register's rules."""
    if call.kind == "read":
        return Step(state, "absent" if state is None else str(state))
    if call.kind == "create":
        return Step(1, "ok") if state is None else Step(state, "exists")
    if state is None:
        return Step(None, "absent")
    if call.expected is not None and call.expected != state:
        return Step(state, "conflict")
    return Step(None if call.kind == "remove" else state + 1, "ok")


def is_linearizable(history: Sequence[Call]) -> bool:
    """Searches for an order of all answered calls, with any of the others between them, that explains every answer."""
    calls = sorted(history, key=lambda call: call.began)
    answered = frozenset(number for number, call in enumerate(calls) if call.result is not None)
    seen: set[tuple[frozenset[int], State]] = set()
    stack: list[tuple[frozenset[int], State]] = [(frozenset(), None)]
    while stack:
        done, state = stack.pop()
        if answered <= done:
            return True
        if (done, state) in seen:
            continue
        seen.add((done, state))
        stack.extend(_next(calls, done, state))
    return False


def _next(calls: Sequence[Call], done: frozenset[int], state: State) -> list[tuple[frozenset[int], State]]:
    """Who may come next: each call that began before the first of those left has ended."""
    found: list[tuple[frozenset[int], State]] = []
    first_end = NEVER
    for number, call in enumerate(calls):
        if number in done:
            continue
        if call.began > first_end:
            break
        first_end = min(first_end, call.last_moment)
        after = step(state, call)
        # Without an answer, a call that changes nothing is one that never happened.
        is_gone_anyway = call.is_unsure and call.kind == "remove" and state is None and call.result == "ok"
        if call.result == after.result or is_gone_anyway or (call.result is None and after.state != state):
            found.append((done | {number}, after.state))
    return found[::-1]
