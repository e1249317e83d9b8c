"""The federation that the pages' examples run against: the gateway, and the sample providers behind one loopback port."""

import importlib.util
import json
import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import boto3
import pytest
from chalice.test import Client
from fakes.provider_fleet import ProviderFleet
from fakes.registry_table import a_table
from moto import mock_aws

ROOT = Path(__file__).parents[2]
PROVIDERS = {"provider-a": "Research Lab A", "provider-b": "University Cluster B", "provider-c": "Edge Lab C"}
PORTS = {"provider-a": 8081, "provider-b": 8082, "provider-c": 8083}


def load_app(folder: str) -> Any:
    spec = importlib.util.spec_from_file_location(f"{folder}_documented", ROOT / folder / "app.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module.app


class Federation:
    """The gateway's app, called as its callers do; the page's localhost addresses are the fleet's."""

    def __init__(self, fleet: ProviderFleet) -> None:
        self.fleet = fleet
        self.gateway = load_app("gateway_app")
        self.provider = load_app("provider_app")
        self.routes = [(method, path) for path, methods in self.gateway.routes.items() for method in methods]

    def call(self, example: Any) -> tuple[int, Mapping[str, str], Any]:
        app = self.provider if example.is_of_provider else self.gateway
        answer = Client(app).http.request(
            example.method, example.path, headers=example.headers, body=self.to_fleet(example.body).encode()
        )
        headers = {name.lower(): value for name, value in answer.headers.items()}
        body = self.from_fleet(answer.body.decode())
        is_json = "json" in headers.get("content-type", "")
        return answer.status_code, headers, json.loads(body) if is_json else body or None

    def to_fleet(self, text: str) -> str:
        for provider_id, port in PORTS.items():
            text = text.replace(f"http://localhost:{port}", self.fleet.base_url(provider_id))
        return text

    def from_fleet(self, text: str) -> str:
        for provider_id, port in PORTS.items():
            text = text.replace(self.fleet.base_url(provider_id), f"http://localhost:{port}")
        return text


@pytest.fixture
def federation(monkeypatch: pytest.MonkeyPatch) -> Iterator[Federation]:
    with mock_aws(), ProviderFleet() as fleet:
        client = boto3.client("dynamodb", region_name=os.environ["AWS_DEFAULT_REGION"])
        with a_table(client) as table:
            settings = {
                "REGISTRY_TABLE": table,
                "AUTH": "open",
                "PROVIDER_ADDRESSES": "any",
                "PROVIDER_ID": "provider-a",
                "INVENTORY_FILE": "inventories/provider-a.json",
            }
            for name, value in settings.items():
                monkeypatch.setenv(name, value)
            made = Federation(fleet)
            register_samples(made)
            yield made
        client.close()


def register_samples(federation: Federation) -> None:
    for provider_id, name in PROVIDERS.items():
        lab = federation.fleet.add(provider_id)
        lab.inventory = json.loads((ROOT / f"provider_app/inventories/{provider_id}.json").read_text())
        body = {"id": provider_id, "name": name, "base_url": federation.fleet.base_url(provider_id)}
        answer = Client(federation.gateway).http.post(
            "/api/v1/providers", headers={"Content-Type": "application/json"}, body=json.dumps(body).encode()
        )
        assert answer.status_code == 201, answer.body
