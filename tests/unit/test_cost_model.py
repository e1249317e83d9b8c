"""The cost model against arithmetic by hand, and what must hold whatever the constants are."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chalicelib.division import MOST_AT_ONCE, parts_for
from chalicelib.gateway_settings import GatewaySettings
from scripts.cost_model import MOST_PARTS, PROVIDERS_EACH, Case, Constants, cost, fitted, parts_of

MEASURED = Constants(search=2.0, provider=0.1, node=0.01)


def test_a_search_costs_what_it_costs_by_hand() -> None:
    # CPU: 2 + 100 x 0.1 + 100 x 20 x 0.01 = 32 ms. Wall: 5 (registry) + 50 (one wave) + 32. Memory: 1769 / 1024 GB.
    found = cost(Case(providers=100, nodes=20, latency_ms=50, memory_mb=1769), MEASURED)

    assert found.cpu_ms == pytest.approx(32)
    assert found.wall_ms == pytest.approx(87)
    assert found.gb_seconds == pytest.approx(1769 / 1024 * 0.087)
    # A million: 150,297 GB-s at 0.0000166667 = 2.505; 0.20 invocations, 3.50 API calls, 0.125 reads.
    assert found.dollars == pytest.approx(2.505 + 0.20 + 3.50 + 0.125, abs=0.001)


def test_more_providers_than_connections_wait_for_a_second_wave() -> None:
    one = cost(Case(500, 0, 50, 1769), Constants(0, 0, 0))
    two = cost(Case(501, 0, 50, 1769), Constants(0, 0, 0))

    assert (one.wall_ms, two.wall_ms) == (55, 105)


def test_half_a_core_takes_twice_as_long_for_its_own_work() -> None:
    whole = cost(Case(100, 20, 0, 1769), MEASURED)
    half = cost(Case(100, 20, 0, 1769 // 2), MEASURED)

    assert half.wall_ms - 5 == pytest.approx(2 * (whole.wall_ms - 5), rel=0.01)


def test_parts_share_the_time_and_add_up_in_money() -> None:
    whole = cost(Case(1000, 10, 50, 1769), MEASURED)
    divided = cost(Case(1000, 10, 50, 1769, parts=4), MEASURED)

    assert divided.wall_ms < whole.wall_ms
    assert divided.gb_seconds > 0
    assert divided.dollars > whole.dollars - 1e6 * whole.gb_seconds * 0.0000166667  # never below what calls alone cost


def test_what_is_sent_to_others_costs_cpu_too() -> None:
    # 1000 providers of 0.1 ms each in 4 parts: 250 stay, and of each of the 750 that are sent 0.03 ms are spent on the way.
    divided = cost(Case(1000, 0, 0, 1769, parts=4), Constants(search=0, provider=0.1, node=0))

    assert divided.cpu_ms == pytest.approx(1000 * 0.1 + 750 * 0.03)


@given(st.integers(1, 6000), st.integers(1, 2000))
def test_searches_are_divided_in_the_model_as_they_are_by_the_gateway(providers: int, each: int) -> None:
    assert parts_of(providers, each) == parts_for(providers, each)


def test_models_defaults_are_the_gateways() -> None:
    assert GatewaySettings.model_fields["search_part_providers"].default == PROVIDERS_EACH
    assert MOST_PARTS == MOST_AT_ONCE + 1


@given(
    st.tuples(*[st.floats(0.001, 10)] * 3).map(lambda values: Constants(*values)),
)
def test_fitting_finds_the_constants_that_made_the_measurements(constants: Constants) -> None:
    shapes = [(3, 4), (30, 20), (100, 20), (300, 5)]
    measured = [(p, n, constants.search + constants.provider * p + constants.node * p * n) for p, n in shapes]

    assert fitted(measured) == pytest.approx(constants, rel=1e-4, abs=1e-5)


def test_too_few_shapes_are_refused() -> None:
    with pytest.raises(ValueError, match="three measurements"):
        fitted([(3, 4, 1.0), (3, 4, 1.0)])
