"""The rule of AUTH=open: only pages and clients of this machine, whatever a name resolves to (DNS rebinding)."""

import re
from collections.abc import Callable, Mapping
from typing import Protocol

from fedcompute.errors import Problem

_OWN_HOSTS = ("localhost", "127.0.0.1", "[::1]")


class Asked(Protocol):
    """A request, as far as this rule looks at it."""

    @property
    def headers(self) -> Mapping[str, str]:
        """By name, whatever its case."""


def own_hosts_only(allowed_hosts: tuple[str, ...]) -> Callable[[Asked, str], None]:
    """Raises 403 `foreign_host` or `foreign_origin` for a request that is not this machine's own."""
    known = {host.lower() for host in (*_OWN_HOSTS, *allowed_hosts)}

    def check(request: Asked, role: str) -> None:  # noqa: ARG001 (open: every role is everybody's)
        host = request.headers.get("host", "").lower()
        if host and _without_port(host) not in known and host not in known:
            raise Problem("foreign_host", "This app is open to its own machine only; name the host in ALLOWED_HOSTS.")
        origin = request.headers.get("origin", "").lower()
        if origin and origin not in (f"http://{host}", f"https://{host}"):
            raise Problem("foreign_origin", "Pages of another origin may not call this app.")

    return check


def _without_port(host: str) -> str:
    return re.sub(r":\d*$", "", host)
