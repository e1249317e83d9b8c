"""Invoking a function through the Lambda API: what comes back, and what each way to fail is."""

import http.server
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from botocore.exceptions import ClientError

from chalicelib.invocations import FailedInvocationError, Invocations, NotSentError


class Lambda:
    """The Lambda API: answers each call with what stands next in `answers`; None ends the connection."""

    def __init__(self) -> None:
        self.answers: list[tuple[int, dict[str, str], bytes] | None] = []
        self.called: list[tuple[str, bytes]] = []


@contextmanager
def serving(api: Lambda) -> Iterator[str]:
    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            api.called.append((self.path, self.rfile.read(int(self.headers["Content-Length"]))))
            answer = api.answers.pop(0)
            if answer is None:
                self.close_connection = True
                return
            status, headers, body = answer
            self.send_response(status)
            for name, value in {"Content-Length": str(len(body)), **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            pass

    class Server(http.server.ThreadingHTTPServer):
        daemon_threads = True
        request_queue_size = 32

    with Server(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture
def api(monkeypatch: pytest.MonkeyPatch) -> Iterator[Lambda]:
    api = Lambda()
    with serving(api) as address:
        monkeypatch.setenv("AWS_ENDPOINT_URL", address)
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")
        monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
        yield api


@pytest.fixture
def invocations() -> Iterator[Invocations]:
    made = Invocations("parts")
    yield made
    made._made_client().close()


def test_payload_goes_to_the_named_function_and_its_answer_comes_back(api: Lambda, invocations: Invocations) -> None:
    api.answers = [(200, {}, b'"answer"')]

    assert invocations(b'{"an": "order"}') == b'"answer"'
    assert api.called == [("/2015-03-31/functions/parts/invocations", b'{"an": "order"}')]


def test_function_that_failed_is_an_error_with_its_words_for_the_log(api: Lambda, invocations: Invocations) -> None:
    api.answers = [(200, {"X-Amz-Function-Error": "Unhandled"}, b'{"errorMessage": "Task timed out"}')]

    with pytest.raises(FailedInvocationError, match="Unhandled") as raised:
        invocations(b"{}")

    assert "Task timed out" in raised.value.__notes__[0]


@pytest.mark.parametrize(
    ("status", "code"),
    [
        (429, "TooManyRequestsException"),
        (413, "RequestTooLargeException"),
        (403, "AccessDeniedException"),
        (500, "ServiceException"),
    ],
)
def test_function_that_is_not_started_is_an_error_and_is_not_tried_again(
    status: int, code: str, api: Lambda, invocations: Invocations
) -> None:
    api.answers = [(status, {"X-Amzn-ErrorType": code}, b"{}")]

    with pytest.raises(ClientError, match=code):
        invocations(b"{}")

    assert len(api.called) == 1


def test_connection_that_ends_without_an_answer_is_told_apart(api: Lambda, invocations: Invocations) -> None:
    api.answers = [None]

    with pytest.raises(NotSentError):
        invocations(b"{}")


def test_threads_share_one_client(api: Lambda, invocations: Invocations) -> None:
    api.answers = [(200, {}, b"1")] * 8
    clients: list[Any] = []

    def invoke() -> None:
        invocations(b"{}")
        clients.append(invocations._client)

    threads = [threading.Thread(target=invoke) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(clients) == 8
    assert len({id(one) for one in clients}) == 1
