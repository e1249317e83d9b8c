"""Each state that a view can be in, at three widths in both themes."""

from collections.abc import Callable
from typing import Any

import pytest
from ui.conftest import THEMES, WIDTHS, Tab, addresses

pytestmark = pytest.mark.ui

SEARCH = addresses()["search"]
NO_RESOURCES: dict[str, Any] = {
    "totals": {
        "nodes": 0,
        "cpu": {"total_millicores": 0, "available_millicores": 0, "unknown": 0},
        "memory": {"total_bytes": 0, "available_bytes": 0, "unknown": 0},
        "devices": {"count": 0, "healthy": 0, "unused": 0, "slots_total": 0, "slots_available": 0,
                    "memory_total_mib": 0, "memory_available_mib": 0, "unknown": 0},
    },
    "by_provider": [], "by_vendor": [], "by_model": [], "providers": [], "partial": False, "observed_at": "2026-01-01T00:00:00Z",
}  # fmt: skip


def loading(tab: Tab) -> None:
    tab.page.route("**/api/**", lambda route: None)
    tab.page.goto(f"{tab.base}/{SEARCH}")
    tab.page.get_by_role("status", name="Loading the answer").wait_for()
    tab.page.unroute_all(behavior="ignoreErrors")


def error(tab: Tab) -> None:
    tab.problem("**/api/**", 503, "registry_unavailable", "The registry did not answer in time; try again in 2 s.")
    page = tab.open(SEARCH)
    assert "did not answer in time" in page.get_by_role("alert").inner_text()
    assert "registry_unavailable" in page.get_by_role("alert").inner_text()


def no_gateway(tab: Tab) -> None:
    tab.page.route("**/api/**", lambda route: route.abort())
    page = tab.open(addresses()["federation"])
    assert "The gateway did not answer" in page.get_by_role("alert").inner_text()


def refused(tab: Tab) -> None:
    page = tab.open("#/search?gpu=1&gpu-memory=30GiB&model=!!")
    assert page.get_by_label("Model", exact=True).get_attribute("aria-invalid") is not None
    assert "/gpu/model" in page.get_by_role("alert").inner_text()


def key_needed(tab: Tab) -> None:
    tab.problem("**/api/**", 401, "unauthenticated", "This gateway answers callers with a key only.")
    page = tab.open(SEARCH)
    assert page.get_by_label("API key").is_visible()


def empty_registry(tab: Tab) -> None:
    tab.answer("**/api/v1/providers*", 200, {"providers": [], "next_token": None})
    page = tab.open("#/providers")
    assert page.get_by_role("heading", name="No provider yet").is_visible()


def empty_federation(tab: Tab) -> None:
    tab.answer("**/api/v1/resources", 200, NO_RESOURCES)
    page = tab.open("#/federation")
    assert page.get_by_role("heading", name="No provider is enabled").is_visible()


def nobody_asked(tab: Tab) -> None:
    page = tab.open("#/search?gpu=1&label=region=moon")
    assert page.get_by_role("heading", name="No answer can be given").is_visible()


def registering(tab: Tab) -> None:
    page = tab.open("#/providers")
    page.get_by_role("button", name="Register a provider").click()
    page.get_by_label("Id", exact=True).fill("Not An Id")
    page.get_by_role("button", name="Check", exact=True).click()
    page.locator("dialog [aria-invalid]").first.wait_for()


def editing(tab: Tab) -> None:
    tab.open("#/providers").get_by_role("button", name="Edit Edge Lab C").click()


def deleting(tab: Tab) -> None:
    tab.open("#/providers").get_by_role("button", name="Delete Edge Lab C").click()


def checked(tab: Tab) -> None:
    page = tab.open("#/providers")
    page.get_by_role("button", name="Check Edge Lab C").click()
    page.locator(".check").wait_for()


def forbidden_in_a_row(tab: Tab) -> None:
    page = tab.open("#/providers")
    tab.problem("**/check", 403, "forbidden", "This key may not check provider-c.")
    page.get_by_role("button", name="Check Edge Lab C").click()
    page.get_by_role("alert").wait_for()


def anothers_provider(tab: Tab) -> None:
    record = {"id": "provider-m", "name": "Lab M", "base_url": None, "enabled": True, "timeout_ms": 1500, "labels": {}, "owner": "m",
              "key_version": 1, "verified_at": None, "version": 1, "created_at": "2026-01-01T00:00:00Z", "updated_at": "2026-01-01T00:00:00Z"}  # fmt: skip
    tab.answer("**/api/v1/providers*", 200, {"providers": [record], "next_token": None})
    page = tab.open("#/providers")
    assert page.get_by_role("switch").is_disabled()
    assert page.locator(".record button:not([role])").count() == 0


STATES = [
    loading, error, no_gateway, refused, key_needed, empty_registry, empty_federation, nobody_asked,
    registering, editing, deleting, checked, forbidden_in_a_row, anothers_provider,
]  # fmt: skip


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("state", STATES, ids=lambda state: str(state.__name__))
def test_state_fits_its_screen_and_is_accessible(
    open_tab: Callable[..., Tab], axe_script: str, state: Callable[[Tab], None], width: int, theme: str
) -> None:
    tab = open_tab(width, theme)

    state(tab)

    tab.check_layout()
    tab.check_access(axe_script)


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("view", ["search", "compare", "federation"])
def test_missing_provider_is_named_and_the_rest_is_shown(
    open_tab: Callable[..., Tab], axe_script: str, silent_provider: str, view: str, width: int, theme: str
) -> None:
    tab = open_tab(width, theme)

    page = tab.open(addresses()[view])

    said = page.locator("main").inner_text()
    assert ("not every provider answered" if view == "compare" else "Lab X") in said
    assert "unreachable" in said or view == "compare"
    tab.check_layout()
    tab.check_access(axe_script)
