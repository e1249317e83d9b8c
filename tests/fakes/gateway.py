"""The gateway's app as a new process would have it, called as API Gateway calls it."""

import importlib.util
import json
import uuid
from collections.abc import Mapping
from itertools import count
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, NamedTuple

import pytest
from chalice.app import Chalice

from chalicelib.gateway_settings import GatewaySettings

FOLDER = Path(__file__).resolve().parents[2] / "gateway_app"
SEARCH = "/api/v1/resources/search"
PROVIDERS = "/api/v1/providers"
RESOURCES = "/api/v1/resources"
OPEN = {"AUTH": "open", "PROVIDER_ADDRESSES": "any"}
_NUMBERS = count()


class Answer(NamedTuple):
    """What the caller gets. Header names are in lower case."""

    status: int
    headers: dict[str, str]
    text: str

    @property
    def json(self) -> Any:
        """The body's value."""
        return json.loads(self.text, parse_constant=_refuse)

    @property
    def problem(self) -> dict[str, Any]:
        """The body's value where it is problem+json, which a test checks by asking for it."""
        assert self.headers["content-type"] == "application/problem+json", self
        found = self.json
        assert isinstance(found, dict)
        assert {"type", "title", "status", "code", "detail", "request_id"} <= set(found)
        assert found["status"] == self.status
        assert found["type"] == f"urn:fedcompute:problem:{found['code']}"
        assert found["request_id"] == self.headers["x-request-id"]
        return found


class Gateway:
    """One process's gateway; its environment is what it is made with, AUTH=open on a person's own machine by default."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, **environment: str) -> None:
        for name in (*GatewaySettings.model_fields, "aws_session_token"):
            monkeypatch.delenv(name.upper(), raising=False)
        for name, value in {**OPEN, "REGISTRY_TABLE": "registry", **environment}.items():
            monkeypatch.setenv(name, value)
        self.module = load_app()
        self.app: Chalice = self.module.app

    def call(
        self,
        method: str,
        path: str,
        body: object = None,
        headers: Mapping[str, str] | None = None,
        query: Mapping[str, str] | None = None,
    ) -> Answer:
        """One request. A `body` that is no text is sent as JSON; `headers` go over those that a client sends."""
        sent = {"Host": "localhost", "X-Forwarded-For": "127.0.0.1"}
        if body is not None:
            sent["Content-Type"] = "application/json"
        text = body if body is None or isinstance(body, str) else json.dumps(body)
        return self.handle(event_for(self.app, method, path, text, {**sent, **(headers or {})}, query))

    def handle(self, event: Mapping[str, Any]) -> Answer:
        """What Lambda's run time would hand to API Gateway."""
        answer = self.app(event, SimpleNamespace(aws_request_id="1"))
        answer = json.loads(json.dumps(answer))
        headers = {name.lower(): value for name, value in answer["headers"].items()}
        headers |= {name.lower(): values[-1] for name, values in answer.get("multiValueHeaders", {}).items()}
        assert not answer.get("isBase64Encoded")
        return Answer(answer["statusCode"], headers, answer["body"])

    def search(self, **fields: Any) -> Answer:
        """A search for a cpu core, unless `fields` ask for something else."""
        is_asking = {"gpu", "cpu", "memory"} & set(fields)
        return self.call("POST", SEARCH, fields if is_asking else {"cpu": {"minimum_millicores": 1000}, **fields})

    def register(self, provider_id: str, base_url: str, **fields: Any) -> dict[str, Any]:
        """A provider's record, made through the API."""
        record = {"id": provider_id, "name": f"Lab {provider_id}", "base_url": base_url, "timeout_ms": 5000, **fields}
        answer = self.call("POST", PROVIDERS, record)
        assert answer.status == 201, answer
        found = answer.json
        assert isinstance(found, dict)
        return found


def load_app() -> ModuleType:
    """The module app.py, by path, since both apps are called app."""
    spec = importlib.util.spec_from_file_location(f"gateway_app_{next(_NUMBERS)}", FOLDER / "app.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def event_for(
    app: Chalice,
    method: str,
    path: str,
    body: str | None,
    headers: Mapping[str, str],
    query: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """An event of a REST API with Lambda proxy integration."""
    resource, parameters = _resource(app, path)
    return {
        "resource": resource,
        "path": path,
        "httpMethod": method,
        "headers": dict(headers),
        "multiValueHeaders": {name: [value] for name, value in headers.items()},
        "queryStringParameters": dict(query) if query else None,
        "multiValueQueryStringParameters": {name: [value] for name, value in query.items()} if query else None,
        "pathParameters": parameters or None,
        "stageVariables": None,
        "requestContext": {
            "resourcePath": resource,
            "httpMethod": method,
            "path": f"/api{path}",
            "stage": "api",
            "requestId": str(uuid.uuid4()),
            "identity": {"sourceIp": "127.0.0.1"},
        },
        "body": body,
        "isBase64Encoded": False,
    }


def _resource(app: Chalice, path: str) -> tuple[str, dict[str, str]]:
    """The route's pattern and what stands in its place holders, as API Gateway finds them."""
    steps = path.split("/")
    for pattern in sorted(app.routes, key=lambda pattern: pattern.count("{")):
        places = pattern.split("/")
        if len(places) == len(steps) and all(
            place == step or place.startswith("{") for place, step in zip(places, steps, strict=True)
        ):
            return pattern, {
                place.strip("{}"): step for place, step in zip(places, steps, strict=True) if place.startswith("{")
            }
    raise AssertionError(f"API Gateway has no route for {path}")


def _refuse(constant: str) -> None:
    raise AssertionError(f"{constant} is not JSON")
