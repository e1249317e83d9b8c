"""What providers come to, in whatever order they answer, and whatever is remembered of earlier searches."""

import gc
from typing import Any

import msgspec
import pytest
from arbitrary import federations, requests
from factories import device, devices, node, request
from fakes.registry_table import a_record
from hypothesis import given, settings
from hypothesis import strategies as st

from chalicelib import comparison as comparisons
from chalicelib.calls import Reply
from chalicelib.compared import Compared
from chalicelib.comparison import Comparison
from chalicelib.inventories import Answered, Known, ProviderEntry
from fedcompute.demand import MOST_KNOWN_DEMANDS, Demand
from fedcompute.inventory import Inventory, Node
from fedcompute.rejections import Bar, Rejections
from fedcompute.request import SearchRequest
from fedcompute.survey import SurveyedNode


def known_of(having: dict[str, list[Node]]) -> list[Known]:
    """What a process knows of such providers."""
    bodies = {name: msgspec.json.encode(Inventory(provider_id=name, nodes=nodes)) for name, nodes in having.items()}
    return [Known(name, "http://lab.test", '"1"', body) for name, body in bodies.items()]


def found(wanted: SearchRequest, knowns: list[Known], *, is_remembered: bool = True) -> dict[str, Any]:
    """What these providers come to, when they answer in this order."""
    comparison = Comparison(wanted, Demand.of(wanted))
    for known in knowns:
        name = known.provider_id
        entry = ProviderEntry(id=name, name=name, outcome="not_modified")
        memory = known if is_remembered else None
        comparison.add(Answered(a_record(name), entry, Reply("not_modified"), known.confirmed(), known=memory))
    return {
        "best": [(one.record.id, fit.node.name, fit.score, fit.devices) for one, fit in comparison.best],
        "total": comparison.total,
        "rejections": comparison.rejections.tally().answer(explain=True),
        "is_busy": comparison.is_busy and not comparison.total,
    }


@settings(max_examples=60)
@given(federations(), st.lists(requests, min_size=1, max_size=3), st.integers(1, 3), st.data())
def test_order_of_answers_and_earlier_searches_change_nothing(
    having: dict[str, list[Node]], asked: list[SearchRequest], limit: int, data: st.DataObject
) -> None:
    knowns = known_of(having)
    asked = [one.model_copy(update={"limit": limit}) for one in asked]
    expected = [found(one, knowns, is_remembered=False) for one in asked]

    for _ in range(3):
        for one, answer in zip(asked, expected, strict=True):
            assert found(one, data.draw(st.permutations(knowns))) == answer


def test_same_request_of_the_same_inventory_is_not_compared_again(monkeypatch: pytest.MonkeyPatch) -> None:
    knowns = known_of({"a": [node(*devices(2))], "b": [node(cpu=(1, 1))]})
    wanted = request(gpu={}, cpu=2)
    first = found(wanted, knowns)

    with monkeypatch.context() as patch:
        patch.setattr(comparisons, "_outcome", None)
        again = found(wanted, knowns)

    assert again == first
    assert again["total"] == 1


@pytest.mark.parametrize(
    "other",
    [
        {"gpu": {"count": 2}, "cpu": 2},
        {"gpu": {}, "cpu": 3},
        {"gpu": {}, "cpu": 2, "memory": 1},
        {"gpu": {}, "cpu": 2, "strategy": "spread"},
        {"gpu": {}, "cpu": 2, "limit": 1},
        {"gpu": {}, "cpu": 2, "tolerations": [{"operator": "Exists"}]},
    ],
)
def test_another_request_is_compared_for_itself(other: dict[str, Any]) -> None:
    knowns = known_of({"a": [node(*devices(2), name="n1"), node(device(card="c"), device("2", card="c"), name="n2")]})
    found(request(gpu={}, cpu=2), knowns)

    assert found(request(**other), knowns) == found(request(**other), knowns, is_remembered=False)


def test_of_each_provider_few_requests_are_remembered() -> None:
    (known,) = known_of({"a": [node()]})

    for amount in range(1, 50):
        found(request(cpu=amount), [known])

    assert len(known._compared) == 2
    assert all(known.compared(question) is not None for question in known._compared)


def test_demand_is_let_go_of_though_what_nodes_came_to_is_kept() -> None:
    knowns = known_of({"a": [node(*devices(2)), node(cpu=(1, 1), name="n2")]})
    for cpu in range(1, 20):
        found(request(gpu={}, cpu=cpu), knowns)

    demands = [one for one in gc.get_objects() if isinstance(one, Demand)]

    assert len(demands) <= MOST_KNOWN_DEMANDS


def test_node_and_what_it_came_to_are_freed_without_the_collector() -> None:
    wanted = request(gpu={}, cpu=2)
    (known,) = known_of({"a": [node(*devices(2)), node(cpu=(1, 1), name="n2")]})
    found(wanted, [known])
    before = surveyed_nodes()

    gc.disable()
    try:
        del known
        left = surveyed_nodes()
    finally:
        gc.enable()

    assert before - left == 2


def surveyed_nodes() -> int:
    return sum(isinstance(one, SurveyedNode) for one in gc.get_objects())


NEARER, BAR, FARTHER = (1, 0.5, "a", "n"), (2, 0.0, "a", "n"), (2, 0.0, "b", "n")


@pytest.mark.parametrize(
    ("then", "now", "is_enough"),
    [
        ((None, None), (None, None), True),
        ((None, None), (0.5, BAR), True),
        ((0.5, None), (None, None), False),
        ((0.5, None), (0.4, None), False),
        ((0.5, None), (0.5, None), True),
        ((0.5, None), (0.6, BAR), True),
        ((None, BAR), (None, None), False),
        ((None, BAR), (0.9, FARTHER), False),
        ((None, BAR), (None, BAR), True),
        ((None, BAR), (None, NEARER), True),
        ((0.5, BAR), (0.5, FARTHER), False),
        ((0.5, BAR), (0.4, BAR), False),
    ],
)
def test_what_is_remembered_is_enough_where_no_more_than_then_can_be_shown(
    then: tuple[float | None, Bar | None], now: tuple[float | None, Bar | None], is_enough: bool
) -> None:
    assert Compared([], 0, Rejections(), None, *then).is_enough(*now) == is_enough


def test_it_is_busy_where_one_node_would_fit_if_nothing_ran_on_it_and_another_never_would() -> None:
    knowns = known_of({"a": [node(cpu=(1, 8)), node(cpu=(1, 1), name="small")]})

    assert [found(request(cpu=cpu), knowns)["is_busy"] for cpu in (4, 9)] == [True, False]
