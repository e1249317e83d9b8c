"""What a body, the headers and the query of the provider routes do to the registry."""

import json
from typing import Any

import pytest
from fakes.registry_table import a_provider, a_record, fill

from chalicelib import providers
from chalicelib.registry import Registry
from fedcompute.errors import Problem
from fedcompute.provider import ProviderRecord


def approve(_: Any) -> None:
    """Any address will do."""


@pytest.fixture
def registry(dynamodb: Any, table: str) -> Registry:
    return Registry(lambda: dynamodb, table)


@pytest.fixture
def record(registry: Registry) -> ProviderRecord:
    return registry.create(a_provider(timeout_ms=700, labels={"region": "eu"}))


def put(registry: Registry, body: Any, provider_id: str = "provider-a", **headers: str) -> ProviderRecord:
    return providers.replace(registry, provider_id, json.dumps(body).encode(), headers, approve)


def patch(registry: Registry, body: Any, **headers: str) -> ProviderRecord:
    return providers.patch(registry, "provider-a", json.dumps(body).encode(), headers, approve)


def test_post_registers_with_the_defaults(registry):
    raw = b'{"id": "provider-a", "name": "Lab A", "base_url": "http://lab-a.test/"}'

    created = providers.register(registry, raw, approve, owner="alice")

    assert registry.get("provider-a") == created
    assert (created.base_url, created.enabled, created.timeout_ms, created.labels) == (
        "http://lab-a.test",
        True,
        1500,
        {},
    )
    assert created.owner == "alice"


def test_post_of_a_read_only_member_is_refused(registry):
    raw = b'{"id": "provider-a", "name": "Lab A", "base_url": "http://lab-a.test", "version": 1}'

    with pytest.raises(Problem) as refusal:
        providers.register(registry, raw, approve)

    assert refusal.value.code == "validation_failed"
    assert refusal.value.errors[0]["pointer"] == "/version"


def test_put_puts_what_is_not_said_at_its_default(registry, record):
    replaced = put(registry, {"name": "Lab B", "base_url": "http://lab-b.test"})

    assert registry.get("provider-a") == replaced
    assert (replaced.name, replaced.timeout_ms, replaced.labels, replaced.version) == ("Lab B", 1500, {}, 2)


def test_record_that_was_read_can_be_edited_and_put_back(registry, record):
    body = registry.get("provider-a").model_dump() | {"enabled": False}

    replaced = put(registry, body, **{"if-match": record.etag})

    assert (replaced.enabled, replaced.version, replaced.labels) == (False, 2, {"region": "eu"})


def test_record_that_is_put_back_unchanged_stays_at_its_version(registry, record):
    replaced = put(registry, record.model_dump())

    assert replaced == record
    assert registry.get("provider-a") == record


def test_put_on_an_absent_id_is_not_found_and_makes_none(registry):
    with pytest.raises(Problem) as refusal:
        put(registry, {"name": "Lab A", "base_url": "http://lab-a.test"})

    assert refusal.value.code == "provider_not_found"
    assert registry.all() == ()


@pytest.mark.parametrize("provider_id", ["", "A", "a/b", "-", "a" * 65, "%61", "a\n", "é"])
def test_path_that_is_no_id_is_not_found(registry, provider_id):
    with pytest.raises(Problem) as refusal:
        put(registry, {}, provider_id)

    assert refusal.value.code == "provider_not_found"


@pytest.mark.parametrize("if_match", ["*", '"1"', '"0", "1"', 'W/"1", "1"'])
def test_if_match_that_names_the_version_lets_the_change_pass(registry, record, if_match):
    assert patch(registry, {"name": "Lab B"}, **{"if-match": if_match}).version == 2


def test_stale_if_match_is_refused_with_the_current_version_and_changes_nothing(registry, record):
    changed = patch(registry, {"name": "Lab B"})

    for act in (
        lambda: patch(registry, {"name": "Lab C"}, **{"if-match": '"1"'}),
        lambda: put(registry, {"name": "x"}, **{"if-match": '"1"'}),
        lambda: providers.remove(registry, "provider-a", {"if-match": '"1"'}),
    ):
        with pytest.raises(Problem, match='"2"') as refusal:
            act()
        assert refusal.value.code == "version_conflict"
    assert registry.get("provider-a") == changed


def test_delete_removes(registry, record):
    providers.remove(registry, "provider-a", {"if-match": record.etag})

    with pytest.raises(Problem, match="provider_not_found"):
        registry.get("provider-a")


def test_address_that_is_not_approved_is_neither_registered_nor_changed_to(registry, record):
    def none(_: Any) -> None:
        raise Problem("validation_failed", "This address may not be registered.")

    with pytest.raises(Problem, match="may not be registered"):
        providers.register(registry, b'{"id": "b", "name": "B", "base_url": "http://b.test"}', none)
    with pytest.raises(Problem, match="may not be registered"):
        providers.patch(registry, "provider-a", b'{"base_url": "http://b.test"}', {}, none)
    renamed = providers.patch(registry, "provider-a", b'{"name": "Lab B"}', {}, none)

    assert registry.all() == (renamed,)
    assert renamed.base_url == record.base_url


def test_list_goes_from_page_to_page_by_its_token(registry, dynamodb, table):
    fill(dynamodb, table, [a_record(f"provider-{n}") for n in range(5)])

    first = providers.listed(registry, {"limit": "3"})
    second = providers.listed(registry, {"limit": "3", "next_token": first.next_token})

    assert [record.id for record in first.providers] == ["provider-0", "provider-1", "provider-2"]
    assert [record.id for record in second.providers] == ["provider-3", "provider-4"]
    assert second.next_token is None


def test_list_of_an_empty_registry_is_empty(registry):
    page = providers.listed(registry, None)

    assert page.model_dump() == {"providers": (), "next_token": None}


@pytest.mark.parametrize("limit", ["0", "101", "-1", "ten", "", "1.5", " 1", "٣", "1" * 5000])
def test_bad_limit_is_pointed_out(registry, limit):
    with pytest.raises(Problem) as refusal:
        providers.listed(registry, {"limit": limit})

    assert refusal.value.code == "validation_failed"
    assert [error["pointer"] for error in refusal.value.errors] == ["/limit"]
