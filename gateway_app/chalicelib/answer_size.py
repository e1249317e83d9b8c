"""Keeps an answer within what Lambda hands on: 6 MB of JSON, in which the body stands as an escaped text.

No emulator enforces that, and on AWS the caller would get a bare 502: so the gateway cuts its answer itself, and says so.
"""

import json
from itertools import accumulate
from typing import Any

import msgspec

from fedcompute.inventory import Warning  # noqa: A004 (the contract's word)

# AWS: 6,291,556 bytes (docs.aws.amazon.com/lambda, quotas); some are left for the headers and the status.
LARGEST_BYTES = (6 << 20) - (64 << 10)
MOST_GROWTH = 3  # escaped, a quote takes two bytes, and a letter of two bytes six


def fitting(answer: dict[str, Any], largest: int = LARGEST_BYTES) -> bytes:
    """A search's answer as JSON. One that is too large loses its last candidates, and if need be all other warnings.

    A warning `answer_cut` says so, also where a part of the search was cut before; the totals stay those of the whole.
    """
    told, warnings = answer["candidates"], answer["warnings"]
    there = min(answer["request"]["limit"], answer["total_candidates"])
    if len(told) < there:
        answer = {**answer, "warnings": [_cut(len(told), there), *warnings]}
    body = msgspec.json.encode(answer)
    if len(body) * MOST_GROWTH <= largest or escaped(body) <= largest:
        return body
    rest = {**answer, "candidates": [], "warnings": [_cut(0, there), *warnings]}
    if escaped(msgspec.json.encode(rest)) > largest:
        providers = [{**msgspec.structs.asdict(one), "warnings": []} for one in answer["providers"]]
        rest |= {"providers": providers, "warnings": [_cut(0, there)]}
    room = largest - escaped(msgspec.json.encode(rest)) - 8  # for the digits of how many are told
    sizes = accumulate(escaped(msgspec.json.encode(one)) + 1 for one in told)
    kept = sum(size <= room for size in sizes)
    rest |= {"candidates": told[:kept], "warnings": [_cut(kept, there), *rest["warnings"][1:]]}
    return msgspec.json.encode(rest)


def _cut(kept: int, there: int) -> Warning:
    return Warning(
        code="answer_cut",
        message=f"only the best {kept} of {there} candidates are told: the answer would be larger than 6 MB; ask for fewer with limit",
    )


def escaped(body: bytes) -> int:
    """How many bytes a body takes as a text within JSON, every letter beyond ASCII escaped."""
    return len(json.dumps(body.decode()))
