"""Every error that a caller can meet: a stable code, its HTTP status, and words that say what to do."""

from collections.abc import Mapping, Sequence
from typing import Any

# One row per code. docs/api.md lists the same rows; a test holds the two together.
STATUS: Mapping[str, int] = {
    "malformed_json": 400,
    "malformed_token": 400,
    "unauthenticated": 401,
    "forbidden": 403,
    "foreign_host": 403,
    "foreign_origin": 403,
    "not_found": 404,
    "provider_not_found": 404,
    "method_not_allowed": 405,
    "owner_full": 409,
    "provider_exists": 409,
    "registry_full": 409,
    "version_conflict": 412,
    "payload_too_large": 413,
    "unsupported_media_type": 415,
    "validation_failed": 422,
    "rate_limited": 429,
    "internal": 500,
    "inventory_unavailable": 503,
    "not_ready": 503,
    "registry_unavailable": 503,
}

TITLES: Mapping[int, str] = {
    400: "Bad Request",
    401: "Unauthorized",
    403: "Forbidden",
    404: "Not Found",
    405: "Method Not Allowed",
    409: "Conflict",
    412: "Precondition Failed",
    413: "Content Too Large",
    415: "Unsupported Media Type",
    422: "Unprocessable Content",
    429: "Too Many Requests",
    500: "Internal Server Error",
    503: "Service Unavailable",
}

# What a status means when somebody else made the answer (Chalice itself) and gave no code of ours.
CODE_OF_STATUS: Mapping[int, str] = {
    400: "malformed_json",
    401: "unauthenticated",
    403: "forbidden",
    404: "not_found",
    405: "method_not_allowed",
    413: "payload_too_large",
    415: "unsupported_media_type",
    429: "rate_limited",
    500: "internal",
}

RETRY_AFTER_S = 1


class Problem(Exception):  # noqa: N818 (the word of RFC 9457)
    """An error for the caller. `errors` holds {"pointer", "message"} for each part of the input that is wrong."""

    def __init__(
        self,
        code: str,
        detail: str,
        *,
        errors: Sequence[Mapping[str, str]] = (),
        headers: Mapping[str, str] | None = None,
        members: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(f"{code}: {detail}")
        self.code = code
        self.detail = detail
        self.errors = list(errors)
        self.headers = dict(headers or {})
        self.members = dict(members or {})

    @property
    def status(self) -> int:
        """The HTTP status of this code."""
        return STATUS[self.code]

    def body(self, request_id: str) -> dict[str, Any]:
        """The members of an application/problem+json document (RFC 9457)."""
        body: dict[str, Any] = {
            "type": f"urn:fedcompute:problem:{self.code}",
            "title": TITLES[self.status],
            "status": self.status,
            "code": self.code,
            "detail": self.detail,
            "request_id": request_id,
        }
        if self.errors:
            body["errors"] = self.errors
        return body | self.members


def unavailable(code: str, detail: str, **members: Any) -> Problem:
    """A 503 that says when to come back."""
    return Problem(code, detail, headers={"Retry-After": str(RETRY_AFTER_S)}, members=members)
