"""The pictures in docs/images/, taken of a running gateway.

python -m scripts.screenshots [URL]     of what `make dev` started, or of the gateway at URL

Needs Debian's chromium, or another one named in CHROMIUM.
"""

import os
import shutil
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from playwright.sync_api import Browser, Page, expect, sync_playwright

from scripts import settings
from scripts.settings import ROOT
from scripts.terminal import Failure, fail, line

IMAGES = ROOT / "docs" / "images"
SAMPLE = "gpu=1&gpu-memory=30GiB&gpu-compute=50&vendor=NVIDIA&cpu=4&memory=16GiB"
MOST_BYTES = 1_500_000


def as_it_is(page: Page) -> None:
    """Nothing to do before the picture."""


def register(page: Page) -> None:
    """The dialog for a new provider, with its fields filled and nothing sent."""
    page.get_by_role("button", name="Register a provider").click()
    for label, text in {"Id": "lab-d", "Name": "Lab D", "Address": "https://lab-d.example"}.items():
        page.get_by_label(label, exact=True).fill(text)


@dataclass(frozen=True)
class Shot:
    """One picture: its name, the page's address, the window, and what is done before."""

    name: str
    address: str
    width: int = 1280
    height: int = 860
    theme: Literal["light", "dark"] = "light"
    prepare: Callable[[Page], None] = as_it_is


SHOTS = (
    Shot("search", f"#/search?{SAMPLE}"),
    Shot("search-dark", f"#/search?{SAMPLE}", theme="dark"),
    Shot("search-phone", f"#/search?{SAMPLE}", 390, 844),
    Shot("devices", "#/search?gpu=8&sharing=whole&cpu=32&memory=256GiB", height=760),
    Shot("nothing-fits", "#/search?gpu=16&gpu-memory=30GiB&memory=16GiB", height=760),
    Shot("compare", f"#/compare?{SAMPLE}", height=620),
    Shot("federation", "#/federation", height=800),
    Shot("federation-phone", "#/federation", 390, 844, theme="dark"),
    Shot("providers", "#/providers", height=420),
    Shot("register", "#/providers", height=640, prepare=register),
)


def main(arguments: Sequence[str]) -> int:
    """Takes them all. Returns an exit code."""
    base = arguments[0].rstrip("/") if arguments else settings.read().public_url("gateway")
    try:
        taken = take(base)
    except Failure as failure:
        fail(failure)
        return 1
    for path in taken:
        line(f"{path.relative_to(ROOT)}  {path.stat().st_size / 1000:.0f} KB")
    return 0


def take(base: str) -> list[Path]:
    """Writes every picture of the page at `base`. Raises Failure where there is no browser, or too much was written."""
    chromium = os.environ.get("CHROMIUM") or shutil.which("chromium")
    if chromium is None:
        raise Failure("There is no chromium: apt-get install chromium, or name one in CHROMIUM.")
    IMAGES.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        taken = [_take(browser, base, shot) for shot in SHOTS]
        browser.close()
    total = sum(path.stat().st_size for path in taken)
    if total > MOST_BYTES:
        raise Failure(f"The pictures have {total} bytes together; {MOST_BYTES} is the most.")
    return taken


def _take(browser: Browser, base: str, shot: Shot) -> Path:
    path = IMAGES / f"{shot.name}.png"
    size = {"width": shot.width, "height": shot.height}
    with browser.new_context(viewport=size, color_scheme=shot.theme, reduced_motion="reduce") as context:  # type: ignore[arg-type]
        page = context.new_page()
        page.goto(f"{base}/{shot.address}")
        page.wait_for_load_state("networkidle")
        expect(page.locator("main [aria-busy], .trying, .loading")).to_have_count(0)
        shot.prepare(page)
        page.screenshot(path=path)
    return path


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
