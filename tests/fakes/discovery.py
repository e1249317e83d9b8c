"""As much of a Kubernetes API server as kubectl asks before it looks at a manifest: which kinds there are."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

GROUP_VERSION = {"groupVersion": "resource.k8s.io/v1", "version": "v1"}
ANSWERS = {
    "/api": {"kind": "APIVersions", "versions": ["v1"]},
    "/apis": {
        "kind": "APIGroupList",
        "apiVersion": "v1",
        "groups": [{"name": "resource.k8s.io", "versions": [GROUP_VERSION], "preferredVersion": GROUP_VERSION}],
    },
}
KINDS = {
    "/api/v1": ("v1", "pods", "Pod"),
    "/apis/resource.k8s.io/v1": ("resource.k8s.io/v1", "resourceclaims", "ResourceClaim"),
}


def _answer(path: str) -> object:
    if path in ANSWERS:
        return ANSWERS[path]
    group, name, kind = KINDS[path]
    resource = {"name": name, "singularName": "", "namespaced": True, "kind": kind, "verbs": ["create", "get"]}
    return {"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": group, "resources": [resource]}


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        is_known = path in ANSWERS or path in KINDS
        body = json.dumps(_answer(path) if is_known else {"kind": "Status", "code": 404}).encode()
        self.send_response(200 if is_known else 404)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 (the standard library's word)
        """Tests print nothing."""


@contextmanager
def discovery() -> Iterator[str]:
    """The server's address."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()
