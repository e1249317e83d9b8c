"""Devices by a node's extended resources and labels alone: what a cluster without HAMi and without DRA tells.

Labels are those of NVIDIA's GPU Feature Discovery, AMD's node labeller and Intel's plugins. They describe one product a node
and outlive their writer, so amounts come from allocatable and only names and sizes from labels.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace

from msgspec import structs

from chalicelib.core_objects import ClusterNode
from chalicelib.findings import Findings
from chalicelib.hami_numbers import amount
from chalicelib.model_names import is_slice, of_label
from chalicelib.node_state import count_of
from chalicelib.plain_resources import Plain, plain
from chalicelib.pod_requests import Amounts
from fedcompute.inventory import Device
from fedcompute.quantities import units, whole
from fedcompute.soundness import MOST_DEVICES
from fedcompute.text import clean


@dataclass(frozen=True, slots=True)
class Product:
    """What labels say of a node's cards: memory in MiB per card or slice, and whether they are shared."""

    model: str = ""
    memory_mib: int | None = None
    cards: int | None = None
    sharing: str | None = None
    of_slices: bool = False


def plain_devices(
    node: ClusterNode, besides: Collection[str], taken: Amounts | None, findings: Findings
) -> Iterator[Device]:
    """A node's devices by its extended resources, those apart that count something else already (`besides`).

    `taken`: what live pods ask for, None where that is unknown.
    """
    allocatable = node.status.allocatable or {}
    for resource in sorted(allocatable):
        found = plain(resource)
        count = count_of(allocatable, resource)
        if found is None or found.kind == "nothing" or resource in besides:
            continue
        lost = (count_of(node.status.capacity, resource) or 0) - (count or 0)
        if lost > 0:
            findings.add("unhealthy_devices", f"{resource}: {lost} less allocatable than there are")
        if count:
            product = _product(resource, found, node.metadata.labels or {})
            left = None if taken is None else max(0, count - units(taken.get(resource, 0)))
            if count > MOST_DEVICES and found.kind != "shares":
                findings.add("too_many_devices", f"{resource}: only the first {MOST_DEVICES} of {count} are listed")
            yield from _devices(resource, _as_labelled(found, product, count), product, count, left)


def _as_labelled(found: Plain, product: Product, count: int) -> Plain:
    """A card resource counts shares where labels say so, or where there are more of it than cards."""
    if found.kind != "card":
        return found
    if product.sharing is not None or (product.cards is not None and count > product.cards):
        return replace(found, kind="shares", mode=product.sharing)
    return replace(found, kind="slice", mode="mig") if product.of_slices else found


def _devices(resource: str, found: Plain, product: Product, count: int, left: int | None) -> Iterator[Device]:
    one = Device(
        id=resource,
        resource=resource,
        vendor=found.vendor,
        model=clean(product.model or found.model),
        mode=found.mode,
        healthy=True,
        memory_total_mib=product.memory_mib,
        compute_total_percent=100 if found.kind in ("card", "shares") else None,
    )
    if found.kind == "shares":
        yield structs.replace(one, pool=True, slots_total=count, slots_available=left)
        return
    for place in range(min(count, MOST_DEVICES)):
        yield _numbered(one, place, None if left is None else int(place < left))


def _numbered(one: Device, place: int, slots: int | None) -> Device:
    """One of several alike: which of them are taken, nobody says."""
    memory, compute = one.memory_total_mib, one.compute_total_percent
    return structs.replace(
        one,
        id=f"{one.id}-{place}",
        memory_available_mib=None if slots is None or memory is None else memory * slots,
        compute_available_percent=None if slots is None or compute is None else compute * slots,
        slots_total=1,
        slots_available=slots,
    )


def _product(resource: str, found: Plain, labels: Mapping[str, str]) -> Product:
    if found.vendor == "NVIDIA":
        return _nvidia(resource, labels)
    if found.vendor == "AMD":
        return _amd(labels)
    if found.vendor == "Intel":
        count = amount(labels.get("gpu.intel.com/device.count", ""))
        shared = count is not None and resource.startswith("gpu.intel.com/")
        return Product(labels.get("gpu.intel.com/product", "").replace("_", " "), cards=count if shared else None)
    return Product(labels.get("cloud.google.com/gke-tpu-accelerator", "") if found.vendor == "Google" else "")


def _nvidia(resource: str, labels: Mapping[str, str]) -> Product:
    """GPU Feature Discovery's labels; those of the mixed MIG strategy carry the slice's resource as their prefix."""
    of_slice = resource.startswith("nvidia.com/mig-")
    prefix = resource.removesuffix(".shared") if of_slice else "nvidia.com/gpu"
    product = labels.get(f"{prefix}.product") or labels.get("nvidia.com/gpu.product", "")
    strategy = labels.get(f"{prefix}.sharing-strategy", "none")
    shared = strategy not in ("", "none") or product.endswith("-SHARED") or _more(labels.get(f"{prefix}.replicas"))
    return Product(
        of_label(product),
        amount(labels.get(f"{prefix}.memory", "")) or None,
        None if of_slice else amount(labels.get(f"{prefix}.count", "")) or None,
        (strategy if strategy in ("time-slicing", "mps") else "time-slicing") if shared else None,
        is_slice(product),
    )


def _more(replicas: str | None) -> bool:
    return (amount(replicas or "") or 0) > 1


def _amd(labels: Mapping[str, str]) -> Product:
    """The node labeller's: memory such as "192G", which counts in 1024."""
    said = {name: labels.get(f"amd.com/gpu.{name}") or labels.get(f"beta.amd.com/gpu.{name}") for name in _AMD}
    memory = whole(f"{said['vram']}i") if (said["vram"] or "").endswith(("M", "G", "T")) else None
    return Product(
        (said["product-name"] or "").replace("_", " "), memory >> 20 or None if memory and memory > 0 else None
    )


_AMD = ("vram", "product-name")
