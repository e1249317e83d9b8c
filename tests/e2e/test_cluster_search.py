"""From a pod's annotation to a search's answer: an API server, a provider on this machine, the gateway, over real HTTP."""

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import requests
from fakes.gateway import Gateway
from fakes.registry_table import a_table
from moto import mock_aws

from chalicelib.dynamodb import make_client
from chalicelib.registry import Registry
from scripts import ports
from scripts.cluster_server import NODES, PODS, Cluster, kubeconfig, serving

pytestmark = pytest.mark.e2e

ROOT = Path(__file__).parents[2]
# One card of 24,564 MiB; live pods hold 2,000 and 3,000 of it.
CASE = ROOT / "tests" / "data" / "cases" / "14-to-allocate-not-cleared"
HANDSHAKE = re.compile(r"(Requesting_|Reported_?)\d{4}-\d\d-\d\d \d\d:\d\d:\d\d")
START_S = 30


def the_case() -> Cluster:
    """The case's cluster; its plugin spoke a moment ago."""
    cluster = Cluster()
    now = f"{datetime.now(UTC):%Y-%m-%d %H:%M:%S}"
    for path, name in ((NODES, "nodes.json"), (PODS, "pods.json")):
        cluster.put(path, json.loads(HANDSHAKE.sub(rf"\g<1>{now}", (CASE / name).read_text()))["items"])
    return cluster


@contextmanager
def provider_at(folder: Path, server: str) -> Iterator[str]:
    """A provider's process that reads this API server; its address."""
    file, port = folder / "kubeconfig", ports.free_ports(1)[0]
    file.write_text(kubeconfig(server))
    usual = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
    own = {"PROVIDER_ID": "lab", "INVENTORY_MODE": "hami", "INVENTORY_MAX_AGE_MS": "0", "KUBECONFIG": str(file)}
    command = [sys.executable, str(Path(sys.executable).with_name("chalice")), "local", "--no-autoreload"]
    process = subprocess.Popen(
        [*command, "--host", "127.0.0.1", "--port", str(port)],
        cwd=ROOT / "provider_app",
        env={**usual, **own},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        deadline = time.monotonic() + START_S
        while not ports.is_taken(port):
            assert process.poll() is None, "the provider ended instead of starting"
            assert time.monotonic() < deadline, "the provider did not start in time"
            time.sleep(0.05)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(START_S)


@pytest.fixture
def gateway(monkeypatch: pytest.MonkeyPatch) -> Iterator[Gateway]:
    with mock_aws():
        dynamodb = make_client()
        with a_table(dynamodb) as table:
            gateway = Gateway(monkeypatch, REGISTRY_TABLE=table)
            gateway.module.gateway.registry = Registry(lambda: dynamodb, table)
            yield gateway
        dynamodb.close()


def search(gateway: Gateway, minimum_memory_mib: int) -> Any:
    answer = gateway.search(gpu={"minimum_memory_mib": minimum_memory_mib, "vendor": "NVIDIA"})
    assert answer.status == 200
    return answer.json


def test_search_shows_what_a_pod_holds_and_what_its_end_gives_back(gateway: Gateway, tmp_path: Path) -> None:
    cluster = the_case()
    holder = next(
        item["metadata"]["name"]
        for item, _ in cluster.lists[PODS]
        if ",3000," in (item["metadata"].get("annotations") or {}).get("hami.io/vgpu-devices-allocated", "")
    )
    with serving(cluster) as server, provider_at(tmp_path, server) as address:
        gateway.register("lab", address)

        exact, too_much = search(gateway, 19564), search(gateway, 22564)
        cluster.remove(PODS, holder)
        later = search(gateway, 22564)

    outcomes = [answer["providers"][0]["outcome"] for answer in (exact, too_much, later)]
    (device,) = exact["candidates"][0]["devices"]
    (given_back,) = later["candidates"][0]["devices"]
    (reason,) = (
        one for one in too_much["rejections"]["nearest"][0]["reasons"] if one["reason"] != "insufficient_gpu_count"
    )
    assert outcomes == ["ok", "not_modified", "ok"]
    assert (device["memory_available_mib"], device["memory_total_mib"]) == (19564, 24564)
    assert exact["candidates"][0]["provenance"]["source"] == "hami"
    assert (too_much["candidates"], too_much["feasibility"]) == ([], "busy")
    assert (reason["reason"], reason["have"], reason["need"]) == ("insufficient_gpu_memory", 19564, 22564)
    assert given_back["memory_available_mib"] == 22564
    assert later["candidates"][0]["provenance"]["etag"] != exact["candidates"][0]["provenance"]["etag"]


def test_search_goes_on_without_a_cluster_that_is_down(gateway: Gateway, tmp_path: Path) -> None:
    with provider_at(tmp_path, "http://127.0.0.1:9") as address:
        gateway.register("lab", address)
        own = requests.get(f"{address}/api/v1/inventory", timeout=START_S, proxies={"http": ""})

        answer = gateway.search(gpu={}).json

    assert own.json()["detail"] == "The API server at 127.0.0.1:9 can't be reached: connection refused."
    assert (answer["partial"], answer["providers"][0]["outcome"]) == (True, "http_status")
    assert answer["providers"][0]["http_status"] == 503
