"""/metrics: counts of all processes from the table, gauges of this one, and what they cost a search."""

import json
import time
from collections.abc import Callable
from typing import Any

import pytest
from fakes.bad_providers import BadProviders
from fakes.fake_time import FakeTime
from fakes.gateway import Gateway
from fakes.keyed_gateway import KeyedGateway
from fakes.prometheus import families_of, lint, samples_of, value_of
from fakes.provider_fleet import ProviderFleet
from fakes.scripted_client import ScriptedClient, loses_its_answer

from chalicelib.calls import OUTCOMES
from chalicelib.metrics import embedded
from chalicelib.registry import Registry
from chalicelib.totals import FLUSH_S, Totals
from fedcompute.reasons import REASONS

type MakeProcess = Callable[..., Gateway]


@pytest.fixture
def process(dynamodb: Any, table: str, monkeypatch: pytest.MonkeyPatch) -> MakeProcess:
    """Makes gateways that share one table, as processes do; each with a clock of its own, and its calls recorded."""

    def make(**environment: str) -> Gateway:
        made = Gateway(monkeypatch, REGISTRY_TABLE=table, **environment)
        own = made.module.gateway
        own.client = ScriptedClient(dynamodb)
        own.registry = Registry(lambda: own.client, table)
        if environment.get("METRICS") != "off":
            own.time = FakeTime()
            own.metrics._totals = Totals(own.registry.table, own.metrics._totals._on_error, own.time.pacing.monotonic)
        return made

    return make


def metrics_of(gateway: Gateway) -> str:
    answer = gateway.call("GET", "/metrics")
    assert answer.status == 200, answer
    assert answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    return answer.text


def test_either_of_two_processes_shows_the_sum(process: MakeProcess, fleet: ProviderFleet) -> None:
    one, other = process(), process()
    fleet.add("lab-a")
    one.register("lab-a", fleet.base_url("lab-a"))

    for gateway, times in ((one, 3), (other, 2)):
        for _ in range(times):
            assert gateway.search(strategy="spread").status == 200
        gateway.module.gateway.metrics._totals.flush()

    for gateway in (one, other):
        text = metrics_of(gateway)
        found = {key: value for key, value in samples_of(text).items() if key[0] == "fedcompute_searches_total"}
        assert sum(found.values()) == 5
        assert value_of(text, "fedcompute_searches_total", strategy="spread", feasibility="feasible") == 5
        assert value_of(text, "fedcompute_search_duration_seconds_count") == 5
        calls = [value_of(text, "fedcompute_provider_calls_total", outcome=one) for one in ("ok", "not_modified")]
        assert sum(calls) == 5
        assert value_of(text, "fedcompute_provider_call_duration_seconds_count") == 5


def test_text_is_what_prometheus_reads_and_its_linter_has_nothing_to_say(
    process: MakeProcess, fleet: ProviderFleet
) -> None:
    gateway = process()
    fleet.add("lab-a")
    gateway.register("lab-a", fleet.base_url("lab-a"))
    gateway.search(gpu={})

    text = metrics_of(gateway)

    assert lint(text) == []
    assert {family.name for family in families_of(text)} >= {
        "fedcompute_build_info",
        "fedcompute_device_memory_bytes",
        "fedcompute_device_memory_free_bytes",
        "fedcompute_devices",
        "fedcompute_devices_unused",
        "fedcompute_metrics_flushes_failed",
        "fedcompute_nodes",
        "fedcompute_provider_call_duration_seconds",
        "fedcompute_provider_calls",
        "fedcompute_provider_circuit_open",
        "fedcompute_provider_inventory_age_seconds",
        "fedcompute_providers",
        "fedcompute_rejected_nodes",
        "fedcompute_search_duration_seconds",
        "fedcompute_searches",
    }
    for outcome in OUTCOMES:
        assert ("fedcompute_provider_calls_total", (("outcome", outcome),)) in samples_of(text)
    for reason in REASONS:
        assert ("fedcompute_rejected_nodes_total", (("reason", reason),)) in samples_of(text)


def test_devices_and_memory_are_those_of_the_federations_overview(process: MakeProcess, fleet: ProviderFleet) -> None:
    gateway = process()
    for name in ("lab-a", "lab-b"):
        fleet.add(name)
        gateway.register(name, fleet.base_url(name))
    overview = gateway.call("GET", "/api/v1/resources").json

    found = samples_of(metrics_of(gateway))

    for model in overview["by_model"]:
        labels = (("model", model["model"]), ("vendor", model["vendor"]))
        devices = model["devices"]
        assert found["fedcompute_devices", labels] == devices["count"]
        assert found["fedcompute_devices_unused", labels] == devices["unused"]
        assert found["fedcompute_device_memory_bytes", labels] == devices["memory_total_mib"] * 2**20
        assert found["fedcompute_device_memory_free_bytes", labels] == devices["memory_available_mib"] * 2**20
    assert found["fedcompute_nodes", ()] == overview["totals"]["nodes"]
    assert found["fedcompute_providers", (("state", "enabled"),)] == 2
    assert found["fedcompute_provider_inventory_age_seconds", (("provider_id", "lab-a"),)] > 0


def test_cold_process_shows_no_devices_rather_than_none(process: MakeProcess, fleet: ProviderFleet) -> None:
    one, cold = process(), process()
    fleet.add("lab-a")
    one.register("lab-a", fleet.base_url("lab-a"))
    one.search()

    names = {family.name for family in families_of(metrics_of(cold))}

    assert not {"fedcompute_devices", "fedcompute_nodes", "fedcompute_provider_inventory_age_seconds"} & names


def test_provider_that_keeps_failing_shows_as_an_open_circuit(process: MakeProcess, fleet: ProviderFleet) -> None:
    gateway = process()
    fleet.add("lab-a")
    gateway.register("lab-a", fleet.base_url("lab-a"))
    gateway.register("gone", "http://127.0.0.1:9999", timeout_ms=500)
    for _ in range(4):
        gateway.search()

    text = metrics_of(gateway)

    assert value_of(text, "fedcompute_provider_circuit_open", provider_id="gone") == 1
    assert value_of(text, "fedcompute_provider_circuit_open", provider_id="lab-a") == 0
    assert value_of(text, "fedcompute_provider_calls_total", outcome="unreachable") == 3
    assert value_of(text, "fedcompute_provider_calls_total", outcome="circuit_open") == 1


def test_rejections_are_counted_by_reason(process: MakeProcess, fleet: ProviderFleet) -> None:
    gateway = process()
    fleet.add("lab-a")
    gateway.register("lab-a", fleet.base_url("lab-a"))
    by_reason = gateway.search(gpu={"count": 500}).json["rejections"]["by_reason"]

    text = metrics_of(gateway)

    assert by_reason
    for reason, nodes in by_reason.items():
        assert value_of(text, "fedcompute_rejected_nodes_total", reason=reason) == nodes


def test_a_search_costs_no_call_to_the_table_between_two_flushes(process: MakeProcess, fleet: ProviderFleet) -> None:
    gateway = process()
    own = gateway.module.gateway
    fleet.add("lab-a")
    gateway.register("lab-a", fleet.base_url("lab-a"))
    gateway.search()  # the first is due at once

    own.client.calls.clear()
    for _ in range(5):
        gateway.search()
    assert own.client.calls.count("update_item") == 0

    own.time.sleep(FLUSH_S)
    gateway.search()
    gateway.search()
    assert own.client.calls.count("update_item") == 1


def test_scrape_costs_two_reads_and_at_most_one_write(process: MakeProcess, fleet: ProviderFleet) -> None:
    gateway = process()
    fleet.add("lab-a")
    gateway.register("lab-a", fleet.base_url("lab-a"))
    gateway.search()
    gateway.search()
    calls = gateway.module.gateway.client.calls

    calls.clear()
    metrics_of(gateway)
    assert sorted(calls) == ["get_item", "get_item", "update_item"]

    calls.clear()
    metrics_of(gateway)
    assert sorted(calls) == ["get_item", "get_item"]


def test_failed_flush_fails_no_search_and_stands_in_its_line(
    process: MakeProcess, fleet: ProviderFleet, capsys: pytest.CaptureFixture[str]
) -> None:
    def breaks(call: Any) -> Any:
        raise RuntimeError("no such operation here")

    gateway = process()
    own = gateway.module.gateway
    fleet.add("lab-a")
    gateway.register("lab-a", fleet.base_url("lab-a"))
    own.client = ScriptedClient(own.client, update_item=[breaks])
    own.registry.table._client = own.client
    capsys.readouterr()

    assert gateway.search().status == 200

    (line,) = capsys.readouterr().err.splitlines()
    assert json.loads(line)["metrics_not_flushed"] == "RuntimeError: no such operation here"
    assert value_of(metrics_of(gateway), "fedcompute_metrics_flushes_failed_total") == 1


def test_flush_whose_answer_is_lost_counts_nothing_twice(process: MakeProcess, fleet: ProviderFleet) -> None:
    gateway = process()
    own = gateway.module.gateway
    fleet.add("lab-a")
    gateway.register("lab-a", fleet.base_url("lab-a"))
    own.registry.table._client = ScriptedClient(own.client, update_item=[loses_its_answer])

    gateway.search()

    text = metrics_of(gateway)
    assert value_of(text, "fedcompute_searches_total", strategy="best-fit", feasibility="feasible") == 1
    assert value_of(text, "fedcompute_metrics_flushes_failed_total") == 1


def test_off_means_that_nothing_is_counted_and_nothing_shown(process: MakeProcess, fleet: ProviderFleet) -> None:
    gateway = process(METRICS="off")
    fleet.add("lab-a")
    gateway.register("lab-a", fleet.base_url("lab-a"))

    assert gateway.search().status == 200

    assert "update_item" not in gateway.module.gateway.client.calls
    answer = gateway.call("GET", "/metrics")
    assert (answer.status, answer.problem["code"]) == (404, "not_found")
    assert "METRICS is off" in answer.problem["detail"]


def test_metrics_ask_for_the_role_search(
    dynamodb: Any, table: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    gateway = KeyedGateway(monkeypatch, dynamodb, table, tmp_path)

    assert gateway.ask(None, "GET", "/metrics").status == 401
    assert gateway.ask(gateway.a_key("provider"), "GET", "/metrics").status == 403
    assert gateway.ask(gateway.a_key("search"), "GET", "/metrics").status == 200


def test_registry_that_does_not_answer_is_503(process: MakeProcess) -> None:
    gateway = process()
    gateway.module.gateway.registry.table._client = ScriptedClient(None)

    assert gateway.call("GET", "/metrics").status in (500, 503)


def check_embedded(line: dict[str, Any]) -> None:
    """The rules of CloudWatch's embedded metric format: each name that a directive has is a member of the line."""
    assert type(line["_aws"]["Timestamp"]) is int
    for directive in line["_aws"]["CloudWatchMetrics"]:
        assert set(directive) == {"Namespace", "Dimensions", "Metrics"}
        for names in directive["Dimensions"]:
            assert len(names) <= 30
            assert all(isinstance(line[name], str) and line[name] for name in names)
        assert len(directive["Metrics"]) <= 100
        for metric in directive["Metrics"]:
            assert metric["Unit"] in ("Count", "Milliseconds")
            assert isinstance(line[metric["Name"]], int)


def test_on_aws_the_line_of_a_search_is_one_line_that_cloudwatch_makes_metrics_of(
    process: MakeProcess, fleet: ProviderFleet, capsys: pytest.CaptureFixture[str]
) -> None:
    gateway = process()
    own = gateway.module.gateway
    own.metrics._function = "fedcompute-gateway-APIHandler"
    fleet.add("lab-a")
    gateway.register("lab-a", fleet.base_url("lab-a"))
    gateway.register("gone", "http://127.0.0.1:9999", timeout_ms=500)
    capsys.readouterr()

    before = time.time()
    gateway.search()

    (text,) = capsys.readouterr().err.splitlines()
    line = json.loads(text)
    check_embedded(line)
    assert (line["event"], line["status"], line["feasibility"]) == ("request", 200, "feasible")
    assert (line["Searches"], line["ProvidersAsked"], line["ProvidersMissing"]) == (1, 2, 1)
    assert before * 1000 - 1 <= line["_aws"]["Timestamp"] <= time.time() * 1000 + 1


def test_elsewhere_the_line_has_no_metrics(
    process: MakeProcess, fleet: ProviderFleet, capsys: pytest.CaptureFixture[str]
) -> None:
    gateway = process(AWS_LAMBDA_FUNCTION_NAME="f", AWS_ENDPOINT_URL="http://127.0.0.1:4566")
    capsys.readouterr()

    gateway.search()

    (text,) = capsys.readouterr().err.splitlines()
    assert "_aws" not in json.loads(text)


def test_embedded_members_are_the_same_whatever_was_found() -> None:
    answer = {"took_ms": 3, "providers": []}

    assert embedded(answer, "f", 1.0)["_aws"]["Timestamp"] == 1000


def test_checks_count_as_calls(process: MakeProcess, fleet: ProviderFleet, bad: BadProviders) -> None:
    gateway = process()
    fleet.add("lab-a")
    gateway.register("lab-a", fleet.base_url("lab-a"))

    gateway.call("POST", "/api/v1/providers/lab-a/check")

    assert value_of(metrics_of(gateway), "fedcompute_provider_calls_total", outcome="ok") == 1
