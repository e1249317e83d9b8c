"""Which candidate comes first, and why: scores worked out by hand, and what holds of every score."""

import math
from typing import Any

import pytest
from arbitrary import STRATEGIES, federations, gpu_parts, request_bodies, requests, sound_devices, sound_nodes
from factories import UNKNOWN, demand, device, devices, fit, fit_or_none, node, request, shared
from fakes.known_federation import a_search
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from msgspec import structs

from fedcompute.choice import share_in_use
from fedcompute.inventory import Device, Node
from fedcompute.ranking import Dimension, highest_score, score, score_parts, weights
from fedcompute.request import SearchRequest, Strategy
from fedcompute.rounding import rounded


def score_of(one: Node, **asked: Any) -> float:
    return fit(one, demand(**asked)).score


def chosen(one: Node, **asked: Any) -> list[str]:
    return [each.id for each in fit(one, demand(**asked)).devices]


def names(answer: dict[str, Any]) -> list[str]:
    return [f"{found['provenance']['provider_id']}/{found['node']['name']}" for found in answer["candidates"]]


# --- the golden example: 1 GPU and nothing else, against A (8 devices, 3 free), B (2, 2), C (64, 20), D (16, 15)


def _partly_free(name: str, total: int, free: int) -> Node:
    used = [device(f"used-{place}", slots=(0, 1)) for place in range(total - free)]
    return node(*devices(free), *used, name=name)


GOLDEN = [_partly_free("A", 8, 3), _partly_free("B", 2, 2), _partly_free("C", 64, 20), _partly_free("D", 16, 15)]


@pytest.mark.parametrize(
    ("strategy", "expected"),
    [
        # 1 / (1 + (F - 1) / 1) = 1 / F: 1/2, 1/3, 1/15, 1/20
        ("best-fit", [("B", 0.5), ("A", 0.333333333), ("D", 0.066666667), ("C", 0.05)]),
        # F / (1 + F): 20/21, 15/16, 3/4, 2/3
        ("most-available", [("C", 0.952380952), ("D", 0.9375), ("A", 0.75), ("B", 0.666666667)]),
        # (T - F + 1) / T: 6/8, 45/64, 1/2, 2/16
        ("binpack", [("A", 0.75), ("C", 0.703125), ("B", 0.5), ("D", 0.125)]),
        # (F - 1) / T: 14/16, 1/2, 19/64, 2/8
        ("spread", [("D", 0.875), ("B", 0.5), ("C", 0.296875), ("A", 0.25)]),
    ],
)
def test_each_strategy_puts_another_node_of_the_golden_example_first(
    strategy: str, expected: list[tuple[str, float]]
) -> None:
    answer = a_search(request(gpu={"count": 1}, strategy=strategy), {"lab": GOLDEN})

    assert [(found["node"]["name"], found["score"]) for found in answer["candidates"]] == expected
    assert [found["rank"] for found in answer["candidates"]] == [1, 2, 3, 4]


# --- scores with more than one dimension

# cpu: 32 of 40 free, 8 asked. memory: 96 of 128, 32. gpu_count: 2 of 4 eligible, 1. gpu_memory: 60 of 80, 20.
# gpu_compute: 90 of 100, 30. Weights 1, 1 and three times 3 / 3 = 1.
ALL_DIMENSIONS = node(
    *[device(f"GPU-{at}", memory=(60, 80), compute=(90, 100)) for at in range(2)],
    *[device(f"used-{at}", slots=(0, 1)) for at in range(2)],
    cpu=(32, 40),
    memory=(96, 128),
)


@pytest.mark.parametrize(
    ("strategy", "expected", "cpu", "memory", "gpu"),
    [
        # left over in requests: 24/8 = 3, 64/32 = 2, 1/1 = 1, 40/20 = 2, 60/30 = 2; mean 2: 1 / (1 + 2)
        # parts: 1 / (1 + 3), 1 / (1 + 2), mean of 1, 2, 2 is 5/3: 1 / (8/3)
        ("best-fit", 0.333333333, 0.25, 0.333333333, 0.375),
        # headroom: 32/8 = 4, 96/32 = 3, 2/1 = 2, 60/20 = 3, 90/30 = 3; least 2: 2 / 3. parts: 4/5, 3/4, 2/3
        ("most-available", 0.666666667, 0.8, 0.75, 0.666666667),
        # (8 + 8)/40 = 0.4, (32 + 32)/128 = 0.5, (2 + 1)/4 = 0.75, (20 + 20)/80 = 0.5, (10 + 30)/100 = 0.4; 2.55 / 5
        # gpu: (0.75 + 0.5 + 0.4) / 3 = 1.65 / 3
        ("binpack", 0.51, 0.4, 0.5, 0.55),
        # 24/40 = 0.6, 64/128 = 0.5, 1/4 = 0.25, 40/80 = 0.5, 60/100 = 0.6; 2.45 / 5. gpu: 1.35 / 3
        ("spread", 0.49, 0.6, 0.5, 0.45),
    ],
)
def test_score_weighs_every_dimension_that_was_asked_for(
    strategy: str, expected: float, cpu: float, memory: float, gpu: float
) -> None:
    asked = {"count": 1, "minimum_memory_mib": 20, "minimum_compute_percent": 30}
    wanted = demand(cpu=8, memory=32, gpu=asked, strategy=strategy)

    found = fit(ALL_DIMENSIONS, wanted)

    assert found.score == expected
    assert score_parts(found, wanted) == {"cpu": cpu, "memory": memory, "gpu": gpu}


def test_gpu_weight_is_shared_by_what_is_asked_of_gpus() -> None:
    # cpu: nothing left, weight 1. gpu_count: nothing left, 1.5. gpu_memory: 8000 / 4000 = 2 left, 1.5. Mean 3 / 4.
    one = node(device(memory=(12000, 40000)), cpu=(7, 7))
    wanted = demand(cpu=7, gpu={"minimum_memory_mib": 4000})

    found = fit(one, wanted)

    assert found.score == 0.571428571  # 1 / 1.75 = 4 / 7
    assert score_parts(found, wanted) == {"cpu": 1, "gpu": 0.5}  # gpu: (0 + 3) / 3 = 1: 1 / 2


def test_weights_are_told_by_dimension_and_not_where_the_scarcest_alone_decides() -> None:
    asked: dict[str, Any] = {"cpu": 1, "memory": 1, "gpu": {"minimum_compute_percent": 1}}

    assert weights(request(**asked)) == {"cpu": 1, "memory": 1, "gpu_count": 1.5, "gpu_compute": 1.5}
    assert weights(request(gpu={}, strategy="spread")) == {"gpu_count": 3}
    assert weights(request(**asked, strategy="most-available")) == {}


def test_amounts_of_several_devices_add_up() -> None:
    # gpu_count: 2 of 2, nothing left. gpu_memory: 30 + 10 of 40 + 40 free, 2 x 10 asked: (40 - 20) / 80 = 1/4.
    one = node(device("a", memory=(30, 40)), device("b", memory=(10, 40)))

    assert score_of(one, gpu={"count": 2, "minimum_memory_mib": 10}, strategy="spread") == 0.125  # (0 + 1/4) / 2


@pytest.mark.parametrize("unknown", [(5, None), (20, None)])
def test_unknown_total_leaves_its_dimension_out_and_the_others_keep_their_weights(unknown: tuple[int, None]) -> None:
    # cpu: (24 + 8) / 64 = 0.5, weight 1. gpu_count: 1/1, weight 1.5 as if memory counted: 2 / 2.5.
    one = node(device(memory=unknown), cpu=(40, 64))

    assert score_of(one, cpu=8, gpu={"minimum_memory_mib": 5}, strategy="binpack") == 0.8


def test_one_chosen_device_of_unknown_total_leaves_out_the_dimension_of_all() -> None:
    # gpu_count alone is left: (2 - 2) / 2.
    one = node(device("a", memory=(40, 40)), device("b", memory=(40, None)))

    assert score_of(one, gpu={"count": 2, "minimum_memory_mib": 1}, strategy="spread") == 0


def test_largest_free_block_stands_for_what_is_free_where_that_is_unknown() -> None:
    # gpu_count: 0/1. gpu_memory: (20 - 10) / 40. Mean 1/8.
    one = node(device(memory=(None, 40), largest_free_mib=20))

    assert score_of(one, gpu={"minimum_memory_mib": 10}, strategy="spread") == 0.125


def test_known_free_memory_counts_in_all_and_not_as_its_largest_block() -> None:
    # gpu_count: 0/1. gpu_memory: (30 - 10) / 40 = 1/2. Mean 1/4.
    one = node(device(memory=(30, 40), largest_free_mib=20))

    assert score_of(one, gpu={"minimum_memory_mib": 10}, strategy="spread") == 0.25


@pytest.mark.parametrize("strategy", list(Strategy))
def test_total_of_zero_leaves_its_dimension_out(strategy: Strategy) -> None:
    nothing: Dimension = ("gpu", 0, 0, 1, 1.0)
    half: Dimension = ("cpu", 4, 2, 1, 1.0)

    assert score(strategy, [nothing]) == 0
    assert score(strategy, [nothing, half]) == score(strategy, [half]) > 0


def test_with_nothing_known_the_score_is_zero_and_so_is_the_part() -> None:
    wanted = demand(cpu=1, memory=4)

    blind, half = fit(node(cpu=(8, None), memory=(8, None)), wanted), fit(node(cpu=(8, None), memory=(4, 8)), wanted)

    assert (blind.score, score_parts(blind, wanted)) == (0, {"cpu": 0, "memory": 0})
    assert (half.score, score_parts(half, wanted)) == (1, {"cpu": 0, "memory": 1})  # memory: nothing left over


def test_unhealthy_devices_are_no_part_of_the_total() -> None:
    # Of 3 healthy ones 2 are eligible: (2 - 1) / 3.
    one = node(*devices(2), device("used", slots=(0, 1)), device("sick", healthy=False))

    assert score_of(one, gpu={}, strategy="spread") == 0.333333333


def test_several_gpus_are_counted_by_card_and_one_by_device() -> None:
    # Slices on cards w, w, x, x, y, y and z; the one on z is used. 6 of 7 devices; 3 of 4 cards.
    slices = [device(f"{card}{at}", card=card, mode="mig") for at in range(2) for card in "wxy"]
    one = node(*slices, device("z", card="z", mode="mig", slots=(0, 1)))

    def asked(count: int) -> dict[str, Any]:
        return {"gpu": {"count": count, "sharing": "any"}, "strategy": "binpack"}

    assert score_of(one, **asked(1)) == 0.285714286  # (7 - 6 + 1) / 7
    assert score_of(one, **asked(2)) == 0.75  # (4 - 3 + 2) / 4


@pytest.mark.parametrize(
    ("exact", "expected"),
    [
        (1 / 1024, 0.000976563),  # 0.0009765625
        (3 / 1024, 0.002929688),  # 0.0029296875
        (5 / 1024, 0.004882813),  # 0.0048828125
        (1 / 3, 0.333333333),
        (2 / 3, 0.666666667),
        (0.0, 0.0),
        (1.0, 1.0),
    ],
)
def test_scores_are_rounded_to_nine_decimals_and_ties_go_up(exact: float, expected: float) -> None:
    assert rounded(exact) == expected


# --- which devices of a group


def _card(name: str, memory: int, compute: int = 100, index: int | None = 0, **others: Any) -> Device:
    return device(name, memory=(memory, 40), compute=(compute, 100), index=index, **others)


BLIND = device("blind", memory=UNKNOWN, compute=UNKNOWN)


@pytest.mark.parametrize(
    ("strategy", "available", "expected"),
    [
        pytest.param("best-fit", [_card("a", 40), _card("b", 10), _card("c", 20)], ["b", "c"], id="least free memory"),
        pytest.param(
            "best-fit", [_card("a", 20), _card("b", 20, 50), _card("c", 40)], ["b", "a"], id="then least free compute"
        ),
        pytest.param(
            "most-available", [_card("b", 10), _card("c", 20), _card("a", 40)], ["a", "c"], id="most free memory"
        ),
        pytest.param(
            "most-available",
            [_card("b", 20, 50), _card("a", 20), _card("c", 10)],
            ["a", "b"],
            id="then most free compute",
        ),
        # shares in use: a (0 + 0) / 2 = 0, b (0.5 + 0) / 2 = 0.25, c (0.25 + 0.5) / 2 = 0.375
        pytest.param("binpack", [_card("a", 40), _card("b", 20), _card("c", 30, 50)], ["c", "b"], id="most in use"),
        pytest.param("spread", [_card("c", 30, 50), _card("b", 20), _card("a", 40)], ["a", "b"], id="least in use"),
        *[
            pytest.param(
                strategy,
                [_card("c", 40, index=2), _card("b", 40, index=0), _card("a", 40, index=1)],
                ["b", "a"],
                id=f"{strategy}: ties by index",
            )
            for strategy in STRATEGIES
        ],
        *[
            pytest.param(
                strategy,
                [_card("a", 40, index=None), _card("d", 40, index=7), _card("c", 40, index=7)],
                ["c", "d"],
                id=f"{strategy}: an unknown index last, then by id",
            )
            for strategy in STRATEGIES
        ],
        *[
            pytest.param(strategy, [BLIND, _card("a", 40), _card("b", 40)], ["a", "b"], id=f"{strategy}: unknown last")
            for strategy in STRATEGIES
        ],
        pytest.param(
            "best-fit",
            [_card("a", 40), device("block", memory=(None, 40), largest_free_mib=20, index=0), _card("c", 10)],
            ["c", "block"],
            id="the largest free block stands in",
        ),
        pytest.param(
            "best-fit",
            [_card("a", 10, card="x"), _card("b", 20, card="x"), _card("c", 40, card="y")],
            ["a", "c"],
            id="one slice a card",
        ),
    ],
)
def test_devices_are_chosen_by_the_idea_of_the_strategy_the_best_first(
    strategy: str, available: list[Device], expected: list[str]
) -> None:
    assert chosen(node(*available), gpu={"count": 2, "sharing": "any"}, strategy=strategy) == expected


def test_share_in_use_is_the_mean_over_what_is_known() -> None:
    assert share_in_use(_card("a", 30, 50)) == 0.375  # (10/40 + 50/100) / 2
    assert share_in_use(device(memory=(30, 40), compute=UNKNOWN)) == 0.25
    assert share_in_use(device(memory=(0, 0), compute=(10, 100))) == 0.9  # a total of 0 says nothing
    assert share_in_use(BLIND) is None


def test_shares_that_differ_beyond_the_ninth_decimal_tie() -> None:
    # (0.2 + 0.4) / 2 and (0.3 + 0.3) / 2 are both 0.3, but not in doubles; the index decides.
    one, other = _card("a", 32, 60, index=1), _card("b", 28, 70, index=0)

    assert chosen(node(one, other), gpu={"sharing": "any"}, strategy="binpack") == ["b"]


# --- groups


@pytest.mark.parametrize(
    ("available", "asked", "expected"),
    [
        pytest.param(
            [device("a"), *devices(2, model="NVIDIA H100")], {"gpu": {"count": 2}}, {"GPU-0", "GPU-1"}, id="enough"
        ),
        pytest.param(
            # best-fit: 1 / (1 + 1) of the two, 1 / (1 + 0) of the one
            [*devices(2), device("h", model="NVIDIA H100")],
            {"gpu": {}},
            {"h"},
            id="best-fit: the smaller group",
        ),
        pytest.param(
            # spread: (2 - 1) / 2 of the two, (1 - 1) / 1 of the one
            [device("h", model="NVIDIA H100"), *devices(2)],
            {"gpu": {}, "strategy": "spread"},
            {"GPU-0"},
            id="spread: the larger group",
        ),
        pytest.param([device("n"), device("e", resource="e.com/gpu")], {"gpu": {}}, {"e"}, id="ties: by resource"),
        pytest.param(
            [device("h", model="H100", vendor="AMD"), device("a", model="A100")], {"gpu": {}}, {"a"}, id="then by model"
        ),
        pytest.param([device("n"), device("a", vendor="AMD")], {"gpu": {}}, {"a"}, id="then by vendor"),
    ],
)
def test_best_scored_group_stands_for_the_node(
    available: list[Device], asked: dict[str, Any], expected: set[str]
) -> None:
    assert set(chosen(node(*available), **asked)) == expected
    assert set(chosen(node(*reversed(available)), **asked)) == expected


# --- order


def test_equal_scores_are_ordered_by_provider_and_then_by_node() -> None:
    having = {"b": [node(name="n1")], "a": [node(name="n10"), node(name="n2")]}

    assert names(a_search(request(cpu=1), having)) == ["a/n10", "a/n2", "b/n1"]


def test_limit_keeps_the_best_and_tells_how_many_there_are() -> None:
    having = {"lab": [node(name=f"n{free}", cpu=(free, 9)) for free in (3, 1, 2)]}

    answer = a_search(request(cpu=1, limit=2), having)

    assert (names(answer), answer["total_candidates"]) == (["lab/n1", "lab/n2"], 3)


def _without_times(answer: dict[str, Any]) -> dict[str, Any]:
    return {name: part for name, part in answer.items() if name not in ("search_id", "took_ms", "providers")}


@settings(max_examples=40)  # whole searches
@given(federations(), requests, st.data())
def test_answer_is_the_same_under_any_permutation_of_providers_nodes_and_devices(
    having: dict[str, list[Node]], wanted: SearchRequest, data: st.DataObject
) -> None:
    shuffled = {
        provider_id: [
            structs.replace(one, devices=data.draw(st.permutations(one.devices)))
            for one in data.draw(st.permutations(having[provider_id]))
        ]
        for provider_id in data.draw(st.permutations(list(having)))
    }

    assert _without_times(a_search(wanted, shuffled)) == _without_times(a_search(wanted, having))


@settings(max_examples=40)  # whole searches
@given(federations(), st.lists(sound_nodes("x"), max_size=2), requests)
def test_unrelated_provider_never_reorders_the_others(
    having: dict[str, list[Node]], others: list[Node], wanted: SearchRequest
) -> None:
    unrelated = [structs.replace(one, name=f"x{at}") for at, one in enumerate(others)]

    alone = a_search(wanted, having)["candidates"]
    beside = a_search(wanted, having | {"bb": unrelated})["candidates"]

    kept = [found for found in beside if found["provenance"]["provider_id"] != "bb"]
    assert [found | {"rank": 0} for found in kept] == [found | {"rank": 0} for found in alone]


@settings(max_examples=100)  # whole searches
@given(federations(), requests, st.integers(1, 4))
def test_smaller_limit_shows_the_first_of_the_same_and_counts_all(
    having: dict[str, list[Node]], wanted: SearchRequest, limit: int
) -> None:
    all_of_them = a_search(wanted.model_copy(update={"limit": 100}), having)

    few = a_search(wanted.model_copy(update={"limit": limit}), having)

    assert few["candidates"] == all_of_them["candidates"][:limit]
    assert [entry.candidates for entry in few["providers"]] == [entry.candidates for entry in all_of_them["providers"]]
    for part in ("total_candidates", "rejections", "feasibility"):
        assert few[part] == all_of_them[part]


# --- properties of scores


@given(sound_nodes(), request_bodies())
def test_no_score_is_above_the_nodes_score_with_ideal_devices(one: Node, body: dict[str, Any]) -> None:
    wanted = demand(**body)
    found = fit_or_none(one, wanted)

    assert found is None or found.score <= highest_score(one, wanted)


@given(sound_nodes(), request_bodies())
def test_scores_and_parts_lie_between_zero_and_one(one: Node, body: dict[str, Any]) -> None:
    wanted = demand(**body)
    found = fit_or_none(one, wanted)
    if found is None:
        return

    parts = score_parts(found, wanted)

    assert set(parts) == {name for name in ("cpu", "memory", "gpu") if name in body}
    for each in (found.score, *parts.values()):
        assert math.isfinite(each)
        assert 0 <= each <= 1


huge = st.integers(0, 3).map(lambda less: 2**63 - 1 - less) | st.integers(1, 3)


@given(huge, huge, huge, st.integers(1, 3), st.sampled_from(STRATEGIES))
def test_scores_of_the_largest_amounts_are_finite_too(
    total: int, free: int, asked: int, count: int, strategy: str
) -> None:
    assume(asked <= free <= total)
    cards = devices(count, memory=(free, total), compute=(free, total))
    gpu = {"count": count, "minimum_memory_mib": asked, "minimum_compute_percent": asked, "sharing": "any"}

    found = fit_or_none(
        node(*cards, cpu=(free, total), memory=(free, total)),
        demand(cpu=asked, memory=asked, gpu=gpu, strategy=strategy),
    )

    assert found is not None
    assert 0 <= found.score <= 1


@given(sound_nodes(), request_bodies(), st.data())
def test_chosen_devices_are_as_many_distinct_cards_of_one_group(
    one: Node, body: dict[str, Any], data: st.DataObject
) -> None:
    found = fit_or_none(one, demand(**body))
    if found is None:
        return

    cards = [each.card for each in found.devices if each.card is not None]

    assert len(found.devices) == body.get("gpu", {}).get("count", 0)
    assert len({each.id for each in found.devices}) == len(found.devices)
    assert len(set(cards)) == len(cards)
    assert len({(each.resource, each.vendor, each.model) for each in found.devices}) <= 1


EMPTIER_IS_BETTER = ("most-available", "spread")


@given(sound_nodes(), request_bodies(), st.sampled_from(EMPTIER_IS_BETTER), st.integers(1, 3))
def test_freeing_cpu_and_memory_of_a_node_never_lowers_its_score(
    one: Node, body: dict[str, Any], strategy: str, more: int
) -> None:
    wanted = demand(**body | {"strategy": strategy})
    before = fit_or_none(one, wanted)
    if before is None:
        return
    cpu, memory = one.cpu, one.memory
    freed = structs.replace(
        one,
        cpu=structs.replace(cpu, available_millicores=_freed(cpu.available_millicores, cpu.total_millicores, more)),
        memory=structs.replace(memory, available_bytes=_freed(memory.available_bytes, memory.total_bytes, more)),
    )

    assert fit(freed, wanted).score >= before.score


def _freed(available: int | None, total: int | None, more: int) -> int | None:
    return available if available is None else min(available + more, available + more if total is None else total)


@given(
    sound_nodes(),
    gpu_parts(minimums=False),
    sound_devices("GPU-x"),
    st.none() | st.integers(1, 3),
    st.sampled_from(EMPTIER_IS_BETTER),
)
def test_one_more_eligible_device_never_lowers_a_score_without_minimums_of_devices(
    one: Node, gpu: dict[str, Any], other: Device, cpu: int | None, strategy: str
) -> None:
    wanted = demand(cpu=cpu, gpu=gpu, strategy=strategy)
    used = structs.replace(one, devices=[*one.devices, structs.replace(other, slots_available=0)])
    freed = structs.replace(one, devices=[*one.devices, other])
    before, after = fit_or_none(used, wanted), fit_or_none(freed, wanted)

    if before is not None:
        assert after is not None
        assert after.score >= before.score


def test_one_more_eligible_device_may_lower_a_score_with_minimums_of_devices() -> None:
    # Three cards, each with a minimum of 10,000 MiB and 50 % asked for. The third has more memory and less compute, and
    # no free slot yet. most-available chooses the card with the most free memory:
    #   before  a: gpu_count 2/1, gpu_memory 20,000/10,000 = 2, gpu_compute 100/50 = 2; least 2: 2 / 3
    #   after   c: gpu_count 3/1, gpu_memory 30,000/10,000 = 3, gpu_compute  50/50 = 1; least 1: 1 / 2
    asked = {"gpu": {"minimum_memory_mib": 10000, "minimum_compute_percent": 50}, "strategy": "most-available"}
    pair = [device(name, memory=(20000, 40000)) for name in "ab"]
    third = device("c", memory=(30000, 40000), compute=(50, 100))
    used = structs.replace(third, slots_available=0)

    before, after = node(*pair, used), node(*pair, third)

    assert (chosen(before, **asked), score_of(before, **asked)) == (["a"], 0.666666667)
    assert (chosen(after, **asked), score_of(after, **asked)) == (["c"], 0.5)


def test_one_more_eligible_device_may_lower_spread_with_minimums_of_devices() -> None:
    # Ten cards, 10,000 of 40,000 MiB asked for. a has all its memory free and half its compute: share in use
    # (0 + 0.5) / 2 = 0.25. b has 32,000 MiB and all its compute free: (0.2 + 0) / 2 = 0.1, so spread prefers b.
    #   before  a: gpu_count (1 - 1)/10 = 0,   gpu_memory (40,000 - 10,000)/40,000 = 0.75; mean 0.375
    #   after   b: gpu_count (2 - 1)/10 = 0.1, gpu_memory (32,000 - 10,000)/40,000 = 0.55; mean 0.325
    asked = {"gpu": {"minimum_memory_mib": 10000}, "strategy": "spread"}
    a, b = shared("a", compute=(50, 100)), shared("b", memory=(32000, 40000))
    rest = [shared(f"used-{at}", slots=(0, 10)) for at in range(8)]

    before, after = node(a, structs.replace(b, slots_available=0), *rest), node(a, b, *rest)

    assert (chosen(before, **asked), score_of(before, **asked)) == (["a"], 0.375)
    assert (chosen(after, **asked), score_of(after, **asked)) == (["b"], 0.325)
