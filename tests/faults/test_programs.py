"""What scripts.fault_table and scripts.soak print is as it should be."""

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
