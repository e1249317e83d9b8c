"""What the gateway's codes mean to a person, with amounts in units that people think in."""

from collections.abc import Callable, Mapping

from fedcompute.answer import Candidate, Reason
from fedcompute.inventory import Device, Warning  # noqa: A004 (the contract's word)

GIB = 1 << 30


def cores(millicores: int) -> str:
    """Millicores as cores, never more than there are: 118, 5.2."""
    return str(millicores // 1000) if millicores >= 100_000 or millicores % 1000 == 0 else _tenths(millicores, 1000)


def gib(amount: int) -> str:
    """Bytes in GiB, never more than there are: 402, 22.0."""
    return str(amount // GIB) if amount >= 100 * GIB else _tenths(amount, GIB)


def gib_of_mib(mib: int) -> str:
    """MiB in GiB, never more than there are: 30.4."""
    return gib(mib << 20)


def _tenths(amount: int, unit: int) -> str:
    tenths = amount * 10 // unit
    return f"{tenths // 10}.{tenths % 10}"


def _memory(mib: int) -> str:
    return f"{mib} MiB" if mib < 1024 else f"{gib_of_mib(mib)} GiB"


# What there is too little of: its name, and its amounts in words.
_AMOUNTS: Mapping[str, tuple[str, Callable[[int], str]]] = {
    "insufficient_cpu": ("cpu", lambda amount: f"{cores(amount)} cores"),
    "insufficient_memory": ("memory", lambda amount: _memory(amount >> 20)),
    "insufficient_gpu_memory": ("GPU memory", _memory),
    "insufficient_gpu_compute": ("GPU compute", lambda amount: f"{amount} %"),
    "insufficient_gpu_count": ("GPUs that can serve", str),
    "no_gpu": ("GPUs", str),
    "no_free_gpu_slot": ("free GPU shares", str),
    "no_free_pod": ("free pods", str),
}
_PHRASES: Mapping[str, str] = {
    "node_not_ready": "the node is not ready",
    "node_not_schedulable": "the node is cordoned",
    "untolerated_taint": "a taint keeps the job out (see --toleration)",
    "gpu_vendor_mismatch": "GPUs of another vendor",
    "gpu_model_mismatch": "GPUs of another model",
    "gpu_unhealthy": "GPUs that are not healthy",
    "gpu_in_use": "GPUs in use where an unused one is needed",
    "no_free_pod": "the node takes no more pods",
    "no_free_gpu_slot": "GPUs without a free share",
    "no_gpu": "no GPU",
}


def phrase(code: str) -> str:
    """A reason's code in words; one that is new is read as it is written."""
    if code in _PHRASES:
        return _PHRASES[code]
    if code in _AMOUNTS:
        return f"too little {_AMOUNTS[code][0]}" if "count" not in code else "too few GPUs that can serve"
    return code.replace("_", " ")


def in_words(reason: Reason) -> str:
    """A reason with its amounts: "GPU memory: 20 GiB of 30 GiB, 10 GiB short (8 devices)"."""
    devices = "" if reason.devices is None else f" ({reason.devices} device{'' if reason.devices == 1 else 's'})"
    if reason.reason not in _AMOUNTS or reason.have is None or reason.need is None:
        return phrase(reason.reason) + devices
    name, told = _AMOUNTS[reason.reason]
    short = "" if reason.short_by is None else f", {told(reason.short_by)} short"
    return f"{name}: {told(reason.have)} of {told(reason.need)}{short}{devices}"


def models(candidate: Candidate) -> str:
    """The model that all devices of a candidate share, without its vendor's name before it."""
    if not candidate.devices:
        return "-"
    name = model(candidate.devices[0].vendor, candidate.devices[0].model)
    return name if len(candidate.devices) == 1 else f"{len(candidate.devices)} x {name}"


def model(vendor: str, name: str) -> str:
    """A model without its vendor's name before it."""
    return name.removeprefix(vendor).strip() or name or "-"


def least(devices: list[Device], amount: Callable[[Device], int | None]) -> int | None:
    """The smallest amount among devices; None where one is unknown, or there are none."""
    found = [amount(device) for device in devices]
    known = [one for one in found if one is not None]
    return min(known) if known and len(known) == len(found) else None


def age(milliseconds: int | None) -> str:
    """How old: 0.8 s, 5 min, 2 h."""
    if milliseconds is None:
        return "-"
    for unit, length in (("d", 86_400_000), ("h", 3_600_000), ("min", 60_000)):
        if milliseconds >= length:
            return f"{milliseconds // length} {unit}"
    return f"{milliseconds / 1000:.0f} s" if milliseconds >= 10_000 else f"{milliseconds / 1000:.1f} s"


def counted(number: int, what: str) -> str:
    """A number of things: 1 node, 2 nodes."""
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def told(warning: Warning) -> str:
    """A warning with its place before it."""
    place = ", ".join(part for part in (warning.provider_id, warning.node) if part)
    return f"{place}: {warning.message}" if place else warning.message
