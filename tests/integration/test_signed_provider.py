"""The provider's app with PROVIDER_KEY: whom it answers, and how it signs."""

import base64
import hashlib
import importlib.util
import json
import time
from collections.abc import Mapping
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from chalice.test import Client, HTTPResponse
from fakes.inventories import an_inventory
from fakes.signing_provider import mac

from chalicelib.provider_settings import SettingsError, from_environment
from chalicelib.signed_calls import SignedCalls

FOLDER = Path(__file__).parents[2] / "provider_app"
ROUTE = "/api/v1/inventory"
KEY = base64.b64encode(b"k" * 32).decode()
OTHER = base64.b64encode(b"o" * 32).decode()
_NUMBERS = count()


class KeyedProvider:
    """The app as a new process would have it."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch, provider_key: str = KEY) -> None:
        file = folder / "inventory.json"
        file.write_text(json.dumps(an_inventory("lab")))
        settings = {"PROVIDER_ID": "lab", "INVENTORY_FILE": str(file), "PROVIDER_KEY": provider_key}
        for name in ("INVENTORY_MODE", "ALLOWED_HOSTS", "LOG_LEVEL"):
            monkeypatch.delenv(name, raising=False)
        for name, value in settings.items():
            monkeypatch.setenv(name, value)
        spec = importlib.util.spec_from_file_location(f"keyed_provider_app_{next(_NUMBERS)}", FOLDER / "app.py")
        assert spec is not None
        assert spec.loader is not None
        self.module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(self.module)
        self.client = Client(self.module.app, project_dir=str(FOLDER)).http

    def get(self, headers: Mapping[str, str], path: str = ROUTE) -> HTTPResponse:
        return self.client.get(path, headers={"host": "lab.example", **headers})


@pytest.fixture
def provider(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> KeyedProvider:
    return KeyedProvider(tmp_path, monkeypatch)


_IDS = count()


def signed(*keys: str, provider_id: str = "lab", skew_s: int = 0, **more: str) -> dict[str, str]:
    """The headers of a call, by the page's rules."""
    message_id, now = f"id-{next(_IDS)}", str(int(time.time()) + skew_s)
    text = f"{message_id}.{now}.{provider_id}.GET./api/v1/inventory."
    signature = " ".join(mac(key, text) for key in keys or (KEY,))
    return {"webhook-id": message_id, "webhook-timestamp": now, "webhook-signature": signature, **more}


def code_of(answer: HTTPResponse) -> tuple[int, str]:
    assert answer.headers["Content-Type"] == "application/problem+json"
    return answer.status_code, answer.json_body["code"]


def test_signed_call_is_answered_under_any_host_and_the_answer_is_signed(provider):
    asked = signed()

    answer = provider.get(asked)

    assert answer.status_code == 200
    digest = hashlib.sha256(answer.body).hexdigest()
    now = answer.headers["webhook-timestamp"]
    text = f"{asked['webhook-id']}.{now}.lab.200.{answer.headers['ETag']}.{digest}"
    assert answer.headers["webhook-signature"] == mac(KEY, text)
    assert answer.headers["webhook-id"] == asked["webhook-id"]
    assert abs(int(now) - time.time()) < 5


def test_revalidation_is_signed_without_a_body(provider):
    etag = provider.get(signed()).headers["ETag"]
    asked = signed(**{"if-none-match": etag})

    answer = provider.get(asked)

    text = f"{asked['webhook-id']}.{answer.headers['webhook-timestamp']}.lab.304.{etag}."
    assert answer.status_code == 304
    assert answer.headers["webhook-signature"] == mac(KEY, text)


@pytest.mark.parametrize(
    ("headers", "words"),
    [
        ({}, "no signature"),
        ({"host": "localhost"}, "no signature"),
        ({"authorization": f"Bearer {KEY}"}, "no signature"),
        (signed(OTHER), "wrong"),
        (signed(provider_id="another"), "wrong"),
        ({**signed(), "webhook-id": "id-x"}, "wrong"),
        ({**signed(), "webhook-timestamp": str(int(time.time()) - 1000)}, "wrong"),
        ({**signed(), "webhook-signature": "v1," + "A" * 43 + "="}, "wrong"),
        ({**signed(), "webhook-signature": "v2" + signed()["webhook-signature"][2:]}, "wrong"),
        ({**signed(), "webhook-id": "a.b"}, "malformed"),
        (signed(skew_s=-400), "clocks"),
        (signed(skew_s=4000), "clocks"),
    ],
)
def test_call_that_is_not_signed_for_this_provider_now_is_401(provider, headers, words):
    answer = provider.get(headers)

    assert code_of(answer) == (401, "unauthenticated")
    assert words in answer.json_body["detail"]
    assert "webhook-signature" not in answer.headers
    assert "nodes" not in answer.json_body


def test_call_that_is_made_again_is_403(provider):
    asked = signed()
    first = provider.get(asked)

    second = provider.get(asked)

    assert (first.status_code, code_of(second)) == (200, (403, "forbidden"))
    assert provider.get(signed()).status_code == 200


def test_query_is_not_part_of_what_is_signed_and_is_refused(provider):
    assert code_of(provider.get(signed(), ROUTE + "?max_age_ms=60000")) == (401, "unauthenticated")


def test_health_is_public(provider):
    assert provider.get({}, "/health").status_code == 200


def test_two_keys_take_either_and_sign_with_both(tmp_path, monkeypatch):
    provider = KeyedProvider(tmp_path, monkeypatch, f"{KEY}, {OTHER}")

    answers = [provider.get(signed(*keys)) for keys in ([KEY], [OTHER], [OTHER, KEY])]

    assert [answer.status_code for answer in answers] == [200] * 3
    assert all(answer.headers["webhook-signature"].count("v1,") == 2 for answer in answers)


def test_without_a_key_only_its_own_machine_is_answered_and_nothing_signed(tmp_path, monkeypatch):
    provider = KeyedProvider(tmp_path, monkeypatch, "")

    own = provider.get({"host": "localhost"})
    foreign = provider.get(signed())

    assert (own.status_code, "webhook-signature" in own.headers) == (200, False)
    assert code_of(foreign) == (403, "foreign_host")


@pytest.mark.parametrize("key", ["short", KEY[:-1], f"{KEY},{KEY},{KEY}", f"{KEY},x"])
def test_key_that_is_none_is_told_without_being_repeated(key):
    with pytest.raises(SettingsError, match="PROVIDER_KEY is wrong") as refusal:
        from_environment({"PROVIDER_ID": "lab", "INVENTORY_FILE": "x.json", "PROVIDER_KEY": key})

    assert KEY not in str(refusal.value)


def test_settings_do_not_print_the_key():
    settings = from_environment({"PROVIDER_ID": "lab", "INVENTORY_FILE": "x.json", "PROVIDER_KEY": KEY})

    assert KEY not in repr(settings)


class Request:
    query_params = None

    def __init__(self, headers: Mapping[str, str]) -> None:
        self.headers = headers
        self.context: dict[str, Any] = {}


def test_ids_are_remembered_as_long_as_their_signature_holds(monkeypatch):
    now = [time.time()]
    calls = SignedCalls("lab", [KEY], lambda: now[0])
    early = signed(skew_s=290)
    calls.check(Request(early), "gateway")

    for late_s in (1, 300, 580):
        now[0] = time.time() + late_s
        with pytest.raises(Exception, match="made before"):
            calls.check(Request(early), "gateway")
    now[0] = time.time() + 600
    with pytest.raises(Exception, match="clocks"):
        calls.check(Request(early), "gateway")
    calls.check(Request(signed(skew_s=600)), "gateway")

    assert len(calls._seen) == 1


def test_memory_of_ids_is_bounded(monkeypatch):
    monkeypatch.setattr("chalicelib.signed_calls.MOST_REMEMBERED", 10)
    calls = SignedCalls("lab", [KEY])

    for _ in range(50):
        calls.check(Request(signed()), "gateway")

    assert len(calls._seen) == 10
