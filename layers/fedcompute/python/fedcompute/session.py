"""The HTTP session of the client: its key, its proxies, and its failures in words."""

from ipaddress import ip_address
from urllib.parse import urlsplit

import requests

from fedcompute import __version__


def new_session(key: str | None, *, is_own: bool) -> requests.Session:
    """A session that sends the key, and to one's own machine (`is_own`) takes no proxy."""
    session = requests.Session()
    session.trust_env = not is_own
    session.headers.update({"Accept": "application/json", "User-Agent": f"fedcompute/{__version__}"})

    def sign(request: requests.PreparedRequest) -> requests.PreparedRequest:
        if key is not None:
            request.headers["Authorization"] = f"Bearer {key}"
        return request

    session.auth = sign  # set in any case: without it requests would take a password from ~/.netrc
    return session


def reason_of(error: Exception) -> str:
    """What the lowest layer said, without the layers' own names around it."""
    while error.__cause__ is not None or error.__context__ is not None:
        below = error.__cause__ or error.__context__
        if not isinstance(below, Exception):
            break
        error = below
    return (getattr(error, "strerror", None) or str(error)).strip().lower()


def is_this_machine(url: str) -> bool:
    """Whether an address is a loopback one, by name or number."""
    host = urlsplit(url).hostname or ""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
