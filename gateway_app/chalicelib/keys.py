"""Callers' keys: `fc_<key id>_<secret>`. The table holds the SHA-256 of the secret, from which nobody gets it back.

A secret has 256 bits of chance, so that a plain hash is as good as a slow one.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
import secrets
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mypy_boto3_dynamodb.type_defs import AttributeValueTypeDef

KEYS = "key"  # the partition that holds every key
ROLES = ("search", "provider", "admin")
PRINCIPAL = re.compile(r"[A-Za-z0-9._@-]{1,64}")

_BEARER = re.compile(r"Bearer +fc_([a-z0-9]{16})_([A-Za-z0-9_-]{43})", re.IGNORECASE)
_KEY_ID = re.compile(r"[a-z0-9]{16}")
_NO_DIGEST = "0" * 64  # of a key that is not there: compared all the same


@dataclass(frozen=True)
class Key:
    """What the table knows of a key. Times are RFC 3339 in UTC; `rotated_at` is when its secret was last replaced."""

    key_id: str
    digest: str = field(repr=False)
    principal: str
    roles: tuple[str, ...]
    created_at: str
    expires_at: str | None = None
    rotated_at: str | None = None
    disabled: bool = False
    revoked_at: str | None = None

    def state(self, now: datetime) -> str:
        """active, expired, disabled or revoked."""
        if self.revoked_at is not None:
            return "revoked"
        if self.disabled:
            return "disabled"
        return "active" if self.expires_at is None or now < datetime.fromisoformat(self.expires_at) else "expired"


@dataclass(frozen=True)
class Presented:
    """The key that a request carries."""

    key_id: str
    secret: str = field(repr=False)

    def is_secret_of(self, key: Key | None) -> bool:
        """Whether it has the secret of a key; as slow when there is none."""
        expected = _NO_DIGEST if key is None else key.digest
        return hmac.compare_digest(digest_of(self.secret).encode(), expected.encode()) and key is not None


def presented(authorization: str | None) -> Presented | None:
    """The key in an Authorization header; None where there is none that could be one of ours."""
    found = _BEARER.fullmatch(authorization.strip()) if authorization else None
    return None if found is None else Presented(found[1], found[2])


def new_id() -> str:
    """An id that no key has; it is no secret."""
    return base64.b32encode(secrets.token_bytes(10)).decode().lower()


def new_secret() -> str:
    """256 bits of chance, in 43 characters."""
    return secrets.token_urlsafe(32)


def digest_of(secret: str) -> str:
    """What the table holds of a secret."""
    return hashlib.sha256(secret.encode(errors="replace")).hexdigest()


def text_of(key_id: str, secret: str) -> str:
    """A key as its owner gets it, once."""
    return f"fc_{key_id}_{secret}"


def place_of(key_id: str) -> dict[str, AttributeValueTypeDef]:
    """Where a key stands in the table."""
    return {"pk": {"S": KEYS}, "sk": {"S": key_id}}


def item_of(key: Key) -> dict[str, AttributeValueTypeDef]:
    """A key as a DynamoDB item; what is not said is left out."""
    texts = ("digest", "principal", "created_at", "expires_at", "rotated_at", "revoked_at")
    item = place_of(key.key_id)
    item |= {name: {"S": getattr(key, name)} for name in texts if getattr(key, name) is not None}
    return item | {"roles": {"SS": list(key.roles)}, "disabled": {"BOOL": key.disabled}}


def key_of(item: Mapping[str, Any]) -> Key | None:
    """The key in an item; None for one that can't be trusted to be whole: people edit tables by hand."""
    try:
        texts = {name: str(value["S"]) for name, value in item.items() if "S" in value and name not in ("pk", "sk")}
        roles = tuple(role for role in ROLES if role in item["roles"]["SS"])
        key = Key(str(item["sk"]["S"]), roles=roles, disabled=item["disabled"]["BOOL"] is not False, **texts)
        is_sound = _is_sound(key)
    except (KeyError, TypeError, ValueError):
        return None
    return key if is_sound else None


def _is_sound(key: Key) -> bool:
    has_zone = key.expires_at is None or datetime.fromisoformat(key.expires_at).tzinfo is not None
    is_named = _KEY_ID.fullmatch(key.key_id) and PRINCIPAL.fullmatch(key.principal)
    return bool(has_zone and is_named and len(key.digest) == 64)
