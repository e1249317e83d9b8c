"""A provider with a key answers the gateway that shares it and nobody else, and signs what it answers."""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence

from chalice.app import Request, Response

from fedcompute.errors import Problem
from fedcompute.operations import PUBLIC
from fedcompute.signatures import WINDOW_S, SignatureError, Signed, check_request, sign_reply, signed_of

MOST_REMEMBERED = 100_000  # calls within the window: over 300 a second
_SIGNED = "fedcompute.signed"  # in the request's context, which no caller can write


class SignedCalls:
    """The rule of PROVIDER_KEY. Any of `keys` will do, and each signs; `now` is Unix time in seconds.

    The ids of the calls within the window are remembered by this process: another one would answer a call once more.
    """

    def __init__(self, provider_id: str, keys: Sequence[str], now: Callable[[], float] = time.time) -> None:
        self._provider_id = provider_id
        self._keys = tuple(keys)
        self._now = now
        self._seen: OrderedDict[str, int] = OrderedDict()  # an id, and until when its signature holds
        self._lock = threading.Lock()

    def check(self, request: Request, role: str) -> None:
        """Lets a call in that is signed for this provider, once. Raises: 401 `unauthenticated`, 403 `forbidden`."""
        if role == PUBLIC:
            return
        try:
            if request.query_params:
                raise SignatureError("a query is no part of what is signed")  # noqa: TRY301 (told like the others)
            signed = check_request(signed_of(request.headers), self._keys, int(self._now()), self._provider_id)
        except SignatureError as error:
            detail = f"This provider answers signed calls only: {error}."
            raise Problem("unauthenticated", detail, headers={"WWW-Authenticate": "Webhook-Signature"}) from error
        if not self._is_new(signed):
            raise Problem("forbidden", "This call was made before: each needs a webhook-id of its own.")
        request.context[_SIGNED] = signed

    def sign(self, request: Request, response: Response) -> Response:
        """The answer to a call that was let in, with the headers that bind it to that call."""
        asked: Signed = request.context[_SIGNED]
        signed = sign_reply(
            self._keys,
            asked.id,
            int(self._now()),
            provider_id=self._provider_id,
            status=response.status_code,
            etag=str(response.headers.get("ETag", "")),
            body=response.body.encode(),
        )
        response.headers.update(signed.headers)
        return response

    def _is_new(self, signed: Signed) -> bool:
        now = int(self._now())
        with self._lock:
            while self._seen and (len(self._seen) >= MOST_REMEMBERED or next(iter(self._seen.values())) < now):
                self._seen.popitem(last=False)
            is_new = signed.id not in self._seen
            if is_new:
                self._seen[signed.id] = int(signed.timestamp) + WINDOW_S
            return is_new
