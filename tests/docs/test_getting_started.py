"""docs/getting-started.md, in its order, against the gateway and the sample providers; and the words of the glossary."""

import re
from typing import Any

from .test_api_page import ROOT, differences, examples

PAGE = (ROOT / "docs" / "getting-started.md").read_text()
GLOSSARY = (ROOT / "docs" / "glossary.md").read_text()


def test_every_example_answers_as_the_page_says(federation: Any) -> None:
    all_examples = examples(PAGE)
    assert len(all_examples) == PAGE.count("request -->") > 0

    for example in all_examples:
        status, headers, body = federation.call(example)

        assert status == example.status, f"{example.path}: {body}"
        for name, value in example.answer_headers.items():
            assert headers[name.lower()] == value
        assert list(differences(example.answer, body)) == []


def test_the_glossary_is_in_order_and_says_each_word_once() -> None:
    words = [row.split(" | ")[0].strip("| ").lower() for row in GLOSSARY.splitlines() if row.startswith("| ")][1:]

    assert words == sorted(set(words))


def test_commands_of_the_pages_are_targets_of_make() -> None:
    makefile = (ROOT / "Makefile").read_text()
    targets = set(re.findall(r"^([a-z0-9-]+):", makefile, re.MULTILINE))
    pages = [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]

    for page in pages:
        for command in re.findall(r"`make ([a-z0-9-]+)", page.read_text()):
            assert command in targets, f"{page.name}: make {command}"


def test_each_step_of_user_testing_has_its_number_a_result_and_evidence() -> None:
    page = (ROOT / "docs" / "USER_TESTING.md").read_text()
    steps = re.findall(r"^\| ([A-Z])(\d+) \| (.*) \|$", page, re.MULTILINE)

    by_part: dict[str, list[int]] = {}
    for part, number, rest in steps:
        by_part.setdefault(part, []).append(int(number))
        assert len(re.split(r" \| ", rest)) == 3, f"{part}{number}"
    assert list(by_part) == re.findall(r"^## ([A-Z])\. ", page, re.MULTILINE)
    assert all(numbers == list(range(1, len(numbers) + 1)) for numbers in by_part.values())
