"""The provider's /metrics: what this process has answered, and the inventory that it told last."""

import hmac
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import datetime

import msgspec
from chalice.app import Request, Response
from msgspec import Struct

from chalicelib.inventory_reply import Observation
from fedcompute import __version__
from fedcompute.errors import Problem
from fedcompute.exposition import Family, Sample, gauge, text_of

SCRAPER = "metrics"  # the role of who reads /metrics


class _Device(Struct):
    vendor: str = ""
    model: str = ""


class _Node(Struct):
    devices: list[_Device] = []


class _Counted(Struct):
    nodes: list[_Node] = []


class ProviderMetrics:
    """Counts of this process alone: a provider that reads a cluster is one. `last`: what it told last."""

    def __init__(self) -> None:
        self.last: Observation | None = None
        self._requests: Counter[tuple[str, str]] = Counter()
        self._lock = threading.Lock()

    def count(self, request: Request, response: Response) -> None:
        """Counts a request with its answer."""
        with self._lock:
            self._requests[request.path or "", str(response.status_code)] += 1

    def text(self, now: datetime) -> str:
        """The body of /metrics."""
        return text_of(self._families(now))

    def _families(self, now: datetime) -> Iterator[Family]:
        with self._lock:
            requests = sorted(self._requests.items())
        yield Family("fedcompute_build_info", "gauge", "The version that runs.", [Sample({"version": __version__}, 1)])
        samples = [Sample({"path": path, "status": status}, count) for (path, status), count in requests]
        yield Family("fedcompute_provider_requests_total", "counter", "Requests that this process answered.", samples)
        if self.last is None:
            return
        nodes = msgspec.json.decode(self.last.inventory.body, type=_Counted).nodes
        age = max(0.0, (now - self.last.observed_at).total_seconds())
        yield gauge("fedcompute_inventory_age_seconds", "How old the inventory is that was told last.", age)
        yield gauge("fedcompute_inventory_nodes", "Its nodes.", len(nodes))
        devices = Counter((device.vendor, device.model) for node in nodes for device in node.devices)
        counted = [Sample({"vendor": vendor, "model": model}, one) for (vendor, model), one in sorted(devices.items())]
        yield Family("fedcompute_inventory_devices", "gauge", "Its devices, MIG slices and pools.", counted)


def scrapers_by_token(token: str, others: Callable[[Request, str], None]) -> Callable[[Request, str], None]:
    """The rule where calls are signed: who reads /metrics can't sign, and shows METRICS_TOKEN instead."""

    def check(request: Request, role: str) -> None:
        if role != SCRAPER:
            others(request, role)
            return
        given = request.headers.get("authorization", "").encode()
        if not token or not hmac.compare_digest(given, f"Bearer {token}".encode()):
            detail = "Send METRICS_TOKEN as Authorization: Bearer; without one this provider shows no metrics."
            raise Problem("unauthenticated", detail, headers={"WWW-Authenticate": 'Bearer realm="metrics"'})

    return check
