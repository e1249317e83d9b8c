"""Answers are cut before Lambda would refuse them, and say so."""

import json
from typing import Any

import pytest

from chalicelib.answer_size import LARGEST_BYTES, fitting
from chalicelib.inventories import ProviderEntry
from fedcompute.inventory import Warning  # noqa: A004


def answer(candidates: int, text: str = "x" * 1000, warnings: int = 0) -> dict[str, Any]:
    told = [Warning(code="odd", message=text)] * warnings
    return {
        "request": {"limit": 100},
        "candidates": [{"rank": rank + 1, "node": {"name": text}} for rank in range(candidates)],
        "total_candidates": candidates,
        "providers": [ProviderEntry(id="lab", name="Lab", outcome="ok", warnings=told)],
        "warnings": told,
    }


def handed_on(body: bytes) -> int:
    """What Lambda counts: the body as a text in its answer."""
    return len(json.dumps({"statusCode": 200, "headers": {}, "body": body.decode()}))


def test_answer_that_fits_is_told_whole() -> None:
    whole = json.loads(fitting(answer(100)))

    assert len(whole["candidates"]) == 100
    assert whole["warnings"] == []


@pytest.mark.parametrize(
    "text", ["x" * 1000, '"' * 500, "é" * 300, "\\" * 400], ids=["plain", "quotes", "accents", "slashes"]
)
def test_best_candidates_stay_and_a_warning_tells_of_the_others(text: str) -> None:
    body = fitting(answer(100, text), 50_000)

    cut = json.loads(body)
    kept = len(cut["candidates"])
    assert 10 < kept < 100
    assert [one["rank"] for one in cut["candidates"]] == list(range(1, kept + 1))
    assert cut["total_candidates"] == 100
    assert cut["warnings"][0]["code"] == "answer_cut"
    assert f"best {kept} of 100" in cut["warnings"][0]["message"]
    assert handed_on(body) <= 50_000 + 1000


def test_warnings_go_where_candidates_alone_are_not_enough() -> None:
    body = fitting(answer(100, warnings=200), 50_000)

    cut = json.loads(body)
    assert [one["code"] for one in cut["warnings"]] == ["answer_cut"]
    assert cut["providers"][0]["warnings"] == []
    assert handed_on(body) <= 50_000 + 1000


def test_one_candidate_that_is_larger_than_all_is_left_out() -> None:
    cut = json.loads(fitting(answer(1, "x" * 100_000), 50_000))

    assert cut["candidates"] == []
    assert cut["warnings"][0]["code"] == "answer_cut"


def test_candidates_that_a_part_of_the_search_could_not_tell_are_told_of() -> None:
    told = json.loads(fitting({**answer(100), "candidates": answer(40)["candidates"]}))
    cut = json.loads(fitting({**answer(100), "candidates": answer(40)["candidates"]}, 20_000))

    assert [one["message"].split(" candidates")[0] for one in told["warnings"]] == ["only the best 40 of 100"]
    kept = len(cut["candidates"])
    assert [one["message"].split(" candidates")[0] for one in cut["warnings"]] == [f"only the best {kept} of 100"]
    assert kept < 40


def test_limit_leaves_room_for_headers() -> None:
    assert LARGEST_BYTES + 50_000 < 6_291_556
