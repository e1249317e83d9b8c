"""Pools of DRA devices, put together from ResourceSlices: of each pool only its newest generation counts.

Source: kubernetes/api, resource/v1 (ResourceSlice); kubernetes/dynamic-resource-allocation, structured/internal (a pool that
lacks slices of its newest generation gives out nothing). Attribute names of kubernetes-sigs/dra-driver-nvidia-gpu,
cmd/gpu-kubelet-plugin/deviceinfo.go, and of Project-HAMi/k8s-dra-driver.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from chalicelib.dra_objects import Attribute, Capacity, CounterUse, ResourceSlice, SliceDevice
from chalicelib.findings import Findings
from fedcompute.quantities import LARGEST, nanos, units
from fedcompute.taints import KEEP_OUT

_VENDORS = {
    "gpu.nvidia.com": "NVIDIA",
    "hami-core-gpu.project-hami.io": "NVIDIA",
    "gpu.amd.com": "AMD",
    "gpu.intel.com": "Intel",
    "gaudi.intel.com": "Intel",
    "tpu.google.com": "Google",
    "neuron.aws.com": "AWS",
    "npu.huawei.com": "Huawei",
}


@dataclass(frozen=True, slots=True)
class DraDevice:
    """A device of a pool: amounts in units (bytes; percent of cores), None where they are not published."""

    name: str
    node: str
    type: str
    uuid: str
    model: str
    parent: str
    bus: str
    memory: int | None
    cores: int | None
    counters: list[CounterUse]
    is_shared: bool
    is_tainted: bool
    is_dead: bool


@dataclass(slots=True)
class DraPool:
    """What a driver has under one name. `counters`: by set and counter, in billionths."""

    driver: str
    name: str
    vendor: str
    generation: int
    slices_wanted: int
    slices_seen: int = 0
    devices: list[DraDevice] = field(default_factory=list)
    names: set[str] = field(default_factory=set)
    counters: dict[str, dict[str, int]] = field(default_factory=dict)

    @property
    def is_whole(self) -> bool:
        """Whether every slice of the generation is there; of a pool that is not, nothing is given out."""
        return self.slices_seen >= self.slices_wanted


def pools_of(slices: Iterable[ResourceSlice], findings: Findings) -> list[DraPool]:
    """The pools of accelerators, in the order of driver and name."""
    pools: dict[tuple[str, str], DraPool] = {}
    for one in sorted(slices, key=lambda one: one.metadata.name):
        spec = one.spec
        vendor = _vendor(spec.driver)
        if vendor is None:
            continue
        key, pool = (spec.driver, spec.pool.name), pools.get((spec.driver, spec.pool.name))
        if pool is None or spec.pool.generation > pool.generation:
            wanted = spec.pool.resource_slice_count
            pool = pools[key] = DraPool(*key, vendor, spec.pool.generation, wanted)
        if spec.pool.generation == pool.generation:
            _take(pool, one, findings)
    return [pools[key] for key in sorted(pools)]


def _vendor(driver: str) -> str | None:
    """Whose accelerators a driver has; None for drivers of other things, such as networks."""
    if driver in _VENDORS:
        return _VENDORS[driver]
    return "unknown" if driver.partition(".")[0] in ("gpu", "npu", "xpu", "vgpu") else None


def _take(pool: DraPool, one: ResourceSlice, findings: Findings) -> None:
    spec = one.spec
    pool.slices_seen += 1
    for counter_set in spec.shared_counters or ():
        pool.counters[counter_set.name] = dict(_values(counter_set.counters or {}))
    for device in spec.devices or ():
        node = spec.node_name or _member(device, "node_name")
        if not node:
            findings.add("dra_not_on_a_node", f"{pool.driver}: devices of {one.metadata.name} belong to no single node")
            return
        if device.name in pool.names:
            findings.add("duplicate_device", f"{pool.driver}: {device.name} stands twice in pool {pool.name}")
            continue
        pool.names.add(device.name)
        pool.devices.append(_device(device, node, pool.driver))


def _device(device: SliceDevice, node: str, driver: str) -> DraDevice:
    told = _Told(_member(device, "attributes") or {})
    amounts = dict(_values(_member(device, "capacity") or {}))
    taints = [one for one in _member(device, "taints") or () if one.effect in KEEP_OUT]
    return DraDevice(
        name=device.name,
        node=node,
        type=told("type"),
        uuid=told("uuid"),
        model=told("productName") or told("model"),
        parent=told("parentUUID"),
        bus=told("pciBusID") or told("pcieBusID"),
        memory=_units(amounts.get("memory")),
        cores=_units(amounts.get("cores")),
        counters=_member(device, "consumes_counters") or [],
        is_shared=bool(_member(device, "allow_multiple_allocations")),
        is_tainted=bool(taints),
        is_dead=any(one.key.startswith(f"{driver}/") or one.effect == "NoExecute" for one in taints),
    )


class _Told:
    """Attributes as text, by their name without the driver's domain or Kubernetes' own."""

    def __init__(self, attributes: Mapping[str, Attribute]) -> None:
        self._texts = {name.rpartition("/")[2]: one.string or one.version or "" for name, one in attributes.items()}

    def __call__(self, name: str) -> str:
        return self._texts.get(name, "")


def _member(device: SliceDevice, name: str) -> Any:
    """A member of a device, from where its version of the API has it."""
    own = getattr(device, name)
    return own if own is not None or device.basic is None else getattr(device.basic, name)


def _values(amounts: Mapping[str, Capacity | str | int]) -> Iterator[tuple[str, int]]:
    for name, amount in amounts.items():
        value = nanos(amount.value if isinstance(amount, Capacity) else amount)
        if value is not None and value >= 0:
            yield name.rpartition("/")[2], value


def _units(amount: int | None) -> int | None:
    return None if amount is None else min(units(amount), LARGEST)
