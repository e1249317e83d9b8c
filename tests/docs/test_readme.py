"""README.md: its request gets its answer, its other request is accepted, and what it links to is there."""

import json
import re
from pathlib import Path
from typing import Any

from chalice.test import Client

from .test_api_page import ROOT, differences

README = (ROOT / "README.md").read_text()
CURL = re.compile(r"curl -X POST http://localhost:8080(\S+) -H 'Content-Type: application/json' -d '(\{.*\})'")


def _post(federation: Any, path: str, body: str) -> tuple[int, Any]:
    headers = {"Content-Type": "application/json"}
    answer = Client(federation.gateway).http.post(path, headers=headers, body=federation.to_fleet(body).encode())
    return answer.status_code, json.loads(federation.from_fleet(answer.body.decode()))


def test_the_request_gets_the_answer_that_stands_below_it(federation: Any) -> None:
    (path, request), _ = CURL.findall(README)
    (shown,) = re.findall(r"```json\n(.*?)```", README, re.DOTALL)

    status, answer = _post(federation, path, request)

    assert status == 200
    assert list(differences(json.loads(shown), answer)) == []


def test_the_provider_that_it_registers_answers_as_another_one(federation: Any) -> None:
    (search_path, search), (path, registration) = CURL.findall(README)

    status, _ = _post(federation, path, registration)
    _, answer = _post(federation, search_path, search)

    assert status == 201
    outcomes = {entry["id"]: entry["outcome"] for entry in answer["providers"]}
    assert outcomes == {"provider-a": "ok", "provider-b": "ok", "provider-c": "ok", "provider-d": "identity_mismatch"}


def test_the_pages_link_to_what_is_there() -> None:
    pages = [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]

    for page in pages:
        for target in re.findall(r"\]\((?!https?://|#|mailto:)([^)#\s]+)", page.read_text()):
            assert (page.parent / Path(target)).exists(), f"{page.name} links to {target}"


def test_the_readme_is_short() -> None:
    assert len(README.splitlines()) < 150
