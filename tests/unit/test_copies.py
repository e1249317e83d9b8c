"""How many such requests fit on a node side by side."""

from collections.abc import Iterator
from functools import cache
from itertools import combinations
from typing import Any

import pytest
from arbitrary import request_bodies, sound_nodes
from factories import UNKNOWN, demand, device, devices, fit, fit_or_none, node, shared
from hypothesis import given
from hypothesis import strategies as st

from fedcompute.copies import copies, most_placements
from fedcompute.inventory import Device, Node
from fedcompute.ranking import Fit


def copies_on(one: Node, **asked: Any) -> int:
    wanted = demand(**asked)
    return copies(fit(one, wanted), wanted)


def cards(*slots: int, **fields: Any) -> Node:
    """A node of shared cards that differ in their free slots."""
    return node(*[shared(f"GPU-{place}", slots=(free, 10), **fields) for place, free in enumerate(slots)])


ANY: dict[str, Any] = {"minimum_memory_mib": 1}


@pytest.mark.parametrize(
    ("one", "asked", "expected"),
    [
        pytest.param(node(cpu=(40, 64)), {"cpu": 9}, 4, id="cpu: 40 // 9"),
        pytest.param(node(memory=(40, 64)), {"memory": 10}, 4, id="memory: 40 // 10"),
        pytest.param(node(cpu=(40, 64), memory=(40, 64)), {"cpu": 9, "memory": 20}, 2, id="the smaller of 4 and 2"),
        pytest.param(node(pods=(3, 110)), {"cpu": 1}, 3, id="one pod each"),
        pytest.param(node(pods=UNKNOWN, cpu=(7, 8)), {"cpu": 1}, 7, id="unknown pods do not bound"),
        pytest.param(cards(3, 2, 1), {"gpu": ANY}, 6, id="a share each: 3 + 2 + 1"),
        pytest.param(cards(3, 2, 1), {"gpu": {"count": 2, **ANY}}, 3, id="two of six shares each"),
        pytest.param(cards(10, 1), {"gpu": {"count": 2, **ANY}}, 1, id="a big card does not pair with itself"),
        pytest.param(cards(4, 4, 4, 4), {"gpu": {"count": 3, **ANY}}, 5, id="16 shares, three each"),
        pytest.param(cards(9, 2, 2, 1), {"gpu": {"count": 3, **ANY}}, 2, id="5 shares beside the big card, two each"),
        pytest.param(cards(0, 1, 1), {"gpu": {"count": 2, **ANY}}, 1, id="only what is eligible"),
        pytest.param(
            cards(10, 10, memory=(40000, 40000)), {"gpu": {"minimum_memory_mib": 15000}}, 4, id="memory: 2 a card"
        ),
        pytest.param(
            cards(9, 9), {"gpu": {**ANY, "minimum_compute_percent": 30}}, 6, id="compute: 100 // 30 = 3 a card"
        ),
        pytest.param(node(*devices(3)), {"gpu": {}}, 3, id="whole cards, one each"),
        pytest.param(cards(10, 10, 9), {"gpu": {}}, 2, id="unused cards count once, whatever their slots"),
        pytest.param(
            cards(10, 10, 9), {"gpu": {**ANY, "minimum_compute_percent": 100}}, 2, id="and where all compute is asked"
        ),
        pytest.param(cards(10, 9), {"gpu": {"sharing": "any"}}, 1, id="and where a silent pod gets the whole card"),
        pytest.param(
            node(device(pool=True, slots=(3, 8), memory=(None, 40000), compute=UNKNOWN)),
            {"gpu": {"sharing": "any"}},
            3,
            id="a pool: every free slot",
        ),
        pytest.param(
            node(shared("a", largest_free_mib=20000), shared("b")),
            {"gpu": {"minimum_memory_mib": 5000}},
            9,
            id="1 where the largest block is known, 40000 // 5000 = 8 beside it",
        ),
        pytest.param(
            node(device(memory=UNKNOWN, compute=UNKNOWN, slots=(2, 2), largest_free_mib=9)),
            {"gpu": {"minimum_memory_mib": 9}},
            1,
            id="unknown amounts do not bound, the known block does",
        ),
        pytest.param(
            node(*[device(f"{card}{at}", card=card, mode="mig") for card in "xy" for at in range(2)]),
            {"gpu": {"count": 2, **ANY}},
            2,
            id="two slices on each of two cards",
        ),
        pytest.param(
            node(*[device(f"x{at}", card="x", mode="mig") for at in range(3)], device("y", card="y", mode="mig")),
            {"gpu": {"count": 2, **ANY}},
            1,
            id="three slices of one card and one of another pair once",
        ),
        pytest.param(
            node(*[device(f"x{at}", card="x", mode="mig") for at in range(3)], device("y", card="y", mode="mig")),
            {"gpu": ANY},
            4,
            id="but serve four jobs of one GPU",
        ),
        pytest.param(
            node(*devices(4), cpu=(30, 64), memory=(99, 99), pods=(2, 9)),
            {"cpu": 10, "memory": 1, "gpu": {}},
            2,
            id="the smallest of cpu 3, memory 99, pods 2, GPUs 4",
        ),
    ],
)
def test_copies_are_the_least_that_any_resource_allows(one: Node, asked: dict[str, Any], expected: int) -> None:
    assert copies_on(one, **asked) == expected


def test_only_the_chosen_group_counts() -> None:
    # binpack: of the two A100 one is in use, (2 - 1 + 1) / 2 = 1; of the three H100 all are free, (3 - 3 + 1) / 3 = 1/3.
    mixed = node(device("a"), device("b", slots=(0, 1)), *devices(3, model="NVIDIA H100"))

    assert copies_on(mixed, gpu={}, strategy="binpack") == 1


def test_huge_shares_take_no_longer_than_small_ones() -> None:
    # Each request of a thousand cards needs the one card that has a single share.
    assert most_placements([1 << 62] * 999 + [1], 1000) == 1
    # 999 cards at once for each: every card of the thousand sits out one turn in a thousand, 1000 * 2**62 // 999.
    assert most_placements([1 << 62] * 1000, 999) == 1000 * (1 << 62) // 999


@given(st.lists(st.integers(0, 4), max_size=4), st.integers(1, 3))
def test_placements_are_what_an_exhaustive_packer_finds(shares: list[int], count: int) -> None:
    @cache
    def packed(left: tuple[int, ...]) -> int:
        """Tries every choice of distinct cards for the next request."""
        most = 0
        for chosen in combinations(range(len(left)), count):
            if all(left[card] for card in chosen):
                most = max(most, 1 + packed(tuple(free - (card in chosen) for card, free in enumerate(left))))
        return most

    assert most_placements(shares, count) == packed(tuple(shares))


@given(st.lists(st.integers(0, 1000), max_size=8), st.integers(1, 10))
def test_placements_are_the_largest_number_that_meets_the_definition(shares: list[int], count: int) -> None:
    def holds(k: int) -> bool:
        return sum(min(share, k) for share in shares) >= k * count

    found = most_placements(shares, count)

    assert holds(found)
    assert not any(holds(k) for k in range(found + 1, sum(shares) + 2))


@given(sound_nodes(), request_bodies())
def test_copies_of_a_fit_are_what_an_exhaustive_packer_finds_and_never_zero(one: Node, body: dict[str, Any]) -> None:
    wanted = demand(**body)
    found = fit_or_none(one, wanted)
    if found is None:
        return

    assert copies(found, wanted) == _packed(found, body) >= 1


def _packed(found: Fit, body: dict[str, Any]) -> int:
    """Places one request after the other in every possible way, and counts the longest run."""
    gpu = body.get("gpu")
    eligible = found.group.eligible if found.group is not None else []

    @cache
    def more(left: tuple[tuple[int, int | None, int | None], ...], host: tuple[int | None, ...]) -> int:
        if any(amount is not None and amount < 0 for amount in host):
            return -1  # the request before this one did not fit
        asked = (body.get("cpu", 0), body.get("memory", 0), 1)
        after = tuple(None if free is None else free - need for free, need in zip(host, asked, strict=True))
        return max((1 + more(rest, after) for rest in _placed(left, eligible, gpu)), default=0)

    node_ = found.node
    host = (
        node_.cpu.available_millicores if "cpu" in body else None,
        node_.memory.available_bytes if "memory" in body else None,
        node_.pods.available if node_.pods is not None else None,
    )
    return more(tuple(_capacity(each, gpu or {}) for each in eligible), host)


def _capacity(one: Device, gpu: dict[str, Any]) -> tuple[int, int | None, int | None]:
    slots = one.slots_available
    assert slots is not None
    is_silent = "minimum_memory_mib" not in gpu or gpu.get("minimum_compute_percent", 0) >= 100
    takes_all = gpu["sharing"] == "whole" or (is_silent and not one.pool and (one.slots_total or 0) > 1)
    if takes_all or one.largest_free_mib is not None:
        return 1, None, None
    return slots, one.memory_available_mib, one.compute_available_percent


def _placed(left: Any, eligible: list[Device], gpu: dict[str, Any] | None) -> Iterator[Any]:
    """What is left after one request more, for every choice of devices on distinct cards."""
    if gpu is None:
        yield left
        return
    need = (1, gpu.get("minimum_memory_mib", 0), gpu.get("minimum_compute_percent", 0))
    for chosen in combinations(range(len(left)), gpu["count"]):
        used = [eligible[at].card for at in chosen if eligible[at].card is not None]
        rest = [
            tuple(
                None if free is None else free - (asked if at in chosen else 0)
                for free, asked in zip(one, need, strict=True)
            )
            for at, one in enumerate(left)
        ]
        if len(used) == len(set(used)) and all(free is None or free >= 0 for one in rest for free in one):
            yield tuple(rest)
