"""Provider addresses as people write them: one plain form, so that no two parsers can disagree about the host."""

import re
from functools import lru_cache
from urllib.parse import SplitResult, unquote, urlsplit

LONGEST = 2048
MOST_KNOWN = 8192  # more than a registry holds
INVENTORY_PATH = "/api/v1/inventory"

_LABEL = r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?"
_HOST = re.compile(rf"(?:{_LABEL}\.)*{_LABEL}", re.IGNORECASE)
_IPV6 = re.compile(r"[0-9a-f:.]+", re.IGNORECASE)
_PLAIN = re.compile(r"[\x21-\x7e]+")


def check_base_url(url: str) -> str:
    """The URL without a slash at its end. Raises ValueError, in words, for one that must not be registered."""
    if len(url) > LONGEST:
        raise ValueError(f"must have at most {LONGEST} characters")
    if not _PLAIN.fullmatch(url) or "\\" in url:
        raise ValueError("must be plain ASCII without spaces, control characters or backslashes")
    parts = _split(url)
    if parts.scheme not in ("http", "https"):
        raise ValueError("must begin with http:// or https://")
    if parts.username is not None or parts.password is not None or "@" in parts.netloc:
        raise ValueError("must not hold a user name or password")
    if parts.query or parts.fragment or "?" in url or "#" in url:
        raise ValueError("must have no query and no fragment")
    host = parts.hostname or ""
    if not (_IPV6.fullmatch(host) if "[" in parts.netloc else _HOST.fullmatch(host)):
        raise ValueError("must name a host")
    if any(unquote(segment) in (".", "..") for segment in parts.path.split("/")):
        raise ValueError("must not have . or .. in its path")
    return url.rstrip("/")


def inventory_url(base_url: str) -> str:
    """Where a provider's inventory is; a path in base_url stays."""
    return base_url.rstrip("/") + INVENTORY_PATH


@lru_cache(maxsize=MOST_KNOWN)
def host_and_port(base_url: str) -> tuple[str, int]:
    """The host in lower case and the port, the scheme's own where none is written."""
    parts = urlsplit(base_url)
    return (parts.hostname or "").rstrip("."), parts.port or (443 if parts.scheme == "https" else 80)


def _split(url: str) -> SplitResult:
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        port = 0
    if port == 0:
        raise ValueError("must be a URL such as https://gpu.example.org:8443/lab")
    return parts
