"""GET calls to an API server over the official client's own connections, which can all be cut at once.

urllib3's timeouts are per operation: a server that sends a byte now and then outlives each of them. So the one who waits
for a read cuts its connections when the time is up, and whatever waits for a byte ends.
"""

import contextlib
import socket
import threading
import time
import weakref
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from chalicelib.cluster_errors import BrokenError, BusyError, ClusterError, TimedOutError, of_status, of_transport

if TYPE_CHECKING:
    from kubernetes.client import Configuration

LARGEST_BODY = 128 * 1024 * 1024
SMALL_BODY = 64 * 1024
LISTS_AT_ONCE = 4

_HEADERS = {"Accept": "application/json", "Accept-Encoding": "gzip", "User-Agent": "fedcompute-provider"}


class Api:
    """One API server and one set of credentials. Safe to share between threads."""

    def __init__(self, configuration: "Configuration") -> None:
        from kubernetes.client.rest import RESTClientObject  # noqa: PLC0415 (loaded on first use)

        self.server = str(configuration.host)
        token = configuration.auth_settings().get("BearerToken", {}).get("value")
        self._headers = _HEADERS | ({"Authorization": str(token).strip()} if token else {})
        self._cut = threading.Event()
        self._lines: weakref.WeakSet[Any] = weakref.WeakSet()
        configuration.connection_pool_maxsize = LISTS_AT_ONCE
        self._pool = RESTClientObject(configuration).pool_manager
        self._pool.pool_classes_by_scheme = _pools_that_tell(self._remember)

    def get(self, path: str, query: Mapping[str, str], deadline: float, what: str) -> bytes:
        """The body of a 200, decompressed. `deadline` is of time.monotonic(); `what` names it in an error's words.

        A server that is too busy and a connection that breaks get a second try. Raises: ClusterError.
        """
        try:
            return self._told(path, query, deadline, what)
        except BusyError as busy:
            self._cut.wait(min(busy.pause_s, max(0.0, deadline - time.monotonic())))
        except BrokenError:
            pass  # a connection that was kept may have been closed by whatever stands between
        return self._told(path, query, deadline, what)

    def _told(self, path: str, query: Mapping[str, str], deadline: float, what: str) -> bytes:
        """One try, with every error in words."""
        try:
            return self._get(path, query, deadline, what)
        except ClusterError:
            raise
        except Exception as error:
            if self._cut.is_set():
                raise TimedOutError(f"The API server did not answer in time ({what}).") from error
            raise of_transport(error, self.server, what) from error

    def _get(self, path: str, query: Mapping[str, str], deadline: float, what: str) -> bytes:
        from urllib3 import Timeout  # noqa: PLC0415 (loaded on first use)

        remaining = deadline - time.monotonic()
        if remaining <= 0 or self._cut.is_set():
            raise TimedOutError(f"The API server did not answer in time ({what}).")
        answer = self._pool.request(
            "GET",
            self.server + path,
            fields=dict(query),
            headers=self._headers,
            timeout=Timeout(connect=remaining, read=remaining),
            retries=False,
            redirect=False,
            preload_content=False,
        )
        try:
            return _body_of(answer, what)
        except BaseException:
            answer.close()  # one that was read to its end has given its connection back already
            raise

    def cut(self) -> None:
        """Ends every call, also those that wait for a byte; this object is of no use any more."""
        self._cut.set()
        for line in list(self._lines):
            with contextlib.suppress(OSError, AttributeError):  # it has no socket yet, or none any more
                line.sock.shutdown(socket.SHUT_RDWR)
        self._pool.clear()

    def _remember(self, line: Any) -> None:
        self._lines.add(line)
        if self._cut.is_set():
            raise TimedOutError("The API server did not answer in time.")


def _body_of(answer: Any, what: str) -> bytes:
    if answer.status != 200:
        answer.read(SMALL_BODY)  # to the end of a Status object: the connection stays of use
        raise of_status(answer.status, what)
    body: bytes = answer.read(LARGEST_BODY + 1)
    if len(body) > LARGEST_BODY:
        raise ClusterError(f"The API server's answer is larger than {LARGEST_BODY} bytes ({what}).")
    return body


def _pools_that_tell(remember: Any) -> dict[str, Any]:
    """urllib3's pools, whose connections are handed to `remember` before they connect."""
    from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool  # noqa: PLC0415

    def telling(pool: type[HTTPConnectionPool]) -> type[HTTPConnectionPool]:
        class Line(pool.ConnectionCls):  # type: ignore[name-defined,misc]
            def connect(self) -> None:
                remember(self)
                super().connect()
                remember(self)  # a cut in between found no socket

        return type(pool.__name__, (pool,), {"ConnectionCls": Line})

    return {"http": telling(HTTPConnectionPool), "https": telling(HTTPSConnectionPool)}
