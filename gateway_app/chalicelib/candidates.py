"""One candidate as the answer shows it: the node, the devices chosen, the score, and whose numbers these are."""

from datetime import datetime
from typing import Any, NamedTuple

from msgspec import Struct

from chalicelib.inventories import Answered
from fedcompute.copies import copies
from fedcompute.demand import Demand
from fedcompute.hints import hint
from fedcompute.ranking import Fit, score_parts
from fedcompute.request import SearchRequest


class Candidate(Struct, frozen=True):
    """A candidate and its place in the order: by score, descending, then provider id, then node name."""

    score: float
    provider_id: str
    node: str
    described: dict[str, Any]

    @property
    def order(self) -> tuple[float, str, str]:
        """Sorts before another: ranks before it."""
        return -self.score, self.provider_id, self.node


class Asked(NamedTuple):
    """The request that candidates answer, and the time at which they do."""

    request: SearchRequest
    demand: Demand
    now: datetime


class _Told(NamedTuple):
    """What is the same of a fit in every answer: half of the work that a candidate makes."""

    score_parts: dict[str, float]
    copies: int


def candidate(fit: Fit, answered: Answered, asked: Asked, base_url: str | None) -> Candidate:
    """All that the answer says of a node that fits, but its rank. `base_url`: None where the caller may not know it."""
    told = _told(fit, asked.demand)
    node, record, source, observed_at = fit.node, answered.record, answered.source, answered.observed_at
    age_ms = None if observed_at is None else max(0, round((asked.now - observed_at).total_seconds() * 1000))
    described = {
        "rank": 0,
        "score": fit.score,
        "score_parts": told.score_parts,
        "copies": told.copies,
        "node": {
            "name": node.name,
            "labels": node.labels,
            "taints": node.taints,
            "cpu": node.cpu,
            "memory": node.memory,
            "pods": node.pods,
        },
        "devices": fit.devices,
        "provenance": {
            "provider_id": record.id,
            "provider_name": record.name,
            "base_url": base_url,
            "source": source,
            "observed_at": None if observed_at is None else observed_at.isoformat().replace("+00:00", "Z"),
            "age_ms": age_ms,
            "etag": answered.reply.etag,
        },
        "hint": hint(asked.request, node, fit.devices, source=source, name=record.name, base_url=base_url),
    }
    return Candidate(fit.score, record.id, node.name, described)


def _told(fit: Fit, demand: Demand) -> _Told:
    told = fit.told
    if not isinstance(told, _Told):
        told = fit.told = _Told(score_parts(fit, demand), copies(fit, demand))
    return told
