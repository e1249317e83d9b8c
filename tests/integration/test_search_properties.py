"""What holds of any federation and any request, through registry, fan-out, matching and ranking."""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from random import Random
from typing import Any

import msgspec
import pytest
from arbitrary import request_bodies, sound_nodes
from factories import devices, node, request
from fakes.bad_providers import BadProviders
from fakes.fault_outcomes import OUTCOME_OF, SLOW
from fakes.provider_fleet import ProviderFleet
from fakes.registry_table import a_provider, a_table
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec import structs

from chalicelib.addresses import AddressPolicy, Reach
from chalicelib.asking import Asking
from chalicelib.division import Division
from chalicelib.fanout import Fanout
from chalicelib.inventories import Inventories
from chalicelib.registry import Registry
from chalicelib.search import search
from fedcompute.inventory import Node
from fedcompute.request import SearchRequest

SIZE = settings(
    max_examples=int(os.environ.get("SEARCH_EXAMPLES", "15")),
    deadline=None,
    database=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
PATIENT_MS, HUNG_MS = 10_000, 100
FAILING = sorted(fault for fault, outcome in OUTCOME_OF.items() if outcome != "ok")
QUICK = sorted(set(FAILING) - set(SLOW))

IDLE, SMALL = node(*devices(4)), node(*devices(2))
TAKEN = node(*devices(4, slots=(0, 1), memory=(0, 40000), compute=(0, 100)), cpu=(0, 64000), memory=(0, 1 << 39))

type Federation = Mapping[str, Sequence[Node]]


@st.composite
def federations(draw: st.DrawFn) -> Federation:
    """Up to four providers that have nodes of few kinds, so that many a score is another's too."""
    chance = Random(draw(st.integers(0, 1 << 32)))  # a large federation is as likely as a small one
    kinds = [IDLE, IDLE, SMALL, TAKEN, draw(sound_nodes())]
    return {
        provider_id: [structs.replace(chance.choice(kinds), name=f"n{at}") for at in range(chance.randint(0, 4))]
        for provider_id in "abcd"[: chance.randint(2, 4)]
    }


@st.composite
def searches(draw: st.DrawFn) -> SearchRequest:
    """Half of them fit many nodes; not all candidates are shown."""
    chance = Random(draw(st.integers(0, 1 << 32)))
    body = draw(request_bodies())
    easy = chance.choice([{"gpu": {}}, {"cpu": 1}, {"memory": 1}, body])
    return request(**{**easy, "strategy": body["strategy"]}, limit=chance.choice([1, 3, 5, 20]))


class Providers:
    """Those of a fleet, and registries that have them."""

    def __init__(self, dynamodb: Any, fleet: ProviderFleet) -> None:
        self._dynamodb = dynamodb
        self._fleet = fleet

    @contextmanager
    def registered(
        self, federation: Federation, order: Sequence[str], failing: Mapping[str, str] | None = None
    ) -> Iterator[Registry]:
        """A registry in which all were registered in this order; `failing` has the addresses of those that fail."""
        addresses = failing or {}
        for provider_id, nodes in federation.items():
            self._fleet.add(provider_id).inventory["nodes"] = msgspec.to_builtins(list(nodes))
        with a_table(self._dynamodb) as table:
            registry = Registry(lambda: self._dynamodb, table)
            for one in order:
                url, timeout_ms = addresses.get(one, self._fleet.base_url(one)), PATIENT_MS
                if one in addresses:
                    timeout_ms = HUNG_MS
                registry.create(a_provider(one, base_url=url, timeout_ms=timeout_ms))
            yield registry


@pytest.fixture
def providers(dynamodb: Any, fleet: ProviderFleet) -> Providers:
    return Providers(dynamodb, fleet)


@pytest.fixture(scope="module")
def wide() -> Fanout:
    """All calls at once."""
    return a_fanout(threads=2, connections=64)


@pytest.fixture(scope="module")
def narrow() -> Fanout:
    """One call after the other."""
    return a_fanout(threads=1, connections=1)


def a_fanout(threads: int, connections: int) -> Fanout:
    return Fanout(
        AddressPolicy(Reach.ANY), threads=threads, connections=connections, most_body_bytes=1 << 20, on_error=print
    )


def a_process(fanout: Fanout) -> Division:
    """What a process of the gateway has, which has not asked anybody yet."""
    return Division(Asking(fanout, Inventories()), None, 1000, lambda *_: None)


def found(process: Division, registry: Registry, wanted: SearchRequest) -> dict[str, Any]:
    """An answer as its caller reads it, without what time and chance make of it."""
    answer = msgspec.json.decode(msgspec.json.encode(search(wanted, registry, process).answer))
    for entry in answer["providers"]:
        entry["took_ms"] = 0
        entry["outcome"] = entry["outcome"].replace("not_modified", "ok")
        entry["http_status"] = 200 if entry["http_status"] == 304 else entry["http_status"]
    for candidate in answer["candidates"]:
        candidate["provenance"]["age_ms"] = 0
    assert isinstance(answer, dict)
    return {**answer, "search_id": "", "took_ms": 0}


@SIZE
@given(federation=federations(), wanted=searches(), data=st.data())
def test_order_of_registration_makes_no_difference(
    providers: Providers, wide: Fanout, federation: Federation, wanted: SearchRequest, data: st.DataObject
) -> None:
    other = data.draw(st.permutations(sorted(federation)))

    with providers.registered(federation, sorted(federation)) as registry:
        first = found(a_process(wide), registry, wanted)
    with providers.registered(federation, other) as registry:
        second = found(a_process(wide), registry, wanted)

    assert first == second


@SIZE
@given(federation=federations(), wanted=searches())
def test_same_search_has_the_same_answer_whoever_asks_and_however_answers_come(
    providers: Providers, wide: Fanout, narrow: Fanout, federation: Federation, wanted: SearchRequest
) -> None:
    process = a_process(wide)

    with providers.registered(federation, sorted(federation)) as registry:
        first = found(process, registry, wanted)
        again = found(process, registry, wanted)
        elsewhere = found(a_process(narrow), registry, wanted)

    assert first == again == elsewhere


@SIZE
@given(federation=federations(), wanted=searches(), data=st.data())
def test_provider_that_fails_changes_nothing_in_the_results_of_the_others(
    providers: Providers,
    bad: BadProviders,
    wide: Fanout,
    federation: Federation,
    wanted: SearchRequest,
    data: st.DataObject,
) -> None:
    # Below, between and above the others' ids; slow faults more rarely, as each costs its time.
    faults = st.one_of(st.sampled_from(QUICK), st.sampled_from(QUICK), st.sampled_from(FAILING))
    added = data.draw(st.dictionaries(st.sampled_from(["0", "aa", "bb", "z"]), faults, min_size=1, max_size=2))
    failing = {provider_id: bad.base_url(fault) for provider_id, fault in added.items()}
    order = data.draw(st.permutations([*federation, *added]))

    with providers.registered(federation, sorted(federation)) as registry:
        alone = found(a_process(wide), registry, wanted)
    with providers.registered(federation, order, failing) as registry:
        beside = found(a_process(wide), registry, wanted)

    its_own = {entry["id"]: entry["outcome"] for entry in beside["providers"] if entry["id"] in added}
    assert sorted(its_own) == sorted(added)
    assert "ok" not in its_own.values()
    assert [entry for entry in beside["providers"] if entry["id"] not in added] == alone["providers"]
    for member in ("candidates", "total_candidates", "rejections", "warnings"):
        assert beside[member] == alone[member]
    assert beside["feasibility"] == alone["feasibility"].replace("infeasible", "unknown")
