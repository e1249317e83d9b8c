"""The provider's app over its three ways in: Chalice's test client, an API Gateway event, and `chalice local`."""

import importlib.util
import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from http.client import HTTPConnection
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from chalice.app import Chalice
from chalice.test import Client, HTTPResponse

from chalicelib.static_inventory import StaticInventory
from fedcompute import __version__
from fedcompute.reading import read

FOLDER = Path(__file__).parents[2] / "provider_app"
ROUTE = "/api/v1/inventory"
VARIABLES = ("PROVIDER_ID", "INVENTORY_MODE", "INVENTORY_FILE", "INVENTORY_MAX_AGE_MS", "ALLOWED_HOSTS", "LOG_LEVEL")
_NUMBERS = count()


def load_app() -> Chalice:
    """The app as a new process would have it; by path, since both apps are called app."""
    spec = importlib.util.spec_from_file_location(f"provider_app_{next(_NUMBERS)}", FOLDER / "app.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    app = module.app
    assert isinstance(app, Chalice)
    return app


def inventory(*node_names: str, provider_id: str = "lab", **members: Any) -> dict[str, Any]:
    nodes = [{"name": name, "ready": True, "schedulable": True} for name in node_names]
    return {"provider_id": provider_id, "nodes": nodes, **members}


class Provider:
    """One provider's file, environment and app."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.file = folder / "inventory.json"
        self.monkeypatch = monkeypatch
        for name in VARIABLES:
            monkeypatch.delenv(name, raising=False)
        self.set(PROVIDER_ID="lab", INVENTORY_FILE=str(self.file))
        self.write(inventory("n1"))
        self.app = load_app()
        self.client = Client(self.app, project_dir=str(FOLDER)).http

    def set(self, **variables: str) -> None:
        for name, value in variables.items():
            self.monkeypatch.setenv(name, value)

    def write(self, held: object) -> None:
        self.file.write_text(held if isinstance(held, str) else json.dumps(held))

    def get(self, path: str = ROUTE, headers: Mapping[str, str] | None = None) -> HTTPResponse:
        return self.client.get(path, headers={"host": "localhost", **(headers or {})})

    def call(
        self, headers: Mapping[str, str] | None = None, query: Mapping[str, list[str]] | None = None
    ) -> dict[str, Any]:
        """Through API Gateway's REST event, as Lambda hands it on."""
        sent = {"Host": "localhost", **(headers or {})}
        event = {
            "resource": ROUTE,
            "path": ROUTE,
            "httpMethod": "GET",
            "headers": sent,
            "multiValueHeaders": {name: [value] for name, value in sent.items()},
            "queryStringParameters": None,
            "multiValueQueryStringParameters": None,
            "pathParameters": None,
            "stageVariables": None,
            "requestContext": {"resourcePath": ROUTE, "httpMethod": "GET", "path": f"/api{ROUTE}", "identity": {}},
            "body": None,
            "isBase64Encoded": False,
        }
        answer = self.app(event, SimpleNamespace(aws_request_id="1"))
        json.dumps(answer)  # what Lambda does with it
        return dict(answer)


@pytest.fixture
def provider(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Provider:
    return Provider(tmp_path, monkeypatch)


def code_of(response: HTTPResponse) -> tuple[int, str]:
    assert response.headers["Content-Type"] == "application/problem+json"
    return response.status_code, response.json_body["code"]


def test_health_tells_the_version(provider: Provider) -> None:
    response = provider.get("/health")

    assert response.status_code == 200
    assert response.json_body == {"status": "ok", "version": __version__}


def test_inventory_is_one_that_a_gateway_reads(provider: Provider) -> None:
    response = provider.get()

    read_back = read(response.body, "lab")
    assert response.status_code == 200
    assert [node.name for node in read_back.nodes] == ["n1"]
    assert (read_back.schema_version, read_back.source, read_back.warnings) == (1, "static", [])


def test_static_inventory_is_observed_now_whatever_its_file_says(provider: Provider) -> None:
    provider.write(inventory("n1", observed_at="2020-01-01T00:00:00Z"))
    before = datetime.now(UTC).replace(microsecond=0)

    response = provider.get()

    told = datetime.fromisoformat(response.headers["X-Observed-At"])
    assert before <= told <= datetime.now(UTC)
    assert response.json_body["observed_at"] == response.headers["X-Observed-At"]


@pytest.mark.parametrize("form", ["{}", "W/{}", '"other", {}', '"other" ,W/{}', "*", " * "])
def test_caller_who_has_the_inventory_gets_304(provider: Provider, form: str) -> None:
    etag = provider.get().headers["ETag"]

    response = provider.get(headers={"if-none-match": form.format(etag)})

    assert (response.status_code, response.body) == (304, b"")
    assert response.headers["ETag"] == etag
    assert response.headers["Cache-Control"] == "no-cache"
    assert "X-Observed-At" in response.headers


@pytest.mark.parametrize("form", ['"other"', "unquoted", "", '""', "W/*"])
def test_caller_who_has_something_else_gets_200(provider: Provider, form: str) -> None:
    response = provider.get(headers={"if-none-match": form})

    assert response.status_code == 200
    assert response.headers["Cache-Control"] == "no-cache"


def test_entity_tag_is_strong_and_the_same_in_every_process(provider: Provider) -> None:
    first = provider.get().headers["ETag"]
    provider.write(inventory("n1", observed_at="2026-01-01T00:00:00Z"))

    second = Client(load_app(), project_dir=str(FOLDER)).http.get(ROUTE, headers={"host": "localhost"})

    assert first.startswith('"')
    assert second.headers["ETag"] == first


def test_lambda_answers_200_and_then_304(provider: Provider) -> None:
    full = provider.call()
    again = provider.call({"If-None-Match": full["headers"]["ETag"]})

    assert full["statusCode"] == 200
    assert json.loads(full["body"])["provider_id"] == "lab"
    assert (again["statusCode"], again["body"]) == (304, "")
    assert again["headers"]["ETag"] == full["headers"]["ETag"]
    assert "X-Observed-At" in again["headers"]


def test_edit_of_the_file_shows_in_the_next_answer(provider: Provider) -> None:
    old = provider.get()
    provider.write(inventory("n1", "n2"))

    new = provider.get(headers={"if-none-match": old.headers["ETag"]})

    assert new.status_code == 200
    assert [node["name"] for node in new.json_body["nodes"]] == ["n1", "n2"]


def test_unchanged_file_is_read_once(provider: Provider, monkeypatch: pytest.MonkeyPatch) -> None:
    first = provider.get()
    monkeypatch.setattr(Path, "read_bytes", lambda self: pytest.fail("read again"))

    second = provider.get()

    assert (second.status_code, second.headers["ETag"]) == (200, first.headers["ETag"])


def test_file_that_turns_bad_is_told_with_its_first_mistakes_and_recovers(provider: Provider) -> None:
    assert provider.get().status_code == 200

    provider.write({"provider_id": "lab", "nodes": [{"name": f"n{number}", "ready": 1} for number in range(9)]})
    bad = provider.get()
    provider.write(inventory("n1"))
    mended = provider.get()

    assert code_of(bad) == (503, "inventory_unavailable")
    assert bad.headers["Retry-After"] == "1"
    assert "inventory.json has 18 mistakes, the first: /nodes/0/ready: must be true or false" in bad.json_body["detail"]
    assert bad.json_body["errors"][1] == {"pointer": "/nodes/0/schedulable", "message": "is required"}
    assert len(bad.json_body["errors"]) == 5
    assert mended.status_code == 200


def test_file_that_is_gone_is_told_and_recovers(provider: Provider) -> None:
    held = provider.file.read_text()
    provider.file.unlink()

    gone = provider.get()
    provider.write(held)
    back = provider.get()

    assert code_of(gone) == (503, "inventory_unavailable")
    assert gone.json_body["detail"] == "inventory.json can't be read: no such file or directory."
    assert back.status_code == 200


def test_older_inventory_is_given_only_to_who_takes_it_and_says_that_it_is_stale(provider: Provider) -> None:
    fresh = provider.get()
    provider.write("{")

    refused = provider.get()
    stale = provider.get(f"{ROUTE}?max_age_ms=3600000")

    assert code_of(refused) == (503, "inventory_unavailable")
    assert stale.status_code == 200
    assert stale.json_body["observed_at"] == fresh.json_body["observed_at"]
    assert stale.json_body["nodes"] == fresh.json_body["nodes"]
    assert [warning["code"] for warning in stale.json_body["warnings"]] == ["stale"]
    assert stale.headers["ETag"] != fresh.headers["ETag"]


@pytest.mark.parametrize("value", ["0", "5000", "86400000"])
def test_max_age_is_accepted(provider: Provider, value: str) -> None:
    assert provider.get(f"{ROUTE}?max_age_ms={value}").status_code == 200


@pytest.mark.parametrize(
    "query", ["max_age_ms=", "max_age_ms=-1", "max_age_ms=1.5", "max_age_ms=86400001", "max_age_ms=1&max_age_ms=2"]
)
def test_max_age_that_is_no_amount_is_refused(provider: Provider, query: str) -> None:
    response = provider.get(f"{ROUTE}?{query}")

    assert code_of(response) == (422, "validation_failed")
    assert [error["pointer"] for error in response.json_body["errors"]] == ["/max_age_ms"]


def test_file_of_another_provider_is_refused_naming_both(provider: Provider) -> None:
    provider.write(inventory(provider_id="other"))

    response = provider.get()

    assert code_of(response) == (503, "inventory_unavailable")
    assert response.json_body["detail"] == "inventory.json is of other, but PROVIDER_ID is lab; make them the same."


@pytest.mark.parametrize(
    ("variables", "detail"),
    [
        ({"PROVIDER_ID": ""}, "PROVIDER_ID is not set; set it to the id that"),
        ({"PROVIDER_ID": "Lab A"}, "PROVIDER_ID is wrong; set it to the id that"),
        ({"INVENTORY_FILE": ""}, "INVENTORY_FILE is not set; set it to an inventory's JSON file"),
        ({"INVENTORY_MODE": "guess"}, "INVENTORY_MODE is wrong; set it to static, kubernetes or hami."),
        ({"INVENTORY_MAX_AGE_MS": "soon"}, "INVENTORY_MAX_AGE_MS is wrong; set it to a whole number"),
        ({"LOG_LEVEL": "LOUD"}, "LOG_LEVEL is wrong; set it to DEBUG, INFO, WARNING or ERROR."),
        ({"INVENTORY_FILE": "", "PROVIDER_ID": ""}, "such as provider-a. INVENTORY_FILE is not set;"),
    ],
)
def test_variable_that_is_missing_or_wrong_is_named_with_what_to_set(
    provider: Provider, variables: dict[str, str], detail: str
) -> None:
    provider.set(**variables)

    response = provider.get()

    assert code_of(response) == (503, "not_ready")
    assert detail in response.json_body["detail"]


def test_only_named_hosts_are_answered(provider: Provider) -> None:
    provider.set(ALLOWED_HOSTS="lab.example, lab2.example")

    statuses = [
        provider.get(headers={"host": host}).status_code for host in ("lab2.example", "127.0.0.1:8081", "evil.example")
    ]

    assert statuses == [200, 200, 403]


def test_threads_that_ask_while_the_file_changes_get_whole_inventories(provider: Provider) -> None:
    sizes = {1, 30}
    source = StaticInventory(provider.file, "lab")

    def ask(number: int) -> int:
        if number % 10 == 0:
            swap = provider.file.with_suffix(f".{number}")
            swap.write_text(json.dumps(inventory(*[f"n{at}" for at in range(30 if number % 20 else 1)])))
            swap.replace(provider.file)
        observation = source.observe(datetime.now(UTC))
        return len(json.loads(observation.inventory.body)["nodes"])

    with ThreadPoolExecutor(8) as pool:
        seen = set(pool.map(ask, range(200)))

    assert seen == sizes


@pytest.mark.parametrize("letter", ["a", "b", "c"])
def test_samples_are_found_relative_to_the_apps_folder(provider: Provider, letter: str) -> None:
    provider.set(PROVIDER_ID=f"provider-{letter}", INVENTORY_FILE=f"inventories/provider-{letter}.json")

    response = provider.get()

    assert response.status_code == 200
    assert read(response.body, f"provider-{letter}").nodes


@pytest.fixture
def served() -> Iterator[int]:
    """The port of a `chalice local` that serves the first sample."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    sample = {"PROVIDER_ID": "provider-a", "INVENTORY_MODE": "static", "INVENTORY_FILE": "inventories/provider-a.json"}
    with subprocess.Popen(
        [
            Path(sys.executable).with_name("chalice"),
            "local",
            "--no-autoreload",
            "--host",
            "127.0.0.1",
            "--port",
            str(port),
        ],
        cwd=FOLDER,
        env={**os.environ, **sample, "PYTHONUNBUFFERED": "1"},
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline().startswith("Serving on")
            yield port
        finally:
            process.terminate()


def test_chalice_local_serves_the_inventory_and_revalidates_it(served: int) -> None:
    connection = HTTPConnection("127.0.0.1", served, timeout=5)

    connection.request("GET", ROUTE)
    full = connection.getresponse()
    body = full.read()
    connection.request("GET", ROUTE, headers={"If-None-Match": full.headers["ETag"]})
    again = connection.getresponse()
    rest = again.read()
    connection.close()

    assert full.status == 200
    assert read(body, "provider-a").nodes
    assert (again.status, rest) == (304, b"")
    assert again.headers["ETag"] == full.headers["ETag"]
    assert "X-Observed-At" in again.headers
