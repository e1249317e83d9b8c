"""How a gateway and a provider know each other's messages: HMAC-SHA256 over what counts of each, in the headers of
Standard Webhooks (https://www.standardwebhooks.com).

Pure: keys, times (whole seconds of Unix time) and ids come in. docs/security.md has the same rules with a test vector.
"""

import base64
import binascii
import hashlib
import hmac
import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

WINDOW_S = 300  # how far the two clocks and the way between them may be apart
KEY_BYTES = 32
MOST_SIGNATURES = 8  # of one message; there are two while a key is exchanged

_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
_TIMESTAMP = re.compile(r"[0-9]{1,12}")


class SignatureError(Exception):
    """Why a message is not taken for its sender's, in words that name no secret."""


class Signed(NamedTuple):
    """The three headers of a signed message, as they are sent."""

    id: str
    timestamp: str
    signature: str

    @property
    def headers(self) -> dict[str, str]:
        """By name, as they stand in the message."""
        return {"webhook-id": self.id, "webhook-timestamp": self.timestamp, "webhook-signature": self.signature}


def signed_of(headers: Mapping[str, str]) -> Signed | None:
    """What the headers of a message say; None where one of the three is missing. Names are looked up in lower case."""
    found = [headers.get(name) for name in ("webhook-id", "webhook-timestamp", "webhook-signature")]
    return Signed(*(str(value) for value in found)) if all(found) else None


def provider_key(master: bytes, provider_id: str, key_version: int) -> str:
    """A provider's key: base64(HMAC-SHA256(master, "provider|{id}|{key_version}"))."""
    text = f"provider|{provider_id}|{key_version}"
    return base64.b64encode(hmac.digest(master, text.encode(), "sha256")).decode()


def key_bytes(key: str) -> bytes:
    """What a key's text stands for. Raises ValueError, in words, for a text that is no key."""
    try:
        raw = base64.b64decode(key, validate=True)
    except (binascii.Error, ValueError) as error:
        raise ValueError("a key is base64") from error
    if len(raw) != KEY_BYTES:
        raise ValueError(f"a key has {KEY_BYTES} bytes in base64, not {len(raw)}")
    return raw


def sign_request(keys: Sequence[str], request_id: str, now: int, provider_id: str) -> Signed:
    """The headers of a call for a provider's inventory, signed with each of the keys."""
    return _signed(keys, request_id, now, _of_request(provider_id))


def check_request(signed: Signed | None, keys: Sequence[str], now: int, provider_id: str) -> Signed:
    """The headers of a call that somebody with one of the keys signed for this provider within the window.

    Raises: SignatureError.
    """
    return _checked(signed, keys, now, _of_request(provider_id))


def sign_reply(
    keys: Sequence[str], request_id: str, now: int, *, provider_id: str, status: int, etag: str, body: bytes
) -> Signed:
    """The headers of the reply to a call. `etag` as the header has it; `body` decoded, empty for 304."""
    return _signed(keys, request_id, now, _of_reply(provider_id, status, etag, body))


def check_reply(
    signed: Signed | None,
    keys: Sequence[str],
    now: int,
    *,
    request_id: str,
    provider_id: str,
    status: int,
    etag: str,
    body: bytes,
) -> Signed:
    """The headers of a reply that this provider made to this call. Raises: SignatureError."""
    if signed is not None and signed.id != request_id:
        raise SignatureError("the signature is for another call")
    return _checked(signed, keys, now, _of_reply(provider_id, status, etag, body))


def _of_request(provider_id: str) -> str:
    return f"{provider_id}.GET./api/v1/inventory."


def _of_reply(provider_id: str, status: int, etag: str, body: bytes) -> str:
    digest = "" if status == 304 else hashlib.sha256(body).hexdigest()
    return f"{provider_id}.{status}.{etag}.{digest}"


def _signed(keys: Sequence[str], message_id: str, now: int, text: str) -> Signed:
    timestamp = str(now)
    return Signed(message_id, timestamp, " ".join(_signature(key, message_id, timestamp, text) for key in keys))


def _checked(signed: Signed | None, keys: Sequence[str], now: int, text: str) -> Signed:
    if signed is None:
        raise SignatureError("there is no signature")
    if not _ID.fullmatch(signed.id) or not _TIMESTAMP.fullmatch(signed.timestamp):
        raise SignatureError("webhook-id or webhook-timestamp is malformed")
    given = [text.encode(errors="replace") for text in signed.signature.split(" ")[:MOST_SIGNATURES]]
    expected = [_signature(key, signed.id, signed.timestamp, text).encode() for key in keys]
    # Every pair is compared, and each in constant time.
    if not sum(hmac.compare_digest(one, other) for one in given for other in expected):
        raise SignatureError("the signature is wrong")
    apart_s = abs(now - int(signed.timestamp))
    if apart_s > WINDOW_S:
        raise SignatureError(f"it was signed {apart_s} s from now, more than {WINDOW_S}: one of the clocks is wrong")
    return signed


def _signature(key: str, message_id: str, timestamp: str, text: str) -> str:
    digest = hmac.digest(key_bytes(key), f"{message_id}.{timestamp}.{text}".encode(), "sha256")
    return "v1," + base64.b64encode(digest).decode()
