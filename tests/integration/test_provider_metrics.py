"""The provider's /metrics: its requests, its last inventory, and who may read them."""

import base64
import importlib.util
import json
from collections.abc import Mapping
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from chalice.test import Client, HTTPResponse
from fakes.prometheus import families_of, lint, samples_of, value_of

FOLDER = Path(__file__).parents[2] / "provider_app"
KEY = base64.b64encode(bytes(32)).decode()
TOKEN = "a-token-of-a-scraper"
VARIABLES = ("INVENTORY_MODE", "PROVIDER_KEY", "METRICS_TOKEN", "ALLOWED_HOSTS", "LOG_LEVEL")
_NUMBERS = count()


class Provider:
    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch, **environment: str) -> None:
        file = folder / "inventory.json"
        card = {"healthy": True, "vendor": "NVIDIA", "model": 'A "100"\\40'}
        devices = [{"id": f"GPU-{place}", **card} for place in range(3)]
        node = {"name": "n1", "ready": True, "schedulable": True, "devices": devices}
        file.write_text(json.dumps({"provider_id": "lab", "nodes": [node, {**node, "name": "n2", "devices": []}]}))
        for name in VARIABLES:
            monkeypatch.delenv(name, raising=False)
        for name, value in {"PROVIDER_ID": "lab", "INVENTORY_FILE": str(file), **environment}.items():
            monkeypatch.setenv(name, value)
        spec = importlib.util.spec_from_file_location(f"provider_metrics_{next(_NUMBERS)}", FOLDER / "app.py")
        assert spec is not None
        assert spec.loader is not None
        self.module: Any = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(self.module)

    def get(self, path: str, headers: Mapping[str, str] | None = None) -> HTTPResponse:
        return Client(self.module.app, project_dir=str(FOLDER)).http.get(path, headers={**(headers or {})})

    def metrics(self) -> str:
        answer = self.get("/metrics")
        assert answer.status_code == 200
        text: str = answer.body.decode()
        return text


def test_requests_and_the_last_inventory_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    provider = Provider(tmp_path, monkeypatch)
    etag = provider.get("/api/v1/inventory").headers["ETag"]
    provider.get("/api/v1/inventory", {"If-None-Match": etag})

    text = provider.metrics()

    assert lint(text) == []
    requests = "fedcompute_provider_requests_total"
    assert value_of(text, requests, path="/api/v1/inventory", status="200") == 1
    assert value_of(text, requests, path="/api/v1/inventory", status="304") == 1
    assert value_of(text, "fedcompute_inventory_nodes") == 2
    assert value_of(text, "fedcompute_inventory_devices", vendor="NVIDIA", model='A "100"\\40') == 3
    assert 0 <= value_of(text, "fedcompute_inventory_age_seconds") < 60


def test_before_the_first_inventory_there_is_none_to_tell_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = {family.name for family in families_of(Provider(tmp_path, monkeypatch).metrics())}

    assert names == {"fedcompute_build_info"}


def test_failures_are_counted_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    provider = Provider(tmp_path, monkeypatch)
    (tmp_path / "inventory.json").write_text("{")
    provider.get("/api/v1/inventory")

    assert (
        "fedcompute_provider_requests_total",
        (("path", "/api/v1/inventory"), ("status", "503")),
    ) in samples_of(provider.metrics())


@pytest.mark.parametrize(
    ("token", "sent", "status"),
    [
        (TOKEN, f"Bearer {TOKEN}", 200),
        (TOKEN, "Bearer another", 401),
        (TOKEN, TOKEN, 401),
        (TOKEN, None, 401),
        ("", "Bearer ", 401),
        ("", None, 401),
    ],
)
def test_where_calls_are_signed_a_scraper_shows_the_token(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, token: str, sent: str | None, status: int
) -> None:
    provider = Provider(tmp_path, monkeypatch, PROVIDER_KEY=KEY, METRICS_TOKEN=token)

    answer = provider.get("/metrics", {} if sent is None else {"Authorization": sent})

    assert answer.status_code == status


def test_the_token_opens_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    provider = Provider(tmp_path, monkeypatch, PROVIDER_KEY=KEY, METRICS_TOKEN=TOKEN)

    assert provider.get("/api/v1/inventory", {"Authorization": f"Bearer {TOKEN}"}).status_code == 401


def test_short_token_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    answer = Provider(tmp_path, monkeypatch, METRICS_TOKEN="short").get("/api/v1/inventory")

    assert answer.status_code == 503
    assert "METRICS_TOKEN" in answer.body.decode()
