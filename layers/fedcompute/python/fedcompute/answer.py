"""What the gateway answers, as its callers read it: tolerant of members that a newer gateway adds.

Every answer that came over the wire keeps its body, byte for byte, in `raw`.
"""

from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct, field

from fedcompute.inventory import Cpu, Device, Memory, Pods, Taint, Warning  # noqa: A004 (the contract's word)

# The first that holds; see docs/api.md.
FEASIBILITIES = ("feasible", "busy", "unknown", "infeasible")

# For the API's document. All other members are always there.
SOMETIMES: dict[str, Any] = {"x-sometimes": True}
AS_UNDERSTOOD: dict[str, Any] = {"$ref": "#/components/schemas/SearchRequest"}


class Answer(Struct, kw_only=True, dict=True):
    """The body of one answer."""

    @property
    def raw(self) -> bytes:
        """The body as it came; empty for what never was on a wire."""
        body: bytes = self.__dict__.get("raw_body", b"")
        return body


def read[Kind: Answer](body: bytes, kind: type[Kind]) -> Kind:
    """A body as an answer of its kind. Raises msgspec.DecodeError (of which ValidationError is one)."""
    answer = msgspec.json.decode(body, type=kind)
    answer.__dict__["raw_body"] = body
    return answer


class Hint(Struct, frozen=True):
    """What to do with a candidate: `text` is a manifest (`hami`, `kubernetes`, `dra`), or says whom to ask (`contact`)."""

    kind: str
    text: str


class FoundNode(Struct, kw_only=True):
    """The node of a candidate."""

    name: str
    labels: dict[str, str] = {}
    taints: list[Taint] = []
    cpu: Cpu = Cpu()
    memory: Memory = Memory()
    pods: Pods | None = None


class Provenance(Struct, kw_only=True):
    """Whose numbers these are, and how old."""

    provider_id: str
    provider_name: str = ""
    base_url: str | None = None
    source: str = ""
    observed_at: str | None = None
    age_ms: int | None = None
    etag: str | None = None


class Candidate(Struct, kw_only=True):
    """A node that fits. `devices` stand in the order of choice."""

    rank: int
    score: float
    score_parts: dict[str, float] = {}
    copies: int
    node: FoundNode
    devices: list[Device] = []
    provenance: Provenance
    hint: Hint | None = None


class Entry(Struct, kw_only=True):
    """How asking one provider ended."""

    id: str
    name: str = ""
    outcome: str
    message: str | None = None
    took_ms: int = 0
    http_status: int | None = None
    retry_at: str | None = None
    nodes: int | None = None
    candidates: int | None = None
    warnings: list[Warning] = []

    @property
    def is_answered(self) -> bool:
        """Whether its inventory takes part in the answer."""
        return self.outcome in ("ok", "not_modified")


class Reason(Struct, kw_only=True):
    """One thing that keeps a request from a node. Amounts are None for what is no amount."""

    reason: str
    have: int | None = None
    need: int | None = None
    short_by: int | None = None
    devices: int | None = None


class Nearest(Struct, kw_only=True):
    """A node that all but fits."""

    provider_id: str
    node: str
    reasons: list[Reason] = []


class Rejected(Struct, kw_only=True):
    """How many nodes do not fit, and why."""

    nodes: int = 0
    by_reason: dict[str, int] = {}
    nearest: list[Nearest] = []


class StrategyUsed(Struct, kw_only=True):
    """How candidates were ordered."""

    name: str = ""
    weights: dict[str, float] = {}


class SearchAnswer(Answer, kw_only=True, dict=True):
    """The answer of POST /api/v1/resources/search."""

    search_id: str = ""
    request: Annotated[dict[str, Any], Meta(extra_json_schema=AS_UNDERSTOOD)] = {}
    strategy: StrategyUsed = field(default_factory=StrategyUsed)
    feasibility: str
    partial: bool = False
    took_ms: int = 0
    candidates: list[Candidate]
    total_candidates: int
    providers: list[Entry] = []
    rejections: Rejected = field(default_factory=Rejected)
    warnings: list[Warning] = []
