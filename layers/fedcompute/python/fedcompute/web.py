"""Both apps' edge: routes, problem+json, request ids, who may call, and one log line per request.

The only module of the shared package that knows Chalice.
"""

import functools
import re
import time
import traceback
import uuid
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from typing import Any

import msgspec
from chalice.app import Chalice, Request, Response

from fedcompute.errors import CODE_OF_STATUS, Problem
from fedcompute.log import Log
from fedcompute.operations import Contract, Operation
from fedcompute.text import clean

JSON = "application/json"
JSON_TYPES = [JSON, "application/merge-patch+json"]
PROBLEM = "application/problem+json"

_REQUEST_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")

_INTERNAL = "Something went wrong here. The log has it under this request id."

View = Callable[..., Response]
Access = Callable[[Request, str], None]  # who calls, and the role that the route asks for; raises Problem
Done = Callable[[Request, Response], None]

# What a view adds to its request's log line. Per context, since `chalice local` serves requests in threads.
_NOTES: ContextVar[dict[str, Any]] = ContextVar("notes")


class Web:
    """Registers views on a Chalice app and answers for everything that is not their own business.

    `log` and `access` are made on the first request: importing an app reads no environment. `done` sees each answer.
    """

    def __init__(
        self, app: Chalice, log: Callable[[], Log], access: Callable[[], Access], done: Done = lambda *_: None
    ) -> None:
        self.app = app
        self.log = log
        self.access = access
        self.done = done
        self.operations: list[Operation] = []
        app.api.binary_types = []  # nothing here is; Chalice would hold each answer against a dozen types
        app.register_middleware(self._answer, "http")

    def _log(self) -> Log:
        try:
            return self.log()
        except Exception:  # noqa: BLE001 (settings that can't be read are what the line is about)
            return Log(self.app.app_name)

    def route(
        self, path: str, methods: tuple[str, ...] = ("GET",), *, role: str, contract: Contract
    ) -> Callable[[View], View]:
        """Like Chalice's route, for views that take the request first and raise Problems.

        Every route names its role and its contract, which the API's document is made of; see `operations`.
        """

        def register(view: View) -> View:
            @functools.wraps(view)
            def guarded(**parameters: str) -> Response:
                request = self.app.current_request
                assert request is not None  # Chalice sets it before it calls a view
                try:
                    self.access()(request, role)
                    return view(request, **parameters)
                except Problem as problem:
                    note(code=problem.code)
                    return problem_response(problem, request_id_of(request))
                except Exception as error:  # noqa: BLE001 (the app's edge: nothing may pass it unlogged)
                    note(traceback="".join(traceback.format_exception(error)))
                    return problem_response(Problem("internal", _INTERNAL), request_id_of(request))

            self.app.route(path, methods=list(methods), content_types=JSON_TYPES)(guarded)
            text = view.__doc__ or ""
            self.operations += (Operation(method, path, role, view.__name__, text, contract) for method in methods)
            return view

        return register

    def _answer(self, request: Request, get_response: Callable[[Request], Response]) -> Response:
        """The middleware: around every answer, also around those that Chalice makes itself."""
        started = time.perf_counter()
        notes: dict[str, Any] = {}
        _NOTES.set(notes)
        request_id = request_id_of(request)
        response = self._as_problem(get_response(request), request, request_id)
        response.headers["X-Request-Id"] = request_id
        if request.method == "HEAD":
            response.body = ""  # whoever asks so takes what follows the headers for the next answer
        self.done(request, response)
        self._log().write(
            "ERROR" if response.status_code >= 500 else "INFO",
            "request",
            request_id=request_id,
            method=request.method,
            path=clean(request.path or ""),
            parameters={name: clean(value, 64) for name, value in (request.uri_params or {}).items()},
            status=response.status_code,
            took_ms=round((time.perf_counter() - started) * 1000, 3),
            **notes,
        )
        return response

    def _as_problem(self, response: Response, request: Request, request_id: str) -> Response:
        if response.status_code < 400 or "Content-Type" in response.headers:
            return response  # a view's own answer, or a problem already
        code = CODE_OF_STATUS.get(response.status_code, "internal")
        made = problem_response(Problem(code, _words_for(response, request)), request_id)
        made.headers.update(response.headers)
        return made


def note(**fields: Any) -> None:
    """Adds fields to the log line of the request that this thread is serving."""
    _NOTES.get({}).update(fields)


def json_response(body: bytes, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """An answer whose body is JSON already."""
    return Response(body.decode(), headers={"Content-Type": JSON, **(headers or {})}, status_code=status)


def html_response(html: str, policy: str) -> Response:
    """A document that runs and loads only what its Content-Security-Policy names."""
    headers: dict[str, str | list[str]] = {
        "Content-Type": "text/html; charset=utf-8",
        "Content-Security-Policy": policy,
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "no-referrer",
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cache-Control": "no-cache",
    }
    return Response(html, headers=headers, status_code=200)


def text_response(text: str, media_type: str) -> Response:
    """An answer that is no JSON and runs nothing."""
    return Response(text, headers={"Content-Type": media_type, "Cache-Control": "no-store"}, status_code=200)


def no_content() -> Response:
    """204, for what leaves nothing to say."""
    return Response("", headers={}, status_code=204)


def query_of(request: Request) -> dict[str, str]:
    """The query's parameters; of one that stands more than once, the last."""
    return dict(request.query_params or {})


def problem_response(problem: Problem, request_id: str) -> Response:
    """A problem as its caller gets it."""
    body = msgspec.json.encode(problem.body(request_id)).decode()
    return Response(body, headers={"Content-Type": PROBLEM, **problem.headers}, status_code=problem.status)


def request_id_of(request: Request) -> str:
    """The caller's own id where it is a plain one, else API Gateway's, else a new one; the same at every call."""
    given = request.headers.get("x-request-id", "")
    if _REQUEST_ID.fullmatch(given):
        return str(given)
    made = str(request.context.get("requestId") or "")
    if not _REQUEST_ID.fullmatch(made):
        # Kept in the request, so that a view and the middleware name the same id.
        made = request.context["requestId"] = str(uuid.uuid4())
    return made


def raw_body(request: Request) -> bytes:
    """The body as sent; 415 where it does not say that it is JSON, 400 where it is no text at all."""
    try:
        body: bytes | str = request.raw_body
    except UnicodeError as error:  # an event may hold half of a surrogate pair
        raise Problem("malformed_json", "The body is not Unicode text.") from error
    raw = body.encode() if isinstance(body, str) else body
    if raw and _media_type(request) not in JSON_TYPES:
        raise Problem("unsupported_media_type", f"Send the body with Content-Type: {JSON}.")
    return raw


def _media_type(request: Request) -> str:
    """What the body is said to be. Chalice finds application/json in "text/plain; application/json" too, which any page may send."""
    return str(request.headers.get("content-type", "")).partition(";")[0].strip().lower()


def _words_for(response: Response, request: Request) -> str:
    if response.status_code == 405:
        allowed = response.headers.get("Allow", "other methods")
        return f"{request.method} is not for this address; it takes {allowed}."
    if response.status_code == 415:
        return f"Send the body with Content-Type: {JSON}."
    if response.status_code >= 500:
        return _INTERNAL
    body = response.body if isinstance(response.body, dict) else {}
    return clean(str(body.get("Message") or body.get("message") or "The request can't be answered."))
