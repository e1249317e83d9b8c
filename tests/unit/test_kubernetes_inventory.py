"""When a cluster is read, who shares a read, and what is served where it can't be read."""

import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import msgspec
import pytest

from chalicelib.cluster_errors import ClusterError
from chalicelib.inventory_reply import Observation
from chalicelib.kubernetes_inventory import KubernetesInventory
from fedcompute.errors import Problem
from fedcompute.inventory import Inventory, Node

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
FRESH_MS = 5000


def later(milliseconds: int) -> datetime:
    return NOON + timedelta(milliseconds=milliseconds)


class Reads:
    """Stands in for the reading of a cluster."""

    def __init__(self) -> None:
        self.count = 0
        self.nodes = ["n1"]
        self.error: Exception | None = None

    def __call__(self, now: datetime) -> Inventory:
        self.count += 1
        if self.error is not None:
            raise self.error
        nodes = [Node(name=name, ready=True, schedulable=True) for name in self.nodes]
        return Inventory(provider_id="lab", source="kubernetes", nodes=nodes)


@pytest.fixture
def reads() -> Reads:
    return Reads()


@pytest.fixture
def source(reads: Reads) -> KubernetesInventory:
    return KubernetesInventory(reads, FRESH_MS)


def names(observation: Observation) -> list[str]:
    return [node.name for node in told(observation).nodes]


def told(observation: Observation) -> Inventory:
    return msgspec.json.decode(observation.inventory.body, type=Inventory)


def test_young_inventory_is_served_again_as_of_its_reading(source: KubernetesInventory, reads: Reads) -> None:
    first = source.observe(NOON)
    reads.nodes = ["n2"]

    second = source.observe(later(FRESH_MS))

    assert reads.count == 1
    assert second == first
    assert second.observed_at == NOON


def test_old_inventory_is_read_again(source: KubernetesInventory, reads: Reads) -> None:
    source.observe(NOON)
    reads.nodes = ["n2"]

    observation = source.observe(later(FRESH_MS + 1))

    assert names(observation) == ["n2"]
    assert observation.observed_at == later(FRESH_MS + 1)


def test_inventory_of_a_clock_that_was_ahead_is_read_again(source: KubernetesInventory, reads: Reads) -> None:
    source.observe(later(3_600_000))

    source.observe(NOON)

    assert reads.count == 2


def test_tag_depends_on_content_and_not_on_time(source: KubernetesInventory, reads: Reads) -> None:
    first = source.observe(NOON)
    unchanged = source.observe(later(10_000))
    reads.nodes = ["n2"]
    changed = source.observe(later(20_000))

    assert unchanged.inventory.etag == first.inventory.etag
    assert changed.inventory.etag != first.inventory.etag


def test_cluster_that_was_never_read_is_unavailable_with_the_reason(source: KubernetesInventory, reads: Reads) -> None:
    reads.error = ClusterError("The API server is on holiday.")

    with pytest.raises(Problem) as caught:
        source.observe(NOON, 86_400_000)

    assert (caught.value.code, caught.value.detail) == ("inventory_unavailable", "The API server is on holiday.")
    assert caught.value.headers == {"Retry-After": "1"}


def test_last_good_inventory_is_served_where_the_caller_allows_its_age(
    source: KubernetesInventory, reads: Reads
) -> None:
    source.observe(NOON)
    reads.error = ClusterError("The API server is on holiday.")

    observation = source.observe(later(60_000), 60_000)

    assert names(observation) == ["n1"]
    assert observation.observed_at == NOON
    assert [(one.code, one.message) for one in told(observation).warnings] == [
        ("stale", "this is what the cluster said before: The API server is on holiday.")
    ]


@pytest.mark.parametrize("max_age_ms", [0, 59_999])
def test_last_good_inventory_is_not_served_to_who_wants_a_younger_one(
    source: KubernetesInventory, reads: Reads, max_age_ms: int
) -> None:
    source.observe(NOON)
    reads.error = ClusterError("The API server is on holiday.")

    with pytest.raises(Problem, match="holiday"):
        source.observe(later(60_000), max_age_ms)


def test_failure_is_not_remembered(source: KubernetesInventory, reads: Reads) -> None:
    reads.error = ClusterError("The API server is on holiday.")
    with pytest.raises(Problem):
        source.observe(NOON)
    reads.error = None

    assert names(source.observe(NOON)) == ["n1"]


def test_mistake_in_the_code_is_not_taken_for_the_clusters(source: KubernetesInventory, reads: Reads) -> None:
    source.observe(NOON)
    reads.error = ZeroDivisionError()

    with pytest.raises(ZeroDivisionError):
        source.observe(later(60_000), 86_400_000)


class Gate(Reads):
    """A reading that waits until it may go on, and tells that it has begun."""

    def __init__(self) -> None:
        super().__init__()
        self.begun, self.go_on = threading.Event(), threading.Event()

    def __call__(self, now: datetime) -> Inventory:
        self.begun.set()
        assert self.go_on.wait(10)
        return super().__call__(now)


@pytest.mark.parametrize("error", [None, ClusterError("The API server is on holiday.")])
def test_callers_at_the_same_time_share_one_read_and_its_end(error: Exception | None) -> None:
    gate = Gate()
    gate.error = error
    source = KubernetesInventory(gate, FRESH_MS)

    def call(number: int) -> object:
        try:
            return source.observe(later(number)).inventory.etag
        except Problem as problem:
            return problem.detail

    with ThreadPoolExecutor(8) as pool:
        first = pool.submit(call, 0)
        assert gate.begun.wait(10)
        others = [pool.submit(call, number) for number in range(1, 8)]
        gate.go_on.set()
        results = {first.result(10), *(other.result(10) for other in others)}

    assert len(results) == 1
    assert gate.count == 1 or error is not None
