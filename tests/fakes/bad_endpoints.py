"""Endpoints on loopback that do what a DynamoDB in trouble does."""

import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@contextmanager
def silent_endpoint() -> Iterator[str]:
    """Takes connections and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"http://127.0.0.1:{server.getsockname()[1]}"


@contextmanager
def halting_endpoint() -> Iterator[str]:
    """Begins an answer to everybody who connects, and never ends it."""
    accepted: list[socket.socket] = []

    def begin_answers(server: socket.socket) -> None:
        with suppress(OSError):  # it was closed
            while True:
                accepted.append(server.accept()[0])
                accepted[-1].sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{")

    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=begin_answers, args=(server,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.getsockname()[1]}"
        finally:
            server.shutdown(socket.SHUT_RDWR)
            thread.join()
            for one in accepted:
                one.close()


@contextmanager
def swallowing_endpoint() -> Iterator[str]:
    """Whoever connects hears nothing: the queue of those who wait to be accepted is full, so that Linux drops what comes."""
    with ExitStack() as stack:
        server = stack.enter_context(socket.socket())
        server.bind(("127.0.0.1", 0))
        server.listen(0)
        for _ in range(4):
            waiting = stack.enter_context(socket.socket())
            waiting.setblocking(False)
            with suppress(BlockingIOError):
                waiting.connect(server.getsockname())
        yield f"http://127.0.0.1:{server.getsockname()[1]}"


@contextmanager
def closed_endpoint() -> Iterator[str]:
    """Nobody listens there."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    yield f"http://127.0.0.1:{port}"


@contextmanager
def answering_endpoint(status: int, body: bytes) -> Iterator[tuple[str, list[str]]]:
    """Answers every call alike; the list has the operations that were called."""
    calls: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            calls.append(self.headers["X-Amz-Target"].partition(".")[2])
            self.send_response(status)
            self.send_header("Content-Type", "application/x-amz-json-1.0")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            """Says nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", calls
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def error_body(code: str) -> bytes:
    """An error as DynamoDB writes it."""
    return b'{"__type": "com.amazonaws.dynamodb.v20120810#%s", "message": "no"}' % code.encode()
