"""A read-only Kubernetes API server on loopback for lists that stand in memory: for tests and measurements.

It answers the calls that an inventory's reader makes: lists with `limit`, `continue` and field selectors, the discovery
of a group's versions, and Status objects for all else. Lists may be changed while it serves.
"""

import gzip
import json
import ssl
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar
from urllib.parse import parse_qsl, urlsplit

NODES = "/api/v1/nodes"
PODS = "/api/v1/pods"
GZIP_FROM = 128 * 1024  # as the real one: smaller answers are sent as they are

type Item = Mapping[str, Any]


@dataclass(frozen=True)
class Call:
    """One request as it came in."""

    method: str
    path: str
    query: Mapping[str, str]
    authorization: str


@dataclass
class Cluster:
    """What is served: per path of a list its items, each with its JSON. Safe to change while it is served."""

    lists: dict[str, list[tuple[Item, bytes]]] = field(default_factory=dict)
    calls: list[Call] = field(default_factory=list)
    _selections: dict[tuple[str, str], tuple[object, list[tuple[Item, bytes]]]] = field(default_factory=dict)

    def put(self, path: str, items: Sequence[Item]) -> None:
        """Serves these under a list's path, such as /apis/resource.k8s.io/v1/resourceslices."""
        self.lists[path] = [(item, json.dumps(item, separators=(",", ":")).encode()) for item in items]

    def remove(self, path: str, name: str) -> None:
        """Takes the objects of this name out of a list, as deleting them would."""
        self.lists[path] = [entry for entry in self.lists[path] if entry[0]["metadata"]["name"] != name]

    def page(self, path: str, query: Mapping[str, str]) -> bytes:
        """One page of a list, as the API server would send it."""
        entries = self._selected(path, query.get("fieldSelector", ""))
        start = int(query.get("continue") or 0)
        end = start + (int(query.get("limit") or 0) or len(entries) or 1)
        metadata: dict[str, Any] = {"resourceVersion": "1000"}
        if end < len(entries):
            metadata |= {"continue": str(end), "remainingItemCount": len(entries) - end}
        head = json.dumps({"kind": "List", "apiVersion": "v1", "metadata": metadata})
        return head[:-1].encode() + b',"items":[' + b",".join(entry[1] for entry in entries[start:end]) + b"]}"

    def _selected(self, path: str, selector: str) -> list[tuple[Item, bytes]]:
        entries = self.lists[path]
        held, selected = self._selections.get((path, selector), (None, []))
        if held is not entries:  # a list is replaced, never changed
            selected = [entry for entry in entries if _is_selected(entry[0], selector)]
            self._selections[path, selector] = entries, selected
        return selected

    def group(self, path: str) -> bytes | None:
        """The discovery document of an API group, if any list is of it."""
        prefix = path.rstrip("/") + "/"
        versions = sorted({one.removeprefix(prefix).split("/")[0] for one in self.lists if one.startswith(prefix)})
        if not path.startswith("/apis/") or path.count("/") != 2 or not versions:
            return None
        name = path.split("/")[2]
        listed = [{"groupVersion": f"{name}/{version}", "version": version} for version in versions]
        return json.dumps({"kind": "APIGroup", "apiVersion": "v1", "name": name, "versions": listed}).encode()


def status(code: int, reason: str = "") -> bytes:
    """The body of a failure, as the API server has it."""
    document = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": reason, "code": code}
    return json.dumps(document).encode()


class Handler(BaseHTTPRequestHandler):
    """Answers from its server's cluster. Tests subclass it for what goes wrong."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    cluster: Cluster

    def do_GET(self) -> None:
        """A list's page, a group's discovery document, or 404."""
        url = urlsplit(self.path)
        call = Call("GET", url.path, dict(parse_qsl(url.query)), self.headers.get("Authorization", ""))
        self.cluster.calls.append(call)
        self.respond(call)

    def respond(self, call: Call) -> None:
        """What this call gets when all goes well."""
        if call.path in self.cluster.lists:
            self.send(200, self.cluster.page(call.path, call.query))
        elif document := self.cluster.group(call.path):
            self.send(200, document)
        else:
            self.send(404, status(404, "NotFound"))

    def send(self, code: int, body: bytes, **headers: str) -> None:
        """An answer with its length, compressed where the real one would be."""
        if len(body) > GZIP_FROM and "gzip" in self.headers.get("Accept-Encoding", ""):
            body, headers = self.compressed(body), headers | {"Content-Encoding": "gzip"}
        self.send_response(code)
        for name, value in {"Content-Type": "application/json", "Content-Length": str(len(body)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def compressed(self, body: bytes) -> bytes:
        """A body as it travels to who accepts gzip."""
        return gzip.compress(body, 1)

    def log_message(self, *_: object) -> None:
        """Says nothing: the one who asked knows."""


class Remembering(Handler):
    """Compresses each answer once: a measurement of its reader should not wait for that. For lists that stay."""

    made: ClassVar[dict[str, bytes]] = {}

    def compressed(self, body: bytes) -> bytes:
        """What was made of it the first time."""
        return self.made.get(self.path) or self.made.setdefault(self.path, super().compressed(body))


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 64

    def handle_error(self, *_: object) -> None:
        """A caller that went away is no error here."""


@contextmanager
def serving(
    cluster: Cluster, handler: type[Handler] = Handler, tls: ssl.SSLContext | None = None, port: int = 0
) -> Iterator[str]:
    """Serves a cluster on loopback for the block; gives the URL."""
    bound = type("Bound", (handler,), {"cluster": cluster})
    server = _Server(("127.0.0.1", port), bound)
    if tls is not None:
        server.socket = tls.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield f"{'https' if tls else 'http'}://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def kubeconfig(server: str, user: Mapping[str, Any] | None = None, **cluster: Any) -> str:
    """A kubeconfig's text with one context, `lab`; `cluster` are more members of its cluster."""
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "lab",
        "clusters": [{"name": "lab", "cluster": {"server": server, **cluster}}],
        "users": [{"name": "lab", "user": {"token": "made-up"} if user is None else dict(user)}],
        "contexts": [{"name": "lab", "context": {"cluster": "lab", "user": "lab"}}],
    }
    return json.dumps(document, indent=1)


def _is_selected(item: Item, selector: str) -> bool:
    clauses: list[tuple[str, str, Callable[[str, str], bool]]] = []
    for clause in filter(None, selector.split(",")):
        key, operator, value = clause.partition("!=") if "!=" in clause else clause.partition("=")
        clauses.append((key, value.lstrip("="), str.__ne__ if operator == "!=" else str.__eq__))
    return all(compare(_reach(item, key), value) for key, value, compare in clauses)


def _reach(item: Any, dotted: str) -> str:
    for part in dotted.split("."):
        item = item.get(part) if isinstance(item, Mapping) else None
    return "" if item is None else str(item)
