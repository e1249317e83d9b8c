"""The registry when DynamoDB does not do its part: a 503 that says why, soon, and never a false conflict."""

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from itertools import repeat
from typing import Any

import pytest
from botocore.exceptions import EndpointConnectionError, NoCredentialsError
from fakes.bad_endpoints import answering_endpoint, closed_endpoint, error_body, silent_endpoint
from fakes.fake_time import FakeTime
from fakes.registry_table import a_provider
from fakes.scripted_client import ScriptedClient, conflicts, fails, passes, then, times_out

from chalicelib.attempts import LONGEST_CALL_S
from chalicelib.dynamodb import make_client
from chalicelib.registry import Registry
from fedcompute.errors import Problem

CALLS: dict[str, Callable[[Registry], Any]] = {
    "create": lambda registry: registry.create(a_provider()),
    "get": lambda registry: registry.get("provider-a"),
    "page": lambda registry: registry.page(50),
    "all": lambda registry: registry.all(),
    "replace": lambda registry: registry.replace("provider-a", lambda record: record),
    "remove": lambda registry: registry.remove("provider-a"),
    "ping": lambda registry: registry.ping(),
}


def problem_of(act: Callable[[], Any]) -> Problem:
    with pytest.raises(Problem) as raised:
        act()
    return raised.value


@pytest.fixture
def registry_at() -> Any:
    """Makes a registry on a real client at an endpoint."""
    clients = []

    def make(endpoint: str) -> Registry:
        clients.append(make_client(endpoint))
        return Registry(lambda: clients[-1], "providers")

    yield make
    for dynamodb in clients:
        dynamodb.close()


def test_calls_to_an_endpoint_that_never_answers_end_within_the_bound(registry_at):
    with silent_endpoint() as endpoint, ThreadPoolExecutor(len(CALLS)) as threads:
        registry = registry_at(endpoint)

        started = time.monotonic()
        problems = list(threads.map(lambda call: problem_of(lambda: call(registry)), CALLS.values()))
        took_s = time.monotonic() - started

    assert took_s < LONGEST_CALL_S
    assert {problem.code for problem in problems} == {"registry_unavailable"}
    assert {problem.headers["Retry-After"] for problem in problems} == {"1"}
    assert "ReadTimeoutError" in problems[0].detail


def test_create_without_any_answer_says_that_it_may_have_been_made():
    dynamodb = ScriptedClient(None, transact_write_items=repeat(times_out))

    problem = problem_of(lambda: Registry(lambda: dynamodb, "providers", pacing=FakeTime().pacing).create(a_provider()))

    assert problem.code == "registry_unavailable"
    assert "may have been made" in problem.detail
    assert dynamodb.calls == ["transact_write_items"] * 3


def test_endpoint_where_nobody_listens_is_named_as_unreachable(registry_at):
    with closed_endpoint() as endpoint:
        problem = problem_of(registry_at(endpoint).ping)

    assert problem.code == "registry_unavailable"
    assert "can't be reached" in problem.detail


@pytest.mark.parametrize(
    ("status", "code"),
    [
        (400, "ProvisionedThroughputExceededException"),
        (400, "ThrottlingException"),
        (500, "InternalServerError"),
        (503, "ServiceUnavailable"),
    ],
)
def test_endpoint_with_too_much_to_do_is_asked_three_times(registry_at, status, code):
    with answering_endpoint(status, error_body(code)) as (endpoint, calls):
        started = time.monotonic()
        problem = problem_of(registry_at(endpoint).ping)
        took_s = time.monotonic() - started

    assert problem.code == "registry_unavailable"
    assert code in problem.detail
    assert calls == ["GetItem"] * 3
    assert took_s < LONGEST_CALL_S


@pytest.mark.parametrize(
    ("status", "body", "words"),
    [
        (400, error_body("ResourceNotFoundException"), "The table providers does not exist"),
        (400, error_body("UnrecognizedClientException"), "credentials"),
        (400, error_body("ExpiredTokenException"), "credentials"),
        (400, error_body("AccessDeniedException"), "may not use the table providers"),
        (400, error_body("ValidationException"), "ValidationException"),
        (404, b"<html>not here</html>", "refuses calls"),
    ],
)
def test_fault_that_no_attempt_can_mend_is_told_at_once_and_what_to_do(registry_at, status, body, words):
    with answering_endpoint(status, body) as (endpoint, calls):
        registry = registry_at(endpoint)
        problems = [problem_of(lambda call=call: call(registry)) for call in CALLS.values()]

    assert {problem.code for problem in problems} == {"registry_unavailable"}
    assert all(words in problem.detail for problem in problems)
    assert len(calls) == len(CALLS)


@pytest.mark.parametrize("body", [b"<html>hello</html>", b"{}", b""])
def test_list_from_an_endpoint_that_is_no_dynamodb_is_not_an_empty_list(registry_at, body):
    with answering_endpoint(200, body) as (endpoint, _):
        registry = registry_at(endpoint)
        problems = [problem_of(lambda call=call: CALLS[call](registry)) for call in ("page", "all")]

    assert {problem.code for problem in problems} == {"registry_unavailable"}
    assert "AWS_ENDPOINT_URL" in problems[0].detail


def test_missing_credentials_are_told_and_looked_for_again_at_the_next_call():
    made = []

    def factory() -> Any:
        made.append(1)
        raise NoCredentialsError

    registry = Registry(factory, "providers", pacing=FakeTime().pacing)

    problems = [problem_of(registry.ping) for _ in range(2)]

    assert [problem.code for problem in problems] == ["registry_unavailable"] * 2
    assert "credentials" in problems[0].detail
    assert len(made) == 2


def test_missing_region_is_told(monkeypatch):
    monkeypatch.delenv("AWS_DEFAULT_REGION")

    problem = problem_of(Registry(make_client, "providers").ping)

    assert problem.code == "registry_unavailable"
    assert "NoRegionError" in problem.detail


def test_conflicting_transactions_are_repeated_until_the_write_passes(dynamodb, table):
    time_ = FakeTime()
    scripted = ScriptedClient(dynamodb, transact_write_items=[conflicts] * 8)

    created = Registry(lambda: scripted, table, pacing=time_.pacing).create(a_provider())

    assert created.version == 1
    assert 0 < time_.now_s < LONGEST_CALL_S


@pytest.mark.parametrize("step", [conflicts, fails("TransactionConflictException")])
def test_conflicts_without_end_are_a_503_within_the_bound(step):
    time_ = FakeTime()
    dynamodb = ScriptedClient(None, transact_write_items=repeat(step))

    problem = problem_of(lambda: Registry(lambda: dynamodb, "providers", pacing=time_.pacing).create(a_provider()))

    assert problem.code == "registry_unavailable"
    assert "Others keep changing" in problem.detail
    assert len(dynamodb.calls) > 3
    assert 2 < time_.now_s < LONGEST_CALL_S


def test_record_that_others_change_without_end_is_a_503_within_the_bound(dynamodb, table):
    Registry(lambda: dynamodb, table).create(a_provider())
    time_ = FakeTime()
    refused = fails("TransactionCanceledException", reasons=("ConditionalCheckFailed", "None"))
    scripted = ScriptedClient(dynamodb, transact_write_items=repeat(refused))
    registry = Registry(lambda: scripted, table, pacing=time_.pacing)

    problem = problem_of(
        lambda: registry.replace("provider-a", lambda record: record.model_copy(update={"name": "Mine"}))
    )

    assert problem.code == "registry_unavailable"
    assert time_.now_s < LONGEST_CALL_S


def test_write_that_is_still_in_progress_is_waited_for(dynamodb, table):
    in_progress = fails("TransactionInProgressException")
    scripted = ScriptedClient(dynamodb, transact_write_items=[in_progress])

    created = Registry(lambda: scripted, table, pacing=FakeTime().pacing).create(a_provider())

    assert created.version == 1


def test_no_attempt_begins_that_could_end_past_the_bound():
    time_ = FakeTime()

    def connects_slowly(call: Any) -> Any:
        time_.sleep(1.99)
        raise EndpointConnectionError(endpoint_url="https://dynamodb.test")

    dynamodb = ScriptedClient(None, get_item=repeat(connects_slowly))

    problem = problem_of(Registry(lambda: dynamodb, "providers", pacing=time_.pacing).ping)

    assert problem.code == "registry_unavailable"
    assert len(dynamodb.calls) == 2
    assert time_.now_s < LONGEST_CALL_S


def test_thread_that_waits_too_long_for_anothers_list_is_told_so(dynamodb, table):
    Registry(lambda: dynamodb, table).create(a_provider())
    time_ = FakeTime()
    is_reading, may_go_on = threading.Event(), threading.Event()

    def reads_until_told(call: Any) -> Any:
        is_reading.set()
        assert may_go_on.wait(5)
        return call()

    scripted = ScriptedClient(dynamodb, query=[reads_until_told], get_item=[passes, then(lambda: time_.sleep(2.95))])
    registry = Registry(lambda: scripted, table, pacing=time_.pacing)

    with ThreadPoolExecutor(1) as threads:
        first = threads.submit(registry.all)
        assert is_reading.wait(5)
        problem = problem_of(registry.all)
        may_go_on.set()

    assert problem.code == "registry_unavailable"
    assert "still being read" in problem.detail
    assert [record.id for record in registry.all()] == ["provider-a"]
    assert [record.id for record in first.result()] == ["provider-a"]


def test_client_makes_one_attempt_whatever_the_environment_says(monkeypatch):
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "9")
    monkeypatch.setenv("AWS_RETRY_MODE", "adaptive")

    with (
        answering_endpoint(500, error_body("InternalServerError")) as (endpoint, calls),
        closing(make_client(endpoint)) as dynamodb,
        pytest.raises(Exception, match="InternalServerError"),
    ):
        dynamodb.get_item(TableName="providers", Key={"pk": {"S": "a"}, "sk": {"S": "b"}})

    assert calls == ["GetItem"]
