"""docs/operations.md, the dashboard and the alerts name the metrics that there are, and no others."""

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import yaml

from chalicelib.counters import families
from chalicelib.gauges import Gauges
from chalicelib.inventories import Inventories
from fedcompute.log import LEVELS

from .test_api_page import ROOT

PAGE = (ROOT / "docs" / "operations.md").read_text()
ALERTS = yaml.safe_load((ROOT / "infra" / "prometheus" / "alerts.yml").read_text())
DASHBOARD = json.loads((ROOT / "infra" / "grafana" / "dashboard.json").read_text())

NAME = re.compile(r"fedcompute_[a-z_]+")
OF_PROVIDERS = {
    "fedcompute_provider_requests_total",
    "fedcompute_inventory_age_seconds",
    "fedcompute_inventory_nodes",
    "fedcompute_inventory_devices",
}
ONLY_WHERE_KNOWN = {"fedcompute_nodes"}


def served() -> dict[str, str]:
    """Every metric of the gateway, and its kind."""
    gauges = Gauges().families([], Inventories(), (), datetime.now(UTC))
    return {one.name: one.kind for one in [*families({}), *gauges]} | dict.fromkeys(ONLY_WHERE_KNOWN, "gauge")


def rules() -> list[dict[str, Any]]:
    return [rule for group in ALERTS["groups"] for rule in group["rules"]]


def names_in(text: str) -> Iterator[str]:
    for name in NAME.findall(text):
        base = re.sub(r"_(bucket|sum|count)$", "", name)
        yield base if served().get(base) == "histogram" else name


def test_the_page_lists_every_metric_and_no_other() -> None:
    assert set(names_in(PAGE)) == set(served()) | OF_PROVIDERS


def test_alerts_ask_for_metrics_that_there_are_and_the_page_lists_each_alert() -> None:
    for rule in rules():
        assert set(names_in(rule["expr"])) <= set(served()), rule["alert"]
        assert set(rule) == {"alert", "expr", "for", "labels", "annotations"}
        assert set(rule["annotations"]) == {"summary", "description"}
        assert rule["expr"].count("(") == rule["expr"].count(")")

    assert re.findall(r"^\| `(Fedcompute\w+)`", PAGE, re.MULTILINE) == [rule["alert"] for rule in rules()]


def test_the_dashboard_asks_for_metrics_that_there_are() -> None:
    expressions = [target["expr"] for panel in DASHBOARD["panels"] for target in panel["targets"]]

    assert {name for one in expressions for name in names_in(one)} <= set(served())
    assert len({panel["id"] for panel in DASHBOARD["panels"]}) == len(DASHBOARD["panels"])


def test_counters_are_asked_for_as_rates_and_gauges_are_not() -> None:
    expressions = [rule["expr"] for rule in rules()]
    expressions += [target["expr"] for panel in DASHBOARD["panels"] for target in panel["targets"]]

    for expression in expressions:
        for name in NAME.findall(expression):
            is_rated = re.search(rf"(rate|increase)\({name}\b", expression) is not None
            assert is_rated == (served().get(name) != "gauge"), f"{name} in {expression}"


def test_levels_of_the_log_are_those_that_there_are() -> None:
    assert set(re.findall(r"level `([A-Z]+)`", PAGE)) <= set(LEVELS)
