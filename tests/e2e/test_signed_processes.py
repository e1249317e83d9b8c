"""A gateway with AUTH=keys and providers with PROVIDER_KEY, as `chalice local` processes that meet over the network."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import boto3
import pytest
import requests
from fakes.registry_table import a_table

from fedcompute.signatures import sign_request
from scripts.ports import free_ports
from scripts.services import NO_ACCOUNT, QUICK_RESOLVER
from scripts.settings import ROOT

ENDPOINT = os.environ.get("REGISTRY_TEST_ENDPOINT")
PATIENCE_S = 30
SEARCH = "/api/v1/resources/search"
INVENTORY = "/api/v1/inventory"

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(not ENDPOINT, reason="REGISTRY_TEST_ENDPOINT names no DynamoDB, such as http://127.0.0.1:4566"),
]


@dataclass
class Fleet:
    """Processes by name, each on a port of its own, and the admin's key."""

    folder: Path
    table: str
    ports: dict[str, int]
    running: list[subprocess.Popen[bytes]] = field(default_factory=list)
    admin: str = ""
    keys: dict[str, str] = field(default_factory=dict)

    def url(self, name: str, path: str = "") -> str:
        return f"http://127.0.0.1:{self.ports[name]}{path}"

    def start(self, name: str, app: str, environment: Mapping[str, str]) -> None:
        chalice = str(Path(sys.executable).with_name("chalice"))
        command = [sys.executable, chalice, "local", "--no-autoreload", "--port", str(self.ports[name])]
        kept = {variable: os.environ[variable] for variable in ("PATH", "HOME") if variable in os.environ}
        own = {**kept, **NO_ACCOUNT, **QUICK_RESOLVER, **environment}
        with (self.folder / f"{name}.log").open("wb") as log:
            self.running.append(subprocess.Popen(command, cwd=ROOT / app, env=own, stdout=log, stderr=log))

    def provider(self, name: str, key: str) -> None:
        own = {"PROVIDER_ID": name, "INVENTORY_FILE": f"inventories/{name}.json", "PROVIDER_KEY": key}
        self.start(name, "provider_app", own)

    def await_health(self, *names: str) -> None:
        end = time.monotonic() + PATIENCE_S
        for name in names:
            while not self.is_up(name):
                assert time.monotonic() < end, (self.folder / f"{name}.log").read_text()
                time.sleep(0.05)

    def is_up(self, name: str) -> bool:
        try:
            return requests.get(self.url(name, "/health"), timeout=5).ok
        except requests.ConnectionError:
            return False

    def ask(self, method: str, path: str, body: Any = None, key: str | None = None) -> requests.Response:
        headers = {"Authorization": f"Bearer {self.admin if key is None else key}"}
        return requests.request(method, self.url("gateway", path), json=body, headers=headers, timeout=20)

    def register(self, name: str) -> None:
        body = {"id": name, "name": name, "base_url": self.url(name), "timeout_ms": 5000}
        answer = self.ask("POST", "/api/v1/providers", body)
        assert answer.status_code == 201, answer.text
        self.keys[name] = answer.json()["key"]

    def check(self, name: str) -> str:
        return str(self.ask("POST", f"/api/v1/providers/{name}/check").json()["provider"]["outcome"])


def keys_command(table: str, *arguments: str) -> Any:
    command = [sys.executable, "-m", "scripts.keys", "--endpoint", str(ENDPOINT), "--table", table, "--output", "json"]
    done = subprocess.run([*command, *arguments], cwd=ROOT, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    names = ("gateway", "provider-a", "provider-b", "provider-c")
    client = boto3.client(
        "dynamodb", endpoint_url=ENDPOINT
    )  # more patient than the registry's: an emulator loads its first service
    with a_table(client) as table:
        folder = tmp_path_factory.mktemp("fleet")
        fleet = Fleet(folder, table, dict(zip(names, free_ports(len(names)), strict=True)))
        try:
            bring_up(fleet)
            yield fleet
        finally:
            for process in fleet.running:
                process.terminate()
            for process in fleet.running:
                process.wait(PATIENCE_S)
    client.close()


def bring_up(fleet: Fleet) -> None:
    """provider-a has its key, provider-b that of provider-a, provider-c none."""
    settings = {"REGISTRY_TABLE": fleet.table, "PROVIDER_ADDRESSES": "any", "AWS_ENDPOINT_URL": str(ENDPOINT)}
    fleet.start("gateway", "gateway_app", {**settings, "MASTER_KEY": f"file:{fleet.folder}/master.key"})
    fleet.admin = keys_command(fleet.table, "create", "--principal", "root", "--role", "admin")["key"]
    fleet.await_health("gateway")
    for name in ("provider-a", "provider-b", "provider-c"):
        fleet.register(name)
    fleet.provider("provider-a", fleet.keys["provider-a"])
    fleet.provider("provider-b", fleet.keys["provider-a"])
    fleet.provider("provider-c", "")
    fleet.await_health("provider-a", "provider-b", "provider-c")


def test_keys_are_asked_for_by_default(fleet):
    assert fleet.ask("GET", "/api/v1/providers", key="fc_x").status_code == 401
    assert len(fleet.ask("GET", "/api/v1/providers").json()["providers"]) == 3


def test_signed_search_finds_candidates(fleet):
    assert fleet.check("provider-a") == "ok"

    answer = fleet.ask("POST", SEARCH, {"gpu": {}}).json()

    assert [(entry["id"], entry["outcome"]) for entry in answer["providers"]] == [("provider-a", "not_modified")]
    assert answer["feasibility"] == "feasible"


def test_provider_with_the_key_of_another_and_provider_without_one_take_no_part(fleet):
    assert fleet.check("provider-b") == "http_status"  # it refuses the gateway's call: 401
    assert fleet.check("provider-c") == "signature_invalid"  # it answers, and does not sign
    records = fleet.ask("GET", "/api/v1/providers").json()["providers"]
    assert {record["id"]: record["enabled"] for record in records if record["id"] != "provider-a"} == {
        "provider-b": False,
        "provider-c": False,
    }


def test_provider_refuses_unsigned_foreign_and_repeated_calls(fleet):
    address = fleet.url("provider-a", INVENTORY)
    now = int(time.time())
    right = sign_request([fleet.keys["provider-a"]], f"id-{now}", now, "provider-a").headers
    foreign = sign_request([fleet.keys["provider-b"]], f"id-{now}-b", now, "provider-a").headers
    stale = sign_request([fleet.keys["provider-a"]], f"id-{now}-s", now - 400, "provider-a").headers

    statuses = [
        requests.get(address, headers=headers, timeout=10).status_code for headers in ({}, foreign, stale, right, right)
    ]

    assert statuses == [401, 401, 401, 200, 403]


def test_rotated_provider_key_works_beside_the_old_one_in_the_next_search(fleet):
    fleet.check("provider-a")

    keys_command(fleet.table, "rotate-provider", "provider-a", "--master-key", f"file:{fleet.folder}/master.key")

    (entry,) = fleet.ask("POST", SEARCH, {"gpu": {}}).json()["providers"]
    assert entry["outcome"] == "not_modified"


def test_revoked_key_is_refused_by_a_process_that_has_not_seen_it(fleet):
    key = keys_command(fleet.table, "create", "--principal", "user", "--role", "search")
    keys_command(fleet.table, "revoke", key["key_id"])

    assert fleet.ask("GET", "/api/v1/providers", key=key["key"]).status_code == 401


def test_no_key_is_in_any_log(fleet):
    logs = "".join(path.read_text() for path in fleet.folder.glob("*.log"))

    assert '"event":"audit"' in logs
    assert fleet.admin.rpartition("_")[2] not in logs
    assert not [key for key in fleet.keys.values() if key in logs]
