"""The provider's OpenAPI document: for whoever serves the same with something else."""

from collections.abc import Sequence
from functools import lru_cache

import msgspec

from fedcompute.openapi import About, document
from fedcompute.operations import Operation

ABOUT = """What an owner has now: its nodes and their devices, with what is free of each. A gateway asks for it at every \
search. Units stand in names; what is not known is null, never 0."""

_HEADERS = "with `webhook-id` and `webhook-timestamp`; see Standard Webhooks, and docs/security.md for what is signed."

SIGNATURE = {
    "type": "apiKey",
    "in": "header",
    "name": "webhook-signature",
    "x-roles": ["gateway"],
    "description": f"The gateway's signature, {_HEADERS} Not asked for where PROVIDER_KEY is not set.",
}

TOKEN = {
    "type": "http",
    "scheme": "bearer",
    "x-roles": ["metrics"],
    "description": "METRICS_TOKEN. Not asked for where PROVIDER_KEY is not set.",
}

WORDS = {"Inventory.source": ("static", "kubernetes", "hami")}


@lru_cache(maxsize=2)
def api_document(operations: Sequence[Operation]) -> bytes:
    """The document of these operations (a tuple), as JSON."""
    about = About(
        title="fedcompute provider",
        description=ABOUT,
        security={"signature": SIGNATURE, "token": TOKEN},
        is_open=True,
        words=WORDS,
    )
    return msgspec.json.encode(document(about, operations))
