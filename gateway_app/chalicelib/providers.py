"""What the provider routes do: a body, headers and a query in, records out."""

import re
from collections.abc import Callable, Mapping
from typing import Protocol

from chalicelib.changes import patched, replaced
from chalicelib.page_token import id_in, token_after
from chalicelib.preconditions import check_if_match
from chalicelib.registry import Registry
from fedcompute.documents import Document, decode, invalid, parse
from fedcompute.operations import Query
from fedcompute.provider import NewProvider, ProviderFields, ProviderRecord

DEFAULT_PAGE, LARGEST_PAGE = 50, 100
PAGE_QUERY = (
    Query(
        "limit",
        {"type": "integer", "minimum": 1, "maximum": LARGEST_PAGE, "default": DEFAULT_PAGE},
        "Most records of one page.",
    ),
    Query("next_token", {"type": "string"}, "What the page before gave; left out for the first one."),
)

type Approve = Callable[[ProviderFields], None]  # raises a Problem where no provider may have such an address


class Records(Protocol):
    """The registry, or the part of it that a caller may change."""

    def create(self, new: NewProvider, owner: str | None = None) -> ProviderRecord:
        """See Registry."""

    def replace(self, provider_id: str, change: Callable[[ProviderRecord], ProviderRecord]) -> ProviderRecord:
        """See Registry."""

    def remove(self, provider_id: str, check: Callable[[ProviderRecord], None]) -> None:
        """See Registry."""


class ProviderPage(Document):
    """A part of the list of providers, by id; `next_token` asks for the part after it."""

    providers: tuple[ProviderRecord, ...]
    next_token: str | None


def register(registry: Records, raw: bytes, approve: Approve, owner: str | None = None) -> ProviderRecord:
    """POST: a new record. Raises: 400 `malformed_json`, 409 `provider_exists`, 413, 422 `validation_failed`."""
    new = parse(NewProvider, raw)
    approve(new)
    return registry.create(new, owner)


def listed(registry: Registry, query: Mapping[str, str] | None) -> ProviderPage:
    """GET of the list, by the query's `limit` and `next_token`. Raises: 400 `malformed_token`, 422 `validation_failed`."""
    query = query or {}
    limit = _limit(query.get("limit"))
    token = query.get("next_token")
    records, after_id = registry.page(limit, None if token is None else id_in(token))
    return ProviderPage(providers=records, next_token=None if after_id is None else token_after(after_id))


def replace(
    registry: Records,
    provider_id: str,
    raw: bytes,
    headers: Mapping[str, str],
    approve: Approve,
) -> ProviderRecord:
    """PUT: the record with the body's fields, one version up; as it was where the body changes nothing.

    Raises: 400 `malformed_json`, 404 `provider_not_found`, 412 `version_conflict`, 413, 422 `validation_failed`.
    """
    body = decode(raw)
    return registry.replace(
        provider_id, lambda record: _approved(record, replaced(_checked(record, headers), body), approve)
    )


def patch(
    registry: Records,
    provider_id: str,
    raw: bytes,
    headers: Mapping[str, str],
    approve: Approve,
) -> ProviderRecord:
    """PATCH: the record after a JSON merge patch. Raises: as `replace`."""
    body = decode(raw)
    return registry.replace(
        provider_id, lambda record: _approved(record, patched(_checked(record, headers), body), approve)
    )


def remove(registry: Records, provider_id: str, headers: Mapping[str, str]) -> None:
    """DELETE. Raises: 404 `provider_not_found`, 412 `version_conflict`."""

    def check(record: ProviderRecord) -> None:
        _checked(record, headers)

    registry.remove(provider_id, check)


def _checked(record: ProviderRecord, headers: Mapping[str, str]) -> ProviderRecord:
    """The record, where If-Match, if sent, names its version."""
    check_if_match(headers.get("if-match"), record)
    return record


def _approved(record: ProviderRecord, wanted: ProviderRecord, approve: Approve) -> ProviderRecord:
    """What is wanted of a record, where its address is as it was or may be had."""
    if wanted.base_url != record.base_url:
        approve(wanted)
    return wanted


def _limit(text: str | None) -> int:
    if text is None:
        return DEFAULT_PAGE
    if not re.fullmatch(r"0*[0-9]{1,3}", text, re.ASCII) or not 1 <= int(text) <= LARGEST_PAGE:
        raise invalid([{"pointer": "/limit", "message": f"must be a whole number from 1 to {LARGEST_PAGE}"}])
    return int(text)
