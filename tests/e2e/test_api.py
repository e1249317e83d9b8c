"""The gateway's API, unchanged on `chalice local`, the emulator and LocalStack: scripts/e2e.py says which one it is.

What differs between them stands in docs/testing.md; here it is in ODDITIES and nowhere else.
"""

import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

import pytest
import requests
from contracts.answer_shapes import check_search
from fakes.host_providers import chalice_provider, hanging_provider, large_provider
from fakes.prometheus import lint, value_of

TARGET = os.environ.get("E2E_TARGET", "")
GATEWAY = os.environ.get("E2E_GATEWAY", "")
REFERENCE = os.environ.get("E2E_REFERENCE", "")  # the gateway of `make dev`, with the same providers

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(not GATEWAY, reason="E2E_GATEWAY names no gateway; make test-e2e starts and deploys some"),
]

SEARCH = "/api/v1/resources/search"
PROVIDERS = "/api/v1/providers"
SAMPLE = {
    "gpu": {"minimum_memory_mib": 30000, "minimum_compute_percent": 50, "vendor": "NVIDIA"},
    "cpu": {"minimum_millicores": 4000},
    "memory": {"minimum_bytes": 17179869184},
}
LAB = {"id": "e2e-lab", "name": "Lab of the tests", "base_url": "http://127.0.0.1:1027", "timeout_ms": 1000}
LARGEST = 6_291_556  # bytes that Lambda hands on


def ask(method: str, path: str, body: Any = None, address: str = GATEWAY, **options: Any) -> requests.Response:
    with requests.Session() as session:
        session.trust_env = False
        if body is not None:
            options["json"] = body
        return session.request(method, address + path, timeout=40, **options)


def assert_problem(answer: requests.Response, status: int, code: str) -> Any:
    assert (answer.status_code, answer.headers["Content-Type"]) == (status, "application/problem+json"), answer.text
    problem = answer.json()
    assert (problem["status"], problem["code"]) == (status, code)
    assert problem["request_id"] == answer.headers["X-Request-Id"]
    return problem


@contextmanager
def registered(**fields: Any) -> Iterator[dict[str, Any]]:
    """A provider's record, for the block."""
    record = {**LAB, **fields}
    ask("DELETE", f"{PROVIDERS}/{record['id']}")
    answer = ask("POST", PROVIDERS, record)
    assert answer.status_code == 201, answer.text
    try:
        yield answer.json()
    finally:
        ask("DELETE", f"{PROVIDERS}/{record['id']}")


@pytest.fixture
def lab() -> Iterator[dict[str, Any]]:
    with registered() as record:
        yield record


class TestSearch:
    def test_answers_as_a_gateway_of_make_dev_does(self) -> None:
        here, there = (ask("POST", SEARCH, SAMPLE, address).json() for address in (GATEWAY, REFERENCE))

        assert here["candidates"]
        assert _ranking(here) == _ranking(there)
        assert here["rejections"] == there["rejections"]
        check_search(here)

    @pytest.mark.parametrize("strategy", ["best-fit", "most-available", "binpack", "spread"])
    def test_each_strategy_ranks_as_it_does_there(self, strategy: str) -> None:
        asked = {"gpu": {}, "strategy": strategy}

        assert _ranking(ask("POST", SEARCH, asked).json()) == _ranking(ask("POST", SEARCH, asked, REFERENCE).json())

    def test_second_search_revalidates_what_the_first_brought(self) -> None:
        ask("POST", SEARCH, SAMPLE)

        outcomes = {one["outcome"] for one in ask("POST", SEARCH, SAMPLE).json()["providers"]}

        assert outcomes <= {"ok", "not_modified"}

    def test_provider_that_is_gone_is_named_and_the_others_still_answer(self, lab: Any) -> None:
        answer = ask("POST", SEARCH, SAMPLE)

        found = answer.json()
        outcomes = {one["id"]: one["outcome"] for one in found["providers"]}
        assert (answer.status_code, found["partial"]) == (200, True)
        assert outcomes.pop(lab["id"]) == "unreachable"
        assert set(outcomes.values()) <= {"ok", "not_modified"}
        assert found["candidates"]

    def test_all_required_and_one_gone_is_503_with_the_same_body(self, lab: Any) -> None:
        answer = ask("POST", SEARCH, {**SAMPLE, "partial": "require_all"})

        assert answer.status_code == 503
        assert answer.headers["Retry-After"]
        assert answer.json()["candidates"]

    def test_deadline_ends_a_search_that_a_provider_holds_up(self) -> None:
        with hanging_provider() as address, registered(base_url=address, timeout_ms=20000) as record:
            began = time.monotonic()
            found = ask("POST", SEARCH, {**SAMPLE, "deadline_ms": 2000}).json()
            took_s = time.monotonic() - began

        outcomes = {one["id"]: one["outcome"] for one in found["providers"]}
        assert outcomes[record["id"]] == "deadline_exceeded"
        assert took_s < 5

    def test_deadline_beyond_what_api_gateway_waits_is_refused(self) -> None:
        problem = assert_problem(ask("POST", SEARCH, {**SAMPLE, "deadline_ms": 29001}), 422, "validation_failed")

        assert [one["pointer"] for one in problem["errors"]] == ["/deadline_ms"]

    def test_answer_beyond_six_megabytes_is_cut_and_says_so(self) -> None:
        asked = {"cpu": {"minimum_millicores": 1}, "limit": 100, "providers": {"include": [LAB["id"]]}}
        with (
            large_provider(LAB["id"], nodes=100, labels=200) as address,
            registered(base_url=address, timeout_ms=20000),
        ):
            answer = ask("POST", SEARCH, {**asked, "deadline_ms": 20000})

        found = answer.json()
        assert answer.status_code == 200
        assert len(json.dumps(answer.text)) < LARGEST
        assert 10 < len(found["candidates"]) < 100
        assert found["total_candidates"] == 100
        assert found["warnings"][0]["code"] == "answer_cut"

    def test_provider_that_runs_on_the_host_is_searched_too(self) -> None:
        with chalice_provider("e2e-host") as address, registered(id="e2e-host", base_url=address, timeout_ms=10000):
            checked = ask("POST", f"{PROVIDERS}/e2e-host/check").json()
            found = ask("POST", SEARCH, {**SAMPLE, "providers": {"include": ["e2e-host"]}}).json()

        assert checked["provider"]["outcome"] == "ok"
        assert {one["provenance"]["provider_id"] for one in found["candidates"]} == {"e2e-host"}


class TestRegistry:
    def test_record_is_told_with_its_place_and_its_tag(self) -> None:
        ask("DELETE", f"{PROVIDERS}/{LAB['id']}")

        made = ask("POST", PROVIDERS, LAB)
        found = ask("GET", f"{PROVIDERS}/{LAB['id']}")
        ask("DELETE", f"{PROVIDERS}/{LAB['id']}")

        assert made.status_code == 201
        assert made.headers["Location"] == f"{PROVIDERS}/{LAB['id']}"
        assert made.headers["ETag"] == found.headers["ETag"] == '"1"'
        assert found.json()["base_url"] == LAB["base_url"]

    def test_list_is_told_by_id_a_page_at_a_time(self, lab: Any) -> None:
        told: list[str] = []
        query: dict[str, Any] = {"limit": 1}
        while True:
            page = ask("GET", PROVIDERS, params=query).json()
            told += [one["id"] for one in page["providers"]]
            if page["next_token"] is None:
                break
            query["next_token"] = page["next_token"]

        assert told == sorted(told)
        assert lab["id"] in told

    def test_second_of_one_id_is_refused(self, lab: Any) -> None:
        assert_problem(ask("POST", PROVIDERS, LAB), 409, "provider_exists")

    def test_change_of_what_was_seen_is_made_and_of_what_was_not_is_refused(self, lab: Any) -> None:
        own = f"{PROVIDERS}/{lab['id']}"

        first = ask("PATCH", own, {"name": "Second name"}, headers={"If-Match": '"1"'})
        second = ask("PATCH", own, {"name": "Third name"}, headers={"If-Match": '"1"'})

        assert (first.status_code, first.headers["ETag"]) == (200, '"2"')
        assert_problem(second, 412, "version_conflict")
        assert ask("GET", own).json()["name"] == "Second name"

    def test_merge_patch_may_name_its_own_type(self, lab: Any) -> None:
        patch = json.dumps({"name": "By merge patch"})

        answer = ask(
            "PATCH", f"{PROVIDERS}/{lab['id']}", data=patch, headers={"Content-Type": "application/merge-patch+json"}
        )

        assert (answer.status_code, answer.json()["name"]) == (200, "By merge patch")

    def test_replacing_and_removing(self, lab: Any) -> None:
        own = f"{PROVIDERS}/{lab['id']}"

        replaced = ask("PUT", own, {"name": "Replaced", "base_url": LAB["base_url"]})
        removed = ask("DELETE", own)

        assert (replaced.status_code, replaced.json()["timeout_ms"]) == (200, 1500)
        assert (removed.status_code, removed.text) == (204, "")
        assert_problem(ask("GET", own), 404, "provider_not_found")

    def test_check_tells_how_asking_a_provider_went(self) -> None:
        checked = ask("POST", f"{PROVIDERS}/provider-a/check").json()

        assert checked["provider"]["outcome"] == "ok"
        assert checked["inventory"]["source"] == "static"
        assert set(checked["timings_ms"]) == {"dns", "connect", "tls", "first_byte", "total"}

    def test_gateway_itself_and_its_aws_endpoint_are_no_providers(self) -> None:
        parts = urlsplit(GATEWAY)
        for address in (GATEWAY, f"{parts.scheme}://{parts.netloc}"):
            assert_problem(ask("POST", PROVIDERS, {**LAB, "base_url": address}), 422, "validation_failed")

    @pytest.mark.skipif(TARGET == "local", reason="its DynamoDB has another port")
    def test_services_behind_the_emulators_port_are_no_providers(self) -> None:
        parts = urlsplit(GATEWAY)
        for path in ("/bucket/key", "/restapis/x", parts.path + "/more", parts.path.replace("/api/", "/api//")):
            address = f"{parts.scheme}://{parts.netloc}{path}"
            assert_problem(ask("POST", PROVIDERS, {**LAB, "base_url": address}), 422, "validation_failed")


class TestErrors:
    @pytest.mark.parametrize("body", ["{", '{"a": NaN}', "[" * 100_000])
    def test_body_that_is_no_json(self, body: str) -> None:
        answer = ask("POST", SEARCH, data=body, headers={"Content-Type": "application/json"})

        assert_problem(answer, 400, "malformed_json")

    def test_wrong_fields_are_all_told(self) -> None:
        problem = assert_problem(
            ask("POST", SEARCH, {"gpu": {"cuont": 1}, "strategy": "cheapest"}), 422, "validation_failed"
        )

        assert {one["pointer"] for one in problem["errors"]} == {"/gpu/cuont", "/strategy"}

    def test_type_that_is_not_json(self) -> None:
        answer = ask("POST", SEARCH, data="{}", headers={"Content-Type": "text/plain"})

        assert_problem(answer, 415, "unsupported_media_type")

    def test_body_beyond_the_cap(self) -> None:
        answer = ask("POST", SEARCH, {"gpu": {"model": "x" * 2_000_000}})

        assert_problem(answer, 413, "payload_too_large")

    def test_provider_that_is_not_registered(self) -> None:
        assert_problem(ask("GET", f"{PROVIDERS}/nobody"), 404, "provider_not_found")
        assert_problem(ask("POST", f"{PROVIDERS}/nobody/check"), 404, "provider_not_found")

    @pytest.mark.parametrize(
        ("query", "status", "code"), [("limit=0", 422, "validation_failed"), ("next_token=odd", 400, "malformed_token")]
    )
    def test_query_that_cannot_be(self, query: str, status: int, code: str) -> None:
        assert_problem(ask("GET", f"{PROVIDERS}?{query}"), status, code)

    def test_page_of_another_origin(self) -> None:
        answer = ask("GET", PROVIDERS, headers={"Origin": "https://elsewhere.example"})

        assert_problem(answer, 403, "foreign_origin")


class TestQuirks:
    def test_last_of_a_parameter_that_stands_twice_counts(self) -> None:
        page = ask("GET", f"{PROVIDERS}?limit=50&limit=1").json()

        assert len(page["providers"]) == 1

    @pytest.mark.parametrize("path", ["a%2Fb", "a%20b", "A", "a.b", "%00", "a" * 70])
    def test_id_that_none_may_have_is_not_found_whatever_is_done_to_it(self, path: str) -> None:
        assert ask("GET", f"{PROVIDERS}/{path}").status_code in (400, 403, 404)

    def test_address_of_nothing_is_an_error_of_the_callers(self) -> None:
        assert ask("GET", "/api/v2/nothing").status_code in (403, 404)

    def test_method_of_nothing_is_an_error_of_the_callers(self) -> None:
        assert ask("DELETE", SEARCH).status_code in (403, 404, 405)

    def test_own_request_id_comes_back(self) -> None:
        answer = ask("GET", "/health", headers={"X-Request-Id": "mine-1"})

        assert (answer.status_code, answer.headers["X-Request-Id"]) == (200, "mine-1")

    def test_letters_beyond_ascii_come_through(self) -> None:
        with registered(name="Grünes Labor 実験室", labels={"land": "Österreich"}) as record:
            found = ask("GET", f"{PROVIDERS}/{record['id']}").json()

        assert (found["name"], found["labels"]) == ("Grünes Labor 実験室", {"land": "Österreich"})

    def test_readiness_sees_the_registry(self) -> None:
        assert ask("GET", "/ready").json() == {"status": "ok", "checks": {"registry": "ok"}}


def _ranking(answer: dict[str, Any]) -> list[tuple[Any, ...]]:
    return [
        (one["rank"], one["score"], one["provenance"]["provider_id"], one["node"], one["devices"], one["copies"])
        for one in answer["candidates"]
    ]


class TestDocuments:
    def test_the_document_its_viewer_and_the_metrics_are_served_below_the_targets_path(self) -> None:
        document = ask("GET", "/openapi.json")
        viewer = ask("GET", "/docs")
        ask("POST", SEARCH, SAMPLE)
        metrics = ask("GET", "/metrics")

        assert document.json()["openapi"] == "3.1.0"
        assert document.json()["servers"][0]["url"] == "."
        assert (viewer.status_code, viewer.headers["Content-Type"]) == (200, "text/html; charset=utf-8")
        assert (
            "script-src 'sha256-" in viewer.headers["Content-Security-Policy"] or "scripts/docs_viewer" in viewer.text
        )
        assert metrics.headers["Content-Type"].startswith("text/plain; version=0.0.4")
        assert value_of(metrics.text, "fedcompute_search_duration_seconds_count") >= 1
        assert lint(metrics.text) == []
