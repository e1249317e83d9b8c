"""Whether an app answers, and whether what it needs answers too: the answers of /health and /ready."""

from msgspec import Struct


class Health(Struct, kw_only=True):
    """The process is there."""

    status: str
    version: str


class Ready(Struct, kw_only=True):
    """Everything that a search needs is there; `checks` has each part by name."""

    status: str
    checks: dict[str, str]
