"""Two gateways on one table, as processes: either's /metrics shows the sum, and both do what their document says."""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import boto3
import pytest
import requests
from fakes.prometheus import lint, value_of
from fakes.registry_table import a_table

from scripts.ports import free_ports
from scripts.services import NO_ACCOUNT, QUICK_RESOLVER
from scripts.settings import ROOT

ENDPOINT = os.environ.get("REGISTRY_TEST_ENDPOINT")
PATIENCE_S = 60
NAMES = ("one", "other", "provider-a", "provider-b")
SCHEMATHESIS = os.environ.get("SCHEMATHESIS") or shutil.which(
    "schemathesis", path=str(ROOT / ".run" / "schemathesis-venv" / "bin")
)
SECONDS = os.environ.get("SCHEMATHESIS_SECONDS", "150")

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(not ENDPOINT, reason="REGISTRY_TEST_ENDPOINT names no DynamoDB, such as http://127.0.0.1:4566"),
]


class Pair:
    """The processes, by name, each on a port of its own."""

    def __init__(self, folder: Path, table: str) -> None:
        self.folder = folder
        self.ports = dict(zip(NAMES, free_ports(len(NAMES)), strict=True))
        self.running: list[subprocess.Popen[bytes]] = []
        gateway = {"REGISTRY_TABLE": table, "AUTH": "open", "PROVIDER_ADDRESSES": "any"}
        for name in ("one", "other"):
            self._start(name, "gateway_app", {**gateway, "AWS_ENDPOINT_URL": str(ENDPOINT)})
        for name in ("provider-a", "provider-b"):
            own = {"PROVIDER_ID": name, "INVENTORY_FILE": f"inventories/{name}.json"}
            self._start(name, "provider_app", own)

    def url(self, name: str, path: str = "") -> str:
        return f"http://127.0.0.1:{self.ports[name]}{path}"

    def metrics(self, name: str) -> str:
        answer = requests.get(self.url(name, "/metrics"), timeout=20)
        assert answer.status_code == 200, answer.text
        return answer.text

    def search(self, name: str) -> None:
        answer = requests.post(self.url(name, "/api/v1/resources/search"), json={"gpu": {}}, timeout=20)
        assert answer.status_code == 200, answer.text

    def await_ready(self) -> None:
        end = time.monotonic() + PATIENCE_S
        for name in NAMES:
            while not self._is_up(name):
                assert time.monotonic() < end, (self.folder / f"{name}.log").read_text()
                time.sleep(0.05)

    def end(self) -> None:
        for process in self.running:
            process.terminate()
        for process in self.running:
            process.wait(PATIENCE_S)

    def _is_up(self, name: str) -> bool:
        try:
            return requests.get(self.url(name, "/health"), timeout=5).ok
        except requests.ConnectionError:
            return False

    def _start(self, name: str, app: str, environment: Mapping[str, str]) -> None:
        chalice = str(Path(sys.executable).with_name("chalice"))
        command = [sys.executable, chalice, "local", "--no-autoreload", "--port", str(self.ports[name])]
        kept = {variable: os.environ[variable] for variable in ("PATH", "HOME") if variable in os.environ}
        own = {**kept, **NO_ACCOUNT, **QUICK_RESOLVER, **environment}
        with (self.folder / f"{name}.log").open("wb") as log:
            self.running.append(subprocess.Popen(command, cwd=ROOT / app, env=own, stdout=log, stderr=log))


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    client = boto3.client("dynamodb", endpoint_url=ENDPOINT)
    with a_table(client) as table:
        pair = Pair(tmp_path_factory.mktemp("pair"), table)
        try:
            pair.await_ready()
            for name in ("provider-a", "provider-b"):
                record = {"id": name, "name": name, "base_url": pair.url(name), "timeout_ms": 5000}
                answer = requests.post(pair.url("one", "/api/v1/providers"), json=record, timeout=20)
                assert answer.status_code == 201, answer.text
            yield pair
        finally:
            pair.end()
    client.close()


def test_either_of_two_processes_shows_the_sum(pair: Pair, capsys: pytest.CaptureFixture[str]) -> None:
    for name, times in (("one", 3), ("other", 2)):
        for _ in range(times):
            pair.search(name)
        pair.metrics(name)  # a scrape brings what waits in its process to the table

    took_ms = []
    for name in ("one", "other"):
        began = time.perf_counter()
        text = pair.metrics(name)
        took_ms.append((time.perf_counter() - began) * 1000)
        assert lint(text) == []
        assert value_of(text, "fedcompute_searches_total", strategy="best-fit", feasibility="feasible") == 5
        assert value_of(text, "fedcompute_search_duration_seconds_count") == 5
        assert value_of(text, "fedcompute_metrics_flushes_failed_total") == 0
    with capsys.disabled():
        print(f"\n  a scrape: {', '.join(f'{one:.0f} ms' for one in took_ms)}, {len(text)} bytes")


def test_each_request_is_one_line_of_the_log(pair: Pair) -> None:
    log = pair.folder / "one.log"
    before = len(log.read_text().splitlines())

    pair.search("one")
    pair.metrics("one")

    lines = log.read_text().splitlines()[before:]
    assert len([line for line in lines if line.startswith("{")]) == 2


@pytest.mark.skipif(SCHEMATHESIS is None, reason="schemathesis is not installed; docs/testing.md says how")
@pytest.mark.parametrize("name", ["other", "provider-a"])
def test_schemathesis_finds_no_violation_of_the_document(pair: Pair, name: str) -> None:
    config = ROOT / "infra" / "schemathesis" / "schemathesis.toml"
    command = [
        str(SCHEMATHESIS),
        "--config-file",
        config,
        "run",
        pair.url(name, "/openapi.json"),
        "--url",
        pair.url(name),
    ]
    # AUTH=open asks for no keys.
    options = ["--checks", "all", "--exclude-checks", "ignored_auth", "--max-time", SECONDS, "--seed", "1"]
    own = {"PATH": os.environ["PATH"], "HOME": str(pair.folder), "NO_COLOR": "1", "PYTHONPATH": str(config.parent)}

    done = subprocess.run([*command, *options], cwd=pair.folder, env=own, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-2000:]
