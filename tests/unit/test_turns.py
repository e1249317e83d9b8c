"""Whose call begins next where there are more calls than connections."""

import heapq
from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from chalicelib.calls import Call
from chalicelib.turns import Turns


def a_call(number: int, owner: str, *, is_failing: bool = False) -> Call:
    return Call(f"p{number}", "http://lab.test", 1500, owner=owner, is_failing=is_failing)


def begun_at(calls: list[Call], connections: int, takes_s: dict[str, float]) -> dict[str, float]:
    """When each call begins if each owner's calls take so long, and a connection is used as soon as there is one."""
    now = [0.0]
    turns = Turns(calls, connections, lambda: now[0])
    active: list[tuple[float, int, Call]] = []
    found: dict[str, float] = {}
    while turns or active:
        while turns and len(active) < connections:
            call = turns.next()
            assert call.provider_id not in found
            found[call.provider_id] = now[0]
            heapq.heappush(active, (now[0] + takes_s[call.owner], len(found), call))
        now[0], _, call = heapq.heappop(active)
        turns.ended(call)
    return found


@given(
    st.lists(st.tuples(st.sampled_from("abcd"), st.booleans()), max_size=40),
    st.integers(1, 8),
    st.lists(st.sampled_from([0.01, 0.5, 1.5]), min_size=4, max_size=4),
)
def test_every_call_begins_exactly_once(kinds: list[tuple[str, bool]], connections: int, times: list[float]) -> None:
    calls = [a_call(number, owner, is_failing=failing) for number, (owner, failing) in enumerate(kinds)]

    found = begun_at(calls, connections, dict(zip("abcd", times, strict=True)))

    assert set(found) == {call.provider_id for call in calls}


@given(st.integers(1, 60), st.integers(1, 30), st.integers(2, 12), st.integers(1, 3))
def test_one_owners_hanging_calls_never_take_the_share_of_others(
    hanging: int, others: int, connections: int, owners: int
) -> None:
    calls = [a_call(number, "hung") for number in range(hanging)]
    calls += [a_call(hanging + number, f"owner-{number % owners}") for number in range(others)]
    takes_s = {"hung": 1.5, **{f"owner-{number}": 0.01 for number in range(owners)}}

    found = begun_at(calls, connections, takes_s)

    well = [found[call.provider_id] for call in calls if call.owner != "hung"]
    assert max(well) <= 0.01 * others


def test_with_one_connection_a_hanging_call_costs_others_its_own_time_once() -> None:
    calls = [a_call(number, "hung") for number in range(10)] + [a_call(number, "well") for number in range(10, 20)]

    found = begun_at(calls, 1, {"hung": 1.5, "well": 0.01})

    assert max(found[f"p{number}"] for number in range(10, 20)) < 1.5 + 0.1


@given(st.integers(2, 40), st.integers(1, 5), st.integers(0, 2**32))
def test_calls_that_failed_last_time_come_after_all_others(count: int, connections: int, seed: int) -> None:
    calls = [a_call(number, f"owner-{number % 3}", is_failing=bool(seed >> number % 32 & 1)) for number in range(count)]
    turns = Turns(calls, min(connections, count - 1))

    order = [turns.next().is_failing for _ in range(count)]

    assert order == sorted(order)
    assert not turns


def test_owners_share_evenly_while_all_have_calls() -> None:
    calls = [a_call(number, "abc"[number // 30]) for number in range(90)]
    turns = Turns(calls, 12)

    first = Counter(turns.next().owner for _ in range(12))

    assert first == {"a": 4, "b": 4, "c": 4}


def test_within_one_owner_and_where_all_fit_the_order_stays() -> None:
    calls = [a_call(number, "a") for number in range(9)]

    assert list(Turns(calls, 9).left()) == calls
    assert list(Turns(calls, 2).left()) == calls


def test_bound_is_where_sharing_begins() -> None:
    calls = [a_call(0, "a", is_failing=True), a_call(1, "a")]

    assert list(Turns(calls, 2).left()) == calls
    assert list(Turns(calls, 1).left()) == calls[::-1]
