"""JSON bodies of callers: strict, and every problem told at once with a JSON pointer (RFC 6901)."""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import msgspec
from pydantic import BaseModel, ConfigDict, ValidationError

from fedcompute.errors import Problem
from fedcompute.text import clean

LARGEST_BYTES = 1 << 20
MOST_VALUES = 10_000  # in one body; a megabyte of mistakes would take seconds to find and more than an answer to tell
MOST_TOLD = 100  # of the mistakes in one body


class Document(BaseModel):
    """A part of a caller's body: immutable, exact types, unknown fields refused."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid", hide_input_in_errors=True)


def parse[Model: BaseModel](
    model: type[Model], raw: bytes, whole: Callable[[Any], Iterable[dict[str, str]]] | None = None
) -> Model:
    """A body as a model. `whole` finds what no single field can tell: {"pointer", "message"} of each such problem.

    Raises: 400 `malformed_json`, 413 `payload_too_large`, 422 `validation_failed` with every problem, up to MOST_TOLD.
    """
    value = decode(raw)
    errors = list(whole(value)) if whole is not None else []
    count = len(errors)
    try:
        found = model.model_validate_json(raw)
    except ValidationError as error:
        details = error.errors(include_url=False)
        if details[0]["type"] == "json_invalid":  # what the first parser lets pass: some hundreds of brackets
            raise Problem("malformed_json", f"The body can't be read: {clean(details[0]['msg'])}.") from error
        errors = [_described(detail, model) for detail in details[:MOST_TOLD]] + errors
        count += len(details)
    if errors:
        raise invalid(errors, count)
    return found


def invalid(errors: Sequence[dict[str, str]], count: int = 0) -> Problem:
    """422 `validation_failed` with its list of problems; `count`: how many there are, where more than are listed."""
    count = max(count, len(errors))
    words = "One thing is" if count == 1 else f"{count} things are"
    where = "see errors" if count <= MOST_TOLD else f"errors has the first {MOST_TOLD}"
    return Problem("validation_failed", f"{words} wrong with the request; {where}.", errors=errors[:MOST_TOLD])


def decode(raw: bytes) -> Any:
    """The JSON value of a body; 400 `malformed_json` or 413 `payload_too_large` where there is none."""
    if len(raw) > LARGEST_BYTES:
        raise Problem("payload_too_large", f"The body has {len(raw)} bytes; {LARGEST_BYTES} are the most.")
    if not raw.strip():
        raise Problem("malformed_json", "The body is empty; send a JSON object.")
    try:
        value = msgspec.json.decode(raw)
        _check_number_of_values(value)
        _check_names(raw)
    except RecursionError as error:
        raise Problem("malformed_json", "The body is nested too deeply.") from error
    except (msgspec.DecodeError, UnicodeError) as error:
        raise Problem("malformed_json", f"The body is not JSON: {clean(str(error))}.") from error
    return value


def _check_number_of_values(value: Any) -> None:
    left, count = [value], 0
    while left:
        one = left.pop()
        count += 1
        if count + len(left) > MOST_VALUES:
            raise Problem("payload_too_large", f"The body holds more than {MOST_VALUES} values.")
        if isinstance(one, dict):
            left.extend(one.values())
        elif isinstance(one, list):
            left.extend(one)


def _check_names(raw: bytes) -> None:
    """A name that stands twice in one object is no slip to guess at: who reads the first and who the last?"""

    def check(pairs: list[tuple[str, Any]]) -> None:
        if len({name for name, _ in pairs}) != len(pairs):
            twice = next(name for name, count in Counter(name for name, _ in pairs).items() if count > 1)
            raise Problem("malformed_json", f"{clean(twice, 80)!r} stands more than once in one object of the body.")

    json.loads(raw, object_pairs_hook=check, parse_int=len, parse_float=len)


def pointer(path: Sequence[str | int]) -> str:
    """The JSON pointer to a place; the whole document is ""."""
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in path)


def _described(detail: Any, model: type[BaseModel]) -> dict[str, str]:
    return {"pointer": clean(pointer(detail["loc"])), "message": _message(detail, model)}


def _message(detail: Any, model: type[BaseModel]) -> str:
    kind, context = detail["type"], detail.get("ctx", {})
    if kind == "extra_forbidden":
        return f"is not a field here; the fields are {', '.join(_fields_at(model, detail['loc'][:-1]))}"
    if kind == "missing":
        return "is required"
    if kind in ("greater_than_equal", "less_than_equal"):
        bound = "at least" if kind == "greater_than_equal" else "at most"
        return f"must be {bound} {context['ge' if 'ge' in context else 'le']}"
    if kind in ("value_error", "assertion_error"):
        return clean(str(context["error"]))
    message: str = detail["msg"]
    return clean(message.replace("Input should be", "must be", 1))


def _fields_at(model: type[BaseModel], path: Sequence[str | int]) -> list[str]:
    """The field names of the model that stands at a path, following optional and repeated members."""
    for step in path:
        field = model.model_fields.get(str(step))
        if field is None:
            continue
        inner = _model_in(field.annotation)
        if inner is not None:
            model = inner
    return list(model.model_fields)


def _model_in(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    for part in getattr(annotation, "__args__", ()):
        found = _model_in(part)
        if found is not None:
            return found
    return None
