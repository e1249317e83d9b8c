"""The event that API Gateway would hand to a function, made by hand."""

import re
import uuid
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from scripts.terminal import Failure


def api_event(
    paths: Iterable[str], method: str, address: str, body: str | None = None, headers: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """A proxy event (payload version 1.0) for a path with its query. Raises Failure for a path that no route has.

    `paths`: the routes, as in a template, such as /api/v1/providers/{provider_id}.
    """
    parts = urlsplit(address)
    resource, parameters = _route(paths, parts.path)
    query = parse_qsl(parts.query, keep_blank_values=True)
    typed = {"Content-Type": "application/json"} if body is not None else {}
    sent = {"Host": "localhost", **typed, **(headers or {})}
    return {
        "resource": resource,
        "path": parts.path,
        "httpMethod": method,
        "headers": sent,
        "multiValueHeaders": {name: [value] for name, value in sent.items()},
        "queryStringParameters": dict(query) or None,
        "multiValueQueryStringParameters": _many(query) or None,
        "pathParameters": parameters or None,
        "stageVariables": None,
        "requestContext": {
            "resourcePath": resource,
            "path": parts.path,
            "httpMethod": method,
            "requestId": str(uuid.uuid4()),
            "stage": "api",
            "identity": {"sourceIp": "127.0.0.1"},
        },
        "body": body,
        "isBase64Encoded": False,
    }


def _route(paths: Iterable[str], path: str) -> tuple[str, dict[str, str]]:
    known = sorted(paths, key=lambda one: one.count("{"))  # /x/search before /x/{id}
    for one in known:
        pattern = re.sub(r"\\{(\w+)\\}", r"(?P<\1>[^/]+)", re.escape(one))
        if found := re.fullmatch(pattern, path):
            return one, found.groupdict()
    raise Failure(f"No route has {path}; there are {', '.join(known)}.")


def _many(query: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    lists: dict[str, list[str]] = {}
    for name, value in query:
        lists.setdefault(name, []).append(value)
    return lists
