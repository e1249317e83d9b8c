"""A search from the event that API Gateway sends to the answer that it gets: registry, providers, matching and ranking."""

import json
import re
import resource
import socket
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from chalice.test import Client
from contracts.answer_shapes import CHECK, RESOURCES, check_search, check_shape
from fakes.bad_providers import BadProviders
from fakes.gateway import FOLDER, PROVIDERS, SEARCH, Answer, Gateway
from fakes.gateway import RESOURCES as RESOURCES_ROUTE
from fakes.inventories import a_device, a_node
from fakes.patience import in_time
from fakes.provider_fleet import Lab, ProviderFleet
from fakes.registry_table import a_record
from fakes.scripted_client import ScriptedClient

from chalicelib import comparison, inventories
from chalicelib.items import item_of
from chalicelib.registry import Registry

GIB = 1 << 30


def found(answer: Answer) -> dict[str, Any]:
    """A search's answer of 200, after the strict check."""
    assert answer.status == 200, answer.text
    assert answer.headers["content-type"] == "application/json"
    body = answer.json
    check_search(body)
    assert isinstance(body, dict)
    return body


def nodes_of(body: dict[str, Any]) -> list[str]:
    return [candidate["node"]["name"] for candidate in body["candidates"]]


def outcomes_of(body: dict[str, Any]) -> dict[str, str]:
    return {entry["id"]: entry["outcome"] for entry in body["providers"]}


def codes_of(warnings: list[dict[str, Any]]) -> list[str]:
    return [warning["code"] for warning in warnings]


def utc(moment: datetime) -> str:
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def join(gateway: Gateway, fleet: ProviderFleet, provider_id: str, *nodes: dict[str, Any], **fields: Any) -> Lab:
    """A provider of the fleet that the gateway knows; `fields` are its record's. Its node is named like itself."""
    gateway.register(provider_id, fleet.base_url(provider_id), **fields)
    return fleet.add(provider_id, *(nodes or (a_node(f"node-of-{provider_id}"),)))


# The answer


def test_answer_has_the_documented_shape(gateway: Gateway, fleet: ProviderFleet) -> None:
    join(gateway, fleet, "a", a_node("fits"), a_node("busy", a_device(slots_available=0)))
    join(gateway, fleet, "b", a_node("taken", taints=[{"key": "k", "value": "v", "effect": "NoSchedule"}], pods=None))

    body = found(
        gateway.search(
            gpu={"minimum_memory_mib": 20000, "vendor": "nvidia", "model": "A100"},
            cpu={"minimum_millicores": 4000},
            memory={"minimum_bytes": 16 * GIB},
            tolerations=[{"key": "other"}],
        )
    )

    assert nodes_of(body) == ["fits"]
    assert body["feasibility"] == "feasible"
    assert not body["partial"]
    assert body["rejections"]["by_reason"] == {
        "no_free_gpu_slot": 1,
        "insufficient_gpu_count": 1,
        "untolerated_taint": 1,
    }
    assert [near["node"] for near in body["rejections"]["nearest"]] == ["taken", "busy"]


def test_request_is_told_as_understood_with_every_default(gateway: Gateway) -> None:
    body = found(gateway.search(gpu={"vendor": "NVIDIA Corporation"}))

    assert body["request"] == {
        "gpu": {
            "count": 1,
            "minimum_memory_mib": None,
            "minimum_compute_percent": None,
            "vendor": "NVIDIA",
            "model": None,
            "sharing": "whole",
        },
        "cpu": None,
        "memory": None,
        "tolerations": [],
        "strategy": "best-fit",
        "limit": 20,
        "deadline_ms": 8000,
        "providers": {"include": [], "exclude": [], "labels": {}},
        "partial": "allow",
        "explain": True,
    }
    assert body["strategy"] == {"name": "best-fit", "weights": {"gpu_count": 3.0}}


def test_candidate_says_where_its_numbers_come_from(gateway: Gateway, fleet: ProviderFleet) -> None:
    lab = join(gateway, fleet, "a", name="Research Lab A")
    observed = datetime.now(UTC) - timedelta(seconds=90)
    lab.observed_at = utc(observed)
    lab.inventory["observed_at"] = "2020-01-01T00:00:00Z"

    body = found(gateway.search())

    provenance = body["candidates"][0]["provenance"]
    age_ms = provenance.pop("age_ms")
    assert 90_000 <= age_ms <= 90_000 + 10_000
    assert datetime.fromisoformat(provenance.pop("observed_at")) == datetime.fromisoformat(lab.observed_at)
    assert provenance == {
        "provider_id": "a",
        "provider_name": "Research Lab A",
        "base_url": fleet.base_url("a"),
        "source": "static",
        "etag": lab.etag(),
    }


def test_body_tells_when_it_was_observed_where_the_header_does_not(gateway: Gateway, fleet: ProviderFleet) -> None:
    lab = join(gateway, fleet, "a")
    lab.observed_at = None
    lab.inventory["observed_at"] = "2026-01-01T02:00:00+02:00"

    body = found(gateway.search())

    observed_at = body["candidates"][0]["provenance"]["observed_at"]
    assert datetime.fromisoformat(observed_at) == datetime(2026, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize("text", ["yesterday", "2026-01-01T00:00:00", "", "2026-99-01T00:00:00Z"])
def test_time_that_is_none_is_unknown(gateway: Gateway, fleet: ProviderFleet, text: str) -> None:
    lab = join(gateway, fleet, "a")
    lab.observed_at = None
    lab.inventory["observed_at"] = text

    provenance = found(gateway.search())["candidates"][0]["provenance"]

    assert (provenance["observed_at"], provenance["age_ms"]) == (None, None)


@pytest.mark.parametrize(("ahead_s", "codes"), [(120, ["clock_skew"]), (30, [])])
def test_observation_from_the_future_is_a_warning_and_no_negative_age(
    gateway: Gateway, fleet: ProviderFleet, ahead_s: int, codes: list[str]
) -> None:
    lab = join(gateway, fleet, "a")
    lab.observed_at = utc(datetime.now(UTC) + timedelta(seconds=ahead_s))

    body = found(gateway.search())

    assert body["candidates"][0]["provenance"]["age_ms"] == 0
    assert codes_of(body["warnings"]) == codes_of(body["providers"][0]["warnings"]) == codes
    assert all(warning["provider_id"] == "a" for warning in body["warnings"])


def test_what_was_left_out_of_an_inventory_is_among_the_warnings(gateway: Gateway, fleet: ProviderFleet) -> None:
    join(gateway, fleet, "a", a_node("good"), a_node("liar", cpu={"total_millicores": 1, "available_millicores": 2}))

    body = found(gateway.search())

    assert nodes_of(body) == ["good"]
    assert [(one["code"], one["provider_id"], one["node"]) for one in body["warnings"]] == [
        ("invalid_node", "a", "liar")
    ]
    assert body["providers"][0]["nodes"] == 1


def test_providers_own_warnings_are_told(gateway: Gateway, fleet: ProviderFleet) -> None:
    lab = join(gateway, fleet, "a", a_node("n", warnings=[{"code": "stale_gpu", "message": "old\x1b[31m"}]))
    lab.inventory["warnings"] = [{"code": "half", "message": "half of the cluster was read", "provider_id": "b"}]

    body = found(gateway.search())

    told = [(one["code"], one["message"], one["provider_id"], one["node"]) for one in body["warnings"]]
    assert told == [("half", "half of the cluster was read", "a", None), ("stale_gpu", "old[31m", "a", "n")]


def test_limit_cuts_the_candidates_and_not_their_count(gateway: Gateway, fleet: ProviderFleet) -> None:
    join(gateway, fleet, "a", *(a_node(f"n{number}") for number in range(7)))

    body = found(gateway.search(limit=2))

    assert (nodes_of(body), body["total_candidates"]) == (["n0", "n1"], 7)


def test_explain_false_leaves_out_the_nearest_and_keeps_the_counts(gateway: Gateway, fleet: ProviderFleet) -> None:
    join(gateway, fleet, "a")

    body = found(gateway.search(cpu={"minimum_millicores": 10**9}, explain=False))

    assert body["rejections"] == {"nodes": 1, "by_reason": {"insufficient_cpu": 1}, "nearest": []}


def test_headers_tell_where_the_time_went(gateway: Gateway, fleet: ProviderFleet) -> None:
    join(gateway, fleet, "a")

    timing = gateway.search().headers["server-timing"]

    parts = [re.fullmatch(r"(\w+);dur=(\d+\.\d+)", part) for part in timing.split(", ")]
    assert sorted(part[1] for part in parts if part) == ["encode", "fanout", "match", "rank", "registry"]


def test_chalices_test_client_gets_the_same_answer(gateway: Gateway, fleet: ProviderFleet) -> None:
    join(gateway, fleet, "a")
    with Client(gateway.app, project_dir=str(FOLDER)) as client:
        response = client.http.post(
            SEARCH,
            headers={"Host": "localhost", "Content-Type": "application/json"},
            body=json.dumps({"cpu": {"minimum_millicores": 1}}).encode(),
        )

    assert response.status_code == 200
    check_search(response.json_body)
    assert nodes_of(response.json_body) == ["node-of-a"]


def test_gateway_that_makes_its_own_client_finds_the_table(
    dynamodb: Any, table: str, fleet: ProviderFleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    gateway = Gateway(monkeypatch, REGISTRY_TABLE=table)
    join(gateway, fleet, "a")

    assert nodes_of(found(gateway.search())) == ["node-of-a"]


# Feasibility


def test_nothing_registered_is_unknown_with_a_warning(gateway: Gateway) -> None:
    body = found(gateway.search())

    assert (body["feasibility"], body["partial"], body["providers"]) == ("unknown", False, [])
    assert codes_of(body["warnings"]) == ["no_providers"]


@pytest.mark.parametrize(
    ("node", "feasibility"),
    [
        (a_node(), "feasible"),
        (a_node(cpu={"total_millicores": 64000, "available_millicores": 10}), "busy"),
        (a_node(ready=False), "busy"),
        (a_node(cpu={"total_millicores": 500, "available_millicores": 500}), "infeasible"),
    ],
)
def test_feasibility_when_all_answer(
    gateway: Gateway, fleet: ProviderFleet, node: dict[str, Any], feasibility: str
) -> None:
    join(gateway, fleet, "a", node)

    assert found(gateway.search())["feasibility"] == feasibility


@pytest.mark.parametrize(
    ("node", "feasibility"),
    [
        (a_node(), "feasible"),
        (a_node(ready=False), "busy"),
        (a_node(cpu={"total_millicores": 500, "available_millicores": 500}), "unknown"),
    ],
)
def test_feasibility_when_one_does_not_answer(
    gateway: Gateway, fleet: ProviderFleet, node: dict[str, Any], feasibility: str
) -> None:
    join(gateway, fleet, "a", node)
    join(gateway, fleet, "b").status = 500

    body = found(gateway.search())

    assert (body["feasibility"], body["partial"]) == (feasibility, True)


# Revalidation


def test_second_search_revalidates_and_finds_the_same(gateway: Gateway, fleet: ProviderFleet) -> None:
    lab = join(gateway, fleet, "a", a_node("n1"), a_node("n2"))

    first, second = found(gateway.search()), found(gateway.search())

    assert fleet.requests[1].headers["if-none-match"] == lab.etag()
    assert [outcomes_of(body) for body in (first, second)] == [{"a": "ok"}, {"a": "not_modified"}]
    for body in (first, second):
        for candidate in body["candidates"]:
            candidate["provenance"].pop("age_ms")
    assert first["candidates"] == second["candidates"]
    assert [body["providers"][0]["http_status"] for body in (first, second)] == [200, 304]
    assert second["providers"][0]["nodes"] == 2


def test_inventory_is_read_when_it_comes_and_not_again_when_it_is_confirmed(
    gateway: Gateway, fleet: ProviderFleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    join(gateway, fleet, "a")
    times_read = counted(monkeypatch, "read_surveyed", "read_again")

    counts = []
    for _ in range(4):
        found(gateway.search())
        counts.append(sum(times_read.values()))

    assert counts == [1, 1, 1, 1]


def counted(monkeypatch: pytest.MonkeyPatch, *names: str) -> Counter[str]:
    """How often each way of reading is gone."""
    times: Counter[str] = Counter()
    for name in names:
        read = getattr(inventories, name)

        def noted(*arguments: Any, name: str = name, read: Any = read) -> Any:
            times[name] += 1
            return read(*arguments)

        monkeypatch.setattr(inventories, name, noted)
    return times


@pytest.mark.parametrize("is_tagged", [True, False])
def test_inventory_that_comes_again_whole_is_not_read_again(
    gateway: Gateway, fleet: ProviderFleet, monkeypatch: pytest.MonkeyPatch, is_tagged: bool
) -> None:
    lab = join(gateway, fleet, "a", a_node("n1"), a_node("n2"))
    lab.confirms, lab.sends_etag = False, is_tagged
    times_read = counted(monkeypatch, "read_surveyed", "read_again")

    answers = [found(gateway.search()) for _ in range(4)]

    assert times_read == {"read_again": 2 if is_tagged else 1}  # who has a tag was expected to confirm, once
    assert [answer["providers"][0]["http_status"] for answer in answers] == [200] * 4
    for answer in answers:
        for candidate in answer["candidates"]:
            candidate["provenance"].pop("age_ms")
    assert all(answer["candidates"] == answers[0]["candidates"] for answer in answers)


def test_revalidated_inventory_is_as_old_as_its_provider_says_now(gateway: Gateway, fleet: ProviderFleet) -> None:
    lab = join(gateway, fleet, "a")
    gateway.search()
    lab.observed_at = "2026-06-01T00:00:00Z"

    body = found(gateway.search())

    assert outcomes_of(body) == {"a": "not_modified"}
    assert body["candidates"][0]["provenance"]["observed_at"] == "2026-06-01T00:00:00Z"


def test_changed_inventory_is_in_the_next_search(gateway: Gateway, fleet: ProviderFleet) -> None:
    lab = join(gateway, fleet, "a", a_node("old"))
    gateway.search()
    lab.inventory["nodes"] = [a_node("new")]

    body = found(gateway.search())

    assert (nodes_of(body), outcomes_of(body)) == (["new"], {"a": "ok"})
    assert body["candidates"][0]["provenance"]["etag"] == lab.etag()


def test_only_the_node_that_changed_is_compared_again(
    gateway: Gateway, fleet: ProviderFleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    lab = join(gateway, fleet, "a", a_node("n1"), a_node("n2"), a_node("n3"))
    gateway.search()
    gateway.search()
    compared: list[str] = []

    def noted(one: Any, demand: Any) -> Any:
        compared.append(one.node.name)
        return judge(one, demand)

    judge = comparison.judge
    monkeypatch.setattr(comparison, "judge", noted)
    lab.inventory["nodes"][1] = a_node("n2", ready=False)

    body = found(gateway.search())

    assert compared == ["n2"]
    assert (sorted(nodes_of(body)), body["rejections"]["by_reason"]) == (["n1", "n3"], {"node_not_ready": 1})


def test_inventory_that_was_kept_is_not_served_unasked(gateway: Gateway, fleet: ProviderFleet) -> None:
    lab = join(gateway, fleet, "a", timeout_ms=100)
    join(gateway, fleet, "b")
    gateway.search()
    lab.is_held = True

    body = found(gateway.search())

    assert outcomes_of(body) == {"a": "timeout", "b": "not_modified"}
    assert nodes_of(body) == ["node-of-b"]


def test_inventory_of_another_address_is_not_revalidated(gateway: Gateway, fleet: ProviderFleet) -> None:
    join(gateway, fleet, "a")
    gateway.search()
    fleet.add("moved", a_node("elsewhere")).inventory["provider_id"] = "a"
    gateway.call("PATCH", f"{PROVIDERS}/a", {"base_url": fleet.base_url("moved")})

    body = found(gateway.search())

    assert (nodes_of(body), outcomes_of(body)) == (["elsewhere"], {"a": "ok"})
    assert "if-none-match" not in fleet.requests[-1].headers


def test_provider_without_entity_tags_is_asked_for_all_each_time(gateway: Gateway, fleet: ProviderFleet) -> None:
    join(gateway, fleet, "a").sends_etag = False

    bodies = [found(gateway.search()) for _ in range(2)]

    assert [outcomes_of(body) for body in bodies] == [{"a": "ok"}, {"a": "ok"}]
    assert bodies[1]["candidates"][0]["provenance"]["etag"] is None


# Providers that fail


@pytest.fixture
def nobody() -> Iterator[str]:
    """The address of a provider that was stopped."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{bound.getsockname()[1]}"


def test_stopped_hung_and_garbled_providers_cost_the_healthy_ones_nothing(
    gateway: Gateway, fleet: ProviderFleet, nobody: str
) -> None:
    join(gateway, fleet, "healthy-1")
    join(gateway, fleet, "healthy-2")
    join(gateway, fleet, "hung").is_held = True
    join(gateway, fleet, "garbled").body = b"<html>"
    gateway.register("stopped", nobody)

    body = in_time(300, lambda: found(gateway.search(deadline_ms=300)))

    assert nodes_of(body) == ["node-of-healthy-1", "node-of-healthy-2"]
    assert body["partial"]
    assert body["took_ms"] <= 300 + 150
    answered = outcomes_of(body)
    assert answered["healthy-1"] in ("ok", "not_modified")
    assert (answered["hung"], answered["garbled"], answered["stopped"]) == (
        "deadline_exceeded",
        "not_json",
        "unreachable",
    )


def test_each_failure_is_told_in_words_with_its_status(gateway: Gateway, fleet: ProviderFleet) -> None:
    join(gateway, fleet, "failing").status = 500
    join(gateway, fleet, "slow", timeout_ms=100).is_held = True
    join(gateway, fleet, "moved").status = 301
    join(gateway, fleet, "impostor").inventory["provider_id"] = "somebody-else"
    join(gateway, fleet, "modern").inventory["schema_version"] = 2
    gateway.register("gone", fleet.base_url("gone"))

    body = found(gateway.search())

    told = {entry["id"]: (entry["outcome"], entry["http_status"], entry["message"]) for entry in body["providers"]}
    assert told == {
        "failing": ("http_status", 500, "answered with status 500"),
        "gone": ("http_status", 404, "answered with status 404"),
        "impostor": ("identity_mismatch", 200, "answered as 'somebody-else'"),
        "modern": ("unsupported_schema", 200, "schema_version 2; this gateway reads 1"),
        "moved": ("redirected", 301, "answered with a redirect (301); redirects are not followed"),
        "slow": ("timeout", None, "no answer within 100 ms"),
    }


def test_every_provider_required_and_one_missing_is_503_with_the_whole_answer(
    gateway: Gateway, fleet: ProviderFleet
) -> None:
    join(gateway, fleet, "a")
    join(gateway, fleet, "b").status = 500

    answer = gateway.search(partial="require_all")

    assert (answer.status, answer.headers["content-type"]) == (503, "application/json")
    assert int(answer.headers["retry-after"]) >= 1
    check_search(answer.json)
    assert nodes_of(answer.json) == ["node-of-a"]
    assert answer.json["partial"]


def test_every_provider_required_and_none_missing_is_200(gateway: Gateway, fleet: ProviderFleet) -> None:
    join(gateway, fleet, "a")

    assert found(gateway.search(partial="require_all"))["request"]["partial"] == "require_all"


def test_misbehaving_neighbour_changes_nothing_in_the_candidates(
    gateway: Gateway, fleet: ProviderFleet, bad: BadProviders
) -> None:
    join(gateway, fleet, "b", a_node("n1"), a_node("n2"))
    before = found(gateway.search())["candidates"]
    for name in ("gzip-bomb", "endless-headers", "deep-nesting", "resets-in-the-body"):
        gateway.register(name, bad.base_url(name))

    after = found(gateway.search())["candidates"]

    assert [(one["node"], one["score"], one["rank"]) for one in after] == [
        (one["node"], one["score"], one["rank"]) for one in before
    ]


# Which providers are asked


def test_filters_choose_the_providers(gateway: Gateway, fleet: ProviderFleet) -> None:
    join(gateway, fleet, "a", labels={"region": "eu", "tier": "1"})
    join(gateway, fleet, "b", labels={"region": "eu"})
    join(gateway, fleet, "c", labels={"region": "us"})
    join(gateway, fleet, "d", labels={"region": "eu", "tier": "1"}, enabled=False)

    def asked(**filters: Any) -> list[str]:
        return [entry["id"] for entry in found(gateway.search(providers=filters))["providers"]]

    assert asked() == ["a", "b", "c"]
    assert asked(include=["c", "a"]) == ["a", "c"]
    assert asked(exclude=["b"]) == ["a", "c"]
    assert asked(include=["a", "b"], exclude=["a"]) == ["b"]
    assert asked(labels={"region": "eu"}) == ["a", "b"]
    assert asked(labels={"region": "eu", "tier": "1"}) == ["a"]
    assert asked(include=["a", "c"], labels={"region": "us"}) == ["c"]
    assert {seen.provider_id for seen in fleet.requests} == {"a", "b", "c"}


def test_unknown_id_is_a_warning(gateway: Gateway, fleet: ProviderFleet) -> None:
    join(gateway, fleet, "a")

    body = found(gateway.search(providers={"include": ["a", "nobody"], "exclude": ["no-one"]}))

    assert [(one["code"], one["provider_id"]) for one in body["warnings"]] == [
        ("unknown_provider", "no-one"),
        ("unknown_provider", "nobody"),
    ]
    assert outcomes_of(body) == {"a": "ok"}


def test_filters_that_leave_nobody_are_unknown_with_a_warning(gateway: Gateway, fleet: ProviderFleet) -> None:
    join(gateway, fleet, "a", enabled=False)

    body = found(gateway.search(providers={"include": ["a"]}))

    assert (body["feasibility"], body["partial"], body["providers"]) == ("unknown", False, [])
    assert "no_providers" in codes_of(body["warnings"])
    assert fleet.requests == []


def test_provider_registered_a_moment_ago_is_in_the_next_search_and_a_removed_one_is_not(
    gateway: Gateway, fleet: ProviderFleet
) -> None:
    join(gateway, fleet, "a")
    assert outcomes_of(found(gateway.search())) == {"a": "ok"}

    join(gateway, fleet, "b")
    assert outcomes_of(found(gateway.search())) == {"a": "not_modified", "b": "ok"}

    gateway.call("DELETE", f"{PROVIDERS}/a")
    assert outcomes_of(found(gateway.search())) == {"b": "not_modified"}


@pytest.mark.parametrize("written", ["{}", "{}/"])
def test_base_url_with_a_path_is_joined_with_one_slash(gateway: Gateway, fleet: ProviderFleet, written: str) -> None:
    fleet.add("a")
    gateway.register("a", written.format(fleet.base_url("a")))

    body = found(gateway.search())

    assert outcomes_of(body) == {"a": "ok"}
    assert fleet.requests[0].path == "/p/a/api/v1/inventory"


def test_two_records_may_share_an_address_and_each_is_asked(gateway: Gateway, fleet: ProviderFleet) -> None:
    join(gateway, fleet, "a")
    gateway.register("b", fleet.base_url("a"))

    assert outcomes_of(found(gateway.search())) == {"a": "ok", "b": "identity_mismatch"}


def test_two_thousand_six_hundred_providers_are_all_in_the_next_search(
    gateway: Gateway, fleet: ProviderFleet, dynamodb: Any, table: str
) -> None:
    ids = [f"p{number:04}" for number in range(2600)]
    items = [item_of(a_record(one, base_url=fleet.base_url(one), timeout_ms=20_000), "seed") for one in ids]
    # As the table would answer; moto takes seconds to write so many items down.
    client = ScriptedClient(dynamodb, query=[lambda call: {"Items": items}])
    gateway.module.gateway.registry = Registry(lambda: client, table)
    for one in ids:
        fleet.add(one, a_node(f"node-of-{one}"))
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (1024 + 512, hard))  # as on Lambda, and the providers' own ends

    try:
        body = found(gateway.search(deadline_ms=25_000, limit=100))
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))

    assert outcomes_of(body) == dict.fromkeys(ids, "ok")
    assert body["total_candidates"] == 2600
    assert fleet.most_open <= 512


# Check


def test_check_tells_how_asking_went_and_what_is_there(gateway: Gateway, fleet: ProviderFleet) -> None:
    node = a_node("n1", a_device("used", slots_available=9), a_device("unused"))
    join(gateway, fleet, "a", node, a_node("n2", a_device("other")))

    answer = gateway.call("POST", f"{PROVIDERS}/a/check")

    assert answer.status == 200
    check_shape(answer.json, CHECK)
    assert (answer.json["provider"]["id"], answer.json["provider"]["outcome"]) == ("a", "ok")
    assert answer.json["inventory"] == {
        "source": "static",
        "observed_at": "2026-01-01T00:00:00Z",
        "nodes": 2,
        "devices": 3,
        "devices_unused": 2,
    }


def test_check_asks_for_all_of_it_also_when_a_search_has_it(gateway: Gateway, fleet: ProviderFleet) -> None:
    join(gateway, fleet, "a")
    gateway.search()

    answer = gateway.call("POST", f"{PROVIDERS}/a/check")

    assert answer.json["provider"]["outcome"] == "ok"
    assert "if-none-match" not in fleet.requests[-1].headers


def test_check_of_a_disabled_provider_asks_it(gateway: Gateway, fleet: ProviderFleet) -> None:
    join(gateway, fleet, "a", enabled=False)

    assert gateway.call("POST", f"{PROVIDERS}/a/check").json["provider"]["outcome"] == "ok"


def test_check_of_a_hung_provider_ends_by_the_providers_own_timeout(gateway: Gateway, fleet: ProviderFleet) -> None:
    join(gateway, fleet, "a", timeout_ms=150).is_held = True

    answer = in_time(150, lambda: gateway.call("POST", f"{PROVIDERS}/a/check"))

    assert answer.status == 200
    check_shape(answer.json, CHECK)
    assert answer.json["provider"]["outcome"] == "timeout"
    assert answer.json["provider"]["message"] == "no answer within 150 ms"
    assert answer.json["inventory"] is None
    assert answer.json["timings_ms"]["total"] >= 150


def test_check_of_nobody_is_404(gateway: Gateway) -> None:
    answer = gateway.call("POST", f"{PROVIDERS}/nobody/check")

    assert (answer.status, answer.problem["code"]) == (404, "provider_not_found")


# Resources


def test_resources_add_up_what_is_known_and_count_what_is_not(gateway: Gateway, fleet: ProviderFleet) -> None:
    pool = a_device(
        "pool", memory_available_mib=None, memory_total_mib=16384, slots_total=4, slots_available=1, pool=True
    )
    sick = a_device("sick", vendor="AMD", model="MI300X", healthy=False, slots_total=1, slots_available=0)
    join(
        gateway,
        fleet,
        "a",
        a_node("n1", a_device("whole"), pool, cpu={"total_millicores": 8000, "available_millicores": 5000}),
    )
    join(gateway, fleet, "b", a_node("n2", sick, cpu={"total_millicores": 4000, "available_millicores": None}))
    join(gateway, fleet, "off", enabled=False)

    answer = gateway.call("GET", RESOURCES_ROUTE)

    body = answer.json
    assert answer.status == 200
    check_shape(body, RESOURCES)
    assert body["totals"]["nodes"] == 2
    assert body["totals"]["cpu"] == {"total_millicores": 12000, "available_millicores": 5000, "unknown": 1}
    assert body["totals"]["memory"] == {"total_bytes": 1080 * GIB, "available_bytes": 600 * GIB, "unknown": 0}
    assert body["totals"]["devices"] == {
        "count": 3,
        "healthy": 2,
        "unused": 1,
        "slots_total": 15,
        "slots_available": 11,
        "memory_total_mib": 40960 + 16384 + 40960,
        "memory_available_mib": 40960 + 40960,
        "unknown": 1,
    }
    assert [(one["provider_id"], one["devices"]["count"]) for one in body["by_provider"]] == [("a", 2), ("b", 1)]
    assert [(one["vendor"], one["devices"]["count"]) for one in body["by_vendor"]] == [("AMD", 1), ("NVIDIA", 2)]
    assert [(one["vendor"], one["model"]) for one in body["by_model"]] == [
        ("AMD", "MI300X"),
        ("NVIDIA", "NVIDIA A100-SXM4-40GB"),
    ]
    assert (outcomes_of(body), body["partial"]) == ({"a": "ok", "b": "ok"}, False)


def test_resources_of_those_who_answer_are_partial_when_one_does_not(gateway: Gateway, fleet: ProviderFleet) -> None:
    join(gateway, fleet, "a")
    join(gateway, fleet, "b").status = 500

    body = gateway.call("GET", RESOURCES_ROUTE).json

    check_shape(body, RESOURCES)
    assert body["partial"]
    assert [one["provider_id"] for one in body["by_provider"]] == ["a"]
    assert outcomes_of(body) == {"a": "ok", "b": "http_status"}


def test_resources_of_an_empty_registry_are_nothing(gateway: Gateway) -> None:
    body = gateway.call("GET", RESOURCES_ROUTE).json

    check_shape(body, RESOURCES)
    assert body["totals"]["devices"]["count"] == 0
    assert not body["partial"]


# Request ids and the log


@pytest.mark.parametrize("given", ["abc_DEF-123", "x" * 64])
def test_callers_own_request_id_is_kept_where_it_is_plain(gateway: Gateway, given: str) -> None:
    answer = gateway.call("GET", "/health", headers={"X-Request-Id": given})

    assert answer.headers["x-request-id"] == given


@pytest.mark.parametrize("given", ["", "x" * 65, "a b", 'a"b', "ä", "a\n", "a\nb"])
def test_other_request_ids_are_replaced(gateway: Gateway, given: str) -> None:
    answer = gateway.call("GET", "/health", headers={"X-Request-Id": given})

    assert answer.headers["x-request-id"] != given
    assert re.fullmatch(r"[A-Za-z0-9_-]{1,64}", answer.headers["x-request-id"])


def test_each_request_is_one_line_of_json_in_the_log(
    gateway: Gateway, fleet: ProviderFleet, capsys: pytest.CaptureFixture[str]
) -> None:
    join(gateway, fleet, "a")
    join(gateway, fleet, "b").status = 500
    capsys.readouterr()

    answer = gateway.call(
        "POST",
        SEARCH,
        {"cpu": {"minimum_millicores": 1}, "providers": {"exclude": ["hidden-in-the-body"]}},
        {"Authorization": "Bearer fc_id_hidden-in-a-header", "X-Request-Id": "mine"},
    )

    written = capsys.readouterr()
    (line,) = [json.loads(line) for line in written.err.splitlines()]
    assert written.out == ""
    assert "hidden" not in written.err
    assert (line["event"], line["request_id"], line["method"], line["path"]) == ("request", "mine", "POST", SEARCH)
    assert (line["status"], line["level"], line["app"]) == (200, "INFO", "gateway")
    assert line["search_id"] == answer.json["search_id"]
    assert line["outcomes"] == {"ok": 1, "http_status": 1}
    assert set(line["timings_ms"]) == {"registry", "fanout", "match", "rank", "encode"}
    assert line["took_ms"] > 0


def test_fault_in_matching_is_internal_for_that_provider_and_in_the_log(
    gateway: Gateway, fleet: ProviderFleet, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    join(gateway, fleet, "a")
    join(gateway, fleet, "b")
    best_fit_of = comparison.best_fit_of

    def breaks(node: Any, *arguments: Any) -> Any:
        if node.name == "node-of-a":
            raise ZeroDivisionError("on purpose")
        return best_fit_of(node, *arguments)

    monkeypatch.setattr(comparison, "best_fit_of", breaks)
    capsys.readouterr()

    body = found(gateway.search())

    logged = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    assert outcomes_of(body) == {"a": "internal", "b": "ok"}
    assert nodes_of(body) == ["node-of-b"]
    assert [line["event"] for line in logged] == ["fanout", "request"]
    assert logged[0]["provider_id"] == "a"
    assert "ZeroDivisionError: on purpose" in logged[0]["traceback"]
    assert "on purpose" not in json.dumps(body)
