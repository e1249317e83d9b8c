"""A search that the gateway divides among invocations: the public function, the function for parts, real providers."""

import json
import threading
from typing import Any

import pytest
from fakes.gateway import PROVIDERS, SEARCH, Answer, Gateway, load_app
from fakes.inventories import a_device, a_node
from fakes.keyed_gateway import KeyedGateway
from fakes.provider_fleet import ProviderFleet
from fakes.signing_provider import SigningProvider

IDS = ("a", "b", "c", "d", "e")
A_CORE = {"cpu": {"minimum_millicores": 1}}


class PartFunction:
    """The function for parts, in a process of its own as far as it knows: without a registry."""

    def __init__(self) -> None:
        self.app = load_app()
        self.app.gateway.registry = None
        self.answers: list[Any] = []

    def __call__(self, payload: bytes) -> bytes:
        answer = json.dumps(self.app.part(json.loads(payload), None)).encode()
        self.answers.append(json.loads(json.loads(answer)))
        return answer


@pytest.fixture
def function(monkeypatch: pytest.MonkeyPatch, gateway: Gateway) -> PartFunction:
    """Where the gateway sends parts of searches of more than two providers."""
    monkeypatch.setenv("SEARCH_PART_FUNCTION", "part")
    monkeypatch.setenv("SEARCH_PART_PROVIDERS", "2")
    function = PartFunction()
    gateway.module.gateway.invocations = function
    return function


@pytest.fixture
def federation(gateway: Gateway, function: PartFunction, fleet: ProviderFleet) -> None:
    """Five providers: three invocations."""
    for place, name in enumerate(IDS):
        gateway.register(name, fleet.base_url(name))
        fits = a_node(f"{name}-1", a_device(memory_available_mib=30_000 + place))
        fleet.add(name, fits, a_node(f"{name}-2", a_device(slots_available=0)))


def plain(answer: Answer) -> Any:
    """An answer without what differs between two searches of the same."""
    assert answer.status == 200, answer
    body = answer.json
    for one in body["providers"]:
        one["took_ms"] = 0
    for one in body["candidates"]:
        one["provenance"]["age_ms"] = 0
    return {name: value for name, value in body.items() if name not in ("search_id", "took_ms")}


def outcomes(answer: Answer) -> dict[str, str]:
    return {one["id"]: one["outcome"] for one in answer.json["providers"]}


@pytest.mark.usefixtures("federation")
def test_answer_is_that_of_the_whole_search(gateway: Gateway, function: PartFunction) -> None:
    asked = {"gpu": {"minimum_memory_mib": 20_000}, "limit": 4}
    divided = gateway.search(**asked)
    invocations = list(function.answers)
    gateway.module.gateway.invocations = None
    gateway.module.gateway.asking.inventories._kept.clear()

    whole = gateway.search(**asked)

    assert sorted([one["id"] for one in part["providers"]] for part in invocations) == [["b", "e"], ["c"]]
    assert plain(divided) == plain(whole)
    assert len(plain(whole)["candidates"]) == 4
    assert plain(whole)["rejections"]["nodes"] == 5


@pytest.mark.usefixtures("federation")
def test_each_invocation_logs_one_line_under_the_searchs_request_id(
    gateway: Gateway, function: PartFunction, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()

    answer = gateway.call("POST", SEARCH, {"gpu": {}}, {"X-Request-Id": "one-search"})

    lines = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    assert sorted(line["event"] for line in lines) == ["part", "part", "request"]
    assert {line["request_id"] for line in lines} == {"one-search"}
    assert lines[-1]["parts"] == 3
    assert set(lines[-1]["timings_ms"]) == {"registry", "fanout", "parts", "match", "rank", "encode"}
    assert "parts;dur=" in answer.headers["server-timing"]


@pytest.mark.usefixtures("federation")
def test_counters_of_the_gateway_have_every_provider_once(gateway: Gateway, function: PartFunction) -> None:
    gateway.search()

    text = gateway.call("GET", "/metrics").text

    assert 'fedcompute_provider_calls_total{outcome="ok"} 5' in text


@pytest.mark.usefixtures("federation")
def test_failed_function_is_outcomes_a_line_in_the_log_and_no_error(
    gateway: Gateway, function: PartFunction, capsys: pytest.CaptureFixture[str]
) -> None:
    def fails(_: bytes) -> bytes:
        raise ZeroDivisionError("on purpose")

    gateway.module.gateway.invocations = fails
    capsys.readouterr()

    answer = gateway.search()

    assert outcomes(answer) == {"a": "ok", "b": "internal", "c": "internal", "d": "ok", "e": "internal"}
    assert (answer.json["partial"], answer.json["total_candidates"]) == (True, 4)
    lines = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    losses = [line for line in lines if line["event"] == "part_lost"]
    assert [(line["providers"], line["request_id"]) for line in losses] == [
        (2, lines[-1]["request_id"]),
        (1, lines[-1]["request_id"]),
    ]
    assert "on purpose" in losses[0]["traceback"]
    assert "on purpose" not in answer.text


@pytest.mark.usefixtures("federation")
def test_provider_that_hangs_in_a_part_is_its_own_outcome_and_the_part_comes_back_in_time(
    gateway: Gateway, function: PartFunction, fleet: ProviderFleet
) -> None:
    gateway.search()  # the first order also counts the time until its process was there
    fleet.labs["b"].is_held = True

    answer = gateway.search(deadline_ms=1200)

    assert outcomes(answer) == {**dict.fromkeys(IDS, "not_modified"), "b": "deadline_exceeded"}


@pytest.mark.usefixtures("federation")
def test_function_that_hangs_costs_its_providers_and_the_deadline(gateway: Gateway, function: PartFunction) -> None:
    released = threading.Event()
    gateway.module.gateway.invocations = lambda _: released.wait(20) and b""

    answer = gateway.search(deadline_ms=300)
    released.set()

    late = "deadline_exceeded"
    assert outcomes(answer) == {"a": "ok", "b": late, "c": late, "d": "ok", "e": late}
    assert answer.json["took_ms"] < 5000


def test_parts_sign_and_check_as_the_whole_search_does(
    dynamodb: Any, table: str, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    divided = {"SEARCH_PART_FUNCTION": "part", "SEARCH_PART_PROVIDERS": "1"}
    keyed = KeyedGateway(monkeypatch, dynamodb, table, tmp_path, **divided)
    admin = keyed.a_key("admin")
    keyed.module.gateway.invocations = PartFunction()

    with SigningProvider("provider-a") as first, SigningProvider("provider-b") as second:
        for lab in (first, second):
            lab.keys = [keyed.add(admin, lab.id, lab.base_url)["key"]]
            keyed.ask(admin, "POST", f"{PROVIDERS}/{lab.id}/check")
        signed = outcomes(keyed.ask(admin, "POST", SEARCH, A_CORE))
        second.spoil = lambda headers, body: (headers | {"webhook-signature": "v1,Zm9yZ2Vk"}, body)
        forged = outcomes(keyed.ask(admin, "POST", SEARCH, A_CORE))

    # The check brought the first one's inventory to the public function; the function for parts had nothing yet.
    assert signed == {"provider-a": "not_modified", "provider-b": "ok"}
    assert forged == {"provider-a": "not_modified", "provider-b": "signature_invalid"}
    assert first.refused == second.refused == 0


def test_function_for_parts_answers_no_event_of_api_gateway(gateway: Gateway, function: PartFunction) -> None:
    with pytest.raises(ValueError, match="request"):
        function.app.part({"httpMethod": "GET", "path": "/health", "requestContext": {}, "headers": {}}, None)


def test_parts_can_not_be_ordered_over_http(gateway: Gateway) -> None:
    assert "part" not in {view.view_name for views in gateway.app.routes.values() for view in views.values()}
