"""Whether the gateway answers, and whether what it needs answers too."""

from typing import Any

from chalicelib.registry import Registry
from fedcompute import __version__
from fedcompute.errors import Problem, unavailable


def health() -> dict[str, str]:
    """The process is there; says nothing of the registry."""
    return {"status": "ok", "version": __version__}


def ready(registry: Registry) -> dict[str, Any]:
    """Every part that a search needs. Raises: 503 `not_ready`, with the state of each part as `checks`."""
    try:
        registry.ping()
    except Problem as problem:
        raise unavailable("not_ready", problem.detail, checks={"registry": problem.code}) from problem
    return {"status": "ok", "checks": {"registry": "ok"}}
