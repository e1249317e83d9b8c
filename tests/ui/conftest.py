"""The web page in Debian's Chromium, against a federation of its own on free ports."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest
import requests

from scripts import ports, settings
from scripts.settings import ROOT

pytest.importorskip("playwright", reason="Playwright is not installed; see docs/web.md")
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
AXE_VERSION = "4.14.1"
WIDTHS = {390: 844, 1024: 768, 1600: 1000}
THEMES = ("light", "dark")
# What the browser itself prints for an answer that is no 2xx, which a test may have wanted.
NETWORK_LINE = "Failed to load resource"


@pytest.fixture(scope="session")
def federation(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a gateway with the three sample providers."""
    usual = settings.read()
    if not usual.emulator_venv.exists():
        pytest.skip("the emulator is not installed; make dev does that")
    chosen = dict(zip(usual.ports, ports.free_ports(len(usual.ports)), strict=True))
    environment = os.environ | {
        "RUN_DIR": str(tmp_path_factory.mktemp("federation")),
        "EMULATOR_VENV": str(usual.emulator_venv),
        **{settings.port_variable(name): str(port) for name, port in chosen.items()},
    }
    try:
        _run("scripts.dev", environment)
        yield f"http://localhost:{chosen['gateway']}"
    finally:
        _run("scripts.stop", environment)


def _run(module: str, environment: Mapping[str, str]) -> None:
    done = subprocess.run(
        [sys.executable, "-m", module], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    if CHROMIUM is None:
        pytest.skip("there is no chromium; apt-get install chromium, or name one in CHROMIUM")
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield launched
        launched.close()


@pytest.fixture(scope="session")
def axe_script() -> str:
    """axe-core's source, from npm, kept in .run."""
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("axe-core comes from npm, which is not installed")
    folder = ROOT / ".run" / f"axe-core-{AXE_VERSION}"
    script = folder / "node_modules" / "axe-core" / "axe.min.js"
    if not script.exists():
        folder.mkdir(parents=True, exist_ok=True)
        options = ("--no-save", "--ignore-scripts", "--no-audit", "--no-fund", "--prefix", str(folder))
        done = subprocess.run(
            [npm, "install", *options, f"axe-core@{AXE_VERSION}"], capture_output=True, text=True, check=False
        )
        if done.returncode:
            pytest.skip(f"npm could not install axe-core: {done.stderr.strip()[-300:]}")
    return script.read_text()


class Tab:
    """One page of the browser, with what it printed and where it went."""

    def __init__(self, context: BrowserContext, base: str) -> None:
        self.base = base
        self.page: Page = context.new_page()
        self.page.set_default_timeout(10_000)
        self.printed: list[str] = []
        self.requested: list[str] = []
        self.page.on("console", lambda message: self.printed.append(f"{message.type}: {message.text}"))
        self.page.on("pageerror", lambda error: self.printed.append(f"uncaught: {error}"))
        self.page.on("request", lambda request: self.requested.append(request.url))

    def open(self, address: str) -> Page:
        """Goes to an address such as `#/search?gpu=1`, and waits until nothing is under way."""
        self.page.goto("about:blank")
        self.page.goto(f"{self.base}/{address}")
        self.settle()
        return self.page

    def settle(self) -> None:
        self.page.wait_for_load_state("networkidle")
        self.page.evaluate("new Promise((done) => setTimeout(done))")  # what the last press began has begun
        expect(self.page.locator("main [aria-busy], .trying, .loading")).to_have_count(0)

    def answer(self, pattern: str, status: int, body: object, content_type: str = "application/json") -> None:
        """Answers calls in the gateway's place."""
        text = json.dumps(body)
        self.page.route(pattern, lambda route: route.fulfill(status=status, content_type=content_type, body=text))

    def problem(self, pattern: str, status: int, code: str, detail: str, **more: object) -> None:
        body = {"type": "", "title": code.replace("_", " ").capitalize(), "status": status, "code": code,
                "detail": detail, "request_id": "3f1c9a52-0000-4000-8000-1f2e3d4c5b6a", **more}  # fmt: skip
        self.answer(pattern, status, body, "application/problem+json")

    def check(self) -> None:
        """Nothing was printed, and nothing but the gateway was called."""
        assert [line for line in self.printed if NETWORK_LINE not in line] == []
        assert [url for url in self.requested if not url.startswith((self.base, "about:", "data:"))] == []

    def check_layout(self) -> None:
        """Nothing stands beyond the right edge."""
        assert self.page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0

    def check_access(self, axe_script: str) -> None:
        """axe finds nothing, best practices included."""
        self.page.evaluate(axe_script)
        # Animations at their end: axe measures colours as they are at that moment.
        self.page.evaluate(
            "document.getAnimations().forEach((one) => one.effect.getComputedTiming().iterations === Infinity ? one.cancel() : one.finish())"
        )
        found: dict[str, Any] = self.page.evaluate("axe.run(document, {resultTypes: ['violations']})")
        told = [
            f"{one['id']}: {one['help']}: {[node['target'] for node in one['nodes']][:4]}"
            for one in found["violations"]
        ]
        assert told == []


@pytest.fixture
def open_tab(browser: Browser, federation: str) -> Iterator[Callable[..., Tab]]:
    """Makes tabs; at the end each is checked for errors and calls elsewhere."""
    contexts: list[BrowserContext] = []
    tabs: list[Tab] = []

    def make(width: int = 1600, theme: str = "light", base: str = federation) -> Tab:
        context = browser.new_context(
            viewport={"width": width, "height": WIDTHS.get(width, 900)},
            color_scheme=theme,  # type: ignore[arg-type]
            reduced_motion="reduce",
            permissions=["clipboard-read", "clipboard-write"],
        )
        contexts.append(context)
        tabs.append(Tab(context, base))
        return tabs[-1]

    yield make
    for tab in tabs:
        tab.check()
    for context in contexts:
        context.close()


@pytest.fixture
def tab(open_tab: Callable[..., Tab]) -> Tab:
    return open_tab()


@pytest.fixture
def clean_registry(federation: str) -> Iterator[None]:
    """Takes out what a test registered."""
    yield
    for provider_id in ("provider-x", "provider-y"):
        requests.delete(f"{federation}/api/v1/providers/{provider_id}", timeout=10).close()


@pytest.fixture
def silent_provider(federation: str, clean_registry: None) -> str:
    """A registered provider whose address nobody answers at."""
    record = {"id": "provider-x", "name": "Lab X", "base_url": "http://localhost:65530"}
    requests.post(f"{federation}/api/v1/providers", json=record, timeout=10).close()
    return "provider-x"


def addresses() -> dict[str, str]:
    """The views, by name, with a request that shows each well."""
    sample = "?gpu=1&gpu-memory=30GiB&gpu-compute=50&vendor=NVIDIA&cpu=4&memory=16GiB"
    return {
        "welcome": "",
        "search": f"#/search{sample}",
        "devices": "#/search?gpu=8&sharing=whole&cpu=32&memory=256GiB",
        "nothing fits": "#/search?gpu=16&gpu-memory=30GiB&memory=16GiB",
        "cpu": "#/search?cpu=16&memory=64GiB",
        "compare": f"#/compare{sample}",
        "federation": "#/federation",
        "providers": "#/providers",
    }
