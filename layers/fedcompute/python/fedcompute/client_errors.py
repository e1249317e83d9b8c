"""What can go wrong between a program and the gateway; each error has a code that programs can tell apart."""

from collections.abc import Mapping, Sequence

import msgspec
from msgspec import Struct

from fedcompute.answer import SearchAnswer
from fedcompute.text import clean

UNREACHABLE, UNEXPECTED, INCOMPLETE = "unreachable", "unexpected_answer", "incomplete"


class GatewayError(Exception):
    """The gateway's own refusal, by its code; or one of the codes `unreachable`, `unexpected_answer`, `incomplete`.

    `status` is the HTTP status where there was an answer; `errors` has {"pointer", "message"} of each mistake in a body.
    """

    def __init__(
        self,
        code: str,
        detail: str,
        *,
        status: int | None = None,
        errors: Sequence[Mapping[str, str]] = (),
        request_id: str | None = None,
    ) -> None:
        super().__init__(f"{code}: {detail}")
        self.code = code
        self.detail = detail
        self.status = status
        self.errors = list(errors)
        self.request_id = request_id


class UnreachableError(GatewayError):
    """Nothing answered at the gateway's address."""

    def __init__(self, url: str, reason: str) -> None:
        super().__init__(UNREACHABLE, f"No gateway answers at {url}: {clean(reason)}.")
        self.url = url


class IncompleteError(GatewayError):
    """Every provider was required and one did not answer; `answer` is what the others had."""

    def __init__(self, answer: SearchAnswer) -> None:
        missing = ", ".join(f"{one.id} ({one.outcome})" for one in answer.providers if not one.is_answered)
        super().__init__(INCOMPLETE, f"Not every provider answered: {missing}.", status=503)
        self.answer = answer


class _Problem(Struct):
    """An application/problem+json document (RFC 9457), or what API Gateway or a proxy makes of it."""

    code: str = ""
    detail: str = ""
    request_id: str | None = None
    errors: list[dict[str, str]] = []


def refusal(status: int, body: bytes) -> GatewayError:
    """The error in an answer that is no success."""
    try:
        problem = msgspec.json.decode(body, type=_Problem)
    except msgspec.DecodeError:
        problem = _Problem()
    if not problem.code:
        return unexpected(status, f"The answer is none of a gateway's: HTTP status {status}.")
    errors = [{name: clean(text) for name, text in error.items()} for error in problem.errors]
    return GatewayError(
        problem.code, clean(problem.detail), status=status, errors=errors, request_id=problem.request_id
    )


def unexpected(status: int | None, detail: str) -> GatewayError:
    """The error for an answer that makes no sense."""
    return GatewayError(UNEXPECTED, clean(detail), status=status)
