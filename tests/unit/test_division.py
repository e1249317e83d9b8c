"""A search that is divided among invocations answers as the whole one does, and a lost part is a set of outcomes."""

import json
import threading
from collections.abc import Callable
from random import Random
from typing import Any

import msgspec
import pytest
from arbitrary import request_bodies, sound_nodes
from factories import devices, node, request
from fakes.known_federation import Having, Lab, a_search, an_asking, found
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs

from chalicelib.division import Division, parts_for
from chalicelib.invocations import NotSentError
from chalicelib.orders import Orders, answer_of
from fedcompute.log import Log
from fedcompute.request import SearchRequest

IDS = "abcdef"
IDLE = node(*devices(4))
TAKEN = node(*devices(4, slots=(0, 1), memory=(0, 40000), compute=(0, 100)), cpu=(0, 64000), memory=(0, 1 << 39))


class Function:
    """The function that parts are sent to: the same code, by way of JSON, as Lambda would run it."""

    def __init__(self, having: Having) -> None:
        self._orders = Orders(an_asking(having), Log("part", "ERROR"), cpu_s=lambda: 0.0)
        self.got: list[dict[str, Any]] = []

    def __call__(self, payload: bytes) -> bytes:
        order = json.loads(payload)
        self.got.append(order)
        return json.dumps(self._orders.done(order)).encode()


@st.composite
def federations(draw: st.DrawFn) -> dict[str, Lab]:
    """Up to six providers that have nodes of few kinds, so that ties are common; some are disabled, fail or warn."""
    chance = dice(draw)
    kinds = [IDLE, TAKEN, draw(sound_nodes()), draw(sound_nodes())]
    there = chance.sample(kinds, chance.randint(1, len(kinds)))  # without IDLE it is often busy or infeasible
    return {
        name: Lab(
            [structs.replace(chance.choice(there), name=f"n{at}") for at in range(chance.randint(0, 4))],
            outcome=chance.choice(["ok"] * 9 + ["timeout"]),
            warnings=chance.randint(0, 2),
            enabled=chance.random() < 0.9,
            labels=chance.choice([{}, {"region": "eu"}]),
        )
        for name in IDS[: chance.randint(2, len(IDS))]
    }


@st.composite
def searches(draw: st.DrawFn) -> SearchRequest:
    """Requests with small limits and with every way to choose providers."""
    chance = dice(draw)
    chosen: dict[str, Any] = {}
    for way in ("include", "exclude"):
        if chance.random() < 0.2:
            chosen[way] = chance.sample([*IDS, "nobody"], 2)
    if chance.random() < 0.1:
        chosen["labels"] = {"region": "eu"}
    limit, explain = chance.choice([1, 3, 5, 20]), chance.random() < 0.8
    return request(**draw(request_bodies()), limit=limit, explain=explain, providers=chosen)


def dice(draw: st.DrawFn) -> Random:
    """What hypothesis draws is mostly small and alike; here large federations are as likely as small ones."""
    return Random(draw(st.integers(0, 1 << 32)))


def plain(answer: dict[str, Any]) -> Any:
    kept = {name: part for name, part in answer.items() if name not in ("search_id", "took_ms")}
    return json.loads(msgspec.json.encode(kept))


@settings(max_examples=250)
@given(federations(), searches(), st.integers(1, 3), st.sets(st.sampled_from(IDS)))
def test_divided_search_answers_as_the_whole_one(
    having: dict[str, Lab], wanted: SearchRequest, providers_each: int, seen: set[str]
) -> None:
    def answered(division: Division) -> Any:
        return plain(found(wanted, having, division, lambda record: record.id in seen).answer)

    whole = answered(Division(an_asking(having), None, 1000, fail))
    divided = answered(Division(an_asking(having), Function(having), providers_each, fail))

    assert divided == whole


def fail(error: BaseException, providers: int) -> None:
    raise AssertionError(f"a part of {providers} was lost") from error


def test_every_provider_is_in_exactly_one_part_and_the_log_joins_them() -> None:
    having = {f"lab-{place}": [node(name="n")] for place in range(7)}
    function = Function(having)

    searched = found(request(cpu=1), having, Division(an_asking(having), function, 2, fail, "search-1"))

    sent = [record["id"] for order in function.got for record in order["records"]]
    assert len(function.got) == 3
    assert len(sent) == len(set(sent)) == 5
    assert [entry.id for entry in searched.answer["providers"]] == sorted(having)
    assert {order["request_id"] for order in function.got} == {"search-1"}
    assert searched.log_fields["parts"] == 4
    assert searched.clock.parts_ms["parts"] > 0
    assert searched.clock.parts_ms["fanout"] > 0


def test_small_search_stays_whole() -> None:
    having = {"a": [node()], "b": [node()]}
    function = Function(having)

    searched = found(request(cpu=1), having, Division(an_asking(having), function, 2, fail))

    assert function.got == []
    assert searched.log_fields["parts"] == 1
    assert "parts" not in searched.clock.parts_ms


@pytest.mark.parametrize(
    ("providers", "each", "parts"),
    [(0, 1000, 1), (1000, 1000, 1), (1001, 1000, 2), (5000, 1000, 5), (5000, 1, 17)],
)
def test_number_of_parts_is_bounded(providers: int, each: int, parts: int) -> None:
    assert parts_for(providers, each) == parts


def gone(_: bytes) -> bytes:
    raise ConnectionError("gone")


@pytest.mark.parametrize(
    "invoke",
    [
        gone,
        lambda _: b"\xff{",
        lambda _: b'{"errorMessage": "no"}',
        lambda _: json.dumps("{}").encode(),
        lambda _: json.dumps(answer_of(part_of_nobody())).encode(),
    ],
    ids=["gone", "no JSON", "no text", "no part", "a part of nobody"],
)
def test_lost_part_is_a_set_of_outcomes_and_the_rest_answers(invoke: Callable[[bytes], bytes]) -> None:
    having = {name: [node(name="n")] for name in "abcd"}
    losses: list[int] = []

    answer = a_search(request(cpu=1), having, invoke, 2, lambda _, providers: losses.append(providers))

    outcomes = {"a": "ok", "b": "internal", "c": "ok", "d": "internal"}
    assert {entry.id: entry.outcome for entry in answer["providers"]} == outcomes
    assert [one["provenance"]["provider_id"] for one in answer["candidates"]] == ["a", "c"]
    assert (answer["partial"], answer["feasibility"], answer["total_candidates"]) == (True, "feasible", 2)
    assert losses == [2]


def part_of_nobody() -> Any:
    return Division(an_asking({}), None, 1, fail).parts(request(cpu=1), [], 0.0, lambda _: True).parts[0]


def test_nothing_found_and_a_part_lost_is_unknown_rather_than_infeasible() -> None:
    having = {"a": [node(cpu=(0, 0))], "b": [node(cpu=(0, 0))]}

    answer = a_search(request(cpu=1), having, gone, 1)

    assert answer["feasibility"] == "unknown"


def test_part_that_does_not_come_back_costs_the_deadline_and_no_more() -> None:
    having = {"a": [node(name="n")], "b": [node(name="n")]}
    released = threading.Event()
    losses: list[int] = []

    def hung(_: bytes) -> bytes:
        released.wait(10)
        return b""

    answer = a_search(request(cpu=1, deadline_ms=150), having, hung, 1, lambda _, providers: losses.append(providers))
    released.set()

    assert {entry.id: entry.outcome for entry in answer["providers"]} == {"a": "ok", "b": "deadline_exceeded"}
    assert [one["provenance"]["provider_id"] for one in answer["candidates"]] == ["a"]
    assert losses == [1]


@pytest.mark.parametrize(("deadline_ms", "most"), [(25_000, 24_750), (5000, 4750), (800, 600)])
def test_part_has_less_time_than_the_search_so_that_it_comes_back(deadline_ms: int, most: int) -> None:
    having = {"a": [node()], "b": [node()]}
    function = Function(having)

    a_search(request(cpu=1, deadline_ms=deadline_ms), having, function, 1, fail)

    assert 0 < function.got[0]["budget_ms"] <= most


def test_connection_that_had_ended_is_made_anew_once() -> None:
    having = {"a": [node(name="n")], "b": [node(name="n")]}
    function, refusals = Function(having), [NotSentError("closed")]

    def once_closed(payload: bytes) -> bytes:
        if refusals:
            raise refusals.pop()
        return function(payload)

    again = a_search(request(cpu=1), having, once_closed, 1, fail)
    refusals[:] = [NotSentError("closed"), NotSentError("closed")]
    lost = a_search(request(cpu=1), having, once_closed, 1)

    assert [entry.outcome for entry in again["providers"]] == ["ok", "ok"]
    assert [entry.outcome for entry in lost["providers"]] == ["ok", "internal"]


class TestSize:
    def cut_to(self, largest: int, having: Having) -> Any:
        """A function whose answers may have so many bytes; Lambda counts them as JSON."""
        orders = Orders(an_asking(having), Log("part", "ERROR"), cpu_s=lambda: 0.0, largest=largest)

        def invoke(payload: bytes) -> bytes:
            answer = json.dumps(orders.done(json.loads(payload))).encode()
            assert len(answer) <= largest
            return answer

        return invoke

    def federation(self, label: str, warnings: int = 0) -> dict[str, Lab]:
        """Four providers of nine nodes, which rank a, b, c, d, a, b, and so on."""

        def free(place: int, at: int) -> tuple[int, int]:
            return 2000 + 1000 * (4 * at + place), 64_000

        return {
            name: Lab(
                [node(name=f"n{at}", cpu=free(place, at), labels={"note": label}) for at in range(9)], "ok", warnings
            )
            for place, name in enumerate("abcd")
        }

    @pytest.mark.parametrize("label", ["x" * 400, '"\\' * 200, "é" * 100], ids=["plain", "escapes", "accents"])
    def test_candidates_of_a_part_that_is_cut_have_no_gaps_and_the_totals_stay(self, label: str) -> None:
        having = self.federation(label)
        wanted = request(cpu=1000, limit=30)

        whole = plain(a_search(wanted, having))
        cut = plain(a_search(wanted, having, self.cut_to(5000, having), 1, fail))

        told = len(cut["candidates"])
        assert 4 < told < 30
        assert cut["candidates"] == whole["candidates"][:told]
        # b, c and d are cut to as many each: what comes next may be one of b's that is not told.
        assert cut["candidates"][-1]["provenance"]["provider_id"] == "b"
        assert cut | {"candidates": []} == whole | {"candidates": []}

    def test_warnings_go_before_candidates_do_and_each_provider_that_had_some_says_so(self) -> None:
        having = self.federation("", warnings=100)
        wanted = request(cpu=1000, limit=30)

        whole = plain(a_search(wanted, having))
        cut = plain(a_search(wanted, having, self.cut_to(16_000, having), 2, fail))

        assert cut["candidates"] == whole["candidates"]
        assert [len(one["warnings"]) for one in cut["providers"]] == [100, 1, 100, 1]
        assert cut["providers"][1]["warnings"][0]["code"] == "answer_cut"

    def test_part_of_which_not_one_candidate_fits_leaves_none_to_tell(self) -> None:
        having = self.federation("x" * 9000)

        cut = a_search(request(cpu=1000, limit=30), having, self.cut_to(6000, having), 2, fail)

        assert (cut["candidates"], cut["total_candidates"]) == ([], 36)
