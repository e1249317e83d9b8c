"""Providers that keep failing are left alone for a growing while, tried by one search at a time, and back at once."""

from typing import Any

import pytest
from fakes.registry_table import a_record
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from chalicelib.calls import OUTCOMES
from chalicelib.circuit import (
    FAILURES,
    FAILURES_TO_OPEN,
    FIRST_PAUSE_S,
    JITTER,
    LONGEST_PAUSE_S,
    MOST_KEPT,
    SILENT,
    TRY_SPARE_S,
    Circuits,
    Turn,
)
from fedcompute.provider import ProviderRecord

PROVIDER = a_record("a", timeout_ms=1500)
LEASE_S = 1.5 + TRY_SPARE_S


class Clocked:
    """Circuits whose time passes when a test says so; no jitter unless `chance` is set."""

    def __init__(self) -> None:
        self.now_s = 1000.0
        self.chance = 0.0
        self.circuits = Circuits(lambda: self.now_s, lambda: self.chance)

    def call(self, outcome: str, record: ProviderRecord = PROVIDER, *, is_forced: bool = False) -> Turn:
        turn = self.circuits.begin(record, is_forced=is_forced)
        if turn.skipped is None:
            self.circuits.end(record, turn, outcome)
        return turn

    def fail(self, times: int = FAILURES_TO_OPEN) -> None:
        for _ in range(times):
            assert self.call("timeout").skipped is None

    def retry_in_s(self, record: ProviderRecord = PROVIDER) -> float | None:
        """Seconds until it is asked again; None: it is asked now. For pauses only: asking changes nothing there."""
        turn = self.circuits.begin(record)
        return None if turn.skipped is None else turn.skipped.retry_in_s


@pytest.fixture
def clocked() -> Clocked:
    return Clocked()


def test_third_failure_in_a_row_begins_a_pause_and_the_provider_is_told_of_by_its_last_failure(
    clocked: Clocked,
) -> None:
    clocked.call("unreachable")
    clocked.call("tls_failure")
    assert clocked.retry_in_s() is None

    clocked.call("timeout")

    skipped = clocked.circuits.begin(PROVIDER).skipped
    assert skipped is not None
    assert (skipped.failures, skipped.last_outcome, skipped.retry_in_s) == (3, "timeout", FIRST_PAUSE_S)


@pytest.mark.parametrize("outcome", sorted(FAILURES))
def test_each_kind_of_failure_counts(clocked: Clocked, outcome: str) -> None:
    for _ in range(FAILURES_TO_OPEN):
        clocked.call(outcome)

    assert clocked.retry_in_s() == FIRST_PAUSE_S


@pytest.mark.parametrize("outcome", sorted(set(OUTCOMES) - FAILURES - SILENT - {"circuit_open"}))
def test_any_answer_ends_the_row(clocked: Clocked, outcome: str) -> None:
    clocked.fail(2)
    clocked.call(outcome)
    clocked.fail(2)

    assert clocked.retry_in_s() is None


@pytest.mark.parametrize("outcome", sorted(SILENT))
def test_what_says_nothing_of_the_provider_neither_counts_nor_ends_the_row(clocked: Clocked, outcome: str) -> None:
    clocked.fail(2)
    for _ in range(5):
        clocked.call(outcome)
    assert clocked.retry_in_s() is None

    clocked.fail(1)

    assert clocked.retry_in_s() == FIRST_PAUSE_S


def test_pauses_double_up_to_five_minutes(clocked: Clocked) -> None:
    clocked.fail()
    pauses = []
    for _ in range(8):
        pause = clocked.retry_in_s()
        assert pause is not None
        pauses.append(pause)
        clocked.now_s += pause
        clocked.call("timeout")

    assert pauses == [10, 20, 40, 80, 160, 300, 300, 300]


def test_pause_ends_at_its_time_and_not_a_moment_before(clocked: Clocked) -> None:
    clocked.fail()

    clocked.now_s += FIRST_PAUSE_S - 0.001
    assert clocked.retry_in_s() == pytest.approx(0.001)
    clocked.now_s += 0.001
    assert clocked.circuits.begin(PROVIDER) == Turn(is_try=True, is_failing=True)


def test_one_search_at_a_time_tries(clocked: Clocked) -> None:
    clocked.fail()
    clocked.now_s += FIRST_PAUSE_S

    turns = [clocked.circuits.begin(PROVIDER) for _ in range(5)]

    assert [turn.is_try for turn in turns] == [True, False, False, False, False]
    assert [turn.skipped and turn.skipped.retry_in_s for turn in turns] == [None, *[LEASE_S] * 4]


def test_try_that_never_ends_is_given_up(clocked: Clocked) -> None:
    clocked.fail()
    clocked.now_s += FIRST_PAUSE_S
    clocked.circuits.begin(PROVIDER)

    clocked.now_s += LEASE_S

    assert clocked.circuits.begin(PROVIDER).is_try


def test_try_that_succeeds_ends_it_all_at_once(clocked: Clocked) -> None:
    clocked.fail()
    clocked.now_s += FIRST_PAUSE_S
    clocked.call("ok")

    assert clocked.circuits.begin(PROVIDER) == Turn()
    clocked.fail()
    assert clocked.retry_in_s() == FIRST_PAUSE_S


def test_try_that_is_cut_short_is_made_again_after_a_first_pause(clocked: Clocked) -> None:
    clocked.fail()
    clocked.now_s += FIRST_PAUSE_S
    clocked.call("timeout")
    clocked.now_s += 2 * FIRST_PAUSE_S

    clocked.call("deadline_exceeded")

    assert clocked.retry_in_s() == FIRST_PAUSE_S
    clocked.now_s += FIRST_PAUSE_S
    clocked.call("timeout")
    assert clocked.retry_in_s() == 4 * FIRST_PAUSE_S


def test_check_asks_in_a_pause_too_and_its_success_ends_it(clocked: Clocked) -> None:
    clocked.fail()

    assert clocked.call("timeout", is_forced=True).skipped is None
    assert clocked.retry_in_s() == FIRST_PAUSE_S
    clocked.call("not_modified", is_forced=True)

    assert clocked.circuits.begin(PROVIDER) == Turn()


def test_failures_of_calls_that_were_under_way_do_not_lengthen_a_pause(clocked: Clocked) -> None:
    under_way = [clocked.circuits.begin(PROVIDER) for _ in range(20)]
    for turn in under_way:
        clocked.circuits.end(PROVIDER, turn, "timeout")

    assert clocked.retry_in_s() == FIRST_PAUSE_S


@pytest.mark.parametrize("change", [{"base_url": "http://elsewhere.test"}, {"timeout_ms": 3000}])
def test_changed_record_begins_anew(clocked: Clocked, change: dict[str, Any]) -> None:
    clocked.fail()
    changed = PROVIDER.model_copy(update=change)

    assert clocked.circuits.begin(changed) == Turn()
    clocked.call("timeout", changed)
    clocked.circuits.end(PROVIDER, Turn(), "ok")  # of the address that it had
    assert clocked.circuits.begin(changed).is_failing


def test_changed_label_changes_nothing(clocked: Clocked) -> None:
    clocked.fail()

    assert clocked.retry_in_s(PROVIDER.model_copy(update={"labels": {"a": "b"}, "version": 2})) == FIRST_PAUSE_S


def test_providers_do_not_share_what_is_known_of_one(clocked: Clocked) -> None:
    clocked.fail()

    assert clocked.retry_in_s(a_record("b", timeout_ms=1500)) is None


@given(st.floats(0, 1, exclude_max=True), st.integers(1, 12))
def test_chance_shortens_a_pause_by_a_quarter_at_most(chance: float, tries: int) -> None:
    clocked = Clocked()
    clocked.chance = chance
    clocked.fail()
    for _ in range(tries - 1):
        clocked.now_s += LONGEST_PAUSE_S
        clocked.call("timeout")

    pause, longest = clocked.retry_in_s(), min(LONGEST_PAUSE_S, FIRST_PAUSE_S * 2 ** (tries - 1))

    assert pause is not None
    assert longest * (1 - JITTER) <= pause + 1e-9
    assert pause <= longest + 1e-9


def test_what_is_kept_is_bounded(clocked: Clocked) -> None:
    records = [PROVIDER.model_copy(update={"id": f"p{number}"}) for number in range(MOST_KEPT + 1)]
    for record in records:
        clocked.call("timeout", record)

    assert not clocked.circuits.begin(records[0]).is_failing
    assert clocked.circuits.begin(records[1]).is_failing


class CircuitMachine(RuleBasedStateMachine):
    """Against what is promised, however calls overlap."""

    def __init__(self) -> None:
        super().__init__()
        self.clocked = Clocked()
        self.running: list[Turn] = []
        self.tries = 0
        self.since_answer = 0

    @rule(is_forced=st.booleans())
    def begin(self, is_forced: bool) -> None:
        turn = self.clocked.circuits.begin(PROVIDER, is_forced=is_forced)
        if turn.skipped is not None:
            assert not is_forced
            assert self.since_answer >= FAILURES_TO_OPEN
            assert 0 < turn.skipped.retry_in_s <= LONGEST_PAUSE_S
            return
        self.running.append(turn)

    @precondition(lambda self: self.running)
    @rule(outcome=st.sampled_from(["ok", "timeout", "timeout", "unreachable", "deadline_exceeded"]), data=st.data())
    def end(self, outcome: str, data: Any) -> None:
        turn = self.running.pop(data.draw(st.integers(0, len(self.running) - 1)))
        self.clocked.circuits.end(PROVIDER, turn, outcome)
        if outcome == "ok":
            self.since_answer = 0
        elif outcome in FAILURES:
            self.since_answer += 1

    @rule(seconds=st.sampled_from([0.1, 1.0, LEASE_S, FIRST_PAUSE_S, LONGEST_PAUSE_S]))
    def wait(self, seconds: float) -> None:
        self.clocked.now_s += seconds

    @precondition(lambda self: self.since_answer == 0)
    @invariant()
    def who_answered_last_is_asked(self) -> None:
        assert self.clocked.circuits.begin(PROVIDER) == Turn()

    @precondition(lambda self: not self.running)
    @rule()
    def who_waits_long_enough_is_asked(self) -> None:
        self.clocked.now_s += LONGEST_PAUSE_S
        assert self.clocked.call("deadline_exceeded").skipped is None


CircuitMachine.TestCase.settings = settings(max_examples=100, stateful_step_count=30, deadline=None)
TestAnyOrderOfCalls = CircuitMachine.TestCase
