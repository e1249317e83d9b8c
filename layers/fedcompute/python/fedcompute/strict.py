"""JSON read into msgspec structs as a careful reviewer would: every mistake is told, each with its place."""

import difflib
import functools
import json
import re
from collections import Counter
from types import UnionType
from typing import Any, Union, get_args, get_origin

import msgspec
from msgspec import UNSET, structs

Path = tuple[str | int, ...]
Mistake = tuple[Path, str]

# What a JSON value is called, and msgspec's own words for the kinds that stand in a field. bool before int: it is one.
_KINDS = (
    (dict, "an object"),
    (list, "a list"),
    (str, "text"),
    (bool, "true or false"),
    (int, "a whole number"),
    (float, "a number with a fraction"),
    (type(None), "null"),
)
_WORDS = {"int": "a whole number", "str": "text", "bool": "true or false"}
_SURROGATE = re.compile("[\ud800-\udfff]")
_EXPECTED = re.compile(r"Expected `(?P<wanted>[^`]*)`(?P<rest>.*)", re.DOTALL)


class NotJsonError(ValueError):
    """Bytes that are no JSON document; the message says where and why."""


class Object(dict[str, Any]):
    """A JSON object that remembers which of its names stood more than once."""

    repeated: tuple[str, ...] = ()


def decode(document: bytes) -> Any:
    """The JSON value of a document, its objects as Object. A byte order mark is let pass.

    Raises NotJsonError, with line and column where the place is known.
    """
    try:
        return json.loads(document.decode("utf-8-sig"), object_pairs_hook=_object)
    except UnicodeDecodeError as error:
        line = document.count(b"\n", 0, error.start) + 1
        column = error.start - document.rfind(b"\n", 0, error.start)
        raise NotJsonError(f"is not UTF-8: line {line}, byte {column} of the line") from error
    except json.JSONDecodeError as error:
        reason = error.msg[:1].lower() + error.msg[1:]
        raise NotJsonError(f"is not JSON: {reason} at line {error.lineno}, column {error.colno}") from error
    except RecursionError as error:
        raise NotJsonError("is nested too deeply") from error
    except ValueError as error:  # int() refuses thousands of digits
        raise NotJsonError("holds a number with too many digits") from error


def convert(value: Any, kind: Any, path: Path, mistakes: list[Mistake]) -> Any:
    """A decoded value as `kind` (structs, lists, dicts and what msgspec.convert takes), adding to `mistakes`.

    What can't be read is UNSET: a list keeps its length, and a struct its default, or UNSET where it has none.
    """
    wanted = _without_none(kind)
    if value is None and wanted is not kind:
        return None
    if isinstance(wanted, type) and issubclass(wanted, msgspec.Struct):
        return _struct(value, wanted, path, mistakes) if _is(value, dict, path, mistakes) else UNSET
    if get_origin(wanted) is list:
        (item,) = get_args(wanted)
        is_list = _is(value, list, path, mistakes)
        return [convert(member, item, (*path, at), mistakes) for at, member in enumerate(value)] if is_list else UNSET
    if get_origin(wanted) is dict:
        return _dict(value, wanted, path, mistakes) if _is(value, dict, path, mistakes) else UNSET
    return _leaf(value, kind, path, mistakes)


def _struct[S: msgspec.Struct](value: Object, kind: type[S], path: Path, mistakes: list[Mistake]) -> S:
    fields = _fields(kind)
    mistakes.extend((path, f"{name!r} stands more than once") for name in value.repeated)
    for name in value:
        if name not in fields:
            mistakes.append(((*path, name), f"is not a field here{_meant(name, fields)}"))
    members: dict[str, Any] = {}
    for name, field in fields.items():
        if name in value:
            member = convert(value[name], field.type, (*path, name), mistakes)
        elif field.required:
            mistakes.append(((*path, name), "is required"))
            member = UNSET
        else:
            continue
        if member is not UNSET or field.required:
            members[name] = member
    return kind(**members)


def _dict(value: Object, kind: Any, path: Path, mistakes: list[Mistake]) -> dict[str, Any]:
    _, item = get_args(kind)
    mistakes.extend((path, f"{name!r} stands more than once") for name in value.repeated)
    mistakes.extend(
        ((*path, name), "has half a surrogate pair in its name") for name in value if _SURROGATE.search(name)
    )
    return {name: convert(member, item, (*path, name), mistakes) for name, member in value.items()}


def _leaf(value: Any, kind: Any, path: Path, mistakes: list[Mistake]) -> Any:
    if isinstance(value, str) and _SURROGATE.search(value):
        mistakes.append((path, "has half a surrogate pair"))
        return UNSET
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        mistakes.append((path, _in_words(str(error), value)))
        return UNSET


def _in_words(message: str, value: Any) -> str:
    """What msgspec says (Expected `int | null`, got `str`; Expected `int` >= 0), for people."""
    found = _EXPECTED.fullmatch(message)
    if found is None:
        return message
    wanted, rest = " or ".join(_WORDS.get(name, name) for name in found["wanted"].split(" | ")), found["rest"]
    if rest.startswith(", got"):
        return f"must be {wanted}, not {_kind_of(value)}"
    if value == "":
        return "must not be empty"
    return f"must be {wanted}{rest}, not {f'of {len(value)}' if isinstance(value, str) else value}"


def _kind_of(value: Any) -> str:
    return next(words for kind, words in _KINDS if isinstance(value, kind))


def _is(value: Any, kind: type, path: Path, mistakes: list[Mistake]) -> bool:
    if isinstance(value, kind):
        return True
    wanted = next(words for one, words in _KINDS if one is kind)
    mistakes.append((path, f"must be {wanted}, not {_kind_of(value)}"))
    return False


def _meant(name: str, fields: dict[str, structs.FieldInfo]) -> str:
    near = difflib.get_close_matches(name, fields, n=1)
    return f"; did you mean {near[0]}?" if near else f"; the fields are {', '.join(fields)}"


@functools.cache
def _fields(kind: type[msgspec.Struct]) -> dict[str, structs.FieldInfo]:
    return {field.encode_name: field for field in structs.fields(kind)}


def _without_none(kind: Any) -> Any:
    if get_origin(kind) in (Union, UnionType):
        others = [part for part in get_args(kind) if part is not type(None)]
        return others[0] if len(others) == 1 else kind
    return kind


def _object(pairs: list[tuple[str, Any]]) -> Object:
    made = Object(pairs)
    if len(made) != len(pairs):
        counts = Counter(name for name, _ in pairs)
        made.repeated = tuple(name for name, count in counts.items() if count > 1)
    return made
