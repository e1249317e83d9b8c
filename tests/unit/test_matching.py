"""Which nodes fit a request, and every reason why the others do not."""

from typing import Any

import pytest
from arbitrary import request_bodies, sound_nodes
from factories import UNKNOWN, demand, device, devices, fits, node, reasons, request, shared
from hypothesis import example, given
from hypothesis import strategies as st
from msgspec import structs

from fedcompute.explanation import match
from fedcompute.inventory import Device, Node, Taint
from fedcompute.reasons import REASONS, Reason
from fedcompute.request import Toleration
from fedcompute.taints import are_tolerated

# --- one example a reason, as it stands in an answer


@pytest.mark.parametrize(
    ("ailing", "asked", "expected"),
    [
        pytest.param(node(ready=False), {"cpu": 1}, Reason("node_not_ready"), id="node_not_ready"),
        pytest.param(node(schedulable=False), {"cpu": 1}, Reason("node_not_schedulable"), id="node_not_schedulable"),
        pytest.param(
            node(taints=[Taint(key="dedicated", value="ml", effect="NoSchedule")]),
            {"cpu": 1},
            Reason("untolerated_taint"),
            id="untolerated_taint",
        ),
        pytest.param(node(pods=(0, 110)), {"cpu": 1}, Reason("no_free_pod", 0, 1), id="no_free_pod"),
        pytest.param(node(pods=(None, 0)), {"cpu": 1}, Reason("no_free_pod", 0, 1), id="no pods at all"),
        pytest.param(node(cpu=(None, 64000)), {"cpu": 4000}, Reason("unknown_cpu", None, 4000), id="unknown_cpu"),
        pytest.param(
            node(cpu=(None, 2000)), {"cpu": 4000}, Reason("insufficient_cpu", 2000, 4000), id="cpu total too small"
        ),
        pytest.param(node(cpu=(3999, 64000)), {"cpu": 4000}, Reason("insufficient_cpu", 3999, 4000), id="cpu"),
        pytest.param(node(memory=UNKNOWN), {"memory": 1}, Reason("unknown_memory", None, 1), id="unknown_memory"),
        pytest.param(node(memory=(99, 999)), {"memory": 100}, Reason("insufficient_memory", 99, 100), id="memory"),
        pytest.param(
            node(memory=(None, 99)),
            {"memory": 100},
            Reason("insufficient_memory", 99, 100),
            id="memory total too small",
        ),
    ],
)
def test_what_ails_a_node_stands_as_its_only_reason(ailing: Node, asked: dict[str, Any], expected: Reason) -> None:
    assert reasons(ailing, **asked) == [expected]


@pytest.mark.parametrize(
    ("unfit", "gpu", "expected"),
    [
        pytest.param(device(), {"vendor": "AMD"}, Reason("gpu_vendor_mismatch", devices=1), id="vendor"),
        pytest.param(device(), {"model": "H100"}, Reason("gpu_model_mismatch", devices=1), id="model"),
        pytest.param(device(healthy=False), {}, Reason("gpu_unhealthy", devices=1), id="unhealthy"),
        pytest.param(device(slots=(None, 10)), {}, Reason("unknown_gpu_slots", None, 1, 1), id="unknown slots"),
        pytest.param(device(slots=UNKNOWN), {}, Reason("unknown_gpu_slots", None, 1, 1), id="slots unknown in all"),
        pytest.param(device(slots=(0, 1)), {}, Reason("no_free_gpu_slot", 0, 1, 1), id="no free slot"),
        pytest.param(device(slots=(None, 0)), {}, Reason("no_free_gpu_slot", 0, 1, 1), id="no slot at all"),
        pytest.param(shared(slots=(9, 10)), {}, Reason("gpu_in_use", devices=1), id="in use"),
        pytest.param(
            device(memory=UNKNOWN),
            {"minimum_memory_mib": 30000},
            Reason("unknown_gpu_memory", None, 30000, 1),
            id="unknown memory",
        ),
        pytest.param(
            device(memory=(None, 24000)),
            {"minimum_memory_mib": 30000},
            Reason("insufficient_gpu_memory", 24000, 30000, 1),
            id="memory total too small",
        ),
        pytest.param(
            shared(memory=(20000, 40000)),
            {"minimum_memory_mib": 30000},
            Reason("insufficient_gpu_memory", 20000, 30000, 1),
            id="memory",
        ),
        pytest.param(
            device(compute=UNKNOWN),
            {"minimum_compute_percent": 50},
            Reason("unknown_gpu_compute", None, 50, 1),
            id="unknown compute",
        ),
        pytest.param(
            device(compute=(None, 40)),
            {"minimum_compute_percent": 50},
            Reason("insufficient_gpu_compute", 40, 50, 1),
            id="compute total too small",
        ),
        pytest.param(
            shared(compute=(40, 100)),
            {"minimum_memory_mib": 1, "minimum_compute_percent": 50},
            Reason("insufficient_gpu_compute", 40, 50, 1),
            id="compute",
        ),
    ],
)
def test_what_ails_a_device_stands_before_the_count_that_is_short_of_it(
    unfit: Device, gpu: dict[str, Any], expected: Reason
) -> None:
    found = reasons(node(unfit), gpu=gpu)

    assert found == [expected, Reason("insufficient_gpu_count", 0, 1)]


def test_node_without_devices_has_no_gpu_and_a_count_that_is_short() -> None:
    found = reasons(node(), gpu={"count": 2})

    assert found == [Reason("no_gpu", 0, 2), Reason("insufficient_gpu_count", 0, 2)]
    assert [reason.short_by for reason in found] == [2, 2]


def test_fewer_eligible_than_asked_tells_the_most_of_a_group() -> None:
    mixed = node(*devices(2), device("H", model="NVIDIA H100"))

    assert reasons(mixed, gpu={"count": 3}) == [Reason("insufficient_gpu_count", 2, 3)]
    assert Reason("insufficient_gpu_count", 2, 3).short_by == 1


def test_what_is_no_amount_is_short_by_nothing() -> None:
    assert Reason("gpu_in_use", devices=4).short_by is None
    assert Reason("unknown_cpu", None, 4000).short_by is None


def test_everything_that_is_wrong_is_told_in_the_fixed_order() -> None:
    ailing = node(
        device("1", slots=(0, 1)),
        device("2", healthy=False),
        device("3", vendor="AMD"),
        ready=False,
        schedulable=False,
        taints=[Taint(key="dedicated", effect="NoExecute")],
        cpu=(1, 64000),
        memory=UNKNOWN,
        pods=(0, 1),
    )

    found = reasons(ailing, cpu=2, memory=2, gpu={"vendor": "NVIDIA"})

    assert [reason.reason for reason in found] == [
        "node_not_ready",
        "node_not_schedulable",
        "untolerated_taint",
        "no_free_pod",
        "insufficient_cpu",
        "unknown_memory",
        "gpu_vendor_mismatch",
        "gpu_unhealthy",
        "no_free_gpu_slot",
        "insufficient_gpu_count",
    ]


def test_device_reason_stands_once_with_how_many_and_the_best_among_them() -> None:
    small = [shared(f"GPU-{free}", memory=(free, 40000)) for free in (10000, 25000, 5000)]

    found = reasons(node(*small, device("x", healthy=False)), gpu={"minimum_memory_mib": 30000})

    assert found == [
        Reason("gpu_unhealthy", devices=1),
        Reason("insufficient_gpu_memory", 25000, 30000, 3),
        Reason("insufficient_gpu_count", 0, 1),
    ]


FAILURES_IN_ORDER: list[tuple[str, dict[str, Any]]] = [
    ("gpu_vendor_mismatch", {"vendor": "AMD"}),
    ("gpu_model_mismatch", {"model": "NVIDIA H100"}),
    ("gpu_unhealthy", {"healthy": False}),
    ("no_free_gpu_slot", {"slots": (0, 10)}),
    ("gpu_in_use", {"pool": True}),  # two are asked for, and a pool serves one
    ("insufficient_gpu_memory", {"memory": (9, 40000)}),
    ("insufficient_gpu_compute", {"compute": (9, 100)}),
]


@pytest.mark.parametrize("first", range(len(FAILURES_IN_ORDER)))
def test_device_counts_for_the_first_test_that_it_fails(first: int) -> None:
    faults = {name: value for _, fault in FAILURES_IN_ORDER[first:] for name, value in fault.items()}
    gpu = {
        "count": 2,
        "vendor": "NVIDIA",
        "model": "A100",
        "minimum_memory_mib": 10,
        "minimum_compute_percent": 10,
    }

    found = reasons(node(device(**faults)), gpu=gpu)

    assert [reason.reason for reason in found] == [FAILURES_IN_ORDER[first][0], "insufficient_gpu_count"]


def test_devices_that_fail_are_no_reasons_where_enough_others_are_eligible() -> None:
    # cpu keeps the job off; that one of three devices is unhealthy does not.
    found = reasons(node(*devices(2), device("x", healthy=False), cpu=(1, 1)), cpu=2, gpu={"count": 2})

    assert found == [Reason("insufficient_cpu", 1, 2)]


def test_unknown_amounts_that_nobody_asked_for_do_not_matter() -> None:
    assert fits(node(device(memory=UNKNOWN, compute=UNKNOWN), cpu=UNKNOWN, memory=UNKNOWN, pods=UNKNOWN), gpu={})


def test_just_enough_of_everything_fits() -> None:
    exact = node(shared(slots=(1, 10), memory=(300, 400), compute=(20, 100)), cpu=(4, 8), memory=(5, 8), pods=(1, 9))

    assert fits(exact, cpu=4, memory=5, gpu={"minimum_memory_mib": 300, "minimum_compute_percent": 20})


# --- devices


@pytest.mark.parametrize(
    ("one", "gpu", "expected"),
    [
        pytest.param(shared(), {}, True, id="an unused shared card is a whole one"),
        pytest.param(shared(slots=(9, 10)), {}, False, id="whole by default: a used slot"),
        pytest.param(shared(memory=(39999, 40000)), {}, False, id="whole by default: used memory"),
        pytest.param(shared(compute=(99, 100)), {}, False, id="whole by default: used compute"),
        pytest.param(shared(slots=(9, 10)), {"minimum_memory_mib": 1}, True, id="any by default with a memory minimum"),
        pytest.param(
            device(slots=(1, 1), compute=(50, 100)),
            {"minimum_compute_percent": 50},
            True,
            id="any by default with a compute minimum",
        ),
        pytest.param(
            shared(slots=(9, 10)), {"minimum_memory_mib": 1, "sharing": "whole"}, False, id="whole, with a minimum"
        ),
        pytest.param(device(slots=(1, None)), {}, False, id="not known to be unused: slots unknown in all"),
        pytest.param(device(memory=(7, None)), {}, True, id="an amount of unknown total does not make it used"),
        pytest.param(device(memory=(None, 40000)), {}, True, id="nor a total of which the free part is unknown"),
        pytest.param(shared(slots=(9, 10)), {"sharing": "any"}, False, id="HAMi gives a silent pod the whole card"),
        pytest.param(shared(), {"sharing": "any"}, True, id="which an unused card can be"),
        pytest.param(
            device(memory=(20000, 40000)), {"sharing": "any"}, True, id="a card of one slot: no HAMi, no whole card"
        ),
        pytest.param(
            shared(slots=(9, 10)),
            {"minimum_compute_percent": 50},
            False,
            id="compute alone names no memory: the whole card",
        ),
        pytest.param(
            shared(slots=(9, 10)),
            {"minimum_memory_mib": 1, "minimum_compute_percent": 99},
            True,
            id="99 percent of a used card",
        ),
        pytest.param(
            shared(slots=(9, 10)),
            {"minimum_memory_mib": 1, "minimum_compute_percent": 100},
            False,
            id="100 percent needs an unused one",
        ),
        pytest.param(
            shared(compute=(200, 200), slots=(9, 10)),
            {"minimum_memory_mib": 1, "minimum_compute_percent": 150},
            False,
            id="and so do more than 100",
        ),
        pytest.param(
            device(compute=(100, 100), memory=(1, 2)),
            {"minimum_compute_percent": 100, "sharing": "any"},
            True,
            id="but not on a card of one slot",
        ),
        pytest.param(device(pool=True, slots=(3, 8)), {}, False, id="a pool is not a whole device"),
        pytest.param(device(pool=True, slots=(8, 8)), {}, False, id="not even one that nobody uses"),
        pytest.param(
            device(pool=True, slots=(3, 8)), {"sharing": "any"}, True, id="a share of a pool for a silent job"
        ),
        pytest.param(
            device(pool=True, slots=(3, 8)),
            {"minimum_compute_percent": 100},
            True,
            id="a pool is exempt from the rule of 100 percent",
        ),
        pytest.param(
            device(pool=True, slots=(3, 8), memory=(None, 40000)),
            {"minimum_memory_mib": 1},
            False,
            id="a pool promises no memory that it does not know",
        ),
        pytest.param(device(mode="mig", compute=UNKNOWN), {}, False, id="a MIG slice is not a whole device"),
        pytest.param(
            device(mode="mig", compute=UNKNOWN), {"minimum_memory_mib": 40000}, True, id="a MIG slice of enough memory"
        ),
        pytest.param(device(mode="mig", compute=UNKNOWN), {"sharing": "any"}, True, id="a MIG slice for a silent job"),
        pytest.param(
            device(mode="mig", compute=UNKNOWN),
            {"minimum_compute_percent": 1},
            False,
            id="a MIG slice whose compute nobody knows",
        ),
        pytest.param(
            device(largest_free_mib=20000), {"minimum_memory_mib": 20000}, True, id="as much as the largest free block"
        ),
        pytest.param(
            device(largest_free_mib=20000), {"minimum_memory_mib": 20001}, False, id="more than the largest free block"
        ),
        pytest.param(
            device(memory=UNKNOWN, largest_free_mib=20000),
            {"minimum_memory_mib": 20000},
            True,
            id="the largest free block where nothing else is known",
        ),
        pytest.param(
            shared(largest_free_mib=0), {"sharing": "any"}, False, id="no free block, whatever is free in all"
        ),
        pytest.param(device(memory=(0, 40000), compute=UNKNOWN), {}, False, id="a known 0 of memory serves nobody"),
        pytest.param(device(memory=(None, 0)), {}, False, id="nor does a total of 0"),
        pytest.param(device(compute=(0, 100)), {"minimum_memory_mib": 1}, False, id="nor a known 0 of compute"),
        pytest.param(device(compute=(None, 0)), {}, False, id="nor a total of 0 of compute"),
        pytest.param(
            device(vendor="nvidia"), {"vendor": "NVIDIA Corporation"}, True, id="a vendor by any of its names"
        ),
        pytest.param(device(), {"model": "nvidia-a100"}, True, id="a model in any case and punctuation"),
        pytest.param(device(), {"model": "A10"}, False, id="A10 is not A100"),
    ],
)
def test_device_is_eligible_or_not(one: Device, gpu: dict[str, Any], expected: bool) -> None:
    assert fits(node(one), gpu=gpu) is expected


def test_known_zero_that_nobody_asked_for_is_told_as_one_too_few() -> None:
    found = reasons(node(device(compute=(0, 100))), gpu={"minimum_memory_mib": 1})

    assert found[0] == Reason("insufficient_gpu_compute", 0, 1, 1)


def test_two_shares_of_one_card_are_not_two_gpus() -> None:
    asked = {"count": 2, "minimum_memory_mib": 1}

    assert reasons(node(shared()), gpu=asked) == [Reason("insufficient_gpu_count", 1, 2)]
    assert fits(node(shared("a"), shared("b")), gpu=asked)


def test_two_slices_of_one_card_are_not_two_gpus() -> None:
    same = [device(name, mode="mig", card="GPU-1") for name in ("MIG-1", "MIG-2")]
    other = device("MIG-3", mode="mig", card="GPU-2")
    asked = {"count": 2, "minimum_memory_mib": 1}

    assert reasons(node(*same), gpu=asked) == [Reason("insufficient_gpu_count", 1, 2)]
    assert fits(node(*same, other), gpu=asked)


def test_devices_without_a_card_are_cards_of_their_own() -> None:
    assert fits(node(*devices(2, card=None)), gpu={"count": 2})


def test_pools_serve_one_gpu_only_however_many_there_are() -> None:
    pools = node(*devices(2, pool=True, slots=(8, 8)))

    assert fits(pools, gpu={"count": 1, "sharing": "any"})
    assert reasons(pools, gpu={"count": 2, "sharing": "any"}) == [
        Reason("gpu_in_use", devices=2),
        Reason("insufficient_gpu_count", 0, 2),
    ]


@pytest.mark.parametrize("differs", [{"resource": "nvidia.com/a100"}, {"vendor": "AMD"}, {"model": "NVIDIA H100"}])
def test_gpus_of_one_job_share_resource_vendor_and_model(differs: dict[str, Any]) -> None:
    assert not fits(node(device("1"), device("2", **differs)), gpu={"count": 2})
    assert fits(node(device("1"), device("2", **differs), device("3", **differs)), gpu={"count": 2})


# --- taints

DEDICATED = Taint(key="dedicated", value="ml", effect="NoSchedule")


@pytest.mark.parametrize(
    ("toleration", "expected"),
    [
        ({"key": "dedicated", "value": "ml"}, True),
        ({"key": "dedicated", "operator": "Equal", "value": "ml", "effect": "NoSchedule"}, True),
        ({"key": "dedicated", "value": "web"}, False),
        ({"key": "dedicated"}, False),  # Equal to the empty value
        ({"key": "dedicated", "operator": "Exists"}, True),
        ({"key": "dedicated", "operator": "Exists", "effect": "NoExecute"}, False),
        ({"key": "other", "operator": "Exists"}, False),
        ({"operator": "Exists"}, True),  # every key
        ({"operator": "Exists", "effect": "NoExecute"}, False),
        ({"key": "dedicated", "value": "ml", "effect": "PreferNoSchedule"}, False),
    ],
)
def test_tolerations_follow_the_rules_of_kubernetes(toleration: dict[str, str], expected: bool) -> None:
    assert are_tolerated([DEDICATED], [Toleration(**toleration)], None) is expected  # type: ignore[arg-type]


def test_every_taint_needs_a_toleration_of_its_own() -> None:
    other = Taint(key="other", effect="NoExecute")
    wanted = {"cpu": 1, "tolerations": [{"key": "dedicated", "value": "ml"}]}

    assert fits(node(taints=[DEDICATED]), **wanted)
    assert not fits(node(taints=[DEDICATED, other]), **wanted)


@pytest.mark.parametrize("effect", ["PreferNoSchedule", ""])
def test_taint_of_another_effect_keeps_nobody_out(effect: str) -> None:
    assert fits(node(taints=[Taint(key="dedicated", effect=effect)]), cpu=1)


def test_node_kept_for_gpus_takes_who_asks_for_one_and_nobody_else() -> None:
    kept = node(device(), taints=[Taint(key="nvidia.com/gpu", value="present", effect="NoSchedule")])

    assert fits(kept, gpu={})
    assert reasons(kept, cpu=1) == [Reason("untolerated_taint")]


def test_taint_of_its_devices_is_no_reason_on_a_node_whose_devices_are_not_those_asked_for() -> None:
    kept = node(device(), taints=[Taint(key="nvidia.com/gpu", effect="NoSchedule")])

    found = reasons(kept, gpu={"vendor": "AMD"})

    assert found == [Reason("gpu_vendor_mismatch", devices=1), Reason("insufficient_gpu_count", 0, 1)]


def test_taint_of_another_resource_keeps_a_gpu_request_out() -> None:
    kept = node(device(), taints=[Taint(key="amd.com/gpu", effect="NoSchedule")])

    assert reasons(kept, gpu={}) == [Reason("untolerated_taint")]


def test_only_the_groups_whose_taint_is_tolerated_can_serve() -> None:
    kept = node(
        device("1", model="NVIDIA H100"),
        device("2", resource="amd.com/gpu", vendor="AMD"),
        taints=[Taint(key="amd.com/gpu", effect="NoSchedule")],
    )

    found = match(kept, demand(gpu={}))

    assert not found.reasons
    assert [group.make.resource for group in found.groups] == ["amd.com/gpu"]


@pytest.mark.parametrize(
    ("amounts", "asked", "expected"),
    [
        ({"memory": (0, 40000)}, {"minimum_compute_percent": 10}, Reason("insufficient_gpu_memory", 0, 1, 1)),
        ({"compute": (0, 100)}, {"minimum_memory_mib": 10}, Reason("insufficient_gpu_compute", 0, 1, 1)),
    ],
)
def test_who_asks_for_no_amount_needs_some_of_it(amounts: Any, asked: dict[str, int], expected: Reason) -> None:
    assert reasons(node(device(**amounts)), gpu=asked)[0] == expected


def test_where_none_has_enough_the_taint_of_the_right_devices_counts() -> None:
    wrong, busy = device("1", resource="amd.com/gpu", vendor="AMD"), device("2", slots=(0, 1))
    wanted = {"gpu": {"vendor": "NVIDIA"}}

    kept_for_amd = reasons(node(wrong, busy, taints=[Taint(key="amd.com/gpu", effect="NoSchedule")]), **wanted)
    kept_for_nvidia = reasons(node(wrong, busy, taints=[Taint(key="nvidia.com/gpu", effect="NoSchedule")]), **wanted)

    assert "untolerated_taint" in [reason.reason for reason in kept_for_amd]
    assert "untolerated_taint" not in [reason.reason for reason in kept_for_nvidia]


def test_where_all_devices_are_wrong_any_of_their_taints_is_tolerated() -> None:
    wrong = [device("1", resource="amd.com/gpu", vendor="AMD"), device("2", resource="huawei.com/npu", vendor="Huawei")]
    kept = node(*wrong, taints=[Taint(key="huawei.com/npu", effect="NoSchedule")])

    assert "untolerated_taint" not in [reason.reason for reason in reasons(kept, gpu={"vendor": "NVIDIA"})]


@pytest.mark.parametrize(
    ("slots", "expected"),
    [
        ((0, 1), Reason("no_free_gpu_slot", 0, 1, 1)),
        ((None, 1), Reason("unknown_gpu_slots", None, 1, 1)),
    ],
)
def test_one_slot_is_what_a_device_needs(slots: tuple[int | None, int], expected: Reason) -> None:
    assert reasons(node(device(slots=slots)), gpu={})[0] == expected


# --- properties


@given(sound_nodes(), request_bodies())
def test_node_fits_exactly_when_there_is_no_reason(one: Node, body: dict[str, Any]) -> None:
    wanted = demand(**body)

    found = match(one, wanted)

    assert _fits_by_definition(one, body) is (not found.reasons)
    assert bool(found.groups) is (not found.reasons and "gpu" in body)


@given(sound_nodes(), request_bodies())
def test_reasons_stand_once_each_in_the_fixed_order_and_have_less_than_they_need(
    one: Node, body: dict[str, Any]
) -> None:
    found = reasons(one, **body)

    places = [REASONS.index(reason.reason) for reason in found]
    assert places == sorted(set(places))
    for reason in found:
        if reason.have is not None and reason.need is not None:
            assert 0 <= reason.have < reason.need
            assert reason.short_by == reason.need - reason.have
        else:
            assert reason.short_by is None
        if reason.reason.startswith("unknown"):
            assert reason.have is None


@given(sound_nodes(), request_bodies(), st.data())
def test_reasons_are_the_same_in_any_order_of_the_devices(one: Node, body: dict[str, Any], data: st.DataObject) -> None:
    shuffled = structs.replace(one, devices=data.draw(st.permutations(one.devices)))

    assert reasons(shuffled, **body) == reasons(one, **body)


RAISES = ("cpu", "memory", "count", "minimum_memory_mib", "minimum_compute_percent")


@given(sound_nodes(), request_bodies(), st.sampled_from(RAISES), st.sampled_from([1, 2, 49, 50, 100]))
@example(node(shared(slots=(9, 10))), {"gpu": {"minimum_memory_mib": 1, "minimum_compute_percent": 50}}, RAISES[4], 50)
def test_asking_for_more_never_makes_a_node_fit(one: Node, body: dict[str, Any], what: str, more: int) -> None:
    raised: dict[str, Any] = {name: dict(part) if isinstance(part, dict) else part for name, part in body.items()}
    place = raised if what in ("cpu", "memory") else raised.get("gpu", {})
    if what in place:  # a minimum where there was none is another request: it makes shares acceptable
        place[what] += more

    if not fits(one, **body):
        assert not fits(one, **raised)


def _fits_by_definition(one: Node, body: dict[str, Any]) -> bool:
    """The contract's own words, without a thought for speed or reasons."""
    asked = request(**body)
    pods = one.pods
    no_pod = pods is not None and 0 in (pods.available, pods.total if pods.available is None else None)
    enough_cpu = asked.cpu is None or _at_least(one.cpu.available_millicores, asked.cpu.minimum_millicores)
    enough_memory = asked.memory is None or _at_least(one.memory.available_bytes, asked.memory.minimum_bytes)
    if not (one.ready and one.schedulable and enough_cpu and enough_memory) or no_pod:
        return False
    if "gpu" not in body:
        return True
    eligible = [each for each in one.devices if _is_eligible(each, body["gpu"])]
    kinds = {(each.resource, each.vendor, each.model) for each in eligible}
    return any(
        _cards(each for each in eligible if (each.resource, each.vendor, each.model) == kind) >= body["gpu"]["count"]
        if body["gpu"]["count"] > 1
        else True
        for kind in kinds
    )


def _is_eligible(one: Device, gpu: dict[str, Any]) -> bool:
    memory, compute = gpu.get("minimum_memory_mib"), gpu.get("minimum_compute_percent")
    to_give = one.memory_available_mib if one.largest_free_mib is None else one.largest_free_mib
    amounts = (
        (one.memory_available_mib, one.memory_total_mib),
        (one.compute_available_percent, one.compute_total_percent),
    )
    unused = (
        one.slots_available is not None
        and one.slots_available == one.slots_total
        and all(free == total for free, total in amounts if None not in (free, total))
    )
    is_whole = unused and one.mode != "mig" and not one.pool
    gets_all = (one.slots_total or 0) > 1 and (memory is None or (compute or 0) >= 100) and not one.pool
    known_zeros = (
        to_give == 0
        or (to_give is None and one.memory_total_mib == 0)
        or one.compute_available_percent == 0
        or (one.compute_available_percent is None and one.compute_total_percent == 0)
    )
    return (
        ("vendor" not in gpu or one.vendor == "NVIDIA")
        and one.healthy
        and (one.slots_available or 0) > 0
        and (is_whole if gpu["sharing"] == "whole" else True)
        and (unused if gets_all else True)
        and not (one.pool and gpu["count"] > 1)
        and not known_zeros
        and (memory is None or _at_least(to_give, memory))
        and (compute is None or _at_least(one.compute_available_percent, compute))
    )


def _at_least(free: int | None, asked: int) -> bool:
    return free is not None and free >= asked


def _cards(eligible: Any) -> int:
    return len({each.card if each.card is not None else ("own", each.id) for each in eligible})


@pytest.mark.parametrize("its_devices", [[], [device(healthy=False)]])
def test_taint_is_told_beside_devices_that_can_not_serve(its_devices: list[Device]) -> None:
    tainted = node(*its_devices, taints=[Taint(key="dedicated", value="ml", effect="NoSchedule")])

    assert "untolerated_taint" in [reason.reason for reason in reasons(tainted, gpu={})]


@pytest.mark.parametrize(("total", "reason"), [(49, "insufficient_gpu_compute"), (50, "unknown_gpu_compute")])
def test_total_that_is_just_enough_leaves_what_is_free_unknown(total: int, reason: str) -> None:
    unknown = node(device(compute=(None, total)))

    assert reason in [one.reason for one in reasons(unknown, gpu={"minimum_compute_percent": 50})]
