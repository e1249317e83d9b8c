"""Whether a node could hold a request at another time: idle, and with nothing that ails it."""

from typing import Any

import pytest
from arbitrary import request_bodies, sound_nodes
from factories import UNKNOWN, demand, device, devices, fits, node, shared
from hypothesis import given
from msgspec import Struct, structs

from fedcompute.feasibility import would_fit_when_idle
from fedcompute.inventory import Node, Taint
from fedcompute.survey import survey


@pytest.mark.parametrize(
    ("one", "asked"),
    [
        pytest.param(node(ready=False), {"cpu": 1}, id="not ready"),
        pytest.param(node(schedulable=False), {"cpu": 1}, id="cordoned"),
        pytest.param(node(pods=(0, 110)), {"cpu": 1}, id="no free pod"),
        pytest.param(node(cpu=(0, 64)), {"cpu": 64}, id="cpu in use"),
        pytest.param(node(cpu=(None, 64)), {"cpu": 64}, id="free cpu unknown"),
        pytest.param(node(memory=(0, 64)), {"memory": 64}, id="memory in use"),
        pytest.param(node(device(healthy=False)), {"gpu": {}}, id="unhealthy"),
        pytest.param(node(device(slots=(0, 1))), {"gpu": {}}, id="no free slot"),
        pytest.param(node(device(slots=(None, 1))), {"gpu": {}}, id="free slots unknown"),
        pytest.param(node(shared(slots=(9, 10), memory=(1, 40000))), {"gpu": {}}, id="a share in use"),
        pytest.param(
            node(shared(memory=(0, 40000), compute=(0, 100))),
            {"gpu": {"minimum_memory_mib": 40000, "minimum_compute_percent": 100}},
            id="memory and compute in use",
        ),
        pytest.param(node(device(largest_free_mib=5000)), {"gpu": {"minimum_memory_mib": 40000}}, id="cut into pieces"),
        pytest.param(
            node(device(slots=(0, 1), memory=UNKNOWN, largest_free_mib=5000)),
            {"gpu": {"minimum_memory_mib": 5000}},
            id="of memory nothing but the largest free block is known",
        ),
    ],
)
def test_what_passes_makes_a_node_busy(one: Node, asked: dict[str, Any]) -> None:
    assert not fits(one, **asked)
    assert would_fit_when_idle(survey(one), demand(**asked))


@pytest.mark.parametrize(
    ("one", "asked"),
    [
        pytest.param(node(taints=[Taint(key="dedicated", effect="NoSchedule")]), {"cpu": 1}, id="tainted"),
        pytest.param(node(pods=(0, 0)), {"cpu": 1}, id="no pods"),
        pytest.param(node(cpu=(1, 64)), {"cpu": 65}, id="too little cpu in all"),
        pytest.param(node(memory=(1, 64)), {"memory": 65}, id="too little memory in all"),
        pytest.param(node(), {"gpu": {}}, id="no device"),
        pytest.param(node(device()), {"gpu": {"count": 2}}, id="too few devices"),
        pytest.param(node(device(vendor="AMD")), {"gpu": {"vendor": "NVIDIA"}}, id="another vendor's"),
        pytest.param(node(device(mode="mig", slots=(0, 1))), {"gpu": {}}, id="a slice, where a whole one is asked for"),
        pytest.param(node(device(pool=True, slots=(0, 8))), {"gpu": {"count": 2, "sharing": "any"}}, id="a pool"),
        pytest.param(node(device(memory=(1, 40000))), {"gpu": {"minimum_memory_mib": 40001}}, id="too small a card"),
        pytest.param(node(device(compute=(1, 100))), {"gpu": {"minimum_compute_percent": 101}}, id="too slow a card"),
        pytest.param(
            node(*[device(name, card="c", mode="mig", slots=(0, 1)) for name in "ab"]),
            {"gpu": {"count": 2, "minimum_memory_mib": 1}},
            id="two slices of one card",
        ),
    ],
)
def test_what_stays_makes_a_node_unfit_for_ever(one: Node, asked: dict[str, Any]) -> None:
    assert not would_fit_when_idle(survey(one), demand(**asked))


def test_what_is_free_counts_as_all_there_is_where_the_total_is_unknown() -> None:
    one = node(cpu=(8, None), memory=UNKNOWN, ready=False)

    assert would_fit_when_idle(survey(one), demand(cpu=8))
    assert not would_fit_when_idle(survey(one), demand(cpu=9))
    assert not would_fit_when_idle(survey(one), demand(memory=1))


@given(sound_nodes(), request_bodies())
def test_node_that_fits_would_fit_when_idle_too(one: Node, body: dict[str, Any]) -> None:
    if fits(one, **body):
        assert would_fit_when_idle(survey(one), demand(**body))


@given(sound_nodes(), request_bodies())
def test_node_is_judged_as_the_idle_node_that_it_would_be(one: Node, body: dict[str, Any]) -> None:
    idle = structs.replace(
        one,
        ready=True,
        schedulable=True,
        cpu=_idle(one.cpu),
        memory=_idle(one.memory),
        pods=one.pods and _idle(one.pods),
        devices=[_idle(structs.replace(device, healthy=True, largest_free_mib=None)) for device in one.devices],
    )

    # Where a largest free block is known, it is all that there is to give; this test has no second way to say so.
    if all(device.largest_free_mib is None for device in one.devices):
        assert would_fit_when_idle(survey(one), demand(**body)) == fits(idle, **body)


def test_devices_of_a_kind_are_made_idle_once_however_many_there_are() -> None:
    wanted = demand(gpu={"count": 9})

    for name in ("n1", "n2"):
        assert not would_fit_when_idle(survey(node(*devices(8, slots=(0, 1)), name=name)), wanted)

    assert wanted.gpu is not None
    assert len(wanted.gpu.idle) == 1


def _idle[Part: Struct](part: Part) -> Part:
    """With each available amount at its total, where that is known."""
    totals = {
        name.replace("_total", "_available").replace("total", "available"): getattr(part, name)
        for name in part.__struct_fields__
        if "total" in name
    }
    return structs.replace(part, **{name: total for name, total in totals.items() if total is not None})
