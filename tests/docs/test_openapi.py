"""The gateway's and the provider's OpenAPI documents: valid, complete, and true of every example of docs/api.md.

RECORD_EXAMPLES=1 writes the document's examples anew, from what the gateway answers to the page's requests.
"""

import json
import os
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from openapi_spec_validator import OpenAPIV31SpecValidator

from chalicelib.calls import OUTCOMES
from fedcompute.error_words import MEANS
from fedcompute.errors import STATUS
from fedcompute.reasons import REASONS

from .test_api_page import PAGE, ROOT, Example, examples

RECORDED = ROOT / "gateway_app" / "chalicelib" / "examples.json"


def shown(federation: Any, *, is_of_provider: bool = False) -> dict[str, Any]:
    """The document as it is served."""
    example = Example(is_of_provider, "GET", "/openapi.json", {}, "", 200, {}, None)
    status, _, body = federation.call(example)
    assert status == 200
    assert isinstance(body, dict)
    return body


def operations(document: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            yield method.upper(), path, operation


def closed(document: dict[str, Any]) -> dict[str, Any]:
    """The document with its schemas shut: a member that they do not name is a mistake."""
    for schema in document["components"]["schemas"].values():
        if "properties" in schema:
            schema["additionalProperties"] = False
    return document


def validator(document: dict[str, Any], schema: dict[str, Any]) -> Draft202012Validator:
    return Draft202012Validator({"$id": "urn:document", **document, "allOf": [schema]})


def route_of(example: Example) -> str:
    return re.sub(r"/provider-[a-z]", "/{provider_id}", example.path.partition("?")[0])


@pytest.mark.parametrize("is_of_provider", [False, True], ids=["gateway", "provider"])
def test_the_document_is_valid_openapi_3_1(federation: Any, is_of_provider: bool) -> None:
    document = shown(federation, is_of_provider=is_of_provider)

    assert [str(error) for error in OpenAPIV31SpecValidator(document).iter_errors()] == []


@pytest.mark.parametrize("is_of_provider", [False, True], ids=["gateway", "provider"])
def test_every_route_that_is_served_stands_in_the_document(federation: Any, is_of_provider: bool) -> None:
    document = shown(federation, is_of_provider=is_of_provider)
    app = federation.provider if is_of_provider else federation.gateway

    served = {(method, path) for path, methods in app.routes.items() for method in methods}

    assert {(method, path) for method, path, _ in operations(document)} == served
    assert all(operation["summary"] and operation["x-role"] for _, _, operation in operations(document))


def test_every_answer_and_request_of_the_page_is_as_the_document_says(federation: Any) -> None:
    document = closed(shown(federation))
    own = {(method, path): operation for method, path, operation in operations(document)}
    recorded: dict[str, Any] = {}

    for example in examples():
        status, headers, body = federation.call(example)
        operation = own.get((example.method, route_of(example)))
        if example.is_of_provider or operation is None:
            continue
        response = operation["responses"][str(status)]
        media = headers.get("content-type", "").partition(";")[0]
        assert {"etag", "location"} & set(headers) <= {name.lower() for name in response["headers"]}, example
        if isinstance(body, dict) and route_of(example) != "/openapi.json":
            schema = response["content"][media]["schema"]
            found = validator(document, schema).iter_errors(body)
            assert [f"{one.json_path}: {one.message[:200]}" for one in found] == [], example
        if example.body and status < 300:
            schema = operation["requestBody"]["content"][example.headers["Content-Type"]]["schema"]
            assert list(validator(document, schema).iter_errors(json.loads(example.body))) == [], example
        if status < 300 and isinstance(body, dict) and route_of(example) != "/openapi.json":
            one = recorded.setdefault(operation["operationId"], {})
            if example.body:
                one.setdefault("request", json.loads(example.body))
            one.setdefault("answers", {}).setdefault(str(status), body)

    if os.environ.get("RECORD_EXAMPLES"):
        RECORDED.write_text(json.dumps(recorded, indent=1) + "\n")
    kept = json.loads(RECORDED.read_text())
    assert {name: one.get("request") for name, one in kept.items()} == {
        name: one.get("request") for name, one in recorded.items()
    }
    assert members(kept) == members(recorded)


def members(value: Any) -> Any:
    """What a value is made of, its texts and numbers aside."""
    if isinstance(value, dict):
        return {name: members(member) for name, member in value.items()}
    if isinstance(value, list):
        return [members(value[0])] if value else []
    return ...


def test_each_example_fits_its_schema(federation: Any) -> None:
    document = closed(shown(federation))

    for _, path, operation in operations(document):
        contents = [operation.get("requestBody", {}), *operation["responses"].values()]
        for content in (one for each in contents for one in each.get("content", {}).values()):
            values = [one["value"] for one in content.get("examples", {}).values()]
            values += [content["example"]] if "example" in content else []
            for value in values:
                found = [one.message[:200] for one in validator(document, content["schema"]).iter_errors(value)]
                assert found == [], f"{path}: {value}"
    with_bodies = [one for _, _, one in operations(document) if "requestBody" in one]
    assert all("example" in next(iter(one["requestBody"]["content"].values())) for one in with_bodies)


def test_every_error_code_stands_in_the_document_with_its_status_and_the_pages_words(federation: Any) -> None:
    document = shown(federation)
    (found,) = re.findall(r"<!-- table: codes -->\n((?:\|.*\n)+)", PAGE)
    rows = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in found.splitlines()[2:]]

    assert {one["code"]: one["status"] for one in document["x-errors"]} == STATUS
    assert {row[0].strip("`"): row[2].strip(" |") for row in rows} == {code: MEANS[code] for code in STATUS}
    for _, path, operation in operations(document):
        for status, response in operation["responses"].items():
            codes = response.get("content", {}).get("application/problem+json", {}).get("examples", {})
            assert {str(STATUS[code]) for code in codes} <= {status}, path


def test_roles_and_keys_are_told(federation: Any) -> None:
    by_route = {(method, path): one for method, path, one in operations(shown(federation))}

    assert by_route["GET", "/health"]["security"] == []
    assert by_route["POST", "/api/v1/resources/search"]["x-role"] == "search"
    assert by_route["POST", "/api/v1/resources/search"]["security"] == [{}, {"key": []}]  # AUTH=open: a key or none
    assert {"401", "403", "429"} <= set(by_route["POST", "/api/v1/providers"]["responses"])


@pytest.mark.parametrize(
    ("schema", "member", "words"),
    [("Entry", "outcome", OUTCOMES), ("Reason", "reason", REASONS), ("Problem", "code", tuple(STATUS))],
)
def test_words_that_are_fixed_are_all_named(federation: Any, schema: str, member: str, words: tuple[str, ...]) -> None:
    found = shown(federation)["components"]["schemas"][schema]["properties"][member]["enum"]

    assert tuple(found) == words


def _without_a_field(document: dict[str, Any]) -> None:
    del document["components"]["schemas"]["Device"]["properties"]["numa"]


def _without_a_null(document: dict[str, Any]) -> None:
    document["components"]["schemas"]["Entry"]["properties"]["message"] = {"type": "string"}


@pytest.mark.parametrize("change", [_without_a_field, _without_a_null])
def test_a_field_that_is_missing_or_wrong_would_be_found(
    federation: Any, change: Callable[[dict[str, Any]], None]
) -> None:
    document = closed(shown(federation))
    change(document)
    example = next(one for one in examples() if one.path == "/api/v1/resources/search")
    _, _, body = federation.call(example)

    found = list(validator(document, {"$ref": "#/components/schemas/SearchAnswer"}).iter_errors(body))

    assert found
