"""What the bodies of PUT and PATCH make of a record."""

from typing import Any

import msgspec
import pytest
from fakes.registry_table import a_record

from chalicelib.changes import patched, replaced
from fedcompute.errors import Problem
from fedcompute.provider import READ_ONLY


def a_body(**fields: Any) -> dict[str, Any]:
    return {"name": "Lab A", "base_url": "http://lab-a.test", **fields}


def pointers(act: Any, body: Any) -> list[str]:
    with pytest.raises(Problem) as refusal:
        act(a_record(owner="alice"), body)
    assert refusal.value.code == "validation_failed"
    return sorted(error["pointer"] for error in refusal.value.errors)


def test_patch_changes_what_it_names_and_nothing_else():
    record = a_record(labels={"region": "eu", "tier": "gold"}, timeout_ms=700)

    changed = patched(record, {"labels": {"region": "us", "tier": None, "site": "x"}, "enabled": False})

    assert changed == record.model_copy(update={"labels": {"region": "us", "site": "x"}, "enabled": False})


@pytest.mark.parametrize(("field", "default"), [("enabled", True), ("timeout_ms", 1500), ("labels", {})])
def test_null_in_a_patch_puts_an_optional_field_at_its_default(field, default):
    record = a_record(enabled=False, timeout_ms=700, labels={"region": "eu"})

    assert getattr(patched(record, {field: None}), field) == default


def test_empty_patch_changes_nothing():
    record = a_record(labels={"region": "eu"})

    assert patched(record, {}) == record


@pytest.mark.parametrize("patch", [[], "text", 1, None, True])
def test_patch_that_is_no_object_is_refused_as_a_whole(patch):
    assert pointers(patched, patch) == [""]


@pytest.mark.parametrize("body", [[], "text", 1, None, True])
def test_replacement_that_is_no_object_is_refused_as_a_whole(body):
    assert pointers(replaced, body) == [""]


def test_everything_wrong_with_a_patch_is_told_at_once():
    patch = {"name": None, "timeout_ms": 1, "nonsense": None, "version": 9, "id": "provider-b", "labels": {"a": 1}}

    assert pointers(patched, patch) == ["/id", "/labels/a", "/name", "/nonsense", "/timeout_ms", "/version"]


def test_everything_wrong_with_a_replacement_is_told_at_once():
    body = {"base_url": "ftp://x", "nonsense": 1, "owner": "mallory", "id": "provider-b"}

    assert pointers(replaced, body) == ["/base_url", "/id", "/name", "/nonsense", "/owner"]


def test_read_only_members_as_they_were_read_are_accepted():
    record = a_record(owner="alice", version=3)
    members = {name: getattr(record, name) for name in ("id", *READ_ONLY)}

    assert replaced(record, a_body(**members)) == record
    assert patched(record, members) == record


@pytest.mark.parametrize(
    ("member", "value"),
    [
        ("version", 2),
        ("version", True),
        ("version", 1.0),
        ("version", "1"),
        ("version", None),
        ("owner", None),
        ("key_version", 2),
        ("verified_at", "2026-01-01T00:00:00.000Z"),
        ("created_at", "2025-01-01T00:00:00.000Z"),
        ("id", "provider-b"),
        ("id", None),
        ("id", 1),
    ],
)
def test_read_only_members_of_any_other_value_are_pointed_out(member, value):
    assert pointers(replaced, a_body(**{member: value})) == [f"/{member}"]
    assert pointers(patched, {member: value}) == [f"/{member}"]


@pytest.mark.parametrize("depth", [200, 2000, 20000])
@pytest.mark.parametrize("act", [patched, replaced])
def test_body_nested_too_deeply_is_the_callers_problem(act, depth):
    value: Any = "x"
    for _ in range(depth):
        value = {"a": value}

    with pytest.raises(Problem) as refusal:
        act(a_record(), a_body(labels=value))

    assert refusal.value.code in ("malformed_json", "validation_failed")


def test_body_with_large_numbers_is_the_callers_problem():
    body = msgspec.json.decode(b'{"timeout_ms": 123456789012345678901234567890, "labels": {"a": 1e300}}')

    assert pointers(patched, body) == ["/labels/a", "/timeout_ms"]
