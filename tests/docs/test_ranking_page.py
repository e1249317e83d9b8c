"""The numbers of docs/ranking.md, computed from the requests and inventories that stand beside them."""

import json
import re
from pathlib import Path
from typing import Any

import msgspec
import pytest

from fedcompute.copies import copies
from fedcompute.demand import Demand
from fedcompute.explanation import match
from fedcompute.inventory import Node
from fedcompute.ranking import Fit, best_fit_of, score_parts
from fedcompute.request import SearchRequest, Strategy, parse_search

PAGE = (Path(__file__).parents[2] / "docs" / "ranking.md").read_text()
STRATEGIES = [strategy.value for strategy in Strategy]


def block(kind: str, name: str) -> dict[str, Any]:
    (found,) = re.findall(rf"<!-- {kind}: {name} -->\n```json\n(.*?)```", PAGE, re.DOTALL)
    return json.loads(found)


def table(name: str) -> list[dict[str, str]]:
    (found,) = re.findall(rf"<!-- computed: {name} -->\n((?:\|.*\n)+)", PAGE)
    head, _, *rows = [[cell.strip(" *") for cell in line.strip("|").split("|")] for line in found.splitlines()]
    return [dict(zip(head, row, strict=True)) for row in rows]


def parsed(body: dict[str, Any]) -> SearchRequest:
    return parse_search(json.dumps(body).encode(), 8000)


def fit_of(node: dict[str, Any], request: SearchRequest) -> Fit:
    decoded, demand = msgspec.convert(node, Node), Demand.of(request)
    groups, reasons = match(decoded, demand)
    assert not reasons
    return best_fit_of(decoded, groups, demand)


def whole_gpus(name: str, total: int, free: int) -> dict[str, Any]:
    devices = [
        {
            "id": f"{name}-{i}",
            "resource": "nvidia.com/gpu",
            "healthy": True,
            "slots_total": 1,
            "slots_available": int(i < free),
        }
        for i in range(total)
    ]
    return {"name": name, "ready": True, "schedulable": True, "devices": devices}


def test_the_four_strategies_each_prefer_another_of_the_four_nodes() -> None:
    rows = table("one-gpu")

    for strategy in STRATEGIES:
        request = parsed({"gpu": {}, "strategy": strategy})
        scores = {
            row["node"]: fit_of(whole_gpus(row["node"], int(row["T"]), int(row["F"])), request).score for row in rows
        }

        assert scores == {row["node"]: float(row[strategy]) for row in rows}

    firsts = [max(rows, key=lambda row: float(row[strategy]))["node"] for strategy in STRATEGIES]
    assert firsts == ["B", "C", "A", "D"]


@pytest.mark.parametrize("row", table("share"), ids=lambda row: row["strategy"])
def test_the_share_of_a_card_scores_as_the_page_says(row: dict[str, str]) -> None:
    request = parsed({**block("request", "share"), "strategy": row["strategy"]})

    fit = fit_of(block("node", "share"), request)

    assert [device.id for device in fit.devices] == [row["devices"]]
    assert fit.score == float(row["score"])
    assert score_parts(fit, Demand.of(request)) == {part: float(row[part]) for part in ("cpu", "memory", "gpu")}
    assert copies(fit, Demand.of(request)) == int(row["copies"])


@pytest.mark.parametrize("row", table("lowered"), ids=lambda row: row["third card free"])
def test_one_more_eligible_device_may_lower_a_score_where_devices_have_minimums(row: dict[str, str]) -> None:
    memory, compute = map(int, re.findall(r"\d+", row["third card free"]))
    free = [(40000, 90), (40000, 90), (memory, compute)]
    devices = [
        {"id": f"card-{place}", "index": place, "healthy": True, "slots_total": 10, "slots_available": 9,
         "memory_total_mib": 80000, "memory_available_mib": mib, "compute_total_percent": 100, "compute_available_percent": percent}
        for place, (mib, percent) in enumerate(free)
    ]  # fmt: skip

    fit = fit_of(
        {"name": "n", "ready": True, "schedulable": True, "devices": devices}, parsed(block("request", "lowered"))
    )

    assert [device.id for device in fit.devices] == [row["devices"]]
    assert fit.score == float(row["score"])
