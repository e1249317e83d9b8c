"""The bodies of PUT and PATCH: what they make of a record."""

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from fedcompute.documents import invalid, parse
from fedcompute.errors import Problem
from fedcompute.provider import READ_ONLY, ProviderFields, ProviderRecord, ReplacedProvider, merged

_FIXED = ("id", *READ_ONLY)


def replaced(record: ProviderRecord, body: Any) -> ProviderRecord:
    """The record with every field as in the body or at its default.

    Read-only members may stand in the body as the record has them, so that what was read can be edited and sent back.
    Raises: 422 `validation_failed`.
    """
    fields = _writable(body) if isinstance(body, Mapping) else body
    return _parsed(record, fields, list(_fixed_problems(record, body)))


def patched(record: ProviderRecord, patch: Any) -> ProviderRecord:
    """The record after a JSON merge patch (RFC 7396): null removes an optional field, which is then at its default.

    Raises: 400 `malformed_json` (nested too deeply), 422 `validation_failed`.
    """
    if not isinstance(patch, Mapping):
        raise invalid([{"pointer": "", "message": "must be a JSON object with the fields to change"}])
    fields = _writable(patch)
    unknown = {name: None for name in fields if name not in ProviderFields.model_fields}
    try:
        merge = merged(record, fields)
    except RecursionError as error:
        raise _too_deep() from error
    return _parsed(record, merge | unknown, list(_fixed_problems(record, patch)))


def _parsed(record: ProviderRecord, fields: Any, problems: list[dict[str, str]]) -> ProviderRecord:
    try:
        raw = msgspec.json.encode(fields)
    except RecursionError as error:
        raise _too_deep() from error
    wanted = parse(ReplacedProvider, raw, lambda _: problems)
    return record.model_copy(update={name: getattr(wanted, name) for name in ProviderFields.model_fields})


def _writable(body: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in body.items() if name not in _FIXED}


def _fixed_problems(record: ProviderRecord, body: Any) -> Iterator[dict[str, str]]:
    for name in _FIXED:
        if isinstance(body, Mapping) and name in body and not _is_same(body[name], getattr(record, name)):
            message = "must be the id in the path" if name == "id" else "is read-only: leave it out, or as it was read"
            yield {"pointer": f"/{name}", "message": message}


def _is_same(sent: Any, kept: Any) -> bool:
    """Equal as JSON: in Python, true equals 1."""
    return type(sent) is type(kept) and sent == kept


def _too_deep() -> Problem:
    return Problem("malformed_json", "The body is nested too deeply.")
