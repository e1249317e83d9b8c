"""What scripts.fault_table, soak, chaos, registry_faults and freeze print is as it should be."""

import pytest

from scripts.fault_table import run

pytestmark = pytest.mark.stress


def test_every_fault_through_the_handler_ends_as_its_outcome_in_time_and_memory() -> None:
    assert run("fault_table_program.py") == 0


def test_federation_that_misbehaves_is_searched_in_time_and_leaves_nothing_behind(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SOAK_PROVIDERS", "120")
    monkeypatch.setenv("SOAK_SEARCHES", "5")
    monkeypatch.setenv("SOAK_MORE", "100")

    assert run("soak_program.py") == 0


@pytest.mark.parametrize("seed", ["1", "2"])
def test_providers_that_fail_by_chance_are_in_every_answer_as_what_their_calls_met(
    monkeypatch: pytest.MonkeyPatch, seed: str
) -> None:
    monkeypatch.setenv("CHAOS_SEED", seed)
    monkeypatch.setenv("CHAOS_SEARCHES", "50")

    assert run("chaos_program.py") == 0


def test_every_route_says_in_time_that_the_registry_is_in_trouble() -> None:
    assert run("registry_faults_program.py") == 0


def test_gateway_that_was_stopped_finds_everybody_although_all_connections_were_closed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("FREEZE_CYCLES", "10")
    monkeypatch.setenv("FREEZE_S", "0.2")

    assert run("freeze_program.py") == 0
