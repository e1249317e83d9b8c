"""What the fan-out is asked to do, and what comes of it."""

from typing import NamedTuple

from msgspec import Struct

from fedcompute.signatures import Signed

OK = "ok"
NOT_MODIFIED = "not_modified"
ANSWERED = (OK, NOT_MODIFIED)

# Every way in which asking one provider can end. docs/api.md lists the same.
OUTCOMES = (
    OK,
    NOT_MODIFIED,
    "timeout",
    "deadline_exceeded",
    "unreachable",
    "dns_failure",
    "tls_failure",
    "protocol_error",
    "http_status",
    "redirected",
    "too_large",
    "not_json",
    "invalid_inventory",
    "unsupported_schema",
    "identity_mismatch",
    "signature_invalid",
    "address_blocked",
    "circuit_open",
    "internal",
)


class Call(Struct, frozen=True):
    """One provider to ask. `etag`: what the gateway holds already, to be revalidated; None: nothing.

    `signed`: the headers that tell the provider who asks; None where AUTH=open. `owner`: with whose calls this one shares
    connections where there are too few; those that are `is_failing`, failed last time, come last.
    """

    provider_id: str
    base_url: str
    timeout_ms: int
    etag: str | None = None
    signed: Signed | None = None
    owner: str = ""
    is_failing: bool = False
    kept_bytes: int = 0  # what is to be read where the provider confirms what is held


class Timings(NamedTuple):
    """Milliseconds of one call: how long name, connection and TLS took, and when the first byte and the end came."""

    dns: int
    connect: int
    tls: int
    first_byte: int
    total: int

    @classmethod
    def of(cls, dns: float, connected: float, secured: float, first_byte: float, total: float) -> "Timings":
        """From libcurl's seconds, of which each counts from the start, and is 0 for what did not happen."""
        spans = dns, max(0.0, connected - dns), max(0.0, secured - connected), first_byte, total
        return cls(*[round(seconds * 1000) for seconds in spans])


class Reply(Struct):
    """How one call ended. `body` is decoded and complete when the outcome is `ok`, else empty."""

    outcome: str
    message: str | None = None
    took_ms: int = 0
    http_status: int | None = None
    body: bytes = b""
    etag: str | None = None
    observed_at: str | None = None
    seconds: tuple[float, float, float, float, float] = (0.0, 0.0, 0.0, 0.0, 0.0)  # what Timings.of takes
    signed: Signed | None = None  # what a reply to a signed call says of itself; not checked yet
    retry_at: str | None = None  # RFC 3339; when a provider that was not asked will be

    @property
    def timings(self) -> Timings:
        """How long its parts took."""
        return Timings.of(*self.seconds)
