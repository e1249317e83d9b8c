"""Answers as they leave the gateway: bytes, a status and headers."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import msgspec
from pydantic import BaseModel

from chalicelib.answer_size import fitting
from chalicelib.callers import Caller
from chalicelib.providers import ProviderPage
from chalicelib.search import Found
from fedcompute.errors import RETRY_AFTER_S
from fedcompute.provider import ProviderRecord
from fedcompute.request import SearchRequest


class Encoded(NamedTuple):
    """What web.json_response takes."""

    body: bytes
    status: int
    headers: dict[str, str]


def search_answer(found: Found, request: SearchRequest) -> Encoded:
    """200; or 503 with the same body where every provider was required and one is missing."""
    is_refused = request.partial == "require_all" and not found.is_complete
    found.answer["took_ms"] = found.clock.total_ms
    body = fitting(found.answer)
    found.clock.lap("encode")
    headers = {"Server-Timing": found.clock.server_timing}
    if is_refused:
        headers["Retry-After"] = str(RETRY_AFTER_S)
    return Encoded(body, 503 if is_refused else 200, headers)


def record_answer(
    record: ProviderRecord,
    status: int = 200,
    headers: Mapping[str, str] | None = None,
    members: Mapping[str, Any] | None = None,
) -> Encoded:
    """One record with its entity tag; `members` stand beside its own, or in their place."""
    body = msgspec.json.encode({**record.model_dump(), **(members or {})})
    return Encoded(body, status, {"ETag": record.etag, **(headers or {})})


def page_answer(page: ProviderPage, caller: Caller) -> Encoded:
    """A part of the list, as this caller may see it."""
    records = [{**record.model_dump(), **hidden_from(caller, record)} for record in page.providers]
    return encoded({"providers": records, "next_token": page.next_token})


def hidden_from(caller: Caller, record: ProviderRecord) -> dict[str, None]:
    """Where a provider is, is for its owner and admins: for others these members of its record are null."""
    return {} if caller.owns(record) else {"base_url": None}


def encoded(value: Any) -> Encoded:
    """A plain 200."""
    body = value.model_dump_json().encode() if isinstance(value, BaseModel) else msgspec.json.encode(value)
    return Encoded(body, 200, {})
