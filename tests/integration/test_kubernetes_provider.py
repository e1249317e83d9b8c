"""The provider's app in front of a cluster: through API Gateway's event, with a kubeconfig and an API server on loopback."""

import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from fakes import api_server
from fakes.api_server import Faulty

from fedcompute.reading import read
from scripts.cluster_server import NODES, PODS, Cluster, kubeconfig, serving
from scripts.generate_cluster import generate

FOLDER = Path(__file__).parents[2] / "provider_app"
ROUTE = "/api/v1/inventory"
_NUMBERS = count()


def load_app() -> Any:
    """The app as a new process would have it."""
    spec = importlib.util.spec_from_file_location(f"kubernetes_provider_{next(_NUMBERS)}", FOLDER / "app.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.app


class Provider:
    """One provider's app, its cluster, and the server between them."""

    def __init__(self, handler: type[Faulty], cluster: Cluster, server: str, file: Path) -> None:
        self.handler = handler
        self.cluster = cluster
        self.server = server
        self.file = file
        self.app = load_app()

    def get(self, etag: str | None = None, **query: str) -> tuple[int, dict[str, str], Any]:
        """Status, headers, and the body if there is one."""
        sent = {"Host": "localhost", **({"If-None-Match": etag} if etag else {})}
        event = {
            "resource": ROUTE,
            "path": ROUTE,
            "httpMethod": "GET",
            "headers": sent,
            "multiValueHeaders": {name: [value] for name, value in sent.items()},
            "queryStringParameters": query or None,
            "multiValueQueryStringParameters": {name: [value] for name, value in query.items()} or None,
            "pathParameters": None,
            "stageVariables": None,
            "requestContext": {"resourcePath": ROUTE, "httpMethod": "GET", "path": ROUTE, "identity": {}},
            "body": None,
            "isBase64Encoded": False,
        }
        answer = self.app(event, SimpleNamespace(aws_request_id="1"))
        json.dumps(answer)  # what Lambda does with it
        headers = answer["headers"] | {name: values[0] for name, values in answer["multiValueHeaders"].items()}
        return answer["statusCode"], headers, json.loads(answer["body"]) if answer["body"] else None

    def etag(self) -> str:
        status, headers, _ = self.get()
        assert status == 200
        return headers["ETag"]


@pytest.fixture
def provider(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Provider]:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    for name in ("KUBE_CONTEXT", "ALLOWED_HOSTS", "LOG_LEVEL", "INVENTORY_FILE"):
        monkeypatch.delenv(name, raising=False)
    file = tmp_path / "kubeconfig"
    for name, value in {
        "PROVIDER_ID": "lab",
        "INVENTORY_MODE": "kubernetes",
        "INVENTORY_MAX_AGE_MS": "0",
        "KUBECONFIG": str(file),
    }.items():
        monkeypatch.setenv(name, value)
    handler, cluster = api_server.faulty(), Cluster()
    nodes, pods = generate(nodes=4, pods=12)
    cluster.put(NODES, nodes)
    cluster.put(PODS, pods)
    with serving(cluster, handler) as server:
        file.write_text(kubeconfig(server))
        yield Provider(handler, cluster, server, file)


def holder(cluster: Cluster) -> str:
    """A pod that holds a part of a card."""
    names = [item["metadata"]["name"] for item, _ in cluster.lists[PODS] if _held(item)]
    return str(names[0])


def _held(item: Any) -> bool:
    return "hami.io/vgpu-node" in item["metadata"]["annotations"]


@pytest.mark.parametrize("mode", ["kubernetes", "hami"])
def test_cluster_is_one_that_a_gateway_reads(provider: Provider, monkeypatch: pytest.MonkeyPatch, mode: str) -> None:
    monkeypatch.setenv("INVENTORY_MODE", mode)
    before = datetime.now(UTC)

    status, headers, body = provider.get()

    inventory = read(json.dumps(body).encode(), "lab")
    observed = datetime.fromisoformat(headers["X-Observed-At"])
    assert (status, inventory.source, inventory.warnings) == (200, "hami", [])
    assert [len(node.devices) for node in inventory.nodes] == [8, 0, 8, 0]
    assert before - timedelta(milliseconds=1) <= observed <= datetime.now(UTC)


def test_tag_is_the_same_while_nothing_changes(provider: Provider) -> None:
    first = provider.etag()

    status, headers, body = provider.get(etag=first)

    assert (status, headers["ETag"], body) == (304, first, None)


def test_tag_is_another_when_a_pods_allocation_changes(provider: Provider) -> None:
    first = provider.etag()
    provider.cluster.remove(PODS, holder(provider.cluster))

    assert provider.etag() != first


def test_tag_is_the_same_when_only_heartbeats_changed(provider: Provider) -> None:
    first = provider.etag()
    nodes = [item for item, _ in provider.cluster.lists[NODES]]
    for node in nodes:
        node["metadata"]["resourceVersion"] = "7"
        node["status"]["conditions"][0]["lastHeartbeatTime"] = "2026-01-02T00:00:00Z"
    provider.cluster.put(NODES, list(reversed(nodes)))

    assert provider.etag() == first


def test_young_inventory_is_not_read_again(provider: Provider, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INVENTORY_MAX_AGE_MS", "60000")
    _, first, _ = provider.get()
    calls = len(provider.cluster.calls)

    _, second, _ = provider.get()

    assert len(provider.cluster.calls) == calls
    assert second["X-Observed-At"] == first["X-Observed-At"]


def test_callers_at_the_same_time_share_one_read(provider: Provider, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INVENTORY_MAX_AGE_MS", "60000")

    with ThreadPoolExecutor(8) as pool:
        statuses = list(pool.map(lambda _: provider.get()[0], range(16)))

    assert statuses == [200] * 16
    assert len([call for call in provider.cluster.calls if call.path == NODES]) == 1


def test_pods_that_may_not_be_read_leave_free_unknown(provider: Provider) -> None:
    provider.handler.faults.append(api_server.refuses(403, PODS))

    status, _, body = provider.get()

    node = body["nodes"][0]
    assert status == 200
    assert (node["cpu"]["available_millicores"], node["cpu"]["total_millicores"]) == (None, 63500)
    assert {device["memory_available_mib"] for device in node["devices"]} == {None}
    assert [(one["code"], one["message"]) for one in body["warnings"]] == [
        (
            "pods_unreadable",
            "pods may not be read (403), so what is free is unknown; give the account the role in infra/kubernetes",
        )
    ]


def test_junk_object_costs_a_warning_and_nothing_else(provider: Provider) -> None:
    provider.cluster.put(
        NODES, [item for item, _ in provider.cluster.lists[NODES]] + [{"metadata": {"name": "junk", "labels": 7}}]
    )

    status, _, body = provider.get()

    assert status == 200
    assert len(body["nodes"]) == 4
    assert ["junk" in warning["message"] for warning in body["warnings"]] == [True]


def test_cluster_that_is_down_is_a_problem_with_the_reason(provider: Provider) -> None:
    provider.file.write_text(kubeconfig("http://127.0.0.1:9"))

    status, headers, body = provider.get()

    assert (status, body["code"]) == (503, "inventory_unavailable")
    assert headers["Content-Type"] == "application/problem+json"
    assert headers["Retry-After"] == "1"
    assert body["detail"] == "The API server at 127.0.0.1:9 can't be reached: connection refused."


def test_caller_that_allows_it_gets_what_was_known_before(provider: Provider) -> None:
    _, before, _ = provider.get()
    provider.handler.faults.append(api_server.refuses(500, "/"))

    status, headers, body = provider.get(max_age_ms="60000")

    assert status == 200
    assert headers["X-Observed-At"] == before["X-Observed-At"] == body["observed_at"]
    assert [warning["code"] for warning in body["warnings"]] == ["stale"]
    assert provider.get()[0] == 503


def test_no_secret_is_logged_or_answered(provider: Provider, capfd: pytest.CaptureFixture[str]) -> None:
    provider.handler.faults.append(api_server.wants("Bearer another"))
    provider.file.write_text(kubeconfig(provider.server, {"token": "hush-token", "password": "hush-word"}))

    status, _, body = provider.get()

    told = json.dumps(body) + "".join(capfd.readouterr())
    assert status == 503
    assert "hush" not in told


def test_mode_without_a_kubeconfig_says_what_to_set(
    provider: Provider, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("KUBECONFIG")
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))

    status, _, body = provider.get()

    assert status == 503
    assert "KUBECONFIG" in body["detail"]


def test_client_is_loaded_only_where_a_cluster_is_read() -> None:
    code = "import sys, app; assert not {'kubernetes', 'urllib3', 'yaml'} & set(sys.modules), sys.modules.keys()"
    folders = (str(FOLDER), str(FOLDER.parent / "layers" / "fedcompute" / "python"))

    done = subprocess.run(
        [sys.executable, "-c", code],
        env={"PYTHONPATH": os.pathsep.join(folders)},
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stderr[-500:]
