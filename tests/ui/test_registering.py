"""The registry in the page: a check before saving, changes of the version that was seen, and a question before deleting."""

from collections.abc import Iterator

import pytest
import requests
from playwright.sync_api import Page, expect
from ui.conftest import Tab

pytestmark = [pytest.mark.ui, pytest.mark.usefixtures("clean_registry")]


class Records:
    """The registry as the API has it."""

    def __init__(self, base: str) -> None:
        self.session = requests.Session()
        self.url = f"{base}/api/v1/providers"

    def get(self, provider_id: str) -> dict[str, object] | None:
        answer = self.session.get(f"{self.url}/{provider_id}", timeout=10)
        return answer.json() if answer.status_code == 200 else None

    def patch(self, provider_id: str, **fields: object) -> None:
        self.session.patch(f"{self.url}/{provider_id}", json=fields, timeout=10).raise_for_status()

    def add(self, provider_id: str, **fields: object) -> None:
        record = {"id": provider_id, "name": "Lab Y", "base_url": "http://localhost:65530", "enabled": False, **fields}
        self.session.post(self.url, json=record, timeout=10).raise_for_status()


@pytest.fixture
def records(federation: str) -> Iterator[Records]:
    made = Records(federation)
    yield made
    made.session.close()


def fill_in(page: Page, **values: str) -> None:
    for label, value in values.items():
        page.locator("dialog").get_by_label(label, exact=True).fill(value)


def start_registering(tab: Tab) -> Page:
    page = tab.open("#/providers")
    page.get_by_role("button", name="Register a provider").click()
    return page


def test_new_provider_is_checked_while_no_search_asks_it(tab: Tab, records: Records) -> None:
    page = start_registering(tab)

    fill_in(page, Id="provider-y", Name="Lab Y", Address="http://localhost:65530", Labels="region=eu, tier=gold")
    page.get_by_role("button", name="Check", exact=True).click()
    expect(page.locator("dialog .check")).to_contain_text("unreachable")

    kept = records.get("provider-y")
    assert kept is not None
    assert kept["enabled"] is False
    assert page.get_by_role("button", name="Save and enable").is_hidden()
    page.get_by_role("button", name="Save disabled").click()
    expect(page.locator('[data-id="provider-y"]')).to_contain_text("tier=gold")
    assert records.get("provider-y")["labels"] == {"region": "eu", "tier": "gold"}  # type: ignore[index]


def test_provider_that_passes_is_enabled_with_one_more_press(tab: Tab, records: Records) -> None:
    page = start_registering(tab)
    passed = {
        "provider": {"id": "provider-y", "name": "Lab Y", "outcome": "ok", "message": None, "took_ms": 3, "http_status": 200,
                     "retry_at": None, "nodes": 1, "candidates": None, "warnings": []},
        "timings_ms": {"dns": 1, "connect": 1, "tls": 0, "first_byte": 2, "total": 3},
        "inventory": {"source": "static", "observed_at": None, "nodes": 1, "devices": 2, "devices_unused": 1},
    }  # fmt: skip
    tab.answer("**/check", 200, passed)

    fill_in(page, Id="provider-y", Name="Lab Y", Address="http://localhost:65530")
    page.keyboard.press("Enter")
    expect(page.locator("dialog .check")).to_contain_text("2 devices, 1 unused")
    expect(page.get_by_role("button", name="Save and enable")).to_be_focused()
    page.keyboard.press("Enter")

    expect(page.get_by_role("switch", name="Lab Y enabled")).to_have_attribute("aria-checked", "true")
    assert records.get("provider-y")["enabled"] is True  # type: ignore[index]


def test_what_was_only_checked_is_taken_back(tab: Tab, records: Records) -> None:
    page = start_registering(tab)
    fill_in(page, Id="provider-y", Name="Lab Y", Address="http://localhost:65530")
    page.keyboard.press("Enter")
    expect(page.locator("dialog .check")).to_be_visible()

    with page.expect_response(lambda answer: answer.request.method == "DELETE"):
        page.keyboard.press("Escape")
    tab.settle()

    assert records.get("provider-y") is None
    assert page.locator('[data-id="provider-y"]').count() == 0


def test_mistakes_stand_beside_their_fields(tab: Tab) -> None:
    page = start_registering(tab)

    fill_in(page, Id="No Id", Name="", Address="ftp://x", Timeout="5")
    page.keyboard.press("Enter")

    for label in ("Id", "Name", "Address", "Timeout"):
        field = page.locator("dialog .field", has=page.get_by_label(label, exact=True))
        expect(field.locator(".fault")).not_to_be_empty()
    expect(page.get_by_label("Id", exact=True)).to_be_focused()


def test_switch_enables_and_disables(tab: Tab, records: Records) -> None:
    records.add("provider-y")
    page = tab.open("#/providers")
    switch = page.get_by_role("switch", name="Lab Y enabled")

    switch.click()
    expect(switch).to_have_attribute("aria-checked", "true")
    assert records.get("provider-y")["enabled"] is True  # type: ignore[index]
    expect(switch).to_be_focused()
    page.keyboard.press("Space")

    expect(switch).to_have_attribute("aria-checked", "false")
    assert records.get("provider-y")["enabled"] is False  # type: ignore[index]


def test_switch_says_why_a_provider_stays_disabled(tab: Tab, records: Records) -> None:
    records.add("provider-y")
    page = tab.open("#/providers")
    record = records.get("provider-y")
    tab.answer("**/providers/provider-y", 200, record)  # as with AUTH=keys, before a check has passed

    page.get_by_role("switch", name="Lab Y enabled").click()

    expect(page.locator('[data-id="provider-y"]')).to_contain_text("until a check of its address has passed")


def test_check_that_enables_a_provider_is_seen_at_once(tab: Tab, records: Records) -> None:
    records.add("provider-y")
    page = tab.open("#/providers")
    tab.page.route("**/check", lambda route: (records.patch("provider-y", enabled=True), route.continue_()))

    page.get_by_role("button", name="Check Lab Y").click()

    expect(page.get_by_role("switch", name="Lab Y enabled")).to_have_attribute("aria-checked", "true")
    expect(page.locator('[data-id="provider-y"] .check')).to_contain_text("unreachable")
    expect(page.get_by_role("button", name="Check Lab Y")).to_be_focused()


def test_edit_changes_the_version_that_was_seen(tab: Tab, records: Records) -> None:
    records.add("provider-y")
    page = tab.open("#/providers")

    page.get_by_role("button", name="Edit Lab Y").click()
    fill_in(page, Name="Lab Ypsilon", Timeout="2500")
    page.get_by_role("button", name="Save").click()

    expect(page.locator('[data-id="provider-y"]')).to_contain_text("2.5 s timeout")
    assert records.get("provider-y")["name"] == "Lab Ypsilon"  # type: ignore[index]


def test_edit_that_came_too_late_is_told_and_can_be_saved_all_the_same(tab: Tab, records: Records) -> None:
    records.add("provider-y")
    page = tab.open("#/providers")
    page.get_by_role("button", name="Edit Lab Y").click()
    records.patch("provider-y", name="Theirs")

    fill_in(page, Name="Mine")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("alert")).to_contain_text("version 2 now: Theirs")
    assert records.get("provider-y")["name"] == "Theirs"  # type: ignore[index]
    page.get_by_role("button", name="Save mine over it").click()

    expect(page.locator('[data-id="provider-y"]')).to_contain_text("Mine")


def test_delete_asks_first_and_leaves_the_choice_to_stay(tab: Tab, records: Records) -> None:
    records.add("provider-y")
    page = tab.open("#/providers")

    page.get_by_role("button", name="Delete Lab Y").click()
    expect(page.get_by_role("button", name="Cancel")).to_be_focused()
    page.keyboard.press("Escape")
    assert records.get("provider-y") is not None
    page.get_by_role("button", name="Delete Lab Y").click()
    page.locator("dialog").get_by_role("button", name="Delete", exact=True).click()

    expect(page.locator('[data-id="provider-y"]')).to_have_count(0)
    assert records.get("provider-y") is None
