"""What a caller may ask, how it is understood, and that every mistake is told at once with its place."""

import json
from typing import Any

import pytest
from arbitrary import request_bodies
from factories import request
from hypothesis import example, given
from hypothesis import strategies as st

from fedcompute.documents import LARGEST_BYTES, pointer
from fedcompute.errors import Problem
from fedcompute.request import LARGEST, LONGEST_REMEMBERED, SearchRequest, parse_search


def parsed(body: Any) -> SearchRequest:
    return parse_search(body if isinstance(body, bytes) else json.dumps(body).encode(), 8000)


def problem(body: Any) -> Problem:
    with pytest.raises(Problem) as caught:
        parsed(body)
    return caught.value


def errors(body: Any) -> dict[str, str]:
    """The message at each pointer of a body that is refused."""
    found = problem(body)
    assert (found.code, found.status) == ("validation_failed", 422)
    assert len({error["pointer"] for error in found.errors}) == len(found.errors)
    return {error["pointer"]: error["message"] for error in found.errors}


# --- defaults


def test_empty_gpu_asks_for_one_whole_gpu_and_everything_else_has_its_default() -> None:
    understood = parsed({"gpu": {}})

    assert understood.model_dump(mode="json") == {
        "gpu": {
            "count": 1,
            "minimum_memory_mib": None,
            "minimum_compute_percent": None,
            "vendor": None,
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


@pytest.mark.parametrize(
    ("gpu", "sharing"),
    [
        ({}, "whole"),
        ({"count": 2, "vendor": "AMD"}, "whole"),
        ({"minimum_memory_mib": 1}, "any"),
        ({"minimum_compute_percent": 1}, "any"),
        ({"minimum_memory_mib": 1, "sharing": "whole"}, "whole"),
        ({"sharing": "any"}, "any"),
        ({"sharing": None, "minimum_memory_mib": 1}, "any"),
    ],
)
def test_sharing_is_any_with_a_minimum_and_whole_without(gpu: dict[str, Any], sharing: str) -> None:
    understood = parsed({"gpu": gpu}).gpu

    assert understood is not None
    assert understood.sharing == sharing


def test_callers_own_deadline_stands() -> None:
    assert parsed({"cpu": {"minimum_millicores": 1}, "deadline_ms": 100}).deadline_ms == 100


def test_vendor_is_understood_as_its_canonical_spelling() -> None:
    understood = parsed({"gpu": {"vendor": " nvidia corporation "}}).gpu

    assert understood is not None
    assert understood.vendor == "NVIDIA"


def test_request_of_the_documentation_is_understood_as_it_stands() -> None:
    body = {
        "gpu": {
            "count": 1,
            "minimum_memory_mib": 30000,
            "minimum_compute_percent": 50,
            "vendor": "NVIDIA",
            "model": "A100",
            "sharing": "any",
        },
        "cpu": {"minimum_millicores": 4000},
        "memory": {"minimum_bytes": 17179869184},
        "tolerations": [{"key": "dedicated", "value": "ml", "effect": "NoSchedule"}],
        "strategy": "best-fit",
        "limit": 20,
        "deadline_ms": 8000,
        "providers": {"include": ["provider-a"], "exclude": [], "labels": {"region": "eu"}},
        "partial": "allow",
        "explain": True,
    }

    understood = parsed(body).model_dump(mode="json")

    understood["tolerations"][0].pop("operator")
    assert understood == body


@given(request_bodies())
def test_request_as_understood_means_the_same_when_it_is_sent_again(body: dict[str, Any]) -> None:
    understood = request(**body)

    assert parsed(understood.model_dump(mode="json")) == understood


# --- mistakes


def test_every_mistake_is_told_at_once_with_its_place() -> None:
    found = errors(
        {
            "gpu": {"count": 0, "minimum_memory_mib": "30000", "vendor": "", "model": "--", "sharing": "half", "x": 1},
            "cpu": {},
            "memory": {"minimum_bytes": -1, "a/b~c": 1},
            "tolerations": [{"key": "ok", "operator": "Exists"}, {"value": "v"}, {"key": "k", "effekt": ""}],
            "strategy": "fastest",
            "limit": 101,
            "deadline_ms": 99,
            "providers": {"labels": {"region": 7}, "only": []},
            "partial": "yes",
            "explain": 1,
            "colour": "red",
        }
    )

    assert set(found) == {
        "/gpu/count",
        "/gpu/minimum_memory_mib",
        "/gpu/vendor",
        "/gpu/model",
        "/gpu/sharing",
        "/gpu/x",
        "/cpu/minimum_millicores",
        "/memory/minimum_bytes",
        "/memory/a~1b~0c",
        "/tolerations/1",
        "/tolerations/2/effekt",
        "/strategy",
        "/limit",
        "/deadline_ms",
        "/providers/labels/region",
        "/providers/only",
        "/partial",
        "/explain",
        "/colour",
    }
    assert found["/gpu/count"] == "must be at least 1"
    assert found["/cpu/minimum_millicores"] == "is required"
    assert found["/strategy"] == "must be 'best-fit', 'most-available', 'binpack' or 'spread'"
    assert found["/limit"] == "must be at most 100"
    assert found["/memory/a~1b~0c"] == "is not a field here; the fields are minimum_bytes"
    assert found["/tolerations/2/effekt"] == "is not a field here; the fields are key, operator, value, effect"
    assert found["/providers/only"] == "is not a field here; the fields are include, exclude, labels"


@pytest.mark.parametrize("body", [{}, {"gpu": None}, {"gpu": None, "cpu": None, "memory": None}, {"limit": 5}])
def test_request_that_asks_for_nothing_is_refused(body: dict[str, Any]) -> None:
    assert errors(body) == {"": "ask for at least one of gpu, cpu and memory"}


def test_asking_for_nothing_is_told_together_with_what_else_is_wrong() -> None:
    assert set(errors({"limit": 0})) == {"/limit", ""}


@pytest.mark.parametrize("body", [[], [{"gpu": {}}], "gpu", 7, True, None])
def test_body_that_is_no_object_is_refused(body: Any) -> None:
    assert errors(body) == {"": "must be an object"}


AMOUNTS = [
    ("gpu", "count"),
    ("gpu", "minimum_memory_mib"),
    ("gpu", "minimum_compute_percent"),
    ("cpu", "minimum_millicores"),
    ("memory", "minimum_bytes"),
]


@pytest.mark.parametrize(("part", "field"), AMOUNTS)
@pytest.mark.parametrize("value", [True, False, 1.0, 1.5, 1e3, "1", "", [1], {}])
def test_amount_is_a_whole_number_and_nothing_that_looks_like_one(part: str, field: str, value: Any) -> None:
    found = errors({part: {field: value}})

    assert set(found) == {f"/{part}/{field}"}
    assert "integer" in found[f"/{part}/{field}"]


@pytest.mark.parametrize(("part", "field"), AMOUNTS)
@pytest.mark.parametrize("value", [0, -1, -(10**30)])
def test_amount_below_one_is_refused_since_it_is_no_way_to_ask_for_nothing(part: str, field: str, value: int) -> None:
    assert errors({part: {field: value}}) == {f"/{part}/{field}": "must be at least 1"}


@pytest.mark.parametrize(("part", "field"), AMOUNTS)
def test_amount_may_be_as_large_as_the_largest_and_not_larger(part: str, field: str) -> None:
    understood = parsed({part: {field: 2**63 - 1}}).model_dump()

    assert understood[part][field] == 2**63 - 1
    for larger in (2**63, 2**64, 10**400):
        assert errors({part: {field: larger}}) == {f"/{part}/{field}": f"must be at most {LARGEST}"}


@pytest.mark.parametrize("field", ["minimum_millicores", "minimum_bytes"])
def test_cpu_and_memory_need_their_minimum_and_null_is_none(field: str) -> None:
    part = "cpu" if field == "minimum_millicores" else "memory"

    assert errors({part: {}}) == {f"/{part}/{field}": "is required"}
    assert set(errors({part: {field: None}})) == {f"/{part}/{field}"}


@pytest.mark.parametrize("vendor", ["", " ", "\t"])
def test_empty_vendor_is_refused(vendor: str) -> None:
    assert set(errors({"gpu": {"vendor": vendor}})) == {"/gpu/vendor"}


@pytest.mark.parametrize("model", ["", " ", "--", "_", "\u200b"])
def test_model_without_a_letter_or_a_digit_is_refused(model: str) -> None:
    assert set(errors({"gpu": {"model": model}})) == {"/gpu/model"}


@pytest.mark.parametrize(
    ("toleration", "message"),
    [
        ({}, "an empty key needs operator Exists"),
        ({"key": "", "operator": "Equal", "value": "v"}, "an empty key needs operator Exists"),
        ({"key": "k", "operator": "Exists", "value": "v"}, "operator Exists takes no value"),
    ],
)
def test_toleration_that_kubernetes_refuses_is_refused(toleration: dict[str, str], message: str) -> None:
    assert errors({"gpu": {}, "tolerations": [toleration]}) == {"/tolerations/0": message}


@pytest.mark.parametrize(("field", "value"), [("operator", "In"), ("effect", "noschedule"), ("tolerationSeconds", 5)])
def test_toleration_takes_no_other_words(field: str, value: Any) -> None:
    assert set(errors({"gpu": {}, "tolerations": [{"key": "k", field: value}]})) == {f"/tolerations/0/{field}"}


@pytest.mark.parametrize(("field", "least", "most"), [("limit", 1, 100), ("deadline_ms", 100, 25000)])
def test_bounds_belong_to_what_they_bound(field: str, least: int, most: int) -> None:
    for value in (least, most):
        assert getattr(parsed({"gpu": {}, field: value}), field) == value
    assert errors({"gpu": {}, field: least - 1}) == {f"/{field}": f"must be at least {least}"}
    assert errors({"gpu": {}, field: most + 1}) == {f"/{field}": f"must be at most {most}"}


# --- bodies that are no JSON


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(b"", id="empty"),
        pytest.param(b" \n", id="blank"),
        pytest.param(b"{", id="cut off"),
        pytest.param(b'{"gpu": {"count": NaN}}', id="NaN"),
        pytest.param(b'{"gpu": {"count": Infinity}}', id="Infinity"),
        pytest.param(b'{"gpu": {"count": 1e999}}', id="a number beyond any"),
        pytest.param(b'{"gpu": {"count": 1' + b"0" * 5000 + b"}}", id="a number of thousands of digits"),
        pytest.param(b'{"gpu": {"count": 01}}', id="a zero in front"),
        pytest.param(b'{"gpu": {},}', id="a comma too many"),
        pytest.param(b'{"gpu": {}} {}', id="two documents"),
        pytest.param(b"{'gpu': {}}", id="single quotes"),
        pytest.param(b'{"gpu": {"model": "\xff"}}', id="not UTF-8"),
        pytest.param(b'{"gpu": {"model": "\\ud800"}}', id="half a surrogate pair"),
        pytest.param(b'\xef\xbb\xbf{"gpu": {}}', id="a byte order mark"),
        pytest.param('{"gpu": {}}'.encode("utf-16"), id="UTF-16"),
        pytest.param(b'{"gpu": {}, "x": ' + b"[" * 300 + b"]" * 300 + b"}", id="nested some hundred times"),
        pytest.param(b'{"gpu": {}, "x": ' + b"[" * 200000 + b"]" * 200000 + b"}", id="nested beyond the stack"),
        pytest.param(b'{"x":' * 5000 + b"1" + b"}" * 5000, id="objects nested beyond the stack"),
    ],
)
def test_body_that_is_no_json_is_malformed(body: bytes) -> None:
    found = problem(body)

    assert (found.code, found.status) == ("malformed_json", 400)
    assert len(found.detail) < 300


def test_body_of_more_than_a_mebibyte_is_too_large() -> None:
    just_fits = b'{"gpu": {}}'.ljust(LARGEST_BYTES)

    assert parsed(just_fits).gpu is not None
    assert problem(just_fits + b" ").code == "payload_too_large"


@pytest.mark.parametrize("body", [b'{"gpu": null, "gpu": {}}', b'{"gpu": {"count": 2, "count": 2}}'])
def test_member_that_stands_twice_is_refused(body: bytes) -> None:
    found = problem(body)

    assert found.code == "malformed_json"
    assert "stands more than once" in found.detail


@pytest.mark.parametrize(
    ("at", "most", "past"),
    [
        ("/providers/include", {"include": ["p"] * 1000}, {"include": ["p"] * 1001}),
        ("/providers/exclude", {"exclude": ["p"] * 1000}, {"exclude": ["p"] * 1001}),
        ("/providers/include/0", {"include": ["p" * 64]}, {"include": ["p" * 65]}),
        ("/providers/labels", {"labels": {str(n): "" for n in range(64)}}, {"labels": {str(n): "" for n in range(65)}}),
        ("/providers/labels/k", {"labels": {"k": "v" * 253}}, {"labels": {"k": "v" * 254}}),
    ],
)
def test_filter_names_only_so_many_and_so_long(at: str, most: dict[str, Any], past: dict[str, Any]) -> None:
    parsed({"gpu": {}, "providers": most})

    assert list(errors({"gpu": {}, "providers": past})) == [at]


def test_strangers_text_is_cleaned_and_cut_before_it_is_told() -> None:
    found = errors({"gpu": {}, "\u202e" + "x" * 5000 + "\n": 1})

    (place,) = found
    assert len(place) <= 200
    assert place.startswith("/xxx")


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
FIELDS = ["gpu", "cpu", "memory", "tolerations", "strategy", "limit", "deadline_ms", "providers", "partial", "explain"]
FIELDS += ["count", "vendor", "model", "sharing", "minimum_memory_mib", "minimum_bytes", "minimum_millicores"]
FIELDS += ["key", "operator", "include", "labels"]
near_requests = st.recursive(
    json_values,
    lambda inner: st.dictionaries(st.sampled_from(FIELDS), inner, max_size=4) | st.lists(inner, max_size=2),
    max_leaves=12,
)


@given(near_requests.map(lambda value: json.dumps(value).encode()) | st.binary(max_size=40))
@example(b'{"gpu": {}}')
def test_any_body_is_understood_or_refused_as_the_callers_mistake(body: bytes) -> None:
    found = _parsed_or_refused(body)

    if isinstance(found, Problem):
        assert found.code in ("malformed_json", "validation_failed")
        assert (found.code == "validation_failed") is bool(found.errors)
    else:
        assert found.gpu or found.cpu or found.memory


def _parsed_or_refused(body: bytes) -> SearchRequest | Problem:
    try:
        return parsed(body)
    except Problem as refused:
        return refused


def test_pointer_escapes_tilde_and_slash() -> None:
    assert pointer(()) == ""
    assert pointer(("a/b", 0, "m~n", "")) == "/a~1b/0/m~0n/"


def test_body_that_comes_again_is_the_same_request_and_one_with_another_deadline_is_not() -> None:
    body = b'{"gpu": {"count": 2}}'
    one = parse_search(body, 8000)

    assert parse_search(bytes(bytearray(body)), 8000) is one
    assert parse_search(body, 9000).deadline_ms == 9000
    assert parse_search(b'{"gpu": {"count": 3}}', 8000).gpu != one.gpu


def test_long_bodies_are_not_remembered() -> None:
    body = b'{"gpu": {}' + b" " * LONGEST_REMEMBERED + b"}"

    assert parse_search(body, 8000) == parse_search(body, 8000)
    assert parse_search(body, 8000) is not parse_search(body, 8000)


def test_body_that_is_refused_is_refused_each_time() -> None:
    for _ in range(2):
        with pytest.raises(Problem):
            parse_search(b'{"gpu": {"count": 0}}', 8000)


def test_request_is_told_as_it_was_understood() -> None:
    asked = parsed({"gpu": {"minimum_memory_mib": 5}, "strategy": "spread"})

    assert asked.as_told == asked.model_dump(mode="json")
    assert asked.as_told["gpu"]["sharing"] == "any"
    assert asked.model_copy(update={"limit": 3}).as_told["limit"] == 3
