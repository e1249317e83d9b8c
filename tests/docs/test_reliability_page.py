"""docs/reliability.md names the limits that the code has."""

import re
from pathlib import Path

import pytest

from chalicelib import callers_records, circuit, transfer
from fedcompute import documents, inventory, pieces, reading, soundness

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "reliability.md").read_text()


def row(name: str) -> str:
    found = re.search(rf"^\| {re.escape(name)} \| (.*?) \|", PAGE, re.MULTILINE)
    assert found is not None, name
    return found[1]


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("a request's body", f"{documents.LARGEST_BYTES >> 20} MiB"),
        ("values in a request's body", f"{documents.MOST_VALUES:,}"),
        ("problems that a 422 lists", str(documents.MOST_TOLD)),
        ("providers in the registry", f"{callers_records.MOST_PROVIDERS:,}"),
        ("a reply's headers", f"{transfer.MOST_HEADER_BYTES >> 10} KiB"),
        ("nodes of an inventory", f"{soundness.MOST_NODES:,}"),
        ("nodes that can't be read", f"{pieces.MOST_BAD_NODES:,}"),
        (
            "devices, labels and taints of a node",
            f"{soundness.MOST_DEVICES:,}, {soundness.MOST_LABELS} and {soundness.MOST_TAINTS}",
        ),
        ("names, ids, labels and models", f"{inventory.LONGEST_NAME} characters"),
    ],
)
def test_limit_is_the_codes(name: str, told: str) -> None:
    assert row(name) == told


def test_pauses_are_the_codes() -> None:
    assert circuit.FAILURES_TO_OPEN == 3
    assert f"not asked for about {circuit.FIRST_PAUSE_S:.0f} s" in PAGE
    assert f"up to {circuit.LONGEST_PAUSE_S / 60:.0f} minutes" in PAGE
    assert circuit.JITTER == 0.25
    assert row("warnings of a provider, and of an answer").startswith(f"{reading.MOST_WARNINGS},")


def test_bounds_that_are_not_told_are_as_they_were_measured() -> None:
    assert (pieces.MOST_NODE_BYTES, pieces.MOST_WARNINGS_BYTES) == (1 << 20, 64 << 10)
