"""The schemas of an API's document: what its operations take (pydantic models) and give (msgspec structs)."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct
from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from fedcompute.answer import SOMETIMES
from fedcompute.errors import STATUS
from fedcompute.operations import Operation

PLACE = "#/components/schemas/"

type Schema = dict[str, Any]


class Mistake(Struct):
    """One thing that is wrong with a request: a JSON pointer to it (RFC 6901), and what to do about it."""

    pointer: str
    message: str


class Problem(Struct):
    """An error (RFC 9457). `code` is stable; `errors` lists each mistake of a request, `checks` the parts that are needed."""

    type: str
    title: str
    status: int
    code: Annotated[str, Meta(extra_json_schema={"enum": list(STATUS)})]
    detail: str
    request_id: str
    errors: Annotated[list[Mistake], Meta(extra_json_schema=SOMETIMES)] = []
    checks: Annotated[dict[str, str], Meta(extra_json_schema=SOMETIMES)] = {}


def schemas(operations: Iterable[Operation], words: Mapping[str, Sequence[str]]) -> dict[str, Schema]:
    """Every schema by its name. `words`: what a text may be, by `Schema.member`."""
    contracts = [operation.contract for operation in operations]
    takes = {contract.takes for contract in contracts if contract.takes is not None}
    gives: set[type[Struct]] = {Problem}
    for contract in contracts:
        gives |= {kind for kind in (contract.gives, *contract.also.values()) if isinstance(kind, type)}
    taken, given = _taken(takes), _given(gives)
    doubled = taken.keys() & given.keys()
    assert not doubled, f"two schemas of one name: {', '.join(sorted(doubled))}"
    found = {**taken, **given}
    for contract in contracts:
        if contract.takes is not None and contract.patches:
            found[patch_name(contract.takes)] = _patch(taken[contract.takes.__name__])
    for place, choices in words.items():
        name, _, member = place.partition(".")
        found[name]["properties"][member]["enum"] = list(choices)
    return dict(sorted(found.items()))


def reference(name: str) -> Schema:
    """Where a schema is."""
    return {"$ref": PLACE + name}


def patch_name(model: type[BaseModel]) -> str:
    """The name of the schema of a merge patch to what a model describes."""
    return f"{model.__name__}Patch"


def _taken(models: Iterable[type[BaseModel]]) -> dict[str, Schema]:
    ordered = sorted(models, key=lambda model: model.__name__)
    _, made = models_json_schema([(model, "validation") for model in ordered], ref_template=PLACE + "{model}")
    found: dict[str, Schema] = made.get("$defs", {})
    return found


def _given(kinds: Iterable[type[Struct]]) -> dict[str, Schema]:
    ordered = sorted(kinds, key=lambda kind: kind.__name__)
    _, made = msgspec.json.schema_components(ordered, ref_template=PLACE + "{name}")
    return {name: _written_out(schema) for name, schema in made.items()}


def _written_out(schema: Schema) -> Schema:
    """An answer's members are all there, at their default or not, but for those that are there sometimes."""
    members = {name: dict(member) for name, member in schema.get("properties", {}).items()}
    for member in members.values():
        member.pop("default", None)
    always = [name for name, member in members.items() if not member.pop("x-sometimes", False)]
    return {**schema, "properties": members, "required": always}


def _patch(schema: Schema) -> Schema:
    """Each field may be left out, and each that is optional may be null, which sets it to its default."""
    required = schema.get("required", ())
    members = {
        name: member
        if name in required or member.get("readOnly")
        else {"anyOf": [dict(_patched(member)), {"type": "null"}]}
        for name, member in deepcopy(schema["properties"]).items()
    }
    text = "A JSON merge patch (RFC 7396): what is left out stays, null sets an optional field to its default."
    return {"type": "object", "description": text, "additionalProperties": False, "properties": members}


def _patched(member: Schema) -> Iterator[tuple[str, Any]]:
    for key, value in member.items():
        if key == "additionalProperties" and isinstance(value, dict):
            yield key, {"anyOf": [value, {"type": "null"}]}
        elif key != "default":
            yield key, value
