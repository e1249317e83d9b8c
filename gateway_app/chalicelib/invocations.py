"""Further invocations of this code, through the Lambda API."""

from collections.abc import Callable

import botocore.session
from botocore.config import Config

# A part ends by its own budget; this is for one that is lost. One attempt: there is no time for another.
_CONFIG = Config(
    connect_timeout=1, read_timeout=26, retries={"mode": "standard", "total_max_attempts": 1}, max_pool_connections=16
)


class LostInvocationError(Exception):
    """The function was invoked and ended without an answer."""


def invoker(function_name: str) -> Callable[[bytes, float], bytes]:
    """Invokes a function with a JSON payload and returns the JSON that it answers; its client is made on first use.

    Raises: LostInvocationError, and botocore's own errors.
    """
    clients: list[object] = []

    def invoke(payload: bytes, patience_s: float) -> bytes:  # noqa: ARG001 (the payload names the budget)
        if not clients:
            clients.append(botocore.session.get_session().create_client("lambda", config=_CONFIG))
        answer = clients[0].invoke(FunctionName=function_name, Payload=payload)  # type: ignore[attr-defined]
        body: bytes = answer["Payload"].read()
        if answer.get("FunctionError"):
            raise LostInvocationError(f"{function_name} ended with {answer['FunctionError']}")
        return body

    return invoke
