"""The gateway with AUTH=keys and providers that sign: who takes part in a search, and who is `signature_invalid`."""

import json
import time
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from fakes.gateway import PROVIDERS, RESOURCES, SEARCH
from fakes.inventories import a_node, an_inventory
from fakes.keyed_gateway import KeyedGateway
from fakes.signing_provider import SigningProvider, mac

from chalicelib.inventories import Inventories
from fedcompute.signatures import provider_key

BODY = {"cpu": {"minimum_millicores": 1}}


@pytest.fixture
def keyed(dynamodb, table, tmp_path, monkeypatch) -> KeyedGateway:
    return KeyedGateway(monkeypatch, dynamodb, table, tmp_path)


@pytest.fixture
def lab():
    with SigningProvider("provider-a") as lab:
        yield lab


@pytest.fixture
def admin(keyed) -> str:
    return keyed.a_key("admin")


def check(keyed: KeyedGateway, key: str, provider_id: str = "provider-a") -> Any:
    return keyed.ask(key, "POST", f"{PROVIDERS}/{provider_id}/check").json["provider"]


def read(keyed: KeyedGateway, key: str) -> Any:
    return keyed.ask(key, "GET", f"{PROVIDERS}/provider-a").json


def outcomes(keyed: KeyedGateway, key: str) -> dict[str, str]:
    answer = keyed.ask(key, "POST", SEARCH, BODY)
    assert answer.status == 200, answer
    return {entry["id"]: entry["outcome"] for entry in answer.json["providers"]}


def take_part(keyed: KeyedGateway, key: str, lab: SigningProvider) -> Any:
    record = keyed.add(key, lab.id, lab.base_url)
    lab.keys = [record["key"]]
    assert check(keyed, key, lab.id)["outcome"] == "ok"
    return record


def test_new_provider_takes_part_once_a_check_has_passed(keyed, lab, admin):
    record = keyed.add(admin, "provider-a", lab.base_url, enabled=True)
    before = outcomes(keyed, admin)

    lab.keys = [record["key"]]
    checked = check(keyed, admin)
    confirmed = read(keyed, admin)

    assert (record["enabled"], record["verified_at"], before) == (False, None, {})
    assert checked["outcome"] == "ok"
    assert confirmed["enabled"] is True
    assert datetime.fromisoformat(confirmed["verified_at"]).tzinfo is not None
    assert (confirmed["version"], "key" in confirmed) == (2, False)
    assert outcomes(keyed, admin) == {"provider-a": "not_modified"}  # it has what the check brought
    assert lab.refused == 0


def test_second_check_writes_nothing_and_enables_nobody_again(keyed, lab, admin):
    take_part(keyed, admin, lab)
    keyed.ask(admin, "PATCH", f"{PROVIDERS}/provider-a", {"enabled": False})

    check(keyed, admin)

    assert (read(keyed, admin)["enabled"], read(keyed, admin)["version"]) == (False, 3)
    assert keyed.ask(admin, "PATCH", f"{PROVIDERS}/provider-a", {"enabled": True}).json["enabled"] is True


def test_failed_check_confirms_nothing(keyed, lab, admin):
    keyed.add(admin, "provider-a", lab.base_url)

    checked = check(keyed, admin)

    assert (checked["outcome"], checked["http_status"]) == ("http_status", 401)
    assert (read(keyed, admin)["enabled"], read(keyed, admin)["version"]) == (False, 1)


def test_unconfirmed_provider_stays_disabled_whatever_its_owner_says(keyed, lab, admin):
    keyed.add(admin, "provider-a", lab.base_url)

    patched = keyed.ask(admin, "PATCH", f"{PROVIDERS}/provider-a", {"enabled": True, "name": "x"})
    replaced = keyed.ask(admin, "PUT", f"{PROVIDERS}/provider-a", {"name": "x", "base_url": lab.base_url})

    assert [answer.json["enabled"] for answer in (patched, replaced)] == [False, False]
    assert outcomes(keyed, admin) == {}


def test_new_address_is_confirmed_anew(keyed, lab, admin):
    take_part(keyed, admin, lab)

    moved = keyed.ask(admin, "PATCH", f"{PROVIDERS}/provider-a", {"base_url": lab.base_url + "/elsewhere"}).json
    before = outcomes(keyed, admin)
    check(keyed, admin)

    assert (moved["enabled"], moved["verified_at"], before) == (False, None, {})
    assert read(keyed, admin)["enabled"] is True


def test_other_changes_leave_a_provider_confirmed(keyed, lab, admin):
    take_part(keyed, admin, lab)

    changed = keyed.ask(admin, "PATCH", f"{PROVIDERS}/provider-a", {"timeout_ms": 900, "labels": {"a": "b"}}).json

    assert changed["enabled"] is True
    assert changed["verified_at"] is not None


def test_confirmation_is_in_the_audit(keyed, lab, admin, capsys):
    take_part(keyed, admin, lab)

    assert '"action":"confirm","provider_id":"provider-a","version_from":1,"version_to":2' in capsys.readouterr().err


def test_check_confirms_only_what_it_checked(keyed, lab, admin):
    record = keyed.add(admin, "provider-a", lab.base_url)
    lab.keys = [record["key"]]

    def move_meanwhile(headers, body):
        keyed.module.gateway.registry.replace(
            "provider-a", lambda record: record.model_copy(update={"base_url": "http://127.0.0.1:1"})
        )
        return headers, body

    lab.spoil = move_meanwhile

    assert check(keyed, admin)["outcome"] == "ok"
    assert (read(keyed, admin)["enabled"], read(keyed, admin)["verified_at"]) == (False, None)


def unsigned(headers, body):
    return {"ETag": headers["ETag"]}, body


def of_another_call(headers, body):
    return {**headers, "webhook-id": "0" * 32}, body


def tampered(headers, body):
    return headers, body.replace(b"provider-a", b"provider-a ") + b" "


def other_etag(headers, body):
    return {**headers, "ETag": '"other"'}, body


def half_signed(headers, body):
    return {name: text for name, text in headers.items() if name != "webhook-timestamp"}, body


def empty(headers, body):
    return {**headers, "webhook-signature": ""}, body


def long(headers, body):
    return {**headers, "webhook-signature": "v1," + "A" * 5000}, body


@pytest.mark.parametrize("spoil", [unsigned, of_another_call, tampered, other_etag, half_signed, empty, long])
def test_reply_that_is_not_the_providers_to_this_call_is_signature_invalid(keyed, lab, admin, spoil):
    take_part(keyed, admin, lab)
    keyed.module.gateway.asking.inventories = Inventories()  # so that all of it is asked for
    lab.spoil = spoil

    answer = keyed.ask(admin, "POST", SEARCH, BODY).json

    (entry,) = answer["providers"]
    assert (entry["outcome"], entry["nodes"], entry["http_status"]) == ("signature_invalid", None, 200)
    assert "signature" in entry["message"]
    assert (answer["feasibility"], answer["candidates"], answer["partial"]) == ("unknown", [], True)


@pytest.mark.parametrize("spoil", [unsigned, of_another_call, other_etag])
def test_revalidation_needs_a_signature_too(keyed, lab, admin, spoil):
    take_part(keyed, admin, lab)
    outcomes(keyed, admin)
    lab.spoil = spoil

    before = outcomes(keyed, admin)
    lab.spoil = lambda headers, body: (headers, body)

    assert before == {"provider-a": "signature_invalid"}
    assert outcomes(keyed, admin) == {"provider-a": "not_modified"}


def test_confirmation_of_another_version_than_was_asked_for_is_signature_invalid(keyed, lab, admin):
    take_part(keyed, admin, lab)
    answer = lab.answer
    lab.body = json.dumps(an_inventory("provider-a", a_node("changed"))).encode()
    # What somebody between the two can do: put the tag that is there now into the call.
    lab.answer = lambda asked: answer({**asked, "if-none-match": lab.etag})

    between = outcomes(keyed, admin)
    lab.answer = answer

    assert between == {"provider-a": "signature_invalid"}
    assert outcomes(keyed, admin) == {"provider-a": "ok"}


def observed_at(keyed: KeyedGateway, key: str) -> str:
    """What a search says of the provider's first node."""
    return str(keyed.ask(key, "POST", SEARCH, BODY).json["candidates"][0]["provenance"]["observed_at"])


def dated(text):
    return lambda headers, body: ({**headers, "X-Observed-At": text}, body)


@pytest.mark.parametrize("text", ["2020-01-01T00:00:00Z", "2036-01-01T00:00:00Z", "soon"])
def test_time_that_is_not_signed_does_not_replace_one_that_is(keyed, lab, admin, text):
    take_part(keyed, admin, lab)
    keyed.module.gateway.asking.inventories = Inventories()
    lab.spoil = dated(text)

    assert observed_at(keyed, admin) == "2026-01-01T00:00:00Z"  # the body's


@pytest.mark.parametrize("is_confirmed", [True, False])
def test_time_that_stands_in_the_header_alone_is_no_later_than_the_signature(keyed, lab, admin, is_confirmed):
    lab.body = (
        json.dumps({**an_inventory("provider-a"), "observed_at": None}).replace('"observed_at": null, ', "").encode()
    )
    take_part(keyed, admin, lab)
    if not is_confirmed:
        keyed.module.gateway.asking.inventories = Inventories()
    now = datetime.now(UTC).replace(microsecond=0)
    lab.clock = now.timestamp

    told = {}
    for said in (now - timedelta(seconds=5), now + timedelta(days=1)):
        lab.spoil = dated(said.isoformat())
        told[said] = datetime.fromisoformat(observed_at(keyed, admin))

    assert list(told.values()) == [now - timedelta(seconds=5), now]
    assert b"observed_at" not in lab.body


def test_confirmed_inventory_is_no_fresher_than_the_signature_that_confirms_it(keyed, lab, admin):
    take_part(keyed, admin, lab)
    now = datetime.now(UTC).replace(microsecond=0)
    lab.clock = now.timestamp
    said = {
        "earlier": now - timedelta(seconds=5),
        "in the same second": now + timedelta(milliseconds=999),
        "later": now + timedelta(seconds=1),
        "in ten years": now + timedelta(days=3650),
    }

    told = {}
    for when, time_said in said.items():
        lab.spoil = dated(time_said.isoformat())
        told[when] = datetime.fromisoformat(observed_at(keyed, admin))

    assert told == {**said, "later": now, "in ten years": now}


def test_replayed_reply_is_signature_invalid(keyed, lab, admin):
    take_part(keyed, admin, lab)
    keyed.module.gateway.asking.inventories = Inventories()
    recorded = []
    lab.spoil = lambda headers, body: recorded.append((headers, body)) or (headers, body)
    outcomes(keyed, admin)
    keyed.module.gateway.asking.inventories = Inventories()
    lab.spoil = lambda *_: recorded[0]

    assert outcomes(keyed, admin) == {"provider-a": "signature_invalid"}


@pytest.mark.parametrize("skew_s", [-400, 400])
def test_provider_whose_clock_is_wrong_is_told_so(keyed, lab, admin, skew_s):
    take_part(keyed, admin, lab)
    lab.clock = lambda: time.time() + skew_s

    (entry,) = keyed.ask(admin, "POST", SEARCH, BODY).json["providers"]

    assert entry["outcome"] == "signature_invalid"
    assert "one of the clocks is wrong" in entry["message"]


def test_provider_with_the_key_of_another_is_signature_invalid_and_hurts_nobody_else(keyed, lab, admin):
    take_part(keyed, admin, lab)
    with SigningProvider("provider-b") as impostor:
        take_part(keyed, admin, impostor)
        impostor.keys = lab.keys
        impostor.is_right = lambda _: True

        assert outcomes(keyed, admin) == {"provider-a": "not_modified", "provider-b": "signature_invalid"}
        assert keyed.ask(admin, "GET", RESOURCES).json["partial"] is True


def test_call_says_who_asks_whom_and_nothing_of_the_caller(keyed, lab, admin):
    record = take_part(keyed, admin, lab)
    keyed.ask(admin, "POST", SEARCH, BODY, Cookie="a=b")

    asked = lab.calls[-1]

    text = f"{asked['webhook-id']}.{asked['webhook-timestamp']}.provider-a.GET./api/v1/inventory."
    assert asked["webhook-signature"] == mac(record["key"], text)
    assert abs(int(asked["webhook-timestamp"]) - time.time()) < 5
    assert set(asked) == {
        "host", "user-agent", "accept-encoding", "accept", "if-none-match",
        "webhook-id", "webhook-timestamp", "webhook-signature",
    }  # fmt: skip
    assert len({call["webhook-id"] for call in lab.calls}) == len(lab.calls)


def test_key_is_derived_by_the_rule_of_the_page(keyed, lab, admin, tmp_path):
    record = keyed.add(admin, "provider-a", lab.base_url)
    master = (tmp_path / "master.key").read_text().strip().encode()

    assert record["key"] == provider_key(master, "provider-a", record["key_version"])


def test_id_that_is_registered_again_has_another_key(keyed, lab, admin, monkeypatch):
    first = keyed.add(admin, "provider-a", lab.base_url)
    keyed.ask(admin, "DELETE", f"{PROVIDERS}/provider-a")
    time_then = first["key_version"]
    wait_for_next_second(time_then)

    second = keyed.add(admin, "provider-a", lab.base_url)

    assert second["key_version"] > first["key_version"] > 1_700_000_000
    assert second["key"] != first["key"]


def wait_for_next_second(second: int) -> None:
    while int(time.time()) <= second:
        time.sleep(0.02)


def rotate(keyed: KeyedGateway, until: datetime | None) -> str:
    """What scripts.keys rotate-provider does; the next key."""
    gateway = keyed.module.gateway
    text = None if until is None else until.isoformat()
    record = gateway.registry.replace(
        "provider-a",
        lambda record: record.model_copy(update={"key_version": record.key_version + 1, "old_key_until": text}),
    )
    return str(gateway.signing.key_of(record))


def test_during_an_overlap_old_and_new_key_work_on_both_sides(keyed, lab, admin):
    old = take_part(keyed, admin, lab)["key"]
    new = rotate(keyed, datetime.now(UTC) + timedelta(hours=1))

    seen = []
    for keys in ([old], [new, old], [new]):
        lab.keys = keys
        seen.append(outcomes(keyed, admin)["provider-a"])

    assert old != new
    assert seen == ["not_modified"] * 3
    assert lab.calls[-1]["webhook-signature"].count("v1,") == 2
    assert read(keyed, admin)["verified_at"] is not None
    assert "old_key_until" not in read(keyed, admin)


@pytest.mark.parametrize("until", [None, datetime(2026, 1, 1, tzinfo=UTC)])
def test_after_an_overlap_the_old_key_is_nothing(keyed, lab, admin, until):
    take_part(keyed, admin, lab)
    new = rotate(keyed, until)

    with_the_old = outcomes(keyed, admin)
    lab.is_right = lambda _: True
    answered_with_the_old = outcomes(keyed, admin)
    lab.keys = [new]

    assert with_the_old == {"provider-a": "http_status"}
    assert answered_with_the_old == {"provider-a": "signature_invalid"}
    assert outcomes(keyed, admin) == {"provider-a": "not_modified"}
    assert lab.calls[-1]["webhook-signature"].count("v1,") == 1


def test_search_without_a_master_key_is_503_and_asks_nobody(keyed, lab, admin, tmp_path):
    take_part(keyed, admin, lab)
    asked = len(lab.calls)
    (tmp_path / "master.key").chmod(0o644)
    for part in ("signing", "asking"):
        keyed.module.gateway.__dict__.pop(part)

    for method, path, body in (("POST", SEARCH, BODY), ("GET", RESOURCES, None)):
        answer = keyed.ask(admin, method, path, body)
        assert (answer.status, answer.problem["code"]) == (503, "not_ready")
    assert len(lab.calls) == asked


def test_address_and_hint_are_hidden_from_who_only_searches(keyed, lab, admin):
    take_part(keyed, admin, lab)
    searcher = keyed.a_key("search", principal="user")

    shown = keyed.ask(admin, "POST", SEARCH, BODY).json["candidates"][0]
    hidden = keyed.ask(searcher, "POST", SEARCH, BODY)

    assert shown["provenance"]["base_url"] == lab.base_url
    assert hidden.json["candidates"][0]["provenance"]["base_url"] is None
    assert "127.0.0.1" not in hidden.text
    assert "127.0.0.1" not in keyed.ask(searcher, "GET", RESOURCES).text


def test_where_keys_are_not_asked_for_nothing_is_signed(gateway, fleet):
    fleet.add("provider-a")
    gateway.register("provider-a", fleet.base_url("provider-a"))

    answer = gateway.search()

    assert answer.json["providers"][0]["outcome"] == "ok"
    assert not [name for seen in fleet.requests for name in seen.headers if name.startswith("webhook")]
