"""The three sample inventories show what the product does: every strategy and every reason has its example."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fedcompute.demand import Demand
from fedcompute.explanation import match
from fedcompute.inventory import Inventory, Node
from fedcompute.inventory_file import check, load
from fedcompute.ranking import best_fit_of
from fedcompute.reasons import REASONS
from fedcompute.request import Strategy, parse_search

FOLDER = Path(__file__).parents[2] / "provider_app" / "inventories"
PROVIDERS = ("provider-a", "provider-b", "provider-c")

GPU: dict[str, Any] = {"count": 1, "minimum_memory_mib": 30000, "minimum_compute_percent": 50, "vendor": "NVIDIA"}
SHARE: dict[str, Any] = {"gpu": GPU, "cpu": {"minimum_millicores": 4000}, "memory": {"minimum_bytes": 16 << 30}}
SHARE_OF_AN_A100 = SHARE | {"gpu": GPU | {"model": "A100"}}
EIGHT_WHOLE: dict[str, Any] = {"gpu": {"count": 8}}


def inventory_of(provider_id: str) -> Inventory:
    return load((FOLDER / f"{provider_id}.json").read_bytes())


def nodes() -> Iterator[tuple[str, Node]]:
    return ((provider_id, node) for provider_id in PROVIDERS for node in inventory_of(provider_id).nodes)


def demand(request: dict[str, Any], strategy: Strategy = Strategy.BEST_FIT) -> Demand:
    return Demand.of(parse_search(json.dumps(request | {"strategy": strategy}).encode(), 8000))


def ranked(request: dict[str, Any], strategy: Strategy) -> list[tuple[float, str, str]]:
    """The candidates: score, provider, node; the best first."""
    wanted = demand(request, strategy)
    matches = [(provider_id, node, match(node, wanted)) for provider_id, node in nodes()]
    fits = [
        (provider_id, best_fit_of(node, found.groups, wanted))
        for provider_id, node, found in matches
        if not found.reasons
    ]
    return sorted(
        ((fit.score, provider_id, fit.node.name) for provider_id, fit in fits), key=lambda one: (-one[0], *one[1:])
    )


@pytest.mark.parametrize("provider_id", PROVIDERS)
def test_sample_passes_the_strict_check_and_names_its_provider(provider_id: str) -> None:
    raw = (FOLDER / f"{provider_id}.json").read_bytes()

    assert check(raw) == []
    assert load(raw).provider_id == provider_id


def test_each_strategy_prefers_another_node_and_every_provider_wins_once() -> None:
    firsts = {strategy: ranked(SHARE, strategy)[0][1:] for strategy in Strategy}

    assert len(set(firsts.values())) == len(Strategy)
    assert {provider_id for provider_id, _ in firsts.values()} == set(PROVIDERS)


def test_first_candidate_leads_by_more_than_a_tie() -> None:
    for strategy in Strategy:
        first, second, *_ = ranked(SHARE, strategy)

        assert first[0] - second[0] > 0.005


def test_every_reason_for_a_known_amount_occurs() -> None:
    wanted = [demand(request) for request in (SHARE, SHARE_OF_AN_A100, EIGHT_WHOLE)]

    occurring = {reason.reason for _, node in nodes() for one in wanted for reason in match(node, one).reasons}

    assert occurring >= {reason for reason in REASONS if not reason.startswith("unknown_")}


@pytest.mark.parametrize("request_body", [SHARE, SHARE_OF_AN_A100, EIGHT_WHOLE])
def test_each_sample_search_is_feasible(request_body: dict[str, Any]) -> None:
    assert ranked(request_body, Strategy.BEST_FIT)


def test_samples_differ_in_vendor_sharing_and_size() -> None:
    inventories = [inventory_of(provider_id) for provider_id in PROVIDERS]
    devices = [device for inventory in inventories for node in inventory.nodes for device in node.devices]

    assert {"NVIDIA", "AMD", "Intel", "Huawei", "Hygon", "Cambricon"} <= {device.vendor for device in devices}
    assert {"hami-core", "mig", "time-slicing", None} <= {device.mode for device in devices}
    assert any(device.pool for device in devices)
    assert any(device.card is not None for device in devices)
    assert any(device.largest_free_mib is not None for device in devices)
    assert len({len(inventory.nodes) for inventory in inventories}) == len(PROVIDERS)
