"""Whether one device can serve a request, and if not, the first test that it fails."""

from fedcompute.demand import Failure, GpuDemand
from fedcompute.inventory import Device
from fedcompute.survey import Kind

_UNHEALTHY: Failure = ("gpu_unhealthy", None)
_UNKNOWN_SLOTS: Failure = ("unknown_gpu_slots", None)
_NO_SLOT: Failure = ("no_free_gpu_slot", 0)
_IN_USE: Failure = ("gpu_in_use", None)
_UNKNOWN_MEMORY: Failure = ("unknown_gpu_memory", None)
_UNKNOWN_COMPUTE: Failure = ("unknown_gpu_compute", None)


# In one piece, since every kind of device of every search passes here.
def failure_of(kind: Kind, demand: GpuDemand) -> Failure | None:  # noqa: C901, PLR0911, PLR0912 (one test after another)
    """The first test that a device fails: vendor, model, healthy, slot, sharing, memory, compute."""
    mismatch = demand.mismatch(kind.make.vendor, kind.make.model)
    if mismatch is not None:
        return mismatch, None
    device = kind.device
    if not device.healthy:
        return _UNHEALTHY
    if not device.slots_available:
        is_unknown = device.slots_available is None and device.slots_total != 0
        return _UNKNOWN_SLOTS if is_unknown else _NO_SLOT
    if not _fits_sharing(device, demand):
        return _IN_USE
    memory = device.largest_free_mib
    if memory is None:
        memory = device.memory_available_mib
    # Who asks for no amount still needs some: a device with a known 0 is of no use to anyone.
    need = demand.memory or 1
    if memory is None:
        if device.memory_total_mib is not None and device.memory_total_mib < need:
            return "insufficient_gpu_memory", device.memory_total_mib
        if demand.memory is not None:
            return _UNKNOWN_MEMORY
    elif memory < need:
        return "insufficient_gpu_memory", memory
    compute, need = device.compute_available_percent, demand.compute or 1
    if compute is None:
        if device.compute_total_percent is not None and device.compute_total_percent < need:
            return "insufficient_gpu_compute", device.compute_total_percent
        if demand.compute is not None:
            return _UNKNOWN_COMPUTE
    elif compute < need:
        return "insufficient_gpu_compute", compute
    return None


def needs_unused(device: Device, demand: GpuDemand) -> bool:
    """Whether the request would get all of the device. A pool gives a share, whatever is asked."""
    return demand.whole or (demand.takes_all and not device.pool and (device.slots_total or 0) > 1)


def is_unused(device: Device) -> bool:
    """Whether every slot is free, and of each amount all of it, as far as is known."""
    return (
        device.slots_total is not None
        and device.slots_available == device.slots_total
        and _is_free(device.memory_available_mib, device.memory_total_mib)
        and _is_free(device.compute_available_percent, device.compute_total_percent)
    )


def free_memory(device: Device) -> int | None:
    """Free memory in MiB as ranking counts it; the largest free block stands in where the whole is unknown."""
    return device.largest_free_mib if device.memory_available_mib is None else device.memory_available_mib


def _fits_sharing(device: Device, demand: GpuDemand) -> bool:
    if device.pool and (demand.whole or demand.count > 1):
        return False
    if demand.whole and device.mode == "mig":
        return False
    return not needs_unused(device, demand) or is_unused(device)


def _is_free(available: int | None, total: int | None) -> bool:
    return available is None or total is None or available == total
