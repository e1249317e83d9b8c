"""The gateway below a path, as API Gateway's stages and emulators have it."""

import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

DROPPED = ("content-length", "connection", "host", "origin", "accept-encoding", "transfer-encoding", "date", "server")


@contextmanager
def below(prefix: str, gateway: str) -> Iterator[str]:
    """The address of the gateway below `prefix`."""

    class Handler(BaseHTTPRequestHandler):
        def answer(self) -> None:
            if not self.path.startswith(prefix):
                self.send_error(404)
                return
            length = int(self.headers.get("Content-Length") or 0)
            kept = {name: value for name, value in self.headers.items() if name.lower() not in DROPPED}
            request = urllib.request.Request(
                f"{gateway}/{self.path.removeprefix(prefix).lstrip('/')}",
                data=self.rfile.read(length) if length else None,
                headers=kept,
                method=self.command,
            )
            try:
                with urllib.request.urlopen(request, timeout=20) as found:
                    self.pass_on(found.status, found.headers, found.read())
            except urllib.error.HTTPError as error:
                with error:
                    self.pass_on(error.code, error.headers, error.read())

        def pass_on(self, status: int, headers: object, body: bytes) -> None:
            self.send_response(status)
            for name, value in headers.items():  # type: ignore[attr-defined]
                if name.lower() not in DROPPED:
                    self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = answer  # noqa: N815 (the names that the server calls)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}{prefix}"
        server.shutdown()
        thread.join()
