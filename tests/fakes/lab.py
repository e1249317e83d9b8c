"""A lab without Docker: stand-ins for its programs, a loopback API server for its cluster, and a gateway that registers."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from fakes.programs import Programs

from scripts import ports
from scripts.cluster_server import NODES, PODS, Cluster, serving
from scripts.generate_cluster import generate


class Gateway(BaseHTTPRequestHandler):
    """As much of the gateway as a registration needs."""

    records: dict[str, Any]

    def do_GET(self) -> None:
        self._answer(200)

    def do_POST(self) -> None:
        record = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        is_known = record["id"] in self.records
        self.records.setdefault(record["id"], record)  # before the answer: the test looks as soon as that is there
        self._answer(409 if is_known else 201)

    def do_PUT(self) -> None:
        record = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.records[record["id"]] = record
        self._answer(200)

    def do_DELETE(self) -> None:
        self.records.pop(self.path.rpartition("/")[2], None)
        self._answer(204)

    def _answer(self, code: int) -> None:
        self.send_response(code)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


class Lab:
    """What the lab's commands meet: programs, cluster, gateway, and a run folder of their own."""

    def __init__(self, folder: Path, server: str, cluster: Cluster, gateway_port: int, records: dict[str, Any]) -> None:
        self.programs = Programs(folder)
        self.cluster = cluster
        self.records = records
        self.run_dir = folder / "run"
        self.port = ports.free_ports(1)[0]
        self.environment = self.programs.environment(
            RUN_DIR=str(self.run_dir), GATEWAY_PORT=str(gateway_port), KIND_LAB_PORT=str(self.port), COLUMNS="200"
        )
        config = {"clusters": [{"name": "kind", "cluster": {"server": server}}]}
        (self.programs.state / "config.json").write_text(json.dumps(config))
        self.tell_kubectl()

    def tell_kubectl(self) -> None:
        """From now on kubectl shows what the cluster has now."""
        for name, path in (("nodes", NODES), ("pods", PODS)):
            items = [item for item, _ in self.cluster.lists[path]]
            (self.programs.state / f"{name}.json").write_text(json.dumps({"items": items}))


@contextmanager
def a_lab(folder: Path) -> Iterator[Lab]:
    """A lab of four nodes, two of them with eight cards, and twelve pods."""
    cluster = Cluster()
    for path, items in zip((NODES, PODS), generate(nodes=4, pods=12), strict=True):
        cluster.put(path, items)
    handler = type("OwnGateway", (Gateway,), {"records": {}})
    gateway = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=gateway.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        with serving(cluster) as server:
            yield Lab(folder, server, cluster, gateway.server_address[1], handler.records)
    finally:
        gateway.shutdown()
        gateway.server_close()
        thread.join()
