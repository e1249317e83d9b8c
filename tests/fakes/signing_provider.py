"""A provider that signs by the rules of docs/security.md, written from that page with the standard library alone."""

import base64
import hashlib
import hmac
import json
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

from fakes.inventories import an_inventory

Headers = dict[str, str]


def mac(key: str, text: str) -> str:
    digest = hmac.new(base64.b64decode(key), text.encode(), hashlib.sha256).digest()
    return "v1," + base64.b64encode(digest).decode()


class SigningProvider:
    """On loopback until it is closed. A test sets `keys`, `clock` and `spoil`, which gets each reply's headers and body."""

    def __init__(self, provider_id: str) -> None:
        self.id = provider_id
        self.body = json.dumps(an_inventory(provider_id)).encode()
        self.keys: list[str] = []
        self.clock: Callable[[], float] = time.time
        self.spoil: Callable[[Headers, bytes], tuple[Headers, bytes]] = lambda headers, body: (headers, body)
        self.calls: list[Headers] = []
        self.refused = 0
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self.base_url = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})
        self._thread.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    @property
    def etag(self) -> str:
        return f'"{hashlib.sha256(self.body).hexdigest()[:8]}"'

    def is_right(self, asked: Headers) -> bool:
        """Whether a call carries a signature with one of this provider's keys."""
        text = f"{asked['webhook-id']}.{asked['webhook-timestamp']}.{self.id}.GET./api/v1/inventory."
        return any(mac(key, text) in asked["webhook-signature"].split(" ") for key in self.keys)

    def answer(self, asked: Headers) -> tuple[int, Headers, bytes]:
        self.calls.append(asked)
        if "webhook-id" not in asked or not self.is_right(asked):
            self.refused += 1
            return 401, {}, b"{}"
        status = 304 if asked.get("if-none-match") == self.etag else 200
        body = b"" if status == 304 else self.body
        digest = "" if status == 304 else hashlib.sha256(body).hexdigest()
        now = str(int(self.clock()))
        text = f"{asked['webhook-id']}.{now}.{self.id}.{status}.{self.etag}.{digest}"
        signature = " ".join(mac(key, text) for key in self.keys)
        headers = {"webhook-id": asked["webhook-id"], "webhook-timestamp": now, "webhook-signature": signature}
        return status, *self.spoil({"ETag": self.etag, **headers}, body)

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        provider = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                status, headers, body = provider.answer({name.lower(): text for name, text in self.headers.items()})
                self.send_response(status)
                for name, text in headers.items():
                    self.send_header(name, text)
                self.send_header("Content-Type", "application/json")
                if status != 304:
                    self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: Any) -> None:
                """Nothing on stderr."""

        return Handler
