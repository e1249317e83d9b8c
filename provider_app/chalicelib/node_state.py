"""What of a node is not its devices: whether it is ready, takes pods and from whom, and what of it is left."""

from chalicelib.core_objects import ClusterNode, ResourceList
from chalicelib.findings import Findings
from chalicelib.pod_requests import Amounts
from fedcompute.inventory import Cpu, Memory, Pods, Taint
from fedcompute.quantities import LARGEST, nanos, thousandths, units
from fedcompute.soundness import MOST_LABELS, MOST_TAINTS
from fedcompute.taints import KEEP_OUT
from fedcompute.text import clean

_LIFECYCLE = "node.kubernetes.io/"
_LONGEST_NAME = 256  # label and taint keys have at most 253 + 1 + 63 characters, values 63


def is_ready(node: ClusterNode) -> bool:
    """Whether the condition Ready is True: a lost node's is Unknown, and a node that never reported has none."""
    return any(one.type == "Ready" and one.status == "True" for one in node.status.conditions or ())


def is_schedulable(node: ClusterNode) -> bool:
    """Whether the node takes new pods: not cordoned, and no lifecycle taint (not-ready, memory-pressure, ...)."""
    return not node.spec.unschedulable and not any(
        taint.effect in KEEP_OUT and taint.key.startswith(_LIFECYCLE) for taint in node.spec.taints or ()
    )


def taints_of(node: ClusterNode, findings: Findings) -> list[Taint]:
    """The taints that a pod must tolerate, those of the node's lifecycle apart. A warning where not all can be listed."""
    taints = [
        Taint(key=clean(taint.key, _LONGEST_NAME), value=clean(taint.value or "", _LONGEST_NAME), effect=taint.effect)
        for taint in node.spec.taints or ()
        if taint.effect in KEEP_OUT and not taint.key.startswith(_LIFECYCLE)
    ]
    if len(taints) > MOST_TAINTS:
        findings.add(
            "too_many_taints", f"{len(taints)} taints are more than can be listed: the node takes no pods here"
        )
    return taints


def labels_of(node: ClusterNode, findings: Findings) -> dict[str, str]:
    """The node's labels, by name, so that equal ones read alike; as many as an inventory takes."""
    labels = node.metadata.labels or {}
    if len(labels) > MOST_LABELS:
        findings.add("too_many_labels", f"only the first {MOST_LABELS} of {len(labels)} are listed")
    return {clean(name, _LONGEST_NAME): clean(labels[name], _LONGEST_NAME) for name in sorted(labels)[:MOST_LABELS]}


def tell_of_virtual(node: ClusterNode, findings: Findings) -> None:
    """Warns of a node that stands for another cluster, which may be a provider of its own: its capacity then counts twice."""
    labels = node.metadata.labels or {}
    if labels.get("type") == "virtual-kubelet" or "liqo.io/type" in labels:
        findings.add("virtual_node", "a virtual node: what it has may belong to a cluster that is listed itself")


def cpu_of(node: ClusterNode, taken: Amounts | None, findings: Findings) -> Cpu:
    """Millicores: allocatable, and what is left of it. `taken` is None where the pods are unknown."""
    total = _allocatable(node, "cpu", findings)
    if total is None:
        return Cpu()
    left = None if taken is None else thousandths(total) - thousandths(taken.get("cpu", 0))
    return Cpu(total_millicores=thousandths(total), available_millicores=_not_below_zero(left, "cpu", findings))


def memory_of(node: ClusterNode, taken: Amounts | None, findings: Findings) -> Memory:
    """Bytes: allocatable, and what is left of it. `taken` is None where the pods are unknown."""
    total = _allocatable(node, "memory", findings)
    if total is None:
        return Memory()
    left = None if taken is None else units(total) - units(taken.get("memory", 0))
    return Memory(total_bytes=units(total), available_bytes=_not_below_zero(left, "memory", findings))


def pods_of(node: ClusterNode, running: int | None, findings: Findings) -> Pods | None:
    """How many pods the node takes, and how many more; None where it does not say."""
    total = _allocatable(node, "pods", findings)
    if total is None:
        return None
    return Pods(total=units(total), available=None if running is None else max(0, units(total) - running))


def count_of(listed: ResourceList | None, resource: str) -> int | None:
    """How many of an extended resource; None where it is not listed, or listed as what is no quantity."""
    if listed is None or resource not in listed:
        return None
    amount = nanos(listed[resource])
    return None if amount is None else min(max(0, units(amount)), LARGEST)


def _allocatable(node: ClusterNode, resource: str, findings: Findings) -> int | None:
    """In billionths. Allocatable, never capacity: what is reserved for the system is nobody's."""
    value = (node.status.allocatable or {}).get(resource)
    amount = nanos(value)
    if amount is None or amount < 0:
        findings.add("unreadable_quantity", f"allocatable {resource} is {str(value)[:40]!r}, which is no quantity")
        return None
    return amount


def _not_below_zero(left: int | None, resource: str, findings: Findings) -> int | None:
    if left is not None and left < 0:
        findings.add("over_committed", f"live pods ask for more {resource} than is allocatable")
        return 0
    return left
