"""An app's OpenAPI 3.1 document, made of the operations that it serves and their models, and never by hand."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

from fedcompute import __version__
from fedcompute.error_words import MEANS
from fedcompute.errors import STATUS, Problem
from fedcompute.openapi_schemas import patch_name, reference, schemas
from fedcompute.operations import PUBLIC, Operation

JSON, MERGE_PATCH, PROBLEM = "application/json", "application/merge-patch+json", "application/problem+json"
EXAMPLE_ID = "3f1c9a52-7c1e-4a57-9d0b-1f2e3d4c5b6a"

HEADERS: Mapping[str, str] = {
    "X-Request-Id": "This request's id, as in the log: the caller's own where it sent a plain one.",
    "ETag": "The version of what the body holds, with its quotes.",
    "Location": "Where the new record is.",
    "Retry-After": "When to come back, in seconds.",
    "Server-Timing": "Where the time went, in ms.",
    "WWW-Authenticate": "How to show who calls.",
    "X-Observed-At": "When the owner last saw it so (RFC 3339).",
}


@dataclass(frozen=True)
class About:
    """What a document says beside its operations.

    `security`: the way to show who calls, by its name. `is_open`: whether that may be left out. `words`: what a text may
    be, by `Schema.member`. `examples`: by operation, a `request` and the `answers` by status.
    """

    title: str
    description: str
    security: Mapping[str, Mapping[str, Any]]
    is_open: bool = False
    words: Mapping[str, Sequence[str]] = field(default_factory=dict)
    examples: Mapping[str, Any] = field(default_factory=dict)
    parameters: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


def document(about: About, operations: Sequence[Operation]) -> dict[str, Any]:
    """The whole document, as JSON values."""
    paths: dict[str, dict[str, Any]] = {}
    for operation in operations:
        paths.setdefault(operation.path, {})[operation.method.lower()] = _operation(about, operation)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": about.title,
            "version": __version__,
            "description": about.description,
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": ".", "description": "Where this document is."}],
        "tags": [{"name": name} for name in dict.fromkeys(map(_tag, operations))],
        "paths": paths,
        "components": {"schemas": schemas(operations, about.words), "securitySchemes": about.security},
        "x-errors": [{"code": code, "status": status, "means": MEANS[code]} for code, status in STATUS.items()],
    }


def _operation(about: About, operation: Operation) -> dict[str, Any]:
    summary, _, rest = operation.text.partition("\n")
    examples = about.examples.get(operation.name, {})
    found = {
        "operationId": operation.name,
        "summary": summary.strip().rstrip("."),
        "description": rest.strip() or None,
        "tags": [_tag(operation)],
        "x-role": operation.role,
        "security": _security(about, operation),
        "parameters": _parameters(about, operation),
        "requestBody": _body(operation, examples),
        "responses": _responses(operation, examples.get("answers", {})),
    }
    return {name: value for name, value in found.items() if value is not None}


def _tag(operation: Operation) -> str:
    steps = operation.path.split("/")
    return steps[3] if operation.path.startswith("/api/v1/") else "service"


def _security(about: About, operation: Operation) -> list[dict[str, list[str]]]:
    if operation.role == PUBLIC:
        return []
    named: list[dict[str, list[str]]] = [
        {name: []}
        for name, scheme in about.security.items()
        if operation.role in scheme.get("x-roles", (operation.role,))
    ]
    return [{}, *named] if about.is_open else named


def _parameters(about: About, operation: Operation) -> list[dict[str, Any]]:
    found = [
        {"name": name, "in": "path", "required": True, **about.parameters[name]}
        for name in (step.strip("{}") for step in operation.path.split("/") if step.startswith("{"))
    ]
    for name, schema, text in operation.contract.query:
        found.append({"name": name, "in": "query", "description": text, "schema": schema})
    if operation.contract.is_conditional:
        text = "The version that the record must still have, as its ETag; `*` for any. Left out: any."
        found.append({"name": "If-Match", "in": "header", "description": text, "schema": {"type": "string"}})
    return found


def _body(operation: Operation, examples: Mapping[str, Any]) -> dict[str, Any] | None:
    model = operation.contract.takes
    if model is None:
        return None
    patches = operation.contract.patches
    content = {"schema": reference(patch_name(model) if patches else model.__name__), **_example(examples, "request")}
    return {"required": True, "content": dict.fromkeys([JSON, *([MERGE_PATCH] if patches else [])], content)}


def _responses(operation: Operation, answers: Mapping[str, Any]) -> dict[str, Any]:
    contract = operation.contract
    found: dict[str, dict[str, Any]] = {}
    for status, kind in ((contract.status, contract.gives), *contract.also.items()):
        response: dict[str, Any] = {"description": HTTPStatus(status).phrase, "headers": _headers(contract.headers)}
        if isinstance(kind, str):
            response["content"] = {kind.partition(";")[0]: {"schema": {"type": _type(kind)}}}
        elif kind is not None:
            response["content"] = {JSON: {"schema": reference(kind.__name__), **_example(answers, str(status))}}
        found[str(status)] = response
    for status in sorted({STATUS[code] for code in operation.errors}):
        response = _problems(status, [code for code in operation.errors if STATUS[code] == status])
        other = found.get(str(status), {})
        content = {**other.get("content", {}), **response["content"]}
        found[str(status)] = {**other, **response, "content": content}
    return dict(sorted(found.items()))


def _type(media: str) -> str:
    return "object" if media == JSON else "string"


def _problems(status: int, codes: Sequence[str]) -> dict[str, Any]:
    more = {401: ["WWW-Authenticate"], 412: ["ETag"], 429: ["Retry-After"], 503: ["Retry-After"]}.get(status, [])
    schema = {"allOf": [reference("Problem"), {"properties": {"code": {"enum": list(codes)}}}]}
    return {
        "description": "  \n".join(f"`{code}`: {MEANS[code]}" for code in codes),
        "headers": _headers(more),
        "content": {PROBLEM: {"schema": schema, "examples": {code: {"value": _problem(code)} for code in codes}}},
    }


def _problem(code: str) -> dict[str, Any]:
    words = MEANS[code].replace("`", "")
    errors = [{"pointer": "/limit", "message": "must be at most 100"}] if code == "validation_failed" else []
    return Problem(code, words[0].upper() + words[1:] + ".", errors=errors).body(EXAMPLE_ID)


def _headers(names: Iterable[str]) -> dict[str, Any]:
    return {name: {"description": HEADERS[name], "schema": {"type": "string"}} for name in ("X-Request-Id", *names)}


def _example(examples: Mapping[str, Any], name: str) -> dict[str, Any]:
    return {"example": examples[name]} if name in examples else {}
