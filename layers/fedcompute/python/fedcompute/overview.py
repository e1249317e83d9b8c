"""What the federation has, as the gateway adds it up; `unknown` counts what a sum leaves out."""

from typing import Annotated

from msgspec import Meta, Struct, field

from fedcompute.answer import SOMETIMES, Answer, Entry


class CpuSums(Struct, kw_only=True):
    """Processor time of many nodes; `unknown` counts those that are left out."""

    total_millicores: int = 0
    available_millicores: int = 0
    unknown: int = 0


class MemorySums(Struct, kw_only=True):
    """Memory of many nodes."""

    total_bytes: int = 0
    available_bytes: int = 0
    unknown: int = 0


class DeviceSums(Struct, kw_only=True):
    """Many devices; of `unused` ones nobody has a share."""

    count: int = 0
    healthy: int = 0
    unused: int = 0
    slots_total: int = 0
    slots_available: int = 0
    memory_total_mib: int = 0
    memory_available_mib: int = 0
    unknown: int = 0


class Totals(Struct, kw_only=True):
    """What a group of nodes has."""

    nodes: int = 0
    cpu: CpuSums = field(default_factory=CpuSums)
    memory: MemorySums = field(default_factory=MemorySums)
    devices: DeviceSums = field(default_factory=DeviceSums)


class ProviderTotals(Totals, kw_only=True):
    """What one provider has."""

    provider_id: str
    provider_name: str = ""


class ModelTotals(Struct, kw_only=True):
    """The devices of one vendor, or of one of its models."""

    vendor: str = ""
    model: Annotated[str, Meta(extra_json_schema=SOMETIMES)] = ""
    devices: DeviceSums


class Resources(Answer, kw_only=True, dict=True):
    """The answer of GET /api/v1/resources."""

    totals: Totals
    by_provider: list[ProviderTotals] = field(default_factory=list)
    by_vendor: list[ModelTotals] = field(default_factory=list)
    by_model: list[ModelTotals] = field(default_factory=list)
    providers: list[Entry] = field(default_factory=list)
    partial: bool = False
    observed_at: str | None = None
