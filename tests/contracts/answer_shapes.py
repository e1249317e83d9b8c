"""The documented shapes of the gateway's answers, checked to the last key: nulls are written out, nothing is added."""

import re
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from typing import Any

from chalicelib.calls import ANSWERED, OUTCOMES
from fedcompute.reasons import REASONS

Shape = Any  # a type, a predicate, a dict of shapes by key, a list of one shape, MapOf or OneOf


class MapOf:
    """An object with any keys, and values of one shape."""

    def __init__(self, shape: Shape) -> None:
        self.shape = shape


class OneOf:
    """A value that has one of several shapes; None is null."""

    def __init__(self, *shapes: Shape) -> None:
        self.shapes = shapes


def whole(value: object) -> bool:
    """A whole number that is no amount below nothing."""
    return type(value) is int and value >= 0


def number(value: object) -> bool:
    """A score or a weight."""
    return type(value) in (int, float) and value >= 0  # type: ignore[operator]


def time(value: object) -> bool:
    """RFC 3339 with its zone."""
    return isinstance(value, str) and datetime.fromisoformat(value).tzinfo is not None


def entity_tag(value: object) -> bool:
    """With its quotes."""
    return isinstance(value, str) and re.fullmatch(r'(W/)?"[^"]*"', value) is not None


def among(*words: str) -> Callable[[object], bool]:
    """One of these words."""
    return lambda value: value in words


AMOUNT = OneOf(whole, None)
TEXT = OneOf(str, None)
WARNING = {"code": str, "message": str, "provider_id": TEXT, "node": TEXT, "device": TEXT}
CPU = {"total_millicores": AMOUNT, "available_millicores": AMOUNT}
MEMORY = {"total_bytes": AMOUNT, "available_bytes": AMOUNT}

DEVICE = {
    "id": str,
    "resource": str,
    "vendor": str,
    "model": str,
    "index": OneOf(int, None),
    "numa": OneOf(int, None),
    "mode": TEXT,
    "card": TEXT,
    "pool": bool,
    "healthy": bool,
    "memory_total_mib": AMOUNT,
    "memory_available_mib": AMOUNT,
    "largest_free_mib": AMOUNT,
    "compute_total_percent": AMOUNT,
    "compute_available_percent": AMOUNT,
    "slots_total": AMOUNT,
    "slots_available": AMOUNT,
}

ENTRY = {
    "id": str,
    "name": str,
    "outcome": among(*OUTCOMES),
    "message": TEXT,
    "took_ms": whole,
    "http_status": AMOUNT,
    "retry_at": OneOf(time, None),
    "nodes": AMOUNT,
    "candidates": AMOUNT,
    "warnings": [WARNING],
}

REQUEST = {
    "gpu": OneOf(
        {
            "count": int,
            "minimum_memory_mib": AMOUNT,
            "minimum_compute_percent": AMOUNT,
            "vendor": TEXT,
            "model": TEXT,
            "sharing": among("whole", "any"),
        },
        None,
    ),
    "cpu": OneOf({"minimum_millicores": int}, None),
    "memory": OneOf({"minimum_bytes": int}, None),
    "tolerations": [{"key": str, "operator": str, "value": str, "effect": str}],
    "strategy": among("best-fit", "most-available", "binpack", "spread"),
    "limit": int,
    "deadline_ms": int,
    "providers": {"include": [str], "exclude": [str], "labels": MapOf(str)},
    "partial": among("allow", "require_all"),
    "explain": bool,
}

CANDIDATE = {
    "rank": int,
    "score": number,
    "score_parts": MapOf(number),
    "copies": whole,
    "node": {
        "name": str,
        "labels": MapOf(str),
        "taints": [{"key": str, "value": str, "effect": str}],
        "cpu": CPU,
        "memory": MEMORY,
        "pods": OneOf({"total": AMOUNT, "available": AMOUNT}, None),
    },
    "devices": [DEVICE],
    "provenance": {
        "provider_id": str,
        "provider_name": str,
        "base_url": str,
        "source": str,
        "observed_at": OneOf(time, None),
        "age_ms": AMOUNT,
        "etag": OneOf(entity_tag, None),
    },
    "hint": {"kind": str, "text": str},
}

SEARCH = {
    "search_id": str,
    "request": REQUEST,
    "strategy": {"name": str, "weights": MapOf(number)},
    "feasibility": among("feasible", "busy", "unknown", "infeasible"),
    "partial": bool,
    "took_ms": whole,
    "candidates": [CANDIDATE],
    "total_candidates": whole,
    "providers": [ENTRY],
    "rejections": {
        "nodes": whole,
        "by_reason": MapOf(whole),
        "nearest": [
            {
                "provider_id": str,
                "node": str,
                "reasons": [
                    {"reason": str, "have": AMOUNT, "need": AMOUNT, "short_by": AMOUNT, "devices": AMOUNT},
                ],
            }
        ],
    },
    "warnings": [WARNING],
}

CHECK = {
    "provider": ENTRY,
    "timings_ms": {"dns": whole, "connect": whole, "tls": whole, "first_byte": whole, "total": whole},
    "inventory": OneOf(
        {"source": str, "observed_at": OneOf(time, None), "nodes": whole, "devices": whole, "devices_unused": whole},
        None,
    ),
}

DEVICE_SUMS = {
    "count": whole,
    "healthy": whole,
    "unused": whole,
    "slots_total": whole,
    "slots_available": whole,
    "memory_total_mib": whole,
    "memory_available_mib": whole,
    "unknown": whole,
}
TOTALS = {
    "nodes": whole,
    "cpu": {"total_millicores": whole, "available_millicores": whole, "unknown": whole},
    "memory": {"total_bytes": whole, "available_bytes": whole, "unknown": whole},
    "devices": DEVICE_SUMS,
}
RESOURCES = {
    "totals": TOTALS,
    "by_provider": [{"provider_id": str, "provider_name": str, **TOTALS}],
    "by_vendor": [{"vendor": str, "devices": DEVICE_SUMS}],
    "by_model": [{"vendor": str, "model": str, "devices": DEVICE_SUMS}],
    "providers": [ENTRY],
    "partial": bool,
    "observed_at": time,
}


def check_shape(value: object, shape: Shape) -> None:
    """AssertionError with every place at which a value departs from its shape."""
    found = list(_misfits(value, shape, ""))
    assert not found, "\n".join(found)


def check_search(answer: Mapping[str, Any]) -> None:
    """The shape of a search's answer, and what its parts say of each other."""
    check_shape(answer, SEARCH)
    candidates, entries = answer["candidates"], answer["providers"]
    answered = {entry["id"]: entry for entry in entries if entry["outcome"] in ANSWERED}
    assert [one["rank"] for one in candidates] == list(range(1, len(candidates) + 1))
    order = [(-c["score"], c["provenance"]["provider_id"], c["node"]["name"]) for c in candidates]
    assert order == sorted(order)
    assert all(one["score"] <= 1 for one in candidates)
    assert all(one["copies"] >= 1 for one in candidates)
    assert len(candidates) == min(answer["total_candidates"], answer["request"]["limit"])
    assert {one["provenance"]["provider_id"] for one in candidates} <= set(answered)
    assert [entry["id"] for entry in entries] == sorted({entry["id"] for entry in entries})
    assert answer["partial"] == (len(answered) < len(entries))
    for entry in entries:
        is_answered = entry["id"] in answered
        assert (entry["nodes"] is not None) == (entry["candidates"] is not None) == is_answered
        assert (entry["message"] is None) == is_answered
    assert answer["total_candidates"] == sum(entry["candidates"] for entry in answered.values())
    rejections = answer["rejections"]
    assert rejections["nodes"] + answer["total_candidates"] == sum(entry["nodes"] for entry in answered.values())
    assert set(rejections["by_reason"]) <= set(REASONS)
    assert all(1 <= count <= rejections["nodes"] for count in rejections["by_reason"].values())
    assert len(rejections["nearest"]) == (min(5, rejections["nodes"]) if answer["request"]["explain"] else 0)
    assert (answer["feasibility"] == "feasible") == bool(candidates)
    asked = {part for part in ("gpu", "cpu", "memory") if answer["request"][part] is not None}
    assert all(set(one["score_parts"]) == asked for one in candidates)
    count = (answer["request"]["gpu"] or {"count": 0})["count"]
    assert all(len(one["devices"]) == count for one in candidates)


def _misfits(value: Any, shape: Shape, at: str) -> Iterator[str]:
    if isinstance(shape, OneOf):
        if all(any(_misfits(value, one, at)) for one in shape.shapes):
            yield f"{at or '/'}: {value!r} is none of what it may be"
    elif isinstance(shape, (dict, MapOf)):
        yield from _misfits_of_object(value, shape, at)
    elif isinstance(shape, list):
        yield from _misfits_of_list(value, shape[0], at)
    elif not _is(value, shape):
        yield f"{at or '/'}: {value!r} does not fit"


def _misfits_of_object(value: Any, shape: dict[str, Shape] | MapOf, at: str) -> Iterator[str]:
    if not isinstance(value, dict):
        yield f"{at or '/'}: {value!r} is no object"
        return
    members = shape if isinstance(shape, dict) else dict.fromkeys(value, shape.shape)
    if set(value) != set(members):
        yield f"{at or '/'}: {sorted(value)} instead of {sorted(members)}"
        return
    for name, member in members.items():
        yield from _misfits(value[name], member, f"{at}/{name}")


def _misfits_of_list(value: Any, shape: Shape, at: str) -> Iterator[str]:
    if not isinstance(value, list):
        yield f"{at or '/'}: {value!r} is no list"
        return
    for place, one in enumerate(value):
        yield from _misfits(one, shape, f"{at}/{place}")


def _is(value: Any, shape: Shape) -> bool:
    if shape is None:
        return value is None
    if isinstance(shape, type):
        return type(value) is shape
    return bool(shape(value))
