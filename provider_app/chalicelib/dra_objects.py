"""ResourceSlices and ResourceClaims as far as they are read: resource.k8s.io v1, v1beta2 and v1beta1.

Members are spelt as in kubernetes/api, resource/v1; v1beta1 nests those of a device under `basic`.
"""

from msgspec import Struct, field

from chalicelib.core_objects import NodeTaint, PodMetadata, Quantity, ResourceList


class Attribute(Struct, frozen=True, gc=False, rename={"number": "int"}):
    """A device's attribute: one of `string`, `version`, `int` and `bool` is set; flags are not read."""

    string: str | None = None
    version: str | None = None
    number: int | None = None


class Capacity(Struct, frozen=True, gc=False):
    """An amount that a DRA device has, or a counter's value."""

    value: Quantity = None


class CounterUse(Struct, frozen=True, gc=False, rename="camel"):
    """What a partition takes from a shared set of counters."""

    counter_set: str = ""
    counters: dict[str, Capacity] | None = None


class BasicDevice(Struct, frozen=True, gc=False, rename="camel"):
    """The members that v1beta1 nests under `basic`."""

    attributes: dict[str, Attribute] | None = None
    capacity: dict[str, Capacity | str | int] | None = None
    consumes_counters: list[CounterUse] | None = None
    node_name: str | None = None
    taints: list[NodeTaint] | None = None
    allow_multiple_allocations: bool | None = None


class SliceDevice(Struct, frozen=True, gc=False, rename="camel"):
    """A device as its driver publishes it, in any version of the API."""

    name: str = ""
    basic: BasicDevice | None = None
    attributes: dict[str, Attribute] | None = None
    capacity: dict[str, Capacity | str | int] | None = None
    consumes_counters: list[CounterUse] | None = None
    node_name: str | None = None
    taints: list[NodeTaint] | None = None
    allow_multiple_allocations: bool | None = None


class CounterSet(Struct, frozen=True, gc=False):
    """Counters that the partitions of one card share."""

    name: str = ""
    counters: dict[str, Capacity] | None = None


class SlicePool(Struct, frozen=True, gc=False, rename="camel"):
    """Which pool a slice is part of: of the highest generation, `resource_slice_count` slices make it whole."""

    name: str = ""
    generation: int = 0
    resource_slice_count: int = 1


class SliceSpec(Struct, frozen=True, gc=False, rename="camel"):
    """Devices or shared counters of one pool."""

    driver: str = ""
    pool: SlicePool = SlicePool()
    node_name: str | None = None
    all_nodes: bool | None = None
    per_device_node_selection: bool | None = None
    devices: list[SliceDevice] | None = None
    shared_counters: list[CounterSet] | None = None


class ResourceSlice(Struct, frozen=True, gc=False):
    """A ResourceSlice of resource.k8s.io v1, v1beta2 or v1beta1."""

    metadata: PodMetadata = field(default_factory=PodMetadata)
    spec: SliceSpec = SliceSpec()


class AllocationResult(Struct, frozen=True, gc=False, rename="camel"):
    """A device, or a part of one, that a claim holds."""

    driver: str = ""
    pool: str = ""
    device: str = ""
    admin_access: bool | None = None
    consumed_capacity: ResourceList | None = None


class DeviceAllocation(Struct, frozen=True, gc=False):
    """The devices of an allocation."""

    results: list[AllocationResult] | None = None


class Allocation(Struct, frozen=True, gc=False):
    """What a claim holds."""

    devices: DeviceAllocation | None = None


class ClaimStatus(Struct, frozen=True, gc=False):
    """Empty until the claim is allocated."""

    allocation: Allocation | None = None


class ResourceClaim(Struct, frozen=True, gc=False):
    """A ResourceClaim of resource.k8s.io v1, v1beta2 or v1beta1."""

    metadata: PodMetadata = field(default_factory=PodMetadata)
    status: ClaimStatus | None = None
