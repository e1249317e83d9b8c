"""What an answer tells of the nodes that do not fit."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedcompute.reasons import Reason
from fedcompute.rejections import Rejections, lack

NOT_READY = Reason("node_not_ready")
HALF = Reason("insufficient_cpu", 50, 100)  # short by a half of what is needed
TENTH = Reason("insufficient_memory", 90, 100)


def tally(*added: tuple[str, str, list[Reason]]) -> Rejections:
    rejections = Rejections()
    for provider_id, node, reasons in added:
        if rejections.add(provider_id, node, tuple(reason.reason for reason in reasons)):
            rejections.keep(provider_id, node, reasons)
    return rejections


def nearest(rejections: Rejections) -> list[tuple[str, str]]:
    return [(entry["provider_id"], entry["node"]) for entry in rejections.tally().answer(explain=True)["nearest"]]


def test_reasons_are_counted_by_node_the_most_frequent_first() -> None:
    found = tally(("a", "1", [NOT_READY, HALF]), ("a", "2", [HALF]), ("b", "1", [TENTH])).tally().answer(explain=True)

    assert found["nodes"] == 3
    assert list(found["by_reason"].items()) == [
        ("insufficient_cpu", 2),
        ("insufficient_memory", 1),
        ("node_not_ready", 1),
    ]


def test_lack_is_the_sum_of_what_is_short_over_what_is_needed() -> None:
    unknown = Reason("unknown_gpu_memory", None, 30000, 1)

    assert lack([NOT_READY, HALF, unknown]) == pytest.approx(0.5)
    assert lack([HALF, TENTH]) == pytest.approx(0.6)  # 50/100 + 10/100


def test_fewest_reasons_are_nearest_then_the_least_lack_then_provider_and_node() -> None:
    rejections = tally(
        ("b", "x", [TENTH]),
        ("a", "two", [NOT_READY, TENTH]),
        ("a", "z", [TENTH]),
        ("a", "half", [HALF]),
        ("a", "y", [TENTH]),
    )

    assert nearest(rejections) == [("a", "y"), ("a", "z"), ("b", "x"), ("a", "half"), ("a", "two")]


def test_five_nodes_at_most_are_near() -> None:
    rejections = tally(*[("a", f"n{place}", [HALF]) for place in reversed(range(9))])

    assert nearest(rejections) == [("a", "n0"), ("a", "n1"), ("a", "n2"), ("a", "n3"), ("a", "n4")]


def test_entry_has_what_there_is_what_is_needed_and_how_many_devices() -> None:
    eight = Reason("insufficient_gpu_memory", 20000, 30000, 8)

    (entry,) = tally(("a", "gpu-02", [eight, NOT_READY])).tally().answer(explain=True)["nearest"]

    assert entry == {
        "provider_id": "a",
        "node": "gpu-02",
        "reasons": [
            {"reason": "insufficient_gpu_memory", "have": 20000, "need": 30000, "short_by": 10000, "devices": 8},
            {"reason": "node_not_ready", "have": None, "need": None, "short_by": None, "devices": None},
        ],
    }


def test_without_explanation_nothing_is_near_but_all_is_counted() -> None:
    found = tally(("a", "1", [HALF])).tally().answer(explain=False)

    assert found == {"nodes": 1, "by_reason": {"insufficient_cpu": 1}, "nearest": []}


def test_nothing_rejected_is_told_as_nothing() -> None:
    assert Rejections().tally().answer(explain=True) == {"nodes": 0, "by_reason": {}, "nearest": []}


reason_lists = st.lists(st.sampled_from([NOT_READY, HALF, TENTH]), min_size=1, max_size=3, unique=True)
added = st.lists(
    st.tuples(st.sampled_from(["a", "b"]), st.integers(0, 20).map(str), reason_lists),
    max_size=15,
    unique_by=lambda entry: entry[:2],
)


@given(added, st.data())
def test_tallies_are_the_same_in_any_order_and_however_they_are_split(
    entries: list[tuple[str, str, list[Reason]]], data: st.DataObject
) -> None:
    shuffled = data.draw(st.permutations(entries))
    cut = data.draw(st.integers(0, len(entries)))
    merged = tally(*shuffled[:cut])
    merged.merge(tally(*shuffled[cut:]))

    assert merged.tally().answer(explain=True) == tally(*entries).tally().answer(explain=True)
    expected = sorted(entries, key=lambda entry: (len(entry[2]), lack(entry[2]), entry[0], entry[1]))[:5]
    assert nearest(merged) == [(provider_id, name) for provider_id, name, _ in expected]
