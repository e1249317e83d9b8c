"""Why a cluster could not be read, in words for the person who runs this provider."""

import ssl
from urllib.parse import urlsplit

from fedcompute.text import clean

ROLE = "give the account the role in infra/kubernetes"


class ClusterError(Exception):
    """Why there is no answer from the cluster: one or two sentences without secrets or bodies."""

    def __init__(self, detail: str) -> None:
        super().__init__(detail)
        self.detail = detail


class TimedOutError(ClusterError):
    """The bound on the whole read was reached."""


class UnauthorizedError(ClusterError):
    """401: the credentials are none, or no longer good."""


class ForbiddenError(ClusterError):
    """403: the account may not do this."""


class NotThereError(ClusterError):
    """404: the cluster has no such kind."""


class ExpiredError(ClusterError):
    """410: the place in a list that was asked for is gone."""


class BusyError(ClusterError):
    """429: the server wants fewer calls; it may do so for this one after `pause_s`."""

    pause_s = 1.0


class BrokenError(ClusterError):
    """The connection ended before the answer did; one that was kept may have been closed at the other end."""


def of_status(status: int, what: str) -> ClusterError:
    """What an answer with this HTTP status means; `what` names what was read, in the plural."""
    match status:
        case 401:
            return UnauthorizedError("The API server refuses the credentials (401); renew those in the kubeconfig.")
        case 403:
            return ForbiddenError(f"The API server forbids reading {what} (403); {ROLE}.")
        case 404:
            return NotThereError(f"The API server has no {what} (404); is its address that of a cluster?")
        case 410:
            return ExpiredError(f"The list of {what} changed too fast to be read in pages (410).")
        case 429:
            return BusyError(f"The API server is too busy to list {what} (429).")
        case _:
            return ClusterError(f"The API server answered {status} for {what}.")


def of_transport(error: BaseException, server: str, what: str) -> ClusterError:
    """What an error of the transport (urllib3 or below) means; `server` is the API server's URL."""
    from urllib3 import exceptions as named  # noqa: PLC0415 (comes with the client, which is loaded on first use)

    place = address(server)
    match error:
        case named.NameResolutionError():
            return ClusterError(f"The API server's name is not known to DNS: {place}.")
        case named.ProxyError():
            return ClusterError(f"The proxy on the way to the API server at {place} does not work.")
        case named.NewConnectionError():
            return ClusterError(f"The API server at {place} can't be reached: {_os_reason(error)}.")
        case named.TimeoutError():
            return TimedOutError(f"The API server at {place} did not answer in time ({what}).")
        case named.SSLError() | ssl.SSLError():
            return ClusterError(f"TLS with the API server at {place} failed: {_tls_reason(error)}.")
        case _:
            return BrokenError(f"The connection to the API server at {place} broke while {what} were read.")


def address(server: str) -> str:
    """Host and port of a URL: without what may be secret in one."""
    try:
        parts = urlsplit(server)
        return clean(f"{parts.hostname or ''}:{parts.port or (80 if parts.scheme == 'http' else 443)}", 100)
    except ValueError:
        return "an address that is none"


def _os_reason(error: BaseException) -> str:
    cause = error.__cause__
    if isinstance(cause, ConnectionRefusedError):
        return "connection refused"
    return clean((cause.strerror or "no route").lower(), 100) if isinstance(cause, OSError) else "no connection"


def _tls_reason(error: BaseException) -> str:
    for one in (error, error.__cause__, *error.args):
        if isinstance(one, ssl.SSLCertVerificationError):
            return clean(f"its certificate is not trusted ({one.verify_message})", 150)
        if isinstance(one, ssl.SSLError) and one.reason:
            return clean(one.reason.lower().replace("_", " "), 100)
    return "no agreement"
