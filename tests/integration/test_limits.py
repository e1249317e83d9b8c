"""What there may be at most, each with a clear error."""

import pytest
from fakes.gateway import PROVIDERS, Gateway

from chalicelib import callers_records


def test_registry_that_is_full_takes_no_more_until_one_is_removed(
    gateway: Gateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(callers_records, "MOST_PROVIDERS", 2)
    gateway.register("a", "http://a.test")
    gateway.register("b", "http://b.test")
    third = {"id": "c", "name": "C", "base_url": "http://c.test"}

    refused = gateway.call("POST", PROVIDERS, third)
    changed = gateway.call("PATCH", f"{PROVIDERS}/a", {"name": "still to be changed"})
    gateway.call("DELETE", f"{PROVIDERS}/b")
    taken = gateway.call("POST", PROVIDERS, third)

    assert (refused.status, refused.problem["code"]) == (409, "registry_full")
    assert "2 providers" in refused.problem["detail"]
    assert (changed.status, taken.status) == (200, 201)


def test_filter_with_too_many_ids_is_refused_with_its_place(gateway: Gateway) -> None:
    answer = gateway.search(providers={"include": ["p"] * 1001})

    assert (answer.status, answer.problem["code"]) == (422, "validation_failed")
    assert [error["pointer"] for error in answer.problem["errors"]] == ["/providers/include"]
    assert "1000" in answer.problem["errors"][0]["message"]
