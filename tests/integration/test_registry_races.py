"""Who is faster by a moment: a removal removes only what it has looked at."""

from typing import Any

import pytest
from fakes.fake_time import FakeTime
from fakes.registry_table import a_provider
from fakes.scripted_client import ScriptedClient, after

from chalicelib.attempts import LONGEST_CALL_S, Pacing
from chalicelib.registry import Registry
from fedcompute.errors import Problem
from fedcompute.provider import ProviderRecord


def renamed(record: ProviderRecord) -> ProviderRecord:
    return record.model_copy(update={"name": "changed meanwhile"})


def test_removal_looks_again_at_a_record_that_was_changed_since_it_looked(dynamodb: Any, table: str) -> None:
    other = Registry(lambda: dynamodb, table)
    other.create(a_provider("a"))
    scripted = ScriptedClient(dynamodb, transact_write_items=[after(lambda: other.replace("a", renamed))])
    seen: list[int] = []

    Registry(lambda: scripted, table, pacing=FakeTime().pacing).remove("a", lambda record: seen.append(record.version))

    assert seen == [1, 2]
    with pytest.raises(Problem, match="provider_not_found"):
        other.get("a")


def test_removal_that_may_not_be_made_of_the_newer_record_is_not_made(dynamodb: Any, table: str) -> None:
    other = Registry(lambda: dynamodb, table)
    other.create(a_provider("a"))
    scripted = ScriptedClient(dynamodb, transact_write_items=[after(lambda: other.replace("a", renamed))])

    def only_the_first(record: ProviderRecord) -> None:
        if record.version != 1:
            raise Problem("version_conflict", "another version")

    with pytest.raises(Problem, match="version_conflict"):
        Registry(lambda: scripted, table, pacing=FakeTime().pacing).remove("a", only_the_first)

    assert other.get("a").name == "changed meanwhile"


@pytest.mark.parametrize(("chance", "least_s", "most_s"), [(0.0, 0.024, 0.026), (1.0, 0.049, 0.051)])
def test_first_wait_is_between_half_and_the_whole_of_its_time(
    dynamodb: Any, table: str, chance: float, least_s: float, most_s: float
) -> None:
    time, slept = FakeTime(), list[float]()
    pacing = Pacing(monotonic=lambda: time.now_s, sleep=slept.append, random=lambda: chance)
    registry = Registry(lambda: dynamodb, table, pacing=pacing)
    attempts = registry.table.attempts()

    attempts.pause(1, "busy")

    assert least_s <= slept[0] <= most_s
    time.now_s = LONGEST_CALL_S
    with pytest.raises(Problem, match="busy"):
        attempts.pause(1, "busy")
