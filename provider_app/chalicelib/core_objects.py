"""Nodes and pods as far as they are read; members are spelt as in kubernetes/api, core/v1.

Everything else in an object is skipped unparsed. Members that Go may write as null may be None.
"""

from msgspec import Struct, field

Quantity = str | int | float | None
ResourceList = dict[str, Quantity]


class Metadata(Struct, gc=False):
    """Name, place and notes of an object."""

    name: str = ""
    namespace: str | None = None
    labels: dict[str, str] | None = None
    annotations: dict[str, str] | None = None


class PodMetadata(Struct, gc=False):
    """As Metadata, without labels, which nothing asks a pod for."""

    name: str = ""
    namespace: str | None = None
    annotations: dict[str, str] | None = None


class NodeTaint(Struct, frozen=True, gc=False):
    """A mark that keeps pods out."""

    key: str = ""
    value: str | None = None
    effect: str | None = None


class NodeSpec(Struct, frozen=True, gc=False):
    """Cordon and taints."""

    unschedulable: bool | None = None
    taints: list[NodeTaint] | None = None


class Condition(Struct, frozen=True, gc=False):
    """One statement about an object's state; `status` is True, False or Unknown, as text."""

    type: str = ""
    status: str | None = None
    reason: str | None = None


class NodeStatus(Struct, frozen=True, gc=False):
    """What a node has, what of it may be requested, and how it does."""

    capacity: ResourceList | None = None
    allocatable: ResourceList | None = None
    conditions: list[Condition] | None = None


class ClusterNode(Struct, frozen=True, gc=False):
    """A node."""

    metadata: Metadata = field(default_factory=Metadata)
    spec: NodeSpec = NodeSpec()
    status: NodeStatus = NodeStatus()


class ResourceNeeds(Struct, frozen=True, gc=False):
    """Requests and limits of a container or, since 1.32, of a whole pod."""

    requests: ResourceList | None = None
    limits: ResourceList | None = None


class Container(Struct, frozen=True, gc=False, rename="camel"):
    """A container; an init container with `restart_policy` Always is a sidecar."""

    name: str = ""
    resources: ResourceNeeds | None = None
    restart_policy: str | None = None


class PodSpec(Struct, frozen=True, gc=False, rename="camel"):
    """Where a pod runs and what it asks for."""

    node_name: str | None = None
    containers: list[Container] | None = None
    init_containers: list[Container] | None = None
    overhead: ResourceList | None = None
    resources: ResourceNeeds | None = None


class Terminated(Struct, frozen=True, gc=False, rename="camel"):
    """How a container ended."""

    exit_code: int | None = None


class ContainerState(Struct, frozen=True, gc=False):
    """Only whether a container has ended."""

    terminated: Terminated | None = None


class ContainerStatus(Struct, frozen=True, gc=False, rename="camel"):
    """What a container really has (it may differ from the spec during a resize), and whether it has ended."""

    name: str = ""
    state: ContainerState | None = None
    allocated_resources: ResourceList | None = None
    resources: ResourceNeeds | None = None


class PodStatus(Struct, frozen=True, gc=False, rename="camel"):
    """Phase and containers of a pod."""

    phase: str | None = None
    resize: str | None = None
    conditions: list[Condition] | None = None
    container_statuses: list[ContainerStatus] | None = None
    init_container_statuses: list[ContainerStatus] | None = None


class ClusterPod(Struct, frozen=True, gc=False):
    """A pod."""

    metadata: PodMetadata = field(default_factory=PodMetadata)
    spec: PodSpec = PodSpec()
    status: PodStatus = PodStatus()
