"""Where providers say that they are, and the records that hold it."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import json

from fedcompute.base_url import LONGEST, check_base_url, host_and_port, inventory_url
from fedcompute.documents import parse
from fedcompute.errors import Problem
from fedcompute.provider import (
    READ_ONLY,
    NewProvider,
    ProviderFields,
    ProviderRecord,
    ReplacedProvider,
    is_provider_id,
    merged,
)

# --- names and labels


@pytest.mark.parametrize("text", ["Lab A", "Grünes Labor 実験室", "می‌خواهم", "👩‍💻 lab", "a\u3000b", "<b>"])
def test_text_of_any_language_is_a_name_and_a_label(text: str) -> None:
    record = NewProvider(id="a", name=text, base_url="http://lab", labels={text: text})

    assert (record.name, record.labels) == (text, {text: text})


@pytest.mark.parametrize(
    "character",
    ["\x00", "\n", "\x1b", "\x7f", "\x85", "\x9b", "\xad", "\u200b", "\u200e", "\u2028", "\u202e", "\u2066", "\ufeff"],
)
def test_characters_that_act_stand_in_no_name_and_no_label(character: str) -> None:
    text = f"Lab{character}A"
    bad = [{"name": text}, {"name": "A", "labels": {text: "v"}}, {"name": "A", "labels": {"k": text}}]

    for fields in bad:
        with pytest.raises(Problem, match="validation_failed") as refused:
            parse(NewProvider, json.encode({"id": "a", "base_url": "http://lab", **fields}))
        assert "turn the direction of writing" in refused.value.errors[0]["message"]


@pytest.mark.parametrize("name", ["", " ", "\u3000", "\u200d", "\u200c \u200d"])
def test_name_has_a_character_that_shows(name: str) -> None:
    with pytest.raises(Problem, match="validation_failed"):
        parse(NewProvider, json.encode({"id": "a", "name": name, "base_url": "http://lab"}))


# --- base_url


@pytest.mark.parametrize(
    ("url", "plain"),
    [
        ("http://lab", "http://lab"),
        ("https://gpu.example.org/", "https://gpu.example.org"),
        ("https://gpu.example.org:8443/lab/a///", "https://gpu.example.org:8443/lab/a"),
        ("http://10.0.0.7:8081", "http://10.0.0.7:8081"),
        ("http://[fd12::1]:8081/x", "http://[fd12::1]:8081/x"),
        ("http://my_lab-1.example", "http://my_lab-1.example"),
    ],
)
def test_plain_url_is_kept_without_a_slash_at_its_end(url: str, plain: str) -> None:
    assert check_base_url(url) == plain


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("", "plain ASCII"),
        ("gpu.example.org", "must begin with http:// or https://"),
        ("//gpu.example.org", "must begin with"),
        ("ftp://gpu.example.org", "must begin with"),
        ("file:///etc/passwd", "must begin with"),
        ("gopher://lab", "must begin with"),
        ("http://", "must name a host"),
        ("http:///lab", "must name a host"),
        ("http:lab", "must name a host"),
        ("http://:8081", "must name a host"),
        ("http://-lab", "must name a host"),
        ("http://lab.", "must name a host"),
        ("http://a..b", "must name a host"),
        ("http://" + "a" * 64, "must name a host"),
        ("http://lab%2eexample", "must name a host"),
        ("http://lab,other", "must name a host"),
        ("http://[fe80::1%25eth0]", "must"),
        ("http://[::1", "must be a URL"),
        ("http://[1.2.3.4]", "must be a URL"),
        ("http://[v1.lab]", "must name a host"),
        ("http://lab:0", "must be a URL"),
        ("http://lab:65536", "must be a URL"),
        ("http://lab:port", "must be a URL"),
        ("http://lab:-1", "must be a URL"),
        ("http://user@lab", "user name or password"),
        ("http://user:pass@lab", "user name or password"),
        ("http://@lab", "user name or password"),
        ("http://127.0.0.1:80\\@lab", "backslashes"),
        ("http://lab?x=1", "no query and no fragment"),
        ("http://lab?", "no query and no fragment"),
        ("http://lab#", "no query and no fragment"),
        ("http://lab/a#b", "no query and no fragment"),
        ("http://lab/../admin", ". or .."),
        ("http://lab/./", ". or .."),
        ("http://lab/%2e%2E/admin", ". or .."),
        ("http://lab/.%2e", ". or .."),
        ("http://lab/a b", "plain ASCII"),
        (" http://lab", "plain ASCII"),
        ("http://lab\n", "plain ASCII"),
        ("http://lab/\r\nHost: other", "plain ASCII"),
        ("http://lab\t", "plain ASCII"),
        ("http://lab\x00", "plain ASCII"),
        ("http://läb", "plain ASCII"),
        ("http://lab\uff0eexample", "plain ASCII"),
        ("http://" + "a." * LONGEST, "at most 2048 characters"),
    ],
)
def test_url_that_two_parsers_could_read_in_two_ways_is_refused(url: str, told: str) -> None:
    with pytest.raises(ValueError, match=told.replace(".", r"\.")):
        check_base_url(url)


@given(st.text() | st.text("htps:/[]@?#.%\\-_~0123456789abcdef\n", max_size=30).map("http://".__add__))
def test_any_text_is_a_plain_url_or_refused_in_words(text: str) -> None:
    found = _checked_or_refused(text)

    if isinstance(found, ValueError):
        assert str(found).startswith("must ")
        return
    host, port = host_and_port(found)
    assert host
    assert 1 <= port <= 65535
    assert found.isprintable()
    assert check_base_url(found) == found


def _checked_or_refused(text: str) -> str | ValueError:
    try:
        return check_base_url(text)
    except ValueError as error:
        return error


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://Lab.Example", ("lab.example", 80)),
        ("https://lab", ("lab", 443)),
        ("https://lab:8443/x", ("lab", 8443)),
        ("http://[FD12::1]:81", ("fd12::1", 81)),
        ("http://lab.:81", ("lab", 81)),
    ],
)
def test_host_is_in_lower_case_and_the_port_the_schemes_own_where_none_is_written(
    url: str, expected: tuple[str, int]
) -> None:
    assert host_and_port(url) == expected


def test_inventory_stands_below_the_path_of_the_url() -> None:
    assert inventory_url("http://lab:81/a") == "http://lab:81/a/api/v1/inventory"
    assert inventory_url("http://lab/") == "http://lab/api/v1/inventory"


# --- ids


@pytest.mark.parametrize("text", ["a", "0", "provider-a", "a--b", "a" * 64])
def test_id_of_lower_case_letters_digits_and_inner_hyphens_is_one(text: str) -> None:
    assert is_provider_id(text)


@pytest.mark.parametrize("text", ["", "-", "a-", "-a", "A", "a_b", "a.b", "a/b", "ä", "a\n", " a", "a" * 65, "٣"])
def test_id_of_anything_else_is_none(text: str) -> None:
    assert not is_provider_id(text)


# --- documents


def new(**members: Any) -> NewProvider:
    body = {"id": "lab", "name": "Lab", "base_url": "http://lab"} | members
    return parse(NewProvider, json.encode({name: value for name, value in body.items() if value is not ...}))


def mistakes(**members: Any) -> dict[str, str]:
    with pytest.raises(Problem) as caught:
        new(**members)
    return {error["pointer"]: error["message"] for error in caught.value.errors}


def test_new_provider_is_enabled_with_a_timeout_and_no_labels_unless_told() -> None:
    found = new(base_url="http://lab/")

    assert found.model_dump() == {
        "id": "lab",
        "name": "Lab",
        "base_url": "http://lab",
        "enabled": True,
        "timeout_ms": 1500,
        "labels": {},
    }


def test_every_mistake_of_a_new_provider_is_told_at_once() -> None:
    found = mistakes(
        id="Lab",
        name=" ",
        base_url="http://user@lab",
        enabled=1,
        timeout_ms=99,
        labels={"a": 1},
        owner="me",
        extra=None,
    )

    assert set(found) == {"/id", "/name", "/base_url", "/enabled", "/timeout_ms", "/labels/a", "/owner", "/extra"}
    assert found["/base_url"] == "must not hold a user name or password"
    assert found["/timeout_ms"] == "must be at least 100"
    assert mistakes(id=..., name=..., base_url=...) == dict.fromkeys(("/id", "/name", "/base_url"), "is required")


@pytest.mark.parametrize("value", [99, 20001, True, 1500.0, "1500", None])
def test_timeout_is_a_whole_number_of_100_to_20000(value: Any) -> None:
    assert set(mistakes(timeout_ms=value)) == {"/timeout_ms"}
    assert [new(timeout_ms=ms).timeout_ms for ms in (100, 20000)] == [100, 20000]


@pytest.mark.parametrize("name", ["", " ", "\t", "\x01", "a\nb", "a\x7f", "x" * 129])
def test_name_is_one_line_that_can_be_seen(name: str) -> None:
    assert set(mistakes(name=name)) == {"/name"}


@pytest.mark.parametrize("name", ["a", "Research Lab A", " padded ", "Universität Zürich", "研究所", "x" * 128])
def test_name_may_be_in_any_script(name: str) -> None:
    assert new(name=name).name == name


@pytest.mark.parametrize("read_only", READ_ONLY)
def test_what_the_registry_writes_no_caller_writes(read_only: str) -> None:
    assert set(mistakes(**{read_only: "x"})) == {f"/{read_only}"}


def test_replacement_may_name_its_id_and_need_not() -> None:
    body = {"name": "Lab", "base_url": "http://lab"}

    assert parse(ReplacedProvider, json.encode(body)).id is None
    assert parse(ReplacedProvider, json.encode(body | {"id": "lab"})).id == "lab"


# --- merge patches (RFC 7396)

RECORD = ProviderRecord(
    id="lab",
    name="Lab",
    base_url="http://lab",
    timeout_ms=900,
    enabled=False,
    labels={"region": "eu", "tier": "1"},
    owner="me",
    version=7,
    created_at="2026-01-01T00:00:00Z",
    updated_at="2026-01-01T00:00:00Z",
)
BODY: dict[str, Any] = {
    "name": "Lab",
    "base_url": "http://lab",
    "enabled": False,
    "timeout_ms": 900,
    "labels": {"region": "eu", "tier": "1"},
}


@pytest.mark.parametrize(
    ("patch", "changed"),
    [
        ({}, {}),
        ({"name": "New"}, {"name": "New"}),
        ({"labels": {"region": "us"}}, {"labels": {"region": "us", "tier": "1"}}),
        ({"labels": {"region": None, "zone": "z1"}}, {"labels": {"tier": "1", "zone": "z1"}}),
        ({"labels": "x"}, {"labels": "x"}),
        ({"labels": {"region": {"a": None, "b": 1}}}, {"labels": {"region": {"b": 1}, "tier": "1"}}),
        ({"version": 8}, {"version": 8}),  # refused when the whole is parsed
    ],
)
def test_patch_changes_what_it_names_and_nothing_else(patch: dict[str, Any], changed: dict[str, Any]) -> None:
    assert merged(RECORD, patch) == BODY | changed


def test_null_removes_an_optional_field_so_that_it_has_its_default_again() -> None:
    patched = merged(RECORD, {"timeout_ms": None, "enabled": None, "labels": None, "absent": None})

    assert patched == {"name": "Lab", "base_url": "http://lab"}
    assert parse(ReplacedProvider, json.encode(patched)).timeout_ms == 1500


def test_null_for_a_required_field_is_refused_when_the_whole_is_parsed() -> None:
    with pytest.raises(Problem) as caught:
        parse(ReplacedProvider, json.encode(merged(RECORD, {"name": None})))

    assert caught.value.errors == [{"pointer": "/name", "message": "is required"}]


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: st.dictionaries(st.sampled_from([*ProviderFields.model_fields, "region"]), inner, max_size=3),
    max_leaves=6,
)


@given(st.dictionaries(st.sampled_from([*ProviderFields.model_fields, "id", "x"]), json_values))
def test_patch_that_is_applied_twice_changes_nothing_more(patch: dict[str, Any]) -> None:
    once = merged(RECORD, patch)
    again = merged(RECORD.model_copy(update={name: once.get(name) for name in ProviderFields.model_fields}), patch)

    assert {name: part for name, part in again.items() if part is not None} == once


def test_etag_of_a_record_is_its_version_in_quotes() -> None:
    assert RECORD.etag == '"7"'
