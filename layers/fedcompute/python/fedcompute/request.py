"""What a caller asks for: the body of POST /api/v1/resources/search."""

from collections.abc import Iterator, Mapping
from enum import StrEnum
from functools import cached_property, lru_cache
from typing import Annotated, Any, Literal, Self

from pydantic import ConfigDict, Field, JsonValue, StringConstraints, field_validator, model_validator
from pydantic.config import JsonDict

from fedcompute import models, vendors
from fedcompute.documents import Document, parse

LARGEST = 2**63 - 1  # what one amount may hold, as in the inventory

# Who waits for a node asks again and again: reading such a body anew was a tenth of a small search's work.
MOST_REMEMBERED = 16
LONGEST_REMEMBERED = 4096  # bytes

Amount = Annotated[int, Field(ge=1, le=LARGEST)]
Text = Annotated[str, StringConstraints(min_length=1, max_length=256)]
# What validators below check, told to readers of the API's document.
Vendor = Annotated[Text, Field(json_schema_extra={"pattern": r"\S"})]
Model = Annotated[Text, Field(json_schema_extra={"pattern": "[A-Za-z0-9]"})]
_A_KEY: JsonDict = {"required": ["key"], "properties": {"key": {"minLength": 1}}}
_EXISTS: JsonDict = {"required": ["operator"], "properties": {"operator": {"const": "Exists"}, "value": {"const": ""}}}
_EQUAL: JsonDict = {"properties": {"operator": {"const": "Equal"}}}
_ASKS: list[JsonValue] = [
    {"required": [part], "properties": {part: {"type": "object"}}} for part in ("gpu", "cpu", "memory")
]

Id = Annotated[str, StringConstraints(max_length=64)]
Ids = Annotated[tuple[Id, ...], Field(max_length=1000)]
LabelKey = Annotated[str, StringConstraints(max_length=317)]
LabelText = Annotated[str, StringConstraints(max_length=253)]


class Strategy(StrEnum):
    """How candidates are ordered; see docs/ranking.md."""

    BEST_FIT = "best-fit"
    MOST_AVAILABLE = "most-available"
    BINPACK = "binpack"
    SPREAD = "spread"


class GpuRequest(Document):
    """The accelerators that the job needs on one node."""

    count: Amount = Field(1, description="How many distinct cards.")
    minimum_memory_mib: Amount | None = Field(None, description="Free memory that each device must have.")
    minimum_compute_percent: Amount | None = Field(
        None, description="Free compute of each device, in percent as listed."
    )
    vendor: Vendor | None = Field(None, description="Who makes the device, in any of its vendor's spellings.")
    model: Model | None = Field(None, description="Runs of letters and digits that stand in the device's model.")
    sharing: Literal["whole", "any"] | None = Field(
        None, description="`whole`: unused devices only. Default: `any` with a minimum, else `whole`."
    )

    @field_validator("vendor")
    @classmethod
    def _canonical_vendor(cls, vendor: str | None) -> str | None:
        if vendor is not None and not vendor.strip():
            raise ValueError("must name a vendor")
        return vendor if vendor is None else vendors.canonical(vendor.strip())

    @field_validator("model")
    @classmethod
    def _model_has_runs(cls, model: str | None) -> str | None:
        if model is not None and not models.runs(model):
            raise ValueError("must have a letter or a digit")
        return model

    @model_validator(mode="after")
    def _sharing_by_default(self) -> Self:
        if self.sharing is None:
            is_share = self.minimum_memory_mib is not None or self.minimum_compute_percent is not None
            object.__setattr__(self, "sharing", "any" if is_share else "whole")
        return self


class CpuRequest(Document):
    """The processor time that the job needs on one node."""

    minimum_millicores: Amount


class MemoryRequest(Document):
    """The memory that the job needs on one node."""

    minimum_bytes: Amount


class Toleration(Document):
    """A taint that the job can live with, by Kubernetes' rules."""

    model_config = ConfigDict(json_schema_extra={"anyOf": [_EXISTS, {"allOf": [_A_KEY, _EQUAL]}]})

    key: str = Field("", max_length=317, description="Empty with operator Exists: every key.")
    operator: Literal["Equal", "Exists"] = "Equal"
    value: str = Field("", max_length=253)
    effect: Literal["", "NoSchedule", "PreferNoSchedule", "NoExecute"] = Field("", description="Empty: every effect.")

    @model_validator(mode="after")
    def _is_one_of_kubernetes(self) -> Self:
        if not self.key and self.operator != "Exists":
            raise ValueError("an empty key needs operator Exists")
        if self.value and self.operator == "Exists":
            raise ValueError("operator Exists takes no value")
        return self


class ProviderFilter(Document):
    """Which of the enabled providers are asked: (include, or all) and labels, minus exclude."""

    include: Ids = Field((), description="Ids; empty: all.")
    exclude: Ids = Field((), description="Ids.")
    labels: dict[LabelKey, LabelText] = Field(
        {}, max_length=64, description="Labels that a provider's record must have."
    )


class SearchRequest(Document):
    """Only what is asked for is required of a node; at least one of gpu, cpu and memory."""

    model_config = ConfigDict(json_schema_extra={"anyOf": [*_ASKS]})

    gpu: GpuRequest | None = None
    cpu: CpuRequest | None = None
    memory: MemoryRequest | None = None
    tolerations: tuple[Toleration, ...] = Field((), max_length=100)
    strategy: Strategy = Strategy.BEST_FIT
    limit: int = Field(20, ge=1, le=100, description="Most candidates in the answer.")
    deadline_ms: int | None = Field(
        None, ge=100, le=25000, description="The search's bound; default SEARCH_DEADLINE_MS."
    )
    providers: ProviderFilter = ProviderFilter()
    partial: Literal["allow", "require_all"] = Field(
        "allow", description="`require_all`: 503 when a provider is missing."
    )
    explain: bool = Field(True, description="Whether the nearest rejections are listed.")

    @cached_property
    def as_told(self) -> Mapping[str, Any]:
        """The request as its answer repeats it."""
        return self.model_dump(mode="json")

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """A copy; what is kept of this one is not of the other."""
        made = super().model_copy(update=update, deep=deep)
        made.__dict__.pop("as_told", None)
        return made


def parse_search(raw: bytes, default_deadline_ms: int) -> SearchRequest:
    """The request as understood, with every default filled in.

    Raises: 400 `malformed_json`, 413 `payload_too_large`, 422 `validation_failed`.
    """
    return (_remembered if len(raw) <= LONGEST_REMEMBERED else _parsed)(raw, default_deadline_ms)


def _parsed(raw: bytes, default_deadline_ms: int) -> SearchRequest:
    request = parse(SearchRequest, raw, _asks_for_nothing)
    if request.deadline_ms is None:
        request = request.model_copy(update={"deadline_ms": default_deadline_ms})
    return request


_remembered = lru_cache(maxsize=MOST_REMEMBERED)(_parsed)


def _asks_for_nothing(value: Any) -> Iterator[dict[str, str]]:
    if isinstance(value, dict) and all(value.get(part) is None for part in ("gpu", "cpu", "memory")):
        yield {"pointer": "", "message": "ask for at least one of gpu, cpu and memory"}
