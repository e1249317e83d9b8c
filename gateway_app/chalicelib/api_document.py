"""The gateway's OpenAPI document: made once, when it is first asked for."""

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

import msgspec

from chalicelib.calls import OUTCOMES
from fedcompute.answer import FEASIBILITIES
from fedcompute.openapi import About, document
from fedcompute.operations import Operation
from fedcompute.provider import ID_PATTERN
from fedcompute.reasons import REASONS
from fedcompute.request import Strategy

EXAMPLES = Path(__file__).parent / "examples.json"  # recorded from the gateway by tests/docs/test_openapi.py

ABOUT = """Where, among many independent compute owners, can this job run now? The gateway asks every registered provider \
at once, compares each node with the request, ranks what fits, and says who did not answer and why the rest does not fit.

Units stand in names. What is not known is null, never 0. Unknown fields of a request are refused, and whole numbers \
are written without a fraction. Every error is a \
problem document with a stable `code`; `x-errors` lists all of them."""

KEY = {
    "type": "http",
    "scheme": "bearer",
    "bearerFormat": "fc_<key id>_<secret>",
    "description": "A key whose roles include the operation's `x-role`, or admin. Not asked for where AUTH=open.",
}

WORDS = {
    "SearchAnswer.feasibility": FEASIBILITIES,
    "StrategyUsed.name": tuple(Strategy),
    "Entry.outcome": OUTCOMES,
    "Reason.reason": REASONS,
    "Hint.kind": ("hami", "kubernetes", "dra", "contact"),
}


@lru_cache(maxsize=4)
def api_document(operations: Sequence[Operation], *, is_open: bool) -> bytes:
    """The document of these operations (a tuple), as JSON. `is_open`: nobody needs a key."""
    about = About(
        title="fedcompute gateway",
        description=ABOUT,
        security={"key": KEY},
        is_open=is_open,
        words=WORDS,
        examples=msgspec.json.decode(EXAMPLES.read_bytes()),
        parameters={
            "provider_id": {"description": "A provider's id.", "schema": {"type": "string", "pattern": ID_PATTERN}}
        },
    )
    return msgspec.json.encode(document(about, operations))
