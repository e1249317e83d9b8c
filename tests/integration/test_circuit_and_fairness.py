"""Providers that keep failing cost searches nothing after a while, and one owner's never cost another's anything."""

import random
import re
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from fakes.bad_providers import FAULTS, BadProviders
from fakes.gateway import PROVIDERS, RESOURCES, Gateway
from fakes.patience import in_time
from fakes.provider_fleet import ProviderFleet
from fakes.registry_table import a_record

from chalicelib.addresses import AddressPolicy, Reach
from chalicelib.asking import Asking
from chalicelib.circuit import FAILURES_TO_OPEN, FIRST_PAUSE_S, Circuits
from chalicelib.fanout import Fanout
from chalicelib.inventories import Inventories
from fedcompute.provider import ProviderRecord

HUNG_MS = 150


class Clock:
    """Time for circuits alone: pauses pass when a test says so."""

    def __init__(self) -> None:
        self.now_s = 0.0

    def circuits(self) -> Circuits:
        return Circuits(lambda: self.now_s, lambda: 0.0)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def paused(gateway: Gateway, fleet: ProviderFleet, clock: Clock) -> Gateway:
    """A gateway with a provider that answers and one that hung three times."""
    asking: Asking = gateway.module.gateway.asking
    asking.circuits = clock.circuits()
    for provider_id in ("hung", "well"):
        fleet.add(provider_id)
        gateway.register(
            provider_id, fleet.base_url(provider_id), timeout_ms=HUNG_MS if provider_id == "hung" else 9000
        )
    fleet.labs["hung"].is_held = True
    for _ in range(FAILURES_TO_OPEN):
        assert outcomes(gateway)["hung"] == "timeout"
    return gateway


def entries(gateway: Gateway) -> dict[str, dict[str, Any]]:
    answer = gateway.search()
    assert answer.status == 200, answer
    return {entry["id"]: entry for entry in answer.json["providers"]}


def outcomes(gateway: Gateway) -> dict[str, str]:
    return {provider_id: entry["outcome"] for provider_id, entry in entries(gateway).items()}


def test_provider_that_keeps_failing_is_not_asked_and_the_answer_says_when_it_will_be(
    paused: Gateway, fleet: ProviderFleet
) -> None:
    asked_before = len(fleet.requests_of("hung"))

    found = entries(paused)

    assert found["well"]["outcome"] in ("ok", "not_modified")
    hung = found["hung"]
    assert (hung["outcome"], hung["took_ms"], hung["nodes"]) == ("circuit_open", 0, None)
    assert "this process" in hung["message"]
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", hung["retry_at"])
    retry_in = datetime.fromisoformat(hung["retry_at"]) - datetime.now(UTC)
    assert timedelta(seconds=FIRST_PAUSE_S - 5) < retry_in <= timedelta(seconds=FIRST_PAUSE_S)
    assert found["well"]["retry_at"] is None
    assert len(fleet.requests_of("hung")) == asked_before


def test_search_without_one_that_is_paused_is_partial_and_takes_none_of_its_time(paused: Gateway) -> None:
    answer = in_time(HUNG_MS - 1, paused.search)

    assert answer.json["partial"] is True
    assert paused.search(partial="require_all").status == 503


def test_resources_too_leave_it_alone(paused: Gateway) -> None:
    found = paused.call("GET", RESOURCES).json["providers"]

    assert {entry["id"]: entry["outcome"] for entry in found}["hung"] == "circuit_open"


def test_provider_that_recovers_is_back_with_the_first_search_after_the_pause(
    paused: Gateway, fleet: ProviderFleet, clock: Clock
) -> None:
    fleet.release()
    assert outcomes(paused)["hung"] == "circuit_open"

    clock.now_s += FIRST_PAUSE_S

    assert outcomes(paused)["hung"] == "ok"
    assert outcomes(paused)["hung"] == "not_modified"


def test_of_many_searches_at_once_one_tries(paused: Gateway, fleet: ProviderFleet, clock: Clock) -> None:
    asking: Asking = paused.module.gateway.asking
    records = [paused.module.gateway.registry.get("hung")]
    asked_before = len(fleet.requests_of("hung"))
    clock.now_s += FIRST_PAUSE_S

    def ask(_: int) -> str:
        (answered,) = asking.ask(records, in_s(5))
        return answered.entry.outcome

    with ThreadPoolExecutor(8) as pool:
        found = sorted(pool.map(ask, range(8)))

    assert found == ["circuit_open"] * 7 + ["timeout"]
    assert len(fleet.requests_of("hung")) == asked_before + 1


def test_check_asks_it_anyway_and_its_success_brings_it_back(paused: Gateway, fleet: ProviderFleet) -> None:
    def check() -> str:
        answer = paused.call("POST", f"{PROVIDERS}/hung/check")
        assert answer.status == 200
        return str(answer.json["provider"]["outcome"])

    assert check() == "timeout"
    assert outcomes(paused)["hung"] == "circuit_open"
    fleet.release()

    assert check() == "ok"
    assert outcomes(paused)["hung"] in ("ok", "not_modified")


def test_new_address_is_asked_at_once(paused: Gateway, fleet: ProviderFleet) -> None:
    fleet.release()

    changed = paused.call("PATCH", f"{PROVIDERS}/hung", {"base_url": fleet.base_url("hung", "localhost")})

    assert changed.status == 200
    assert outcomes(paused)["hung"] == "ok"


def test_deadline_that_cuts_calls_short_pauses_nobody(gateway: Gateway, fleet: ProviderFleet) -> None:
    fleet.add("slow").is_held = True
    gateway.register("slow", fleet.base_url("slow"), timeout_ms=5000)

    found = [gateway.search(deadline_ms=100).json["providers"][0]["outcome"] for _ in range(FAILURES_TO_OPEN + 1)]

    assert found == ["deadline_exceeded"] * len(found)


# One owner's providers hang


@pytest.fixture
def few() -> Fanout:
    """A fan-out with very few connections: three for one search."""
    return Fanout(AddressPolicy(Reach.ANY), threads=1, connections=5, most_body_bytes=1 << 20, on_error=print)


def in_s(seconds: float) -> float:
    return time.monotonic() + seconds


def test_fifty_hanging_providers_of_one_owner_take_nothing_from_the_others(few: Fanout, fleet: ProviderFleet) -> None:
    hung = [a_lab(fleet, f"a{number:02}", "hung", timeout_ms=2000) for number in range(50)]
    well = [a_lab(fleet, f"b{number:02}", f"owner-{number % 3}", timeout_ms=2000) for number in range(20)]
    for record in hung:
        fleet.labs[record.id].is_held = True
    records = hung + well  # the hanging ones first, as their ids are

    answers = in_time(1500, lambda: Asking(few, Inventories()).ask(records, in_s(1.5)))

    found = {answered.record.id: answered.entry.outcome for answered in answers}
    assert {found[record.id] for record in well} == {"ok"}
    assert {found[record.id] for record in hung} == {"deadline_exceeded"}


def test_hosts_stand_for_owners_where_records_have_none(few: Fanout, fleet: ProviderFleet) -> None:
    hung = [a_lab(fleet, f"a{number:02}", None, timeout_ms=2000) for number in range(30)]
    well = [a_lab(fleet, f"b{number:02}", None, "localhost", timeout_ms=2000) for number in range(10)]
    for record in hung:
        fleet.labs[record.id].is_held = True

    answers = in_time(1500, lambda: Asking(few, Inventories()).ask(hung + well, in_s(1.5)))

    assert {answered.entry.outcome for answered in answers[30:]} == {"ok"}


def test_of_one_owner_those_that_failed_last_time_come_last(few: Fanout, fleet: ProviderFleet) -> None:
    records = [a_lab(fleet, f"p{number:02}", "one", timeout_ms=300) for number in range(20)]
    for record in records[:8]:
        fleet.labs[record.id].is_held = True
    asking = Asking(few, Inventories())
    asking.ask(records, in_s(10))
    fleet.requests.clear()

    asking.ask(records, in_s(10))

    order = list(dict.fromkeys(seen.provider_id for seen in fleet.requests))
    assert set(order[:12]) == {record.id for record in records[8:]}


def a_lab(
    fleet: ProviderFleet, provider_id: str, owner: str | None, host: str = "127.0.0.1", timeout_ms: int = 5000
) -> ProviderRecord:
    fleet.add(provider_id)
    return a_record(provider_id, base_url=fleet.base_url(provider_id, host), timeout_ms=timeout_ms, owner=owner)


# Whatever fails, whenever


@pytest.mark.parametrize("seed", range(3))
def test_chaos_gives_every_provider_exactly_one_entry_in_every_search(
    gateway: Gateway, fleet: ProviderFleet, bad: BadProviders, seed: int
) -> None:
    chance = random.Random(seed)
    ids = [*sorted(chance.sample(sorted(FAULTS), 12)), "well-1", "well-2"]
    for provider_id in ids[:12]:
        gateway.register(provider_id, bad.base_url(provider_id), timeout_ms=100)
    for provider_id in ids[12:]:
        fleet.add(provider_id)
        gateway.register(provider_id, fleet.base_url(provider_id), timeout_ms=5000)

    for _ in range(30):
        flaky = fleet.labs["well-2"]
        flaky.status = chance.choice([200, 200, 200, 503])
        flaky.is_held = False
        body = gateway.search(deadline_ms=chance.choice([150, 1000, 5000])).json
        assert [entry["id"] for entry in body["providers"]] == sorted(ids)
        candidates = {candidate["provenance"]["provider_id"] for candidate in body["candidates"]}
        answered = {e["id"] for e in body["providers"] if e["outcome"] in ("ok", "not_modified")}
        assert candidates <= answered


@pytest.mark.parametrize("seed", range(4))
def test_failing_provider_beside_others_changes_nothing_in_their_results(
    gateway: Gateway, fleet: ProviderFleet, bad: BadProviders, seed: int
) -> None:
    chance = random.Random(seed)
    ids = [f"well-{number}" for number in range(6)]
    chance.shuffle(ids)
    for provider_id in ids:
        fleet.add(provider_id)
        gateway.register(provider_id, fleet.base_url(provider_id))
    alone = gateway.search(limit=100).json["candidates"]
    for fault in chance.sample(sorted(FAULTS), 3):
        gateway.register(fault, bad.base_url(fault), timeout_ms=150)

    beside = gateway.search(limit=100).json["candidates"]

    assert [stable(one) for one in beside if one["provenance"]["provider_id"] in ids] == [stable(one) for one in alone]


def stable(candidate: dict[str, Any]) -> dict[str, Any]:
    """A candidate without its rank and what time makes of it."""
    kept = {name: value for name, value in candidate.items() if name != "rank"}
    return {**kept, "provenance": {**candidate["provenance"], "age_ms": None}}
