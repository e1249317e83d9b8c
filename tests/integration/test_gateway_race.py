"""Many threads that search and change the registry in one process, as under `chalice local`."""

import json
import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from chalice.local import LocalChalice
from contracts.answer_shapes import RESOURCES, check_search, check_shape
from fakes.gateway import PROVIDERS, Gateway
from fakes.gateway import RESOURCES as RESOURCES_ROUTE
from fakes.inventories import a_node
from fakes.provider_fleet import ProviderFleet

ROUNDS = int(os.environ.get("STRESS_ROUNDS", "5"))
SEARCHERS, OWNERS = 6, 3
LASTING = tuple(f"lasting-{number}" for number in range(5))

pytestmark = pytest.mark.stress


@pytest.fixture
def shared(gateway: Gateway, fleet: ProviderFleet) -> Gateway:
    """A gateway that threads may call at once, with providers that stay, one that hangs and one that is broken."""
    gateway.app.__class__ = LocalChalice  # what `chalice local` does: each thread has its own request
    for provider_id in LASTING:
        fleet.add(provider_id, a_node(f"{provider_id}-1"), a_node(f"{provider_id}-2"))
        gateway.register(provider_id, fleet.base_url(provider_id), timeout_ms=20_000)
    fleet.add("hung").is_held = True
    gateway.register("hung", fleet.base_url("hung"), timeout_ms=100)
    fleet.add("broken").body = b"<html>"
    gateway.register("broken", fleet.base_url("broken"))
    return gateway


def test_every_answer_is_whole_while_the_registry_and_the_inventories_change(
    shared: Gateway, fleet: ProviderFleet, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()

    def seek(number: int) -> int:
        for turn in range(4 * ROUNDS):
            body = search(shared)
            outcomes = {entry["id"]: entry["outcome"] for entry in body["providers"]}
            assert {*LASTING, "hung", "broken"} <= set(outcomes)
            assert outcomes["hung"] in ("timeout", "circuit_open")
            assert outcomes["broken"] == "not_json"
            for candidate in body["candidates"]:
                assert candidate["node"]["name"].startswith(candidate["provenance"]["provider_id"])
            nodes = [candidate["node"]["name"] for candidate in body["candidates"]]
            assert {f"{one}-{place}" for one in LASTING for place in (1, 2)} <= set(nodes)
            if turn % 4 == number % 4:
                check_shape(shared.call("GET", RESOURCES_ROUTE).json, RESOURCES)
        return 4 * ROUNDS

    def own(number: int) -> int:
        mine = f"passing-{number}"
        for turn in range(ROUNDS):
            fleet.add(mine, a_node(f"{mine}-{turn}"))
            shared.register(mine, fleet.base_url(mine), timeout_ms=20_000)
            assert nodes_of(search(shared), mine) == [f"{mine}-{turn}"]
            fleet.add(mine, a_node(f"{mine}-{turn}-changed"))
            assert nodes_of(search(shared), mine) == [f"{mine}-{turn}-changed"]
            assert shared.call("PATCH", f"{PROVIDERS}/{mine}", {"enabled": False}).status == 200
            assert nodes_of(search(shared), mine) is None
            assert shared.call("POST", f"{PROVIDERS}/{mine}/check").json["provider"]["outcome"] == "ok"
            assert shared.call("DELETE", f"{PROVIDERS}/{mine}").status == 204
            assert nodes_of(search(shared), mine) is None
        return ROUNDS

    done = run_together(
        [*(lambda n=n: seek(n) for n in range(SEARCHERS)), *(lambda n=n: own(n) for n in range(OWNERS))]
    )

    assert done == [4 * ROUNDS] * SEARCHERS + [ROUNDS] * OWNERS
    lines = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    assert {line["event"] for line in lines} == {"request", "audit"}
    lines = [line for line in lines if line["event"] == "request"]
    assert {line["status"] for line in lines} == {200, 201, 204}
    assert len({line["request_id"] for line in lines}) == len(lines)


def test_owners_who_change_one_record_at_once_lose_no_change(shared: Gateway) -> None:
    shared.register("shared", "http://lab.test", enabled=False)
    changes = 4 * ROUNDS

    def change(number: int) -> int:
        for turn in range(changes):
            answer = shared.call("PATCH", f"{PROVIDERS}/shared", {"labels": {f"owner-{number}": str(turn)}})
            assert answer.status == 200, answer
        return changes

    run_together([lambda n=n: change(n) for n in range(OWNERS)])

    record = shared.call("GET", f"{PROVIDERS}/shared").json
    assert record["labels"] == {f"owner-{number}": str(changes - 1) for number in range(OWNERS)}
    assert record["version"] == 1 + OWNERS * changes


def search(gateway: Gateway) -> dict[str, Any]:
    """A checked answer. With every crew busy some searches wait; they have time."""
    answer = gateway.search(limit=100, deadline_ms=20_000)
    assert answer.status == 200, answer
    body = answer.json
    check_search(body)
    assert isinstance(body, dict)
    return body


def nodes_of(body: dict[str, Any], provider_id: str) -> list[str] | None:
    """The names of a provider's candidates; None where it was not asked."""
    if provider_id not in {entry["id"] for entry in body["providers"]}:
        return None
    return [
        candidate["node"]["name"]
        for candidate in body["candidates"]
        if candidate["provenance"]["provider_id"] == provider_id
    ]


def run_together(works: list[Callable[[], int]]) -> list[int]:
    """What each piece of work returns, all begun at the same moment; the first failure is raised."""
    ready = threading.Barrier(len(works))

    def begin(work: Callable[[], int]) -> int:
        ready.wait()
        return work()

    with ThreadPoolExecutor(len(works)) as pool:
        return list(pool.map(begin, works))
