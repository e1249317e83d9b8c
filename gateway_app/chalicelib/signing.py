"""The gateway's side of AUTH=keys towards providers: signs its calls, and takes no reply that is not signed for them."""

import time
import uuid
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import lru_cache

from msgspec import structs

from chalicelib.calls import ANSWERED, NOT_MODIFIED, Call, Reply
from chalicelib.inventories import parsed_time
from chalicelib.master_key import MasterKey
from fedcompute.provider import ProviderRecord
from fedcompute.signatures import SignatureError, Signed, check_reply, provider_key, sign_request

_IN_BODY = b'"observed_at"'

_derived = lru_cache(maxsize=4096)(provider_key)


class Signing:
    """Keys are derived, never stored. `now` is Unix time in seconds."""

    def __init__(self, master: MasterKey, now: Callable[[], float] = time.time) -> None:
        self._master = master
        self._now = now

    def require_key(self) -> None:
        """Returns where keys can be derived. Raises: 503 `not_ready`."""
        self._master.value()

    def key_of(self, record: ProviderRecord) -> str:
        """The key that this provider's owner is given. Raises: 503 `not_ready`."""
        return _derived(self._master.value(), record.id, record.key_version)

    def signed(self, call: Call, record: ProviderRecord) -> Call:
        """The call with its signature, of both keys while one takes over from the other. Raises: 503 `not_ready`."""
        return structs.replace(
            call, signed=sign_request(self._keys_of(record), uuid.uuid4().hex, int(self._now()), record.id)
        )

    def checked(self, call: Call, reply: Reply, record: ProviderRecord) -> Reply:
        """The reply to a signed call, made `signature_invalid` where it would count as an answer and is not the provider's."""
        if reply.outcome not in ANSWERED or call.signed is None:
            return reply
        try:
            signed = check_reply(
                reply.signed,
                self._keys_of(record),
                int(self._now()),
                request_id=call.signed.id,
                provider_id=record.id,
                status=reply.http_status or 0,
                etag=reply.etag or "",
                body=reply.body,
            )
            if reply.outcome == NOT_MODIFIED and reply.etag != call.etag:
                # Somebody may have changed what was asked for: If-None-Match is not under the call's signature.
                raise SignatureError("it confirms another version than the one that was asked for")  # noqa: TRY301
        except SignatureError as error:
            reply.outcome, reply.message, reply.body = "signature_invalid", f"of its answer: {error}", b""
            return reply
        reply.observed_at = _vouched_for(reply, signed)
        return reply

    def _keys_of(self, record: ProviderRecord) -> list[str]:
        versions = [record.key_version]
        if record.old_key_until is not None and self._now() < datetime.fromisoformat(record.old_key_until).timestamp():
            versions.append(record.key_version - 1)
        return [_derived(self._master.value(), record.id, version) for version in versions]


def _vouched_for(reply: Reply, signed: Signed) -> str | None:
    """X-Observed-At, which is not signed: nothing of it where the body says the same, else at most when it was signed."""
    if _IN_BODY in reply.body:
        return None
    observed_at = parsed_time(reply.observed_at)
    if observed_at is None:
        return None
    signed_at = datetime.fromtimestamp(int(signed.timestamp), UTC)
    is_later = observed_at - signed_at >= timedelta(seconds=1)  # the signature's time has no parts of a second
    return signed_at.isoformat() if is_later else reply.observed_at
