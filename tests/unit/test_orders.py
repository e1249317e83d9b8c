"""What is ordered of another invocation, and what of an order is believed."""

import json
from typing import Any

import msgspec
import pytest
from factories import node, request
from fakes.known_federation import an_asking
from pydantic import ValidationError

from chalicelib.answer_size import LARGEST_BYTES
from chalicelib.asking import Consider
from chalicelib.inventories import Answered
from chalicelib.orders import MOST_BUDGET_MS, Orders, order_of
from fedcompute.base_url import LONGEST
from fedcompute.log import Log
from fedcompute.provider import ProviderRecord

RECORD = ProviderRecord(id="lab", name="Lab", base_url="http://lab", version=1, created_at="", updated_at="")


def order(budget_ms: int = 1000, record: ProviderRecord = RECORD) -> dict[str, Any]:
    made: dict[str, Any] = json.loads(order_of(request(cpu=1), [record], lambda _: True, budget_ms, "r-1"))
    return made


class Watching:
    """A fan-out that only looks at what it is asked to do."""

    def __init__(self) -> None:
        self.records: list[ProviderRecord] = []
        self.deadlines: list[float] = []

    def ask(self, records: list[ProviderRecord], deadline: float, consider: Consider) -> list[Answered]:
        self.records += records
        self.deadlines.append(deadline)
        return []


@pytest.fixture
def watching(monkeypatch: pytest.MonkeyPatch) -> Watching:
    """Time stands still at 100 s."""
    monkeypatch.setattr("chalicelib.stopwatch.time.monotonic", lambda: 100.0)
    return Watching()


def orders_of(asking: Any, cpu_s: float = 0.0) -> Orders:
    return Orders(asking, Log("gateway", "INFO"), cpu_s=lambda: cpu_s)


def test_budget_counts_from_the_orders_arrival_by_this_machines_own_clock(watching: Watching) -> None:
    orders_of(watching).done(order(budget_ms=1500))

    assert watching.deadlines == [101.5]


def test_first_order_of_a_process_has_waited_for_its_start_and_later_ones_have_not(watching: Watching) -> None:
    process = orders_of(watching, cpu_s=0.4)

    process.done(order(budget_ms=1500))
    process.done(order(budget_ms=1500))

    assert watching.deadlines == [pytest.approx(101.1), 101.5]


def test_process_that_has_worked_for_long_has_not_kept_its_first_order_waiting_so_long(watching: Watching) -> None:
    orders_of(watching, cpu_s=500.0).done(order(budget_ms=1500))

    assert watching.deadlines == [pytest.approx(100.5)]


def test_record_arrives_with_all_that_asking_needs_also_the_key_before(watching: Watching) -> None:
    rotated = RECORD.model_copy(
        update={
            "owner": "team",
            "key_version": 3,
            "old_key_until": "2026-01-01T00:00:00Z",
            "timeout_ms": 700,
            "labels": {"region": "eu"},
        }
    )

    orders_of(watching).done(order(record=rotated))

    assert watching.records == [rotated.model_copy(update={"labels": {}})]


@pytest.mark.parametrize(
    "event",
    [
        {"httpMethod": "GET", "path": "/health", "requestContext": {}},
        None,
        [],
        {**order(), "budget_ms": MOST_BUDGET_MS + 1},
        {**order(), "budget_ms": -1},
        {**order(), "request": {"cpu": {"minimum_millicores": "1"}}},
        {**order(), "records": [{**order()["records"][0], "base_url": "file:///etc/passwd"}]},
        {**order(), "records": [{"id": "lab"}]},
    ],
)
def test_what_is_no_order_is_refused_and_nobody_is_asked(event: Any, watching: Watching) -> None:
    with pytest.raises((msgspec.ValidationError, ValidationError)):
        orders_of(watching).done(event)

    assert watching.records == []


def test_address_that_the_caller_may_not_know_is_told_to_nobody_else() -> None:
    having = {"a": [node()], "b": [node()]}
    records = [RECORD.model_copy(update={"id": name}) for name in having]
    payload = order_of(request(cpu=1), records, lambda record: record.id == "a", 1000, "r-1")

    part = json.loads(Orders(an_asking(having), Log("gateway", "ERROR"), lambda: 0.0).done(json.loads(payload)))

    told = {one["provider_id"]: one["described"]["provenance"]["base_url"] for one in part["candidates"]}
    assert told == {"a": "http://lab", "b": None}


def test_log_line_joins_the_search_by_its_request_id(capsys: pytest.CaptureFixture[str]) -> None:
    process = Orders(an_asking({"lab": [node()]}), Log("gateway", "INFO"), lambda: 0.0)

    process.done(order())

    line = json.loads(capsys.readouterr().err)
    assert (line["event"], line["request_id"]) == ("part", "r-1")
    assert (line["providers"], line["candidates"], line["outcomes"]) == (1, 1, {"ok": 1})


def test_fault_is_logged_with_the_request_id_and_raised(capsys: pytest.CaptureFixture[str]) -> None:
    class Broken:
        def ask(self, *_: Any) -> None:
            raise ZeroDivisionError("on purpose")

    with pytest.raises(ZeroDivisionError):
        orders_of(Broken()).done(order())

    line = json.loads(capsys.readouterr().err)
    assert (line["level"], line["event"], line["request_id"]) == ("ERROR", "part", "r-1")
    assert "ZeroDivisionError: on purpose" in line["traceback"]


def test_largest_order_that_settings_allow_fits_into_a_payload() -> None:
    record = ProviderRecord(
        id="a" * 64,
        name="\N{GRINNING FACE}" * 128,
        base_url="https://" + "a" * 60 + ".example/" + "b" * (LONGEST - 77),
        labels={f"key-{number}": "x" * 253 for number in range(64)},
        owner="o" * 64,
        key_version=2**31,
        version=2**31,
        verified_at="2026-01-01T00:00:00.000000Z",
        created_at="2026-01-01T00:00:00.000000Z",
        updated_at="2026-01-01T00:00:00.000000Z",
        old_key_until="2026-01-01T00:00:00.000000Z",
    )

    payload = order_of(request(cpu=1), [record] * 2000, lambda _: True, 1000, "r" * 64)

    assert len(payload) <= LARGEST_BYTES
