"""A deployed gateway that divides searches of more than two providers, against one that divides none.

scripts/e2e.py deploys it so, and says where the target's own API is: there the function for parts is made to fail.
"""

import json
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import boto3
import pytest
import requests
from botocore.config import Config
from botocore.exceptions import ClientError
from fakes.inventories import a_device, a_node
from fakes.provider_fleet import ProviderFleet

from scripts.services import NO_ACCOUNT

GATEWAY = os.environ.get("E2E_GATEWAY", "")
REFERENCE = os.environ.get("E2E_REFERENCE", "")
ENDPOINT = os.environ.get("E2E_DIVIDED_AT", "")
STACK = os.environ.get("E2E_STACK", "")
SEARCH = "/api/v1/resources/search"
PROVIDERS = "/api/v1/providers"
IDS = [f"divided-{letter}" for letter in "abcdef"]  # three parts: a d, b e, c f
OWN, SENT = {"divided-a", "divided-d"}, {"divided-b", "divided-c", "divided-e", "divided-f"}
PATIENCE_S = 60

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(not ENDPOINT, reason="E2E_DIVIDED_AT names no target; make test-e2e deploys some"),
]


def ask(method: str, path: str, body: Any = None, address: str = GATEWAY, **headers: str) -> requests.Response:
    with requests.Session() as session:
        session.trust_env = False
        return session.request(method, address + path, json=body, headers=headers, timeout=40)


def search(address: str = GATEWAY, **asked: Any) -> Any:
    body = {"gpu": {"minimum_memory_mib": 10_000}, "providers": {"include": IDS}, "deadline_ms": 15_000, **asked}
    answer = ask("POST", SEARCH, body, address)
    assert answer.status_code == 200, answer.text
    return answer.json()


def outcomes(found: Any) -> dict[str, str]:
    """By provider; whether it sent its inventory or confirmed it depends on which process asked it before."""
    return {one["id"]: "ok" if one["outcome"] == "not_modified" else one["outcome"] for one in found["providers"]}


def plain(found: Any) -> Any:
    """An answer without times, and without what depends on which process asked whom before."""
    for one in found["providers"]:
        one |= {"took_ms": 0, "outcome": outcomes(found)[one["id"]], "http_status": 200}
    for one in found["candidates"]:
        one["provenance"]["age_ms"] = 0
    return {name: value for name, value in found.items() if name not in ("search_id", "took_ms")}


@pytest.fixture(scope="module")
def fleet() -> Iterator[ProviderFleet]:
    """Six providers that both gateways know: with ties, with what is taken and with what is too small."""
    with ProviderFleet() as fleet:
        for place, name in enumerate(IDS):
            free = a_node("free", a_device(memory_available_mib=20_000 + 1000 * (place % 2)))
            fleet.add(name, free, a_node("taken", a_device(slots_available=0)), a_node("bare", devices=[]))
            record = {"id": name, "name": name, "base_url": fleet.base_url(name), "timeout_ms": 20_000}
            for address in (GATEWAY, REFERENCE):
                ask("DELETE", f"{PROVIDERS}/{name}", address=address)
                answer = ask("POST", PROVIDERS, record, address)
                assert answer.status_code == 201, answer.text
        yield fleet
        for name in IDS:
            for address in (GATEWAY, REFERENCE):
                ask("DELETE", f"{PROVIDERS}/{name}", address=address)


def client(service: str) -> Any:
    quick = Config(proxies={}, retries={"total_max_attempts": 2})
    session: Any = boto3.Session("test", "test", region_name=NO_ACCOUNT["AWS_DEFAULT_REGION"])
    return session.client(service, endpoint_url=ENDPOINT, config=quick)


def outputs() -> dict[str, str]:
    (stack,) = client("cloudformation").describe_stacks(StackName=STACK)["Stacks"]
    return {one["OutputKey"]: one["OutputValue"] for one in stack["Outputs"]}


@pytest.mark.usefixtures("fleet")
@pytest.mark.parametrize(
    "asked",
    [
        {},
        {"limit": 4},
        {"strategy": "most-available"},
        {"gpu": {"minimum_memory_mib": 20_500}},
        {"gpu": {"minimum_memory_mib": 39_000}},
        {"gpu": {"minimum_memory_mib": 90_000}, "explain": False},
        {"providers": {"include": [*IDS[1:], "nobody"], "exclude": IDS[3:4]}},
    ],
    ids=str,
)
def test_answer_is_that_of_a_gateway_that_divides_nothing(asked: dict[str, Any]) -> None:
    divided, whole = search(**asked), search(REFERENCE, **asked)

    assert plain(divided) == plain(whole)
    assert set(outcomes(divided).values()) == {"ok"}


@pytest.mark.usefixtures("fleet")
def test_three_invocations_ask_and_their_log_lines_have_one_request_id() -> None:
    mine = f"divided-{time.time_ns()}"
    body = {"gpu": {}, "providers": {"include": IDS}}

    answer = ask("POST", SEARCH, body, **{"X-Request-Id": mine})

    assert "parts;dur=" in answer.headers["Server-Timing"]
    lines = logged(mine, lambda lines: len(lines) >= 3)
    assert sorted(line["event"] for line in lines) == ["part", "part", "request"]
    assert [line["parts"] for line in lines if line["event"] == "request"] == [3]
    assert sum(line["providers"] for line in lines if line["event"] == "part") == len(SENT)


def logged(request_id: str, are_all: Callable[[list[Any]], bool]) -> list[Any]:
    """The lines of a request in the functions' log, once they are there. LocalStack has a log for each function."""
    logs, found = client("logs"), outputs()
    groups = [found["HandlerLogName"], *(f"/aws/lambda/{found[name]}" for name in ("FunctionName", "PartFunctionName"))]
    until = time.monotonic() + PATIENCE_S
    lines: list[Any] = []
    while not are_all(lines) and time.monotonic() < until:
        search()  # what a function wrote late, the emulator tells with its next invocation
        texts = [text for group in groups for text in messages(logs, group)]
        rows = {row[row.index("{") :] for text in texts for row in text.splitlines() if request_id in row}
        lines = [json.loads(row) for row in rows]
    return lines


def messages(logs: Any, group: str) -> list[str]:
    try:
        pages = logs.get_paginator("filter_log_events").paginate(logGroupName=group)
        return [event["message"] for page in pages for event in page["events"]]
    except ClientError:  # there is no such log
        return []


@pytest.mark.usefixtures("fleet")
def test_throttled_function_is_outcomes_and_the_search_after_that_is_whole_again() -> None:
    with concurrency(0):
        throttled = search()

    assert outcomes(throttled) == {**dict.fromkeys(OWN, "ok"), **dict.fromkeys(SENT, "internal")}
    assert (throttled["partial"], throttled["feasibility"], throttled["total_candidates"]) == (True, "feasible", 2)
    assert set(outcomes(search()).values()) == {"ok"}


@contextmanager
def concurrency(most: int) -> Iterator[None]:
    """So many parts at once are started, and no more."""
    function = outputs()["PartFunctionName"]
    client("lambda").put_function_concurrency(FunctionName=function, ReservedConcurrentExecutions=most)
    try:
        yield
    finally:
        client("lambda").delete_function_concurrency(FunctionName=function)


@pytest.mark.usefixtures("fleet")
def test_function_that_fails_is_outcomes_and_all_required_is_503() -> None:
    with environment(AUTH="nobody-knows"):
        failed = search()
        required = ask("POST", SEARCH, {"gpu": {}, "providers": {"include": IDS}, "partial": "require_all"})

    assert outcomes(failed) == {**dict.fromkeys(OWN, "ok"), **dict.fromkeys(SENT, "internal")}
    assert (required.status_code, outcomes(required.json())) == (503, outcomes(failed))
    assert set(outcomes(search()).values()) == {"ok"}


@contextmanager
def environment(**variables: str) -> Iterator[None]:
    """Other variables of the function for parts."""
    function, aws = outputs()["PartFunctionName"], client("lambda")
    before = aws.get_function_configuration(FunctionName=function)["Environment"]["Variables"]

    def change(values: dict[str, str]) -> None:
        aws.update_function_configuration(FunctionName=function, Environment={"Variables": values})
        aws.get_waiter("function_updated_v2").wait(FunctionName=function, WaiterConfig={"Delay": 1})

    change({**before, **variables})
    try:
        yield
    finally:
        change(before)


def test_provider_that_hangs_in_a_part_costs_its_own_outcome_and_no_other(fleet: ProviderFleet) -> None:
    search()
    fleet.labs["divided-b"].is_held = True

    found = search(deadline_ms=3000)
    fleet.release()

    assert outcomes(found) == {**dict.fromkeys(IDS, "ok"), "divided-b": "deadline_exceeded"}
    assert found["took_ms"] < 6000
