"""The document itself: its headers, its size, where it works, and how quick it is."""

import base64
import gzip
import hashlib
import re
import statistics
from collections.abc import Callable

import pytest
import requests
from ui.conftest import Tab, addresses
from ui.prefix_proxy import below

pytestmark = pytest.mark.ui

MOST_GZIPPED_BYTES = 150_000
PAINTED = """new Promise((done) => new PerformanceObserver((list) => {
  const [entry] = list.getEntriesByName("first-contentful-paint");
  if (entry) done(entry.startTime);
}).observe({type: "paint", buffered: true}))"""
ANSWERED = "performance.getEntriesByType('resource').filter((one) => one.name.endsWith('/search')).at(-1)?.duration"


@pytest.fixture
def document(federation: str) -> requests.Response:
    with requests.get(f"{federation}/", timeout=10) as answer:
        assert answer.status_code == 200
        return answer


def test_policy_names_the_style_and_the_script_by_their_hashes(document: requests.Response) -> None:
    policy = dict(part.split(" ", 1) for part in document.headers["Content-Security-Policy"].split("; "))

    assert policy["default-src"] == "'none'"
    assert policy["frame-ancestors"] == "'none'"
    assert policy["require-trusted-types-for"] == "'script'"
    for directive, tag in (("script-src", "script"), ("style-src", "style")):
        (content,) = re.findall(rf"<{tag}[^>]*>(.*?)</{tag}>", document.text, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert policy[directive] == f"'sha256-{digest}'"


def test_other_headers_keep_the_page_to_itself(document: requests.Response) -> None:
    assert document.headers["Content-Type"] == "text/html; charset=utf-8"
    assert document.headers["X-Content-Type-Options"] == "nosniff"
    assert document.headers["Referrer-Policy"] == "no-referrer"


def test_document_is_small_and_names_no_other_host(
    document: requests.Response, capsys: pytest.CaptureFixture[str]
) -> None:
    size = len(gzip.compress(document.content, 6))

    with capsys.disabled():
        print(f"\n  page: {len(document.content) / 1000:.1f} KB, {size / 1000:.1f} KB gzipped")
    assert size < MOST_GZIPPED_BYTES
    hosts = set(re.findall(r"https?://([\w.-]+)", document.text))
    assert hosts <= {"www.w3.org", "localhost", "lab-d.example"}  # a namespace, and examples in the form


@pytest.mark.parametrize("prefix", ["/api", "/restapis/a1b2c3/api/_user_request_"], ids=["stage", "emulator"])
@pytest.mark.parametrize("slash", ["/", ""], ids=["with slash", "without"])
def test_page_works_below_a_path(open_tab: Callable[..., Tab], federation: str, prefix: str, slash: str) -> None:
    with below(prefix, federation) as base:
        tab = open_tab(base=base)
        tab.page.goto(f"{base}{slash}{addresses()['search']}")
        tab.settle()

        assert tab.page.locator("main h1").inner_text() == "6 nodes fit"
        tab.page.get_by_role("link", name="Providers").click()
        tab.page.get_by_role("heading", name="Research Lab A").wait_for()
        tab.page.goto("about:blank")


def test_first_paint_and_search_are_quick(open_tab: Callable[..., Tab], capsys: pytest.CaptureFixture[str]) -> None:
    paints, answers = [], []
    for _ in range(5):
        tab = open_tab()
        page = tab.open(addresses()["search"])
        paints.append(page.evaluate(PAINTED))
        answers.append(page.evaluate(ANSWERED))

    paint, answer = statistics.median(paints), statistics.median(answers)
    with capsys.disabled():
        print(f"\n  first contentful paint {paint:.0f} ms, search round trip {answer:.0f} ms (medians of 5)")
    assert paint < 1000
    assert answer < 1000
