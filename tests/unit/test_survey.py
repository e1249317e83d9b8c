"""Devices of a kind are found again, judged once, and not remembered without end."""

import msgspec
import pytest
from arbitrary import sound_nodes
from factories import demand, device, devices, node, shared
from hypothesis import given
from msgspec import structs

from fedcompute import demand as demands
from fedcompute import survey as surveys
from fedcompute.explanation import match
from fedcompute.inventory import Device, Node
from fedcompute.matching import judge
from fedcompute.survey import share_texts, survey


@given(sound_nodes())
def test_devices_that_are_alike_are_of_one_kind_in_every_survey(one: Node) -> None:
    again = structs.replace(one, devices=[structs.replace(each, id=f"{each.id}+") for each in one.devices])

    first, second = survey(one), survey(again)

    assert all(kind is same for kind, same in zip(first.kinds, second.kinds, strict=True))


@pytest.mark.parametrize(
    "changed",
    [
        {"healthy": False},
        {"slots_available": 0},
        {"slots_total": 11},
        {"memory_available_mib": 1},
        {"memory_total_mib": 50000},
        {"compute_available_percent": 1},
        {"compute_total_percent": 200},
        {"largest_free_mib": 1},
        {"mode": "mig"},
        {"pool": True},
        {"resource": "amd.com/gpu"},
        {"vendor": "AMD"},
        {"model": "NVIDIA H100"},
    ],
)
def test_devices_that_differ_in_what_is_compared_are_of_two_kinds(changed: dict[str, object]) -> None:
    one, other = survey(node(shared(), structs.replace(shared(), **changed))).kinds

    assert one is not other


def test_make_is_told_where_all_devices_share_it() -> None:
    alike = survey(node(*devices(2)))
    mixed = survey(node(device("1"), device("2", model="NVIDIA H100")))

    assert alike.make is not None
    assert alike.make.key == ("nvidia.com/gpu", "NVIDIA", "NVIDIA A100")
    assert (mixed.make, survey(node()).make) == (None, None)


def test_kinds_are_forgotten_when_there_are_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(surveys, "MOST_KINDS", 10)

    for amount in range(100):
        survey(node(device(memory=(amount, 40000))))

    assert len(surveys._kinds) <= 11


def test_makes_are_forgotten_with_the_kinds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(surveys, "MOST_KINDS", 10)

    for number in range(100):
        survey(node(device(model=f"Model {number}")))

    assert len(surveys._makes) <= 11


@given(sound_nodes())
def test_sharing_texts_changes_nothing_that_a_device_says(one: Node) -> None:
    before = [structs.asdict(each) for each in one.devices]

    share_texts([survey(one)])

    assert [structs.asdict(each) for each in one.devices] == before


def test_devices_of_a_kind_share_their_texts() -> None:
    bodies = msgspec.json.encode([device("1", model="A model of its own"), device("2", model="A model of its own")])
    one = node(*msgspec.json.decode(bodies, type=list[Device]))

    share_texts([survey(one)])

    first, second = one.devices
    assert first.model is second.model
    assert first.memory_total_mib is second.memory_total_mib


@pytest.mark.parametrize(
    ("broken", "are_believed"), [({}, True), ({"memory_available_mib": 40001}, False), ({"slots_available": 2}, False)]
)
def test_kinds_are_sound_where_each_is(broken: dict[str, object], are_believed: bool) -> None:
    one = survey(node(device("1"), structs.replace(device("2"), **broken)))

    assert surveys.are_sound(one.kinds) == are_believed


def test_what_is_known_of_kinds_outlives_a_search() -> None:
    asked = {"gpu": {"minimum_memory_mib": 54321}}
    judge(survey(node(device())), demand(**asked))

    known = demand(**asked).gpu

    assert known is not None
    assert list(known.failures.values()) == ["insufficient_gpu_memory"]


def test_what_is_known_of_kinds_is_forgotten_when_it_is_too_much(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demands, "MOST_KNOWN_KINDS", 10)
    asked = {"gpu": {"minimum_memory_mib": 12345}}

    for amount in range(100):
        judge(survey(node(device(memory=(amount, 40000)))), demand(**asked))

    known = demand(**asked).gpu
    assert known is not None
    assert len(known.failures) <= 11


def test_demands_that_differ_do_not_share_what_they_know() -> None:
    one = node(device(memory=(20000, 40000)))

    assert not match(one, demand(gpu={"minimum_memory_mib": 20000})).reasons
    assert match(one, demand(gpu={"minimum_memory_mib": 20001})).reasons
    assert not match(one, demand(gpu={"minimum_memory_mib": 20000})).reasons
