"""/docs in Chromium: the viewer shows every operation and calls the gateway, at the root and below a path."""

from collections.abc import Callable
from contextlib import nullcontext

import pytest
import requests
from ui.conftest import Tab
from ui.prefix_proxy import below

from scripts import docs_viewer

pytestmark = [
    pytest.mark.ui,
    pytest.mark.skipif(
        not docs_viewer.TARGET.exists(), reason="the viewer is not installed; python scripts/docs_viewer.py gets it"
    ),
]


@pytest.mark.parametrize(
    "prefix", ["", "/api", "/restapis/a1b2c3/api/_user_request_"], ids=["root", "stage", "emulator"]
)
def test_the_viewer_shows_every_operation_and_calls_the_gateway(
    open_tab: Callable[..., Tab], federation: str, prefix: str
) -> None:
    with below(prefix, federation) if prefix else nullcontext(federation) as base:
        document = requests.get(f"{base}/openapi.json", timeout=10).json()
        tab = open_tab(base=base)
        tab.page.goto(f"{base}/docs")
        tab.page.locator(".opblock").first.wait_for()

        shown = tab.page.locator(".opblock").count()
        assert shown == sum(len(methods) for methods in document["paths"].values())

        ready = tab.page.locator("#operations-service-get_ready")
        ready.locator(".opblock-summary-control").click()
        ready.get_by_role("button", name="Execute").click()
        ready.locator(".live-responses-table .response-col_status").get_by_text("200").wait_for()
        assert f"{base}/ready" in tab.requested
        tab.page.goto("about:blank")
