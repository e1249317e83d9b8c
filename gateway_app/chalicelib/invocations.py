"""Further invocations of this code, through the Lambda API."""

import threading
from typing import Any

import botocore.session
from botocore.config import Config
from botocore.exceptions import ConnectionClosedError

from fedcompute.text import clean

# A part ends by its own budget; the time here is for one that is lost. One attempt: a later one would have another budget.
_CONFIG = Config(
    connect_timeout=1,
    read_timeout=26,
    retries={"mode": "standard", "total_max_attempts": 1},
    max_pool_connections=16,
    tcp_keepalive=True,
)


class NotSentError(Exception):
    """The connection had ended before. Should the function have been started all the same, that does no harm."""


class FailedInvocationError(Exception):
    """The function was started and ended without an answer."""


class Invocations:
    """Invokes one function; its client is made on first use. Threads may share it."""

    def __init__(self, function_name: str) -> None:
        self._function_name = function_name
        self._client: Any = None
        self._lock = threading.Lock()

    def __call__(self, payload: bytes) -> bytes:
        """The JSON that the function answers to a JSON payload.

        Raises: NotSentError, FailedInvocationError, and botocore's own errors, as for a function that is throttled.
        """
        try:
            answer = self._made_client().invoke(FunctionName=self._function_name, Payload=payload)
            body: bytes = answer["Payload"].read()
        except ConnectionClosedError as error:
            raise NotSentError(str(error)) from error
        if answer.get("FunctionError"):
            failure = FailedInvocationError(f"the function that parts are sent to ended with {answer['FunctionError']}")
            failure.add_note(clean(body.decode(errors="replace"), 500))
            raise failure
        return body

    def _made_client(self) -> Any:
        with self._lock:  # botocore's sessions are not for two threads at once
            if self._client is None:
                self._client = botocore.session.get_session().create_client("lambda", config=_CONFIG)
            return self._client
