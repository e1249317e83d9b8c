"""A DynamoDB client around another one, whose calls go as a test says: answers get lost, others are faster."""

import threading
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from botocore.exceptions import ClientError, ReadTimeoutError

Call = Callable[[], Any]
Step = Callable[[Call], Any]  # what becomes of one call


class ScriptedClient:
    """`scripts` has for an operation the steps of its calls, one after the other; later calls pass."""

    def __init__(self, client: Any, **scripts: Iterable[Step]) -> None:
        self.calls: list[str] = []
        self._client = client
        self._scripts: dict[str, Iterator[Step]] = {name: iter(steps) for name, steps in scripts.items()}
        self._lock = threading.Lock()

    def __getattr__(self, operation: str) -> Callable[..., Any]:
        def call(**arguments: Any) -> Any:
            with self._lock:
                self.calls.append(operation)
                step = next(self._scripts.get(operation, iter(())), passes)
            return step(lambda: getattr(self._client, operation)(**arguments))

        return call


class OneCallAtATime:
    """Moto's transactions are not safe between threads; a real table's are."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._lock = threading.Lock()

    def __getattr__(self, operation: str) -> Callable[..., Any]:
        def call(**arguments: Any) -> Any:
            with self._lock:
                return getattr(self._client, operation)(**arguments)

        return call


class KnowsTokens:
    """What a real table does and moto's does not: a transaction that comes again with its token changes nothing more."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._lock = threading.Lock()
        self._applied: dict[str, Any] = {}

    def __getattr__(self, operation: str) -> Callable[..., Any]:
        def call(**arguments: Any) -> Any:
            token = arguments.get("ClientRequestToken")
            if token is None:
                return getattr(self._client, operation)(**arguments)
            with self._lock:
                if token not in self._applied:
                    self._applied[token] = getattr(self._client, operation)(**arguments)
                return self._applied[token]

        return call


def passes(call: Call) -> Any:
    return call()


def loses_its_answer(call: Call) -> Any:
    """Applies the call, and the caller never hears of it."""
    call()
    raise ReadTimeoutError(endpoint_url="https://dynamodb.test")


def times_out(call: Call) -> Any:
    """The call never arrives, and the caller can't tell."""
    raise ReadTimeoutError(endpoint_url="https://dynamodb.test")


def hides_the_item(call: Call) -> Any:
    """As a backend that doesn't know ReturnValuesOnConditionCheckFailure."""
    try:
        return call()
    except ClientError as error:
        for reason in error.response.get("CancellationReasons", []):  # type: ignore[attr-defined]
            reason.pop("Item", None)
        raise


def after(action: Callable[[], Any]) -> Step:
    """Something else happens first."""

    def step(call: Call) -> Any:
        action()
        return call()

    return step


def then(action: Callable[[], Any]) -> Step:
    """Something else happens between the call and its answer."""

    def step(call: Call) -> Any:
        answer = call()
        action()
        return answer

    return step


def fails(code: str, status: int = 400, reasons: tuple[str, ...] = ()) -> Step:
    """The call is answered with an error."""
    response = {
        "Error": {"Code": code, "Message": code},
        "ResponseMetadata": {"HTTPStatusCode": status},
        "CancellationReasons": [{"Code": reason} for reason in reasons],
    }

    def step(call: Call) -> Any:
        raise ClientError(response, "TransactWriteItems")  # type: ignore[arg-type]

    return step


conflicts = fails("TransactionCanceledException", reasons=("None", "TransactionConflict"))
