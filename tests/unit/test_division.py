"""A search that is divided among invocations answers as the whole one does, and a lost part is a set of outcomes."""

import json
import threading
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from arbitrary import federations, requests
from factories import node, request
from fakes.known_federation import a_search, an_asking
from hypothesis import given, settings

from chalicelib.division import done_order
from fedcompute.inventory import Node
from fedcompute.request import SearchRequest


class Function:
    """The function that parts are sent to: the same code, by way of JSON, as Lambda would run it."""

    def __init__(self, having: Mapping[str, Sequence[Node]]) -> None:
        self._asking = an_asking(having)
        self.orders: list[dict[str, Any]] = []

    def __call__(self, payload: bytes, patience_s: float) -> bytes:
        order = json.loads(payload)
        self.orders.append(order)
        return json.dumps(done_order(order, self._asking)).encode()


def plain(answer: dict[str, Any]) -> Any:
    kept = {name: part for name, part in answer.items() if name not in ("search_id", "took_ms")}
    return json.loads(msgspec.json.encode(kept))


@settings(max_examples=60)
@given(federations(), requests)
def test_divided_search_answers_as_the_whole_one(having: dict[str, list[Node]], wanted: SearchRequest) -> None:
    whole = a_search(wanted, having)

    divided = a_search(wanted, having, Function(having), providers_each=1)

    assert plain(divided) == plain(whole)


def test_every_provider_is_in_exactly_one_part_and_parts_are_not_divided_again() -> None:
    having = {f"lab-{place}": [node(name="n")] for place in range(7)}
    function = Function(having)

    answer = a_search(request(cpu=1), having, function, providers_each=2)

    sent = [record["id"] for order in function.orders for record in order["records"]]
    assert len(function.orders) == 3
    assert len(sent) == len(set(sent)) == 5
    assert [entry.id for entry in answer["providers"]] == sorted(having)


def test_small_search_stays_whole() -> None:
    having = {"a": [node()], "b": [node()]}
    function = Function(having)

    a_search(request(cpu=1), having, function, providers_each=2)

    assert function.orders == []


def test_lost_part_is_a_set_of_outcomes_and_the_rest_answers() -> None:
    having = {"a": [node(name="n")], "b": [node(name="n")]}
    errors: list[BaseException] = []

    def lost(payload: bytes, patience_s: float) -> bytes:
        raise ConnectionError("gone")

    answer = a_search(request(cpu=1), having, lost, 1, lambda _, error: errors.append(error))

    assert {entry.id: entry.outcome for entry in answer["providers"]} == {"a": "ok", "b": "internal"}
    assert [found["provenance"]["provider_id"] for found in answer["candidates"]] == ["a"]
    assert answer["partial"] is True
    assert [str(error) for error in errors] == ["gone"]


def test_part_that_does_not_come_back_costs_the_deadline_and_no_more() -> None:
    having = {"a": [node(name="n")], "b": [node(name="n")]}
    released = threading.Event()

    def hung(payload: bytes, patience_s: float) -> bytes:
        released.wait(10)
        return b""

    answer = a_search(request(cpu=1, deadline_ms=150), having, hung, providers_each=1)
    released.set()

    assert {entry.id: entry.outcome for entry in answer["providers"]} == {"a": "ok", "b": "deadline_exceeded"}
    assert [found["provenance"]["provider_id"] for found in answer["candidates"]] == ["a"]


def test_part_gets_less_time_than_the_whole_so_that_it_can_come_back() -> None:
    having = {"a": [node()], "b": [node()]}
    function = Function(having)

    a_search(request(cpu=1, deadline_ms=5000), having, function, providers_each=1)

    assert 0 < function.orders[0]["budget_ms"] <= 4750
