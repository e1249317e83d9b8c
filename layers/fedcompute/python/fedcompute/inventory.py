"""What a provider has now: the reply of GET /api/v1/inventory, read with tolerance.

Fields that are not known are ignored. One bad node or device is left out with a warning and hides nothing else.
Unknown amounts are None, never 0.
"""

from typing import Annotated

from msgspec import Meta, Struct, field

SCHEMA_VERSION = 1
LONGEST_NAME = 512  # characters

Amount = Annotated[int, Meta(ge=0, le=2**63 - 1)]
Number = Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]
Name = Annotated[str, Meta(min_length=1, max_length=LONGEST_NAME)]
Text = Annotated[str, Meta(max_length=LONGEST_NAME)]


class Warning(Struct, frozen=True, kw_only=True):  # noqa: A001 (the contract's word)
    """Something that was left out or looks wrong, in words."""

    code: str = ""
    message: str = ""
    provider_id: str | None = None
    node: str | None = None
    device: str | None = None


class Taint(Struct, frozen=True, kw_only=True, gc=False):
    """A mark on a node that keeps out jobs which do not tolerate it."""

    key: Text = ""
    value: Text = ""
    effect: Text = ""


class Cpu(Struct, frozen=True, kw_only=True, gc=False):
    """Processor time of a node, in thousandths of a core."""

    total_millicores: Amount | None = None
    available_millicores: Amount | None = None


class Memory(Struct, frozen=True, kw_only=True, gc=False):
    """Memory of a node."""

    total_bytes: Amount | None = None
    available_bytes: Amount | None = None


class Pods(Struct, frozen=True, kw_only=True, gc=False):
    """How many pods a node takes."""

    total: Amount | None = None
    available: Amount | None = None


class Device(Struct, frozen=True, kw_only=True, gc=False):
    """One accelerator, one MIG slice, or one pool of time-sliced shares."""

    id: Name
    resource: Text = ""
    vendor: Text = ""
    model: Text = ""
    index: Number | None = None
    numa: Number | None = None
    mode: Text | None = None
    card: Text | None = None
    pool: bool = False
    healthy: bool
    memory_total_mib: Amount | None = None
    memory_available_mib: Amount | None = None
    largest_free_mib: Amount | None = None
    compute_total_percent: Amount | None = None
    compute_available_percent: Amount | None = None
    slots_total: Amount | None = None
    slots_available: Amount | None = None


class Node(Struct, frozen=True, kw_only=True):
    """A machine that a job can land on."""

    name: Name
    ready: bool
    schedulable: bool
    labels: dict[Text, Text] = {}
    taints: list[Taint] = []
    cpu: Cpu = Cpu()
    memory: Memory = Memory()
    pods: Pods | None = None
    devices: list[Device] = []
    warnings: list[Warning] = []


class Inventory(Struct, frozen=True, kw_only=True):
    """What one provider has now."""

    schema_version: Number = SCHEMA_VERSION
    provider_id: str
    source: Text = ""
    observed_at: str | None = None
    nodes: list[Node] = field(default_factory=list)
    warnings: list[Warning] = field(default_factory=list)
