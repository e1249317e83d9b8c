"""A DynamoDB that only has a list of providers, behind a port on loopback, whose idle connections a test may close."""

import json
import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

from chalicelib.items import item_of
from chalicelib.writes import VERSION_KEY
from fedcompute.provider import ProviderRecord


class RegistryEndpoint(NamedTuple):
    """Where it is, and what closes every connection to it."""

    url: str
    drop_connections: Callable[[], None]


@contextmanager
def registry_endpoint(records: Sequence[ProviderRecord]) -> Iterator[RegistryEndpoint]:
    """Serves for the block."""
    answers: dict[str, Any] = {
        "GetItem": {"Item": {**VERSION_KEY, "version": {"N": "1"}, "write_id": {"S": "seed"}}},
        "Query": {"Items": [item_of(record, "seed") for record in records]},
        "UpdateItem": {},
    }
    connections: set[socket.socket] = set()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1  # headers and body at once, or the second waits for the first to be acknowledged

        def setup(self) -> None:
            super().setup()
            connections.add(self.connection)

        def finish(self) -> None:
            connections.discard(self.connection)
            super().finish()

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            body = json.dumps(answers[self.headers["X-Amz-Target"].partition(".")[2]]).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/x-amz-json-1.0")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            """Says nothing."""

    def drop_connections() -> None:
        for one in list(connections):
            with suppress(OSError):  # it has just ended
                one.shutdown(socket.SHUT_RDWR)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield RegistryEndpoint(f"http://127.0.0.1:{server.server_port}", drop_connections)
    finally:
        drop_connections()
        server.shutdown()
        thread.join()
        server.server_close()
