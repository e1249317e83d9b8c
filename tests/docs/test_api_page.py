"""Every example of docs/api.md, run in its order against the gateway and the sample providers."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from chalicelib.calls import OUTCOMES
from fedcompute.errors import STATUS
from fedcompute.reasons import REASONS

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "api.md").read_text()
ANY = "…"


class Example(NamedTuple):
    is_of_provider: bool
    method: str
    path: str
    headers: dict[str, str]
    body: str
    status: int
    answer_headers: dict[str, str]
    answer: Any


def _head_and_body(text: str) -> tuple[list[str], str]:
    head, _, body = text.partition("\n\n")
    return head.strip().splitlines(), body.strip()


def _headers(lines: list[str]) -> dict[str, str]:
    return {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}


def examples(page: str = PAGE) -> list[Example]:
    blocks = re.findall(
        r"<!-- (provider )?request -->\n```http\n(.*?)```\n+<!-- answer -->\n```http\n(.*?)```", page, re.DOTALL
    )
    found = []
    for of_provider, request, answer in blocks:
        (first, *lines), body = _head_and_body(request)
        (status, *answer_lines), answer_body = _head_and_body(answer)
        method, path = first.split()
        expected = json.loads(answer_body) if answer_body.startswith("{") else answer_body or None
        found.append(
            Example(
                bool(of_provider), method, path, _headers(lines), body, int(status), _headers(answer_lines), expected
            )
        )
    return found


def differences(expected: Any, actual: Any, place: str = "") -> Iterator[str]:
    """Where an answer is not as the page says; `…` stands for any value, any further members, any further elements."""
    if expected == ANY or is_text_like(expected, actual):
        return
    if isinstance(expected, dict) and isinstance(actual, dict):
        named = {name: value for name, value in expected.items() if name != ANY}
        if ANY not in expected and set(actual) != set(named):
            yield f"{place}: members {sorted(actual)}, not {sorted(named)}"
        for name, value in named.items():
            if name not in actual:
                yield f"{place}/{name}: missing"
            else:
                yield from differences(value, actual[name], f"{place}/{name}")
    elif isinstance(expected, list) and isinstance(actual, list):
        is_open = expected[-1:] == [ANY]
        named_elements = expected[:-1] if is_open else expected
        if len(actual) < len(named_elements) or (len(actual) > len(named_elements) and not is_open):
            yield f"{place}: {len(actual)} elements"
        for index, (one, other) in enumerate(zip(named_elements, actual, strict=False)):
            yield from differences(one, other, f"{place}/{index}")
    elif expected != actual or type(expected) is not type(actual):
        yield f"{place}: {actual!r}, not {expected!r}"


def is_text_like(expected: Any, actual: Any) -> bool:
    """Whether a text of several lines is as the page says; `…` stands for anything."""
    if not isinstance(expected, str) or not isinstance(actual, str) or "\n" not in actual:
        return False
    return re.fullmatch(re.escape(expected).replace(ANY, ".*"), actual.strip(), re.DOTALL) is not None


def test_every_example_answers_as_the_page_says(federation: Any) -> None:
    all_examples = examples()
    assert len(all_examples) == PAGE.count("request -->") > 0

    for example in all_examples:
        status, headers, body = federation.call(example)

        label = f"{example.method} {example.path}"
        assert status == example.status, f"{label}: {status} {body}"
        for name, value in example.answer_headers.items():
            assert name.lower() in headers, f"{label}: no {name}"
            assert value in (ANY, headers[name.lower()]), f"{label}: {name} is {headers[name.lower()]}"
        assert list(differences(example.answer, body)) == [], label


def test_every_route_has_an_example(federation: Any) -> None:
    shown = {
        (example.method, re.sub(r"/provider-[a-z]", "/{provider_id}", example.path.partition("?")[0]))
        for example in examples()
    }

    page_for_people = ("GET", "/")
    assert set(federation.routes) - shown - {page_for_people} == set()


@pytest.mark.parametrize("name", ["codes", "outcomes", "reasons"])
def test_the_tables_list_what_the_code_lists(name: str) -> None:
    (found,) = re.findall(rf"<!-- table: {name} -->\n((?:\|.*\n)+)", PAGE)
    rows = [[cell.strip(" `") for cell in line.strip("|").split("|")] for line in found.splitlines()[2:]]

    if name == "codes":
        assert {row[0]: int(row[1]) for row in rows} == STATUS
    else:
        assert tuple(row[0] for row in rows) == {"outcomes": OUTCOMES, "reasons": REASONS}[name]
