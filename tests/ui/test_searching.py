"""What a person does with a request: writes it, shares it, relaxes it, takes it elsewhere."""

import json
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from ui.conftest import Tab, addresses

pytestmark = pytest.mark.ui

FEDCOMPUTE = Path(sys.executable).with_name("fedcompute")


def clipboard(tab: Tab) -> str:
    text: str = tab.page.evaluate("navigator.clipboard.readText()")
    return text


def run(command: str) -> Any:
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def test_written_request_is_answered_and_stands_in_the_address(tab: Tab) -> None:
    page = tab.open("")

    page.get_by_label("Count", exact=True).fill("2")
    page.get_by_label("Memory, each").fill("20")
    page.get_by_label("Vendor").fill("nvidia")
    page.get_by_role("textbox", name="CPU").fill("500m")
    page.get_by_role("button", name="Search").click()
    tab.settle()

    assert page.url.endswith("#/search?gpu=2&gpu-memory=20GiB&vendor=nvidia&cpu=500m")
    assert "fit" in page.locator("main h1").inner_text()


def test_address_alone_gives_the_same_answer(tab: Tab) -> None:
    page = tab.open(addresses()["search"])

    assert page.locator("main h1").inner_text() == "6 nodes fit"
    assert page.locator(".candidate h3").first.inner_text() == "a-ws-01"
    assert page.get_by_label("Memory, each").input_value() == "30"
    assert page.get_by_role("radio", name="best-fit").is_checked()


def test_bars_and_devices_say_what_is_used_asked_and_left(tab: Tab) -> None:
    page = tab.open(addresses()["search"])

    first = page.locator(".candidate").first
    assert first.locator(".dimension-label").all_inner_texts() == [
        "Cores", "Memory", "GPU memory", "GPU compute", "GPU slots",
    ]  # fmt: skip
    assert (
        " ".join(first.locator(".dimension").first.inner_text().split()) == "Cores 1.25 left 18.25 used 4 asked of 23.5"
    )
    assert first.locator(".device").count() == 1
    assert "30.4 GiB free of 48 GiB" in first.locator(".device").inner_text()
    assert "static" in first.locator(".candidate-facts").inner_text()


def test_other_candidates_open_on_demand(tab: Tab) -> None:
    page = tab.open(addresses()["search"])
    button = page.get_by_role("button", name="Details of b-hgx-03")

    button.click()

    assert button.get_attribute("aria-expanded") == "true"
    assert "University Cluster B (provider-b)" in page.locator(".candidate").nth(1).inner_text()


def test_chosen_strategy_is_asked_for_at_once(tab: Tab) -> None:
    page = tab.open(addresses()["search"])

    page.get_by_role("radio", name="spread").check()
    tab.settle()

    assert "strategy=spread" in page.url
    assert page.locator(".candidate h3").first.inner_text() == "c-h200-01"


def test_preset_fills_the_form_and_searches(tab: Tab) -> None:
    page = tab.open("")

    page.get_by_label("Preset").select_option(label="CPU only")
    tab.settle()

    assert page.url.endswith("#/search?cpu=16&memory=64GiB")
    assert page.locator(".candidate").count() > 0


def test_why_nothing_fits_is_told_with_amounts(tab: Tab) -> None:
    page = tab.open("#/search?gpu=16")

    assert page.locator("main h1").inner_text() == "Nothing fits"
    assert page.locator(".reasons li").first.inner_text().split("\n") == ["30", "Too few GPUs"]
    assert page.locator(".nearest > li").first.inner_text().split("\n")[:2] == ["b-hgx-01", "University Cluster B"]
    assert "8 of 16" in page.locator(".nearest > li").first.inner_text()
    assert "8 short" in page.locator(".nearest > li").first.inner_text()


def test_relaxation_finds_what_it_promises(tab: Tab) -> None:
    page = tab.open("#/search?gpu=16")
    offer = page.locator(".relaxation").first
    promised = offer.locator(".finds").inner_text()

    offer.click()
    tab.settle()

    assert page.locator("main h1").inner_text().startswith(promised)
    assert "gpu=16" not in page.url


def test_comparison_shows_what_each_strategy_chooses(tab: Tab) -> None:
    page = tab.open(addresses()["compare"])

    assert page.locator(".winner-node").all_inner_texts() == ["a-ws-01", "b-hgx-01", "b-hgx-03", "c-h200-01"]
    assert page.locator(".matrix tbody tr").count() == 6
    assert page.locator(".matrix .is-first").count() == 4


def test_curl_and_command_line_give_the_same_candidates(tab: Tab) -> None:
    page = tab.open(addresses()["search"])
    shown = page.locator(".candidate h3").all_inner_texts()

    page.get_by_role("button", name="Copy curl").click()
    by_curl = run(clipboard(tab))
    page.get_by_role("button", name="Copy CLI").click()
    command = clipboard(tab)

    assert [one["node"]["name"] for one in by_curl["candidates"]] == shown
    assert shlex.split(command)[:2] == ["fedcompute", "search"]
    assert " --gpu 1 --gpu-memory 30GiB --gpu-compute 50 --vendor NVIDIA --cpu 4 --memory 16GiB" in command
    by_command = run(command.replace("fedcompute", shlex.quote(str(FEDCOMPUTE)), 1) + " --output json")
    assert [one["node"]["name"] for one in by_command["candidates"]] == shown


def test_everything_in_a_request_reaches_the_command_line(tab: Tab) -> None:
    page = tab.open(
        "#/search?gpu=1&model=RTX 4090&label=region=eu&provider=provider-a,provider-b&toleration=a=b:NoSchedule&deadline=2&partial=require_all"
    )

    page.get_by_role("button", name="Copy CLI").click()

    assert clipboard(tab).endswith(
        "--gpu 1 --model 'RTX 4090' --toleration a=b:NoSchedule --deadline 2s"
        " --provider provider-a --provider provider-b --label region=eu --require-all"
    )


def test_copied_json_is_the_request_and_the_answer(tab: Tab) -> None:
    page = tab.open("#/search?gpu=1&gpu-memory=30GiB")

    page.get_by_role("button", name="Copy JSON").click()
    request = json.loads(clipboard(tab))
    page.get_by_role("button", name="Copy Answer").click()
    answer = json.loads(clipboard(tab))

    assert request == {"gpu": {"count": 1, "minimum_memory_mib": 30720}}
    assert answer["request"]["gpu"]["minimum_memory_mib"] == 30720


def test_text_of_providers_stays_text(tab: Tab) -> None:
    page = tab.open(addresses()["search"])
    page.get_by_role("button", name="Copy Answer").click()
    evil = "<img src=x onerror=\"document.title='taken'\">"
    answer = json.loads(clipboard(tab))
    candidate = answer["candidates"][0]
    candidate["node"] |= {
        "name": evil,
        "labels": {evil: evil},
        "taints": [{"key": evil, "value": evil, "effect": evil}],
    }
    candidate["devices"][0] |= {"id": evil, "model": evil, "vendor": evil, "mode": evil}
    candidate["provenance"] |= {"provider_name": evil, "source": evil, "base_url": evil, "etag": evil}
    answer["providers"][0] |= {"name": evil, "message": evil, "outcome": "timeout"}
    answer["warnings"] = [{"code": evil, "message": evil, "provider_id": evil, "node": evil, "device": None}]
    tab.answer("**/search", 200, answer)

    tab.open(addresses()["search"])

    assert evil in page.locator(".candidate").first.inner_text()
    assert page.locator("main img").count() == 0
    assert "taken" not in page.title()


def test_manifest_of_a_cluster_is_shown_and_copied(tab: Tab, axe_script: str) -> None:
    page = tab.open(addresses()["search"])
    assert page.locator(".manifest").count() == 0  # the samples are no clusters
    page.get_by_role("button", name="Copy Answer").click()
    answer = json.loads(clipboard(tab))
    answer["candidates"][0]["hint"] = {"kind": "hami", "text": "apiVersion: v1\nkind: Pod\n"}
    tab.answer("**/search", 200, answer)

    tab.open(addresses()["search"])
    page.get_by_role("button", name="Copy manifest").click()

    assert clipboard(tab) == "apiVersion: v1\nkind: Pod\n"
    tab.check_access(axe_script)


def test_unreadable_amount_is_told_beside_its_field_and_nothing_is_sent(tab: Tab) -> None:
    page = tab.open("")
    tab.requested.clear()

    page.get_by_label("Memory, each").fill("lots")
    page.keyboard.press("Enter")

    assert page.locator("#request-gpu-memory-fault").inner_text() == "Write a size such as 30, 30GiB or 512MiB."
    assert page.evaluate("document.activeElement.id") == "request-gpu-memory"
    assert not any("/api/" in url for url in tab.requested)


def test_keyboard_alone_gets_from_nothing_to_an_open_candidate(tab: Tab) -> None:
    page = tab.open("")
    press = page.keyboard.press

    press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to content"
    press("Enter")
    for _ in range(20):
        press("Tab")
        if page.evaluate("document.activeElement.id") == "request-gpu":
            break
    page.keyboard.type("1")
    press("Enter")
    tab.settle()
    assert "fit" in page.locator("main h1").inner_text()
    for _ in range(60):
        press("Tab")
        if page.evaluate("document.activeElement.getAttribute('aria-expanded')") == "false":
            break
    press("Space")

    assert page.locator(".candidate-more:visible").count() == 2


def test_result_is_said_to_screen_readers(tab: Tab) -> None:
    page = tab.open(addresses()["search"])

    assert page.locator("#spoken").inner_text() == "6 nodes fit. Best: a-ws-01 of Research Lab A."


def test_key_is_asked_for_kept_for_the_tab_and_sent(tab: Tab) -> None:
    page = tab.page
    sent: list[str | None] = []

    def guard(route: Any) -> None:
        sent.append(route.request.headers.get("authorization"))
        if sent[-1] == "Bearer fc_1_secret":
            route.continue_()
        else:
            body = {"status": 401, "code": "unauthenticated", "title": "Unauthorized", "detail": "", "request_id": "1"}
            route.fulfill(status=401, content_type="application/problem+json", body=json.dumps(body))

    page.route("**/api/**", guard)
    tab.open(addresses()["search"])
    page.get_by_label("API key").fill("fc_1_wrong")
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="This key was not accepted").wait_for()
    page.get_by_label("API key").fill("fc_1_secret")
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="6 nodes fit").wait_for()
    page.get_by_role("button", name="Copy curl").click()

    assert sent == [None, "Bearer fc_1_wrong", "Bearer fc_1_secret"]
    assert "fc_1_secret" not in clipboard(tab)
    assert "$FEDCOMPUTE_KEY" in clipboard(tab)
    assert page.evaluate("[sessionStorage.length, Object.values({...localStorage}).join()]") == [1, ""]
    page.get_by_role("button", name="Forget key").click()
    assert page.evaluate("sessionStorage.length") == 0


@pytest.mark.parametrize(("times", "theme"), [(1, "light"), (2, "dark"), (3, "auto")])
def test_theme_is_chosen_and_remembered(tab: Tab, times: int, theme: str) -> None:
    page = tab.open("")

    for _ in range(times):
        page.get_by_role("button", name="Theme").click()
    tab.open("")

    assert page.evaluate("document.documentElement.dataset.theme") == theme
