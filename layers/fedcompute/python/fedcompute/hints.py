"""From an answer to action: what a person pastes next to use a candidate."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from fedcompute.answer import Hint
from fedcompute.inventory import Device, Node
from fedcompute.manifests import HOSTNAME, pod, pod_yaml, yaml
from fedcompute.request import SearchRequest, Strategy
from fedcompute.share_names import ShareNames, share_names

NVIDIA_DRIVER, NVIDIA_SLICES = "gpu.nvidia.com", "mig.nvidia.com"  # its driver, and its device class of MIG slices
CLUSTERS = ("hami", "kubernetes")  # the sources whose nodes take pods

# HAMi's word for each strategy; what it has no word for is nearest to one of its two.
_POLICIES: Mapping[Strategy, str] = {
    Strategy.BEST_FIT: "binpack",
    Strategy.BINPACK: "binpack",
    Strategy.MOST_AVAILABLE: "spread",
    Strategy.SPREAD: "spread",
}

# Names come from strangers: what Kubernetes would not take stands in no manifest.
_NODE_NAME = re.compile(r"[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?")
_LABEL = re.compile(r"[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?")
_RESOURCE = re.compile(r"[a-z0-9][a-z0-9.-]{0,252}/[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?")
_DRIVER = re.compile(r"[a-z0-9]([a-z0-9.-]{0,61}[a-z0-9])?")
_CARD = re.compile(r"[A-Za-z0-9]([A-Za-z0-9_.:-]{0,126}[A-Za-z0-9])?")
_UUID = re.compile(r"(GPU|MIG)-[A-Za-z0-9/-]{1,120}")


def hint(
    request: SearchRequest, node: Node, devices: Sequence[Device], *, source: str, name: str, base_url: str | None
) -> Hint:
    """The hint for a node with the devices chosen on it.

    `name` and `base_url` are the provider's; the address is None where the caller may not see it.
    """
    if source not in CLUSTERS or not _can_be_named(node, devices):
        return Hint("contact", name if base_url is None else f"{name}, {base_url}")
    if not devices or request.gpu is None:
        return Hint("kubernetes", pod_yaml(request, node, None, {}))
    resource = devices[0].resource
    if "/" not in resource:
        return Hint("dra", _claimed(request, node, devices))
    names = share_names(resource)
    if names is not None and source == "hami" and _is_shared(devices[0]):
        return Hint("hami", _share(request, node, devices, names))
    return Hint("kubernetes", pod_yaml(request, node, resource, {resource: request.gpu.count}))


def _can_be_named(node: Node, devices: Sequence[Device]) -> bool:
    host = node.labels.get(HOSTNAME)
    is_node = _NODE_NAME.fullmatch(node.name) and (not host or _LABEL.fullmatch(host))
    return bool(is_node) and all(
        (_RESOURCE if "/" in device.resource else _DRIVER).fullmatch(device.resource) for device in devices[:1]
    )


def _is_shared(device: Device) -> bool:
    """Whether HAMi hands the device out; beside it a cluster can have devices that it does not know."""
    return device.mode is not None or device.slots_total != 1


def _share(request: SearchRequest, node: Node, devices: Sequence[Device], names: ShareNames) -> str:
    resource, policy = devices[0].resource, _POLICIES[request.strategy]
    annotations = {"hami.io/node-scheduler-policy": policy, "hami.io/gpu-scheduler-policy": policy}
    if names.cards is not None and all(_CARD.fullmatch(device.id) for device in devices):
        annotations[names.cards] = ",".join(device.id for device in devices)
    if devices[0].mode in ("hami-core", "mig") and resource == "nvidia.com/gpu":
        annotations["nvidia.com/vgpu-mode"] = devices[0].mode
    limits = dict(_share_limits(request, resource, names))
    return pod_yaml(request, node, resource, limits, annotations)


def _share_limits(request: SearchRequest, resource: str, names: ShareNames) -> Iterator[tuple[str, int]]:
    gpu = request.gpu
    assert gpu is not None
    is_whole = gpu.sharing == "whole"
    yield resource, gpu.count
    if names.memory is not None and gpu.minimum_memory_mib is not None and not is_whole:
        yield names.memory, names.memory_amount(gpu.minimum_memory_mib)
    elif names.all_memory is not None:
        yield names.all_memory, 100
    percent = 100 if is_whole else gpu.minimum_compute_percent
    if names.compute is not None and percent is not None:
        yield names.compute, names.compute_amount(percent)


def _claimed(request: SearchRequest, node: Node, devices: Sequence[Device]) -> str:
    """A ResourceClaim (resource.k8s.io/v1, Kubernetes 1.34) and a pod that uses it."""
    claim = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": {"name": "my-job"},
        "spec": {"devices": {"requests": [{"name": "gpu", "exactly": _exactly(request, devices)}]}},
    }
    made = pod(request, node, devices[0].resource, {})
    made["spec"]["resourceClaims"] = [{"name": "gpu", "resourceClaimName": "my-job"}]
    made["spec"]["containers"][0]["resources"]["claims"] = [{"name": "gpu"}]
    return yaml(claim, made)


def _exactly(request: SearchRequest, devices: Sequence[Device]) -> dict[str, Any]:
    gpu, driver = request.gpu, devices[0].resource
    assert gpu is not None
    is_slice = driver == NVIDIA_DRIVER and devices[0].mode == "mig"
    name = NVIDIA_SLICES if is_slice else driver
    asked: dict[str, Any] = {"deviceClassName": name, "allocationMode": "ExactCount", "count": gpu.count}
    if all(_UUID.fullmatch(device.id) for device in devices):
        asked["selectors"] = [{"cel": {"expression": _one_of(devices, gpu.minimum_memory_mib)}}]
    if devices[0].slots_total != 1:  # a device that many may hold says what each takes of it
        memory = None if gpu.minimum_memory_mib is None else f"{gpu.minimum_memory_mib}Mi"
        cores = None if gpu.minimum_compute_percent is None else str(gpu.minimum_compute_percent)
        asked["capacity"] = {"requests": {"memory": memory, "cores": cores}}
    return asked


def _one_of(devices: Sequence[Device], memory_mib: int | None) -> str:
    """CEL that picks these devices; of a card that is cut on demand, a slice with the memory that is asked for."""
    attributes = f'device.attributes["{devices[0].resource}"]'
    listed = ", ".join(f'"{device.id}"' for device in devices)
    if devices[0].largest_free_mib is None:
        return f"{attributes}.uuid in [{listed}]"
    memory = f'device.capacity["{devices[0].resource}"].memory'
    enough = f' && {memory}.compareTo(quantity("{memory_mib}Mi")) >= 0' if memory_mib is not None else ""
    return f"{attributes}.parentUUID in [{listed}]{enough}"
