"""Lambda's Runtime API for one process (docs.aws.amazon.com/lambda, runtimes-api): hands it events, takes its answers."""

import http.server
import json
import os
import queue
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

PREFIX = "/2018-06-01/runtime/"
PATIENCE_S = 60.0


class Runtime:
    """A function's process, from its start on."""

    def __init__(self, address: str, events: "queue.Queue[Any]", answers: "queue.Queue[tuple[float, Any]]") -> None:
        self.address = address
        self._events = events
        self._answers = answers

    def start(self, command: Sequence[str], folder: Path, environment: Mapping[str, str]) -> subprocess.Popen[bytes]:
        """The process, with AWS's runtime interface client in it."""
        own = {"AWS_LAMBDA_RUNTIME_API": self.address, "LAMBDA_TASK_ROOT": str(folder), "PATH": os.environ["PATH"]}
        return subprocess.Popen(
            command,
            cwd=folder,
            env={**environment, **own},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def invoke(self, event: Any) -> tuple[float, Any]:
        """Hands over an event; when the answer came (perf_counter), and the answer."""
        self._events.put(event)
        return self._answers.get(timeout=PATIENCE_S)


class _Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_: Any) -> None:
        """A process that was ended in the middle of a call is no error."""


@contextmanager
def runtime() -> Iterator[Runtime]:
    """A Runtime API on a port of its own."""
    events: queue.Queue[Any] = queue.Queue()
    answers: queue.Queue[tuple[float, Any]] = queue.Queue()

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            body = json.dumps(events.get()).encode()
            deadline = str(int((time.time() + PATIENCE_S) * 1000))
            headers = {"Lambda-Runtime-Aws-Request-Id": "1", "Lambda-Runtime-Deadline-Ms": deadline}
            self._answer(200, body, {**headers, "Lambda-Runtime-Invoked-Function-Arn": "arn:aws:lambda:::function:f"})

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            answers.put((time.perf_counter(), json.loads(body or b"null")))
            self._answer(202, b"{}", {})

        def _answer(self, status: int, body: bytes, headers: Mapping[str, str]) -> None:
            self.send_response(status)
            for name, value in {
                "Content-Type": "application/json",
                "Content-Length": str(len(body)),
                **headers,
            }.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            """Quiet."""

    server = _Server(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield Runtime(f"127.0.0.1:{server.server_address[1]}", events, answers)
    finally:
        server.shutdown()
        server.server_close()
