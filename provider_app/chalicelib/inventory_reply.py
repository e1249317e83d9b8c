"""How an inventory is answered: 200 with its ETag, or 304 where the caller has it already (RFC 9110, section 13)."""

import hashlib
import re
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

import msgspec
from chalice.app import MultiDict, Response

from fedcompute.documents import invalid
from fedcompute.inventory import Inventory
from fedcompute.operations import Query
from fedcompute.web import json_response

_TAG = re.compile(r'(?:W/)?("[^"]*")')
_LARGEST_AGE_MS = 24 * 3600 * 1000

AGE_QUERY = (
    Query(
        "max_age_ms",
        {"type": "integer", "minimum": 0, "maximum": _LARGEST_AGE_MS, "default": 0},
        "How old an inventory may be where the source can't be read now. Not with signed calls.",
    ),
)


@dataclass(frozen=True, slots=True)
class EncodedInventory:
    """An inventory as bytes: a JSON object that lacks only `observed_at`, and the entity tag over it."""

    etag: str
    body: bytes


@dataclass(frozen=True, slots=True)
class Observation:
    """An inventory, and when the world was so."""

    inventory: EncodedInventory
    observed_at: datetime


class InventorySource(Protocol):
    """Where a provider's inventory comes from."""

    def observe(self, now: datetime, max_age_ms: int) -> Observation:
        """What there is now, or, where that can't be read, was at most `max_age_ms` ago, with a warning `stale`.

        Raises: 503 `inventory_unavailable` with why, and what is wrong where that is known.
        """


def encode(inventory: Inventory) -> EncodedInventory:
    """An inventory without `observed_at`; equal ones have equal tags, in every process."""
    members = msgspec.structs.asdict(inventory)
    del members["observed_at"]
    body = msgspec.json.encode(members)
    return EncodedInventory(f'"{hashlib.sha256(body).hexdigest()[:32]}"', body)


def reply(observation: Observation, if_none_match: str | None) -> Response:
    """200 with the inventory, or 304 where `if_none_match` names it; both say when it was observed."""
    encoded = observation.inventory
    observed_at = observation.observed_at.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    headers = {"ETag": encoded.etag, "X-Observed-At": observed_at, "Cache-Control": "no-cache"}
    if _names(if_none_match or "", encoded.etag):
        return json_response(b"", 304, headers)
    # A member put in front: the rest is encoded once per version.
    return json_response(b'{"observed_at":"' + observed_at.encode() + b'",' + encoded.body[1:], 200, headers)


def asked_max_age_ms(query: MultiDict | None) -> int:
    """`?max_age_ms=` of a request, 0 where it is absent. Raises: 422 `validation_failed`."""
    if query is None or "max_age_ms" not in query:
        return 0
    given = query.getlist("max_age_ms")
    text = given[0] if len(given) == 1 else ""
    if not re.fullmatch("[0-9]{1,8}", text) or int(text) > _LARGEST_AGE_MS:
        message = f"must be given once, as a whole number from 0 to {_LARGEST_AGE_MS}"
        raise invalid([{"pointer": "/max_age_ms", "message": message}])
    return int(text)


def _names(if_none_match: str, etag: str) -> bool:
    """Whether If-None-Match, a list of tags or `*`, names a tag; weak and strong ones compare alike."""
    return if_none_match.strip() == "*" or etag in _TAG.findall(if_none_match)
