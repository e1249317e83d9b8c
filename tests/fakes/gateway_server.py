"""The gateway behind a real socket, for what calls it by HTTP; each request and the last body are kept."""

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any, NamedTuple

from fakes.gateway import Gateway


class Asked(NamedTuple):
    """One request. Header names are in lower case; the path has its query."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes


type Handle = Callable[[Asked], tuple[int, Mapping[str, str], bytes]]


@dataclass
class Served:
    """What was asked so far, and where."""

    url: str = ""
    asked: list[Asked] = field(default_factory=list)
    last_body: bytes = b""


def calls_of(gateway: Gateway) -> Handle:
    """A gateway's app as what handles requests."""

    def handle(asked: Asked) -> tuple[int, Mapping[str, str], bytes]:
        path, _, query = asked.path.partition("?")
        pairs = dict(pair.split("=", 1) for pair in query.split("&")) if query else None
        sent = {name: value for name, value in asked.headers.items() if name != "content-length"}
        answer = gateway.call(asked.method, path, asked.body.decode() or None, sent, pairs)
        return answer.status, answer.headers, answer.text.encode()

    return handle


def always(status: int, body: bytes, **headers: str) -> Handle:
    """One answer to whatever is asked."""
    return lambda asked: (status, {"content-type": "application/json", **headers}, body)


@contextmanager
def serving(handle: Handle) -> Iterator[Served]:
    """A server on loopback, one request at a time."""
    served = Served()

    class Handler(BaseHTTPRequestHandler):
        def _answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            asked = Asked(self.command, self.path, {n.lower(): v for n, v in self.headers.items()}, body)
            served.asked.append(asked)
            status, headers, served.last_body = handle(asked)
            self.send_response(status)
            for name, value in headers.items():
                if name.lower() != "content-length":
                    self.send_header(name, value)
            if status != 204:
                self.send_header("Content-Length", str(len(served.last_body)))
            self.end_headers()
            self.wfile.write(served.last_body)

        do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _answer  # noqa: N815 (the standard library's names)

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 (the standard library's word)
            """Tests print nothing."""

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        served.url = f"http://localhost:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield served
        finally:
            server.shutdown()
            thread.join()
