"""One read of a cluster: its lists side by side, within one bound on the whole, with credentials that are renewed once."""

import threading
import time
from collections.abc import Callable
from concurrent.futures import FIRST_EXCEPTION, Future, wait
from dataclasses import dataclass

from chalicelib.background import begin
from chalicelib.cluster_calls import Api
from chalicelib.cluster_errors import TimedOutError, UnauthorizedError
from chalicelib.cluster_lists import DraLists, Listing, read_dra, read_nodes, read_pods
from chalicelib.core_objects import ClusterNode, ClusterPod

TIMEOUT_S = 10.0


@dataclass(frozen=True, slots=True)
class ClusterLists:
    """What a cluster's lists said; `pods` is None where they may not be read."""

    nodes: Listing[ClusterNode]
    pods: Listing[ClusterPod] | None
    dra: DraLists


class ClusterReader:
    """Reads a cluster that `connect` finds, with its credentials. Safe to share between threads.

    `connect` may take long (exec plugins), and is called again after whatever failed.
    """

    def __init__(self, connect: Callable[[], Api], timeout_s: float = TIMEOUT_S) -> None:
        self._connect = connect
        self._timeout_s = timeout_s
        self._lock = threading.Lock()
        self._connecting: Future[Api] | None = None

    def read(self) -> ClusterLists:
        """What the lists say. Takes no longer than the bound, whatever the server does. Raises: ClusterError."""
        deadline = time.monotonic() + self._timeout_s
        try:
            return self._read_with(self._connected(deadline), deadline)
        except UnauthorizedError:
            # Tokens end and are rotated: with new ones, everything again, once.
            return self._read_with(self._connected(deadline), deadline)

    def _connected(self, deadline: float) -> "Future[Api]":
        """The connection, ready."""
        with self._lock:
            # One that hangs is waited for again, and not begun a second time.
            connecting = self._connecting = self._connecting or begin(self._connect, "cluster-credentials")
        wait([connecting], max(0.0, deadline - time.monotonic()))
        if not connecting.done():
            raise TimedOutError(
                f"The kubeconfig gave no credentials within {self._timeout_s:g} s; does its exec plugin wait for something?"
            )
        if connecting.exception():
            self._forget(connecting)
        connecting.result()
        return connecting

    def _read_with(self, connecting: "Future[Api]", deadline: float) -> ClusterLists:
        api = connecting.result()
        nodes = begin(lambda: read_nodes(api, deadline), "cluster-nodes")
        pods = begin(lambda: read_pods(api, deadline), "cluster-pods")
        dra = begin(lambda: read_dra(api, deadline), "cluster-dra")
        lists: dict[str, Future[object]] = {"nodes": nodes, "pods": pods, "devices": dra}  # type: ignore[dict-item]
        try:
            wait(lists.values(), max(0.0, deadline - time.monotonic()), FIRST_EXCEPTION)
            self._check(lists)
        except BaseException:
            self._forget(connecting)
            api.cut()
            raise
        return ClusterLists(nodes.result(), pods.result(), dra.result())

    def _check(self, lists: "dict[str, Future[object]]") -> None:
        """Raises what a list ended with, or TimedOutError for those that did not end."""
        failures = [error for one in lists.values() if one.done() and (error := one.exception())]
        # One without a bound on itself says more than one that only ran into it.
        for error in sorted(failures, key=lambda one: isinstance(one, TimedOutError)):
            raise error
        late = [name for name, one in lists.items() if not one.done()]
        if late:
            raise TimedOutError(
                f"The API server did not list its {' and '.join(late)} in full within {self._timeout_s:g} s."
            )

    def _forget(self, connecting: "Future[Api]") -> None:
        with self._lock:
            if self._connecting is connecting:
                self._connecting = None
