"""Providers on this machine, as a gateway that was deployed meets them: real, large, or silent."""

import http.server
import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from scripts.ports import free_ports
from scripts.settings import ROOT

PATIENCE_S = 60


@contextmanager
def chalice_provider(provider_id: str) -> Iterator[str]:
    """provider_app with `chalice local`, as a person runs it, with provider-a's nodes. Gives its address."""
    port = free_ports(1)[0]
    inventory = json.loads((ROOT / "provider_app" / "inventories" / "provider-a.json").read_text())
    with tempfile.TemporaryDirectory(prefix="fedcompute-host-") as folder:
        file = Path(folder) / "inventory.json"
        file.write_text(json.dumps({**inventory, "provider_id": provider_id}))
        chalice = str(Path(sys.executable).with_name("chalice"))
        environment = os.environ | {"PROVIDER_ID": provider_id, "INVENTORY_FILE": str(file)}
        command = [sys.executable, chalice, "local", "--no-autoreload", "--port", str(port)]
        with (Path(folder) / "log").open("wb") as log:
            process = subprocess.Popen(
                command, cwd=ROOT / "provider_app", env=environment, stdout=log, stderr=log, stdin=subprocess.DEVNULL
            )
        try:
            _await(port)
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()
            process.wait(timeout=PATIENCE_S)


@contextmanager
def large_provider(provider_id: str, *, nodes: int, labels: int) -> Iterator[str]:
    """A provider whose nodes carry so many labels, of half a kilobyte each."""
    amounts: dict[str, Any] = {
        "ready": True,
        "schedulable": True,
        "labels": {f"note-{number}": "x" * 500 for number in range(labels)},
        "cpu": {"total_millicores": 8000, "available_millicores": 4000},
        "memory": {"total_bytes": 1 << 34, "available_bytes": 1 << 33},
    }
    inventory = {
        "schema_version": 1,
        "provider_id": provider_id,
        "source": "static",
        "nodes": [{"name": f"node-{number:04}", **amounts} for number in range(nodes)],
    }
    body = json.dumps(inventory).encode()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()


@contextmanager
def hanging_provider() -> Iterator[str]:
    """A provider that takes connections and says nothing."""
    with socket.create_server(("127.0.0.1", 0), backlog=16) as listener:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"


def _await(port: int) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        with socket.socket() as one:
            if one.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise AssertionError(f"nothing listens on port {port}")
