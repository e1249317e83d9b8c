"""The checker of histories finds what could not have been, and nothing else."""

import random

import pytest
from fakes.linearizability import Call, State, is_linearizable, step


def call(kind: str, began: float, ended: float, result: str | None, expected: int | None = None) -> Call:
    return Call(kind, began, ended, result, expected)


CREATED = call("create", 0, 1, "ok")


@pytest.mark.parametrize(
    ("history", "is_possible"),
    [
        ([], True),
        ([CREATED, call("read", 2, 3, "1")], True),
        ([CREATED, call("read", 2, 3, "absent")], False),
        ([CREATED, call("read", 0.5, 3, "absent")], True),  # they overlap
        ([CREATED, call("create", 2, 3, "ok")], False),  # two winners
        ([CREATED, call("create", 0, 3, "ok")], False),
        ([CREATED, call("create", 0, 3, "exists")], True),
        ([CREATED, call("change", 2, 3, "ok", 1), call("change", 2, 3, "ok", 1)], False),  # a lost update
        ([CREATED, call("change", 2, 3, "ok", 1), call("change", 2, 3, "conflict", 1)], True),
        ([CREATED, call("change", 2, 3, "ok"), call("change", 2, 3, "ok"), call("read", 4, 5, "3")], True),
        ([CREATED, call("change", 2, 3, "ok", 1), call("read", 4, 5, "1")], False),  # an old value
        ([CREATED, call("change", 2, 3, None, 1), call("read", 4, 5, "1")], True),
        ([CREATED, call("change", 2, 3, None, 1), call("read", 4, 5, "2")], True),
        ([CREATED, call("change", 2, 3, None, 1), call("read", 4, 5, "2"), call("read", 6, 7, "1")], False),
        ([CREATED, call("change", 2, 3, None, 1), call("read", 4, 5, "1"), call("read", 6, 7, "2")], True),
        ([CREATED, call("remove", 2, 3, "ok"), call("read", 4, 5, "1")], False),  # a ghost
        ([call("change", 0, 1, "ok")], False),  # an update that creates
        ([call("change", 2, 3, None, 1), CREATED, call("read", 1.5, 1.8, "2")], False),  # before it began
    ],
)
def test_history_is_possible_or_not(history: list[Call], is_possible: bool) -> None:
    assert is_linearizable(history) is is_possible


@pytest.mark.parametrize("seed", range(20))
def test_history_that_was_made_one_call_after_the_other_is_possible_however_calls_overlap(seed: int) -> None:
    chance = random.Random(seed)
    state: State = None
    history: list[Call] = []
    for moment in range(150):
        kind = chance.choice(["create", "change", "change", "remove", "read", "read"])
        expected = chance.choice([None, 1, 2, 3]) if kind in ("change", "remove") else None
        asked = call(kind, moment - chance.random() * 4, moment + chance.random() * 4, None, expected)
        state, result = step(state, asked)
        is_lost = chance.random() < 0.05
        history.append(call(kind, asked.began, asked.ended, None if is_lost else result, expected))

    assert is_linearizable(history)


@pytest.mark.parametrize("is_unsure", [True, False])
def test_removal_that_lost_an_answer_and_finds_nothing_counts_as_done(is_unsure: bool) -> None:
    again = Call("remove", 4, 5, "ok", is_unsure=is_unsure)

    assert is_linearizable([CREATED, call("remove", 2, 3, "ok"), again]) is is_unsure
