"""Devices of DRA: whole cards, MIG slices that stand, cards that are cut on demand, and cards that claims share.

A card that may be cut is published with every cut it could get, all at once; here it is one device, and what is left of it
follows from the counters that cards and cuts share (KEP-4815). A card with standing slices is not listed beside them.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from chalicelib.dra_claims import Held, consumed
from chalicelib.dra_pools import DraDevice, DraPool
from fedcompute.inventory import Device
from fedcompute.quantities import nanos
from fedcompute.text import clean

_LONGEST_ID = 256
_SHARES = 100  # of a card that claims share: as many as it has percents


@dataclass(frozen=True, slots=True)
class _Left:
    """What is left of a device, in bytes and slots; all None where nobody knows."""

    memory: int | None
    largest: int | None
    percent: int | None
    slots: int | None


_UNKNOWN = _Left(None, None, None, None)


def dra_devices(pool: DraPool, held: Held | None) -> Iterator[tuple[str, Device]]:
    """The devices of a pool, each with its node's name. `held` is None where claims can't be read."""
    cut: dict[str, list[DraDevice]] = {}
    standing = []
    for device in pool.devices:
        if device.counters:
            cut.setdefault(device.counters[0].counter_set, []).append(device)
        else:
            standing.append(device)
    for together in cut.values():
        if _fit_together(pool, together):
            standing += together
        else:
            yield _cut_card(pool, together, held)
    yield from _standing(pool, standing, held)


def _standing(pool: DraPool, devices: list[DraDevice], held: Held | None) -> Iterator[tuple[str, Device]]:
    with_slices = {device.parent for device in devices if device.parent}
    cards = {device.bus for device in devices if device.bus and device.type != "vfio"}
    taken = {device.uuid for device in devices if device.uuid and _is_held(pool, device, held)}
    taken |= {device.bus for device in devices if device.bus and not device.parent and _is_held(pool, device, held)}
    for device in devices:
        if (device.uuid and device.uuid in with_slices) or (device.type == "vfio" and device.bus in cards):
            continue
        if device.is_shared:
            yield device.node, _shared(pool, device, held)
            continue
        busy = _is_held(pool, device, held) or device.parent in taken or (not device.parent and device.bus in taken)
        yield device.node, _whole(pool, device, held, busy=busy)


def _is_held(pool: DraPool, device: DraDevice, held: Held | None) -> bool:
    return held is not None and (pool.driver, pool.name, device.name) in held


def _whole(pool: DraPool, device: DraDevice, held: Held | None, *, busy: bool) -> Device:
    free = 0 if busy or not _is_open(pool, device) else 1
    if held is None and free:
        return _device(pool, device, _UNKNOWN)
    memory = None if device.memory is None else device.memory * free
    return _device(pool, device, _Left(memory, None, 100 * free, free))


def _shared(pool: DraPool, device: DraDevice, held: Held | None) -> Device:
    cores = device.cores if device.cores is not None else 100
    if not _is_open(pool, device):
        return _device(pool, device, _Left(0, None, 0, 0), cores=cores, slots=_SHARES)
    if held is None:
        return _device(pool, device, _UNKNOWN, cores=cores, slots=_SHARES)
    shares = held.get((pool.driver, pool.name, device.name), [])
    memory = None if device.memory is None else device.memory - consumed(shares, "memory", device.memory)
    left = _Left(memory, None, cores - consumed(shares, "cores", cores), max(0, _SHARES - len(shares)))
    return _device(pool, device, left, cores=cores, slots=_SHARES)


def _cut_card(pool: DraPool, together: list[DraDevice], held: Held | None) -> tuple[str, Device]:
    """A card and its possible cuts as one device: the card itself, or the largest cut where the card is not published."""
    card = max(together, key=lambda device: (device.type == "gpu", device.memory or 0))
    if not _is_open(pool, card):
        return card.node, _device(pool, card, _Left(0, 0, 0, 0))
    if held is None:
        return card.node, _device(pool, card, _UNKNOWN)
    busy = [device for device in together if _is_held(pool, device, held)]
    left = _counters_left(pool, busy)
    fitting = [device for device in together if device not in busy and not device.is_tainted and _fits(device, left)]
    if not busy:
        return card.node, _device(pool, card, _Left(card.memory, card.memory, 100, 1))
    largest = max((device.memory or 0 for device in fitting), default=0)
    memory = _share(left, pool, card, "memory", card.memory) if fitting else 0
    percent = _share(left, pool, card, "multiprocessors", 100) if fitting else 0
    largest = min(largest, card.memory or 0, largest if memory is None else memory)
    mode = "mig" if card not in busy else None
    return card.node, _device(pool, card, _Left(memory, largest, percent, int(bool(fitting))), mode=mode)


def _fit_together(pool: DraPool, together: list[DraDevice]) -> bool:
    """Whether devices of one set of counters stand beside one another, rather than for one another."""
    return min(_counters_left(pool, together).values(), default=0) >= 0


def _counters_left(pool: DraPool, busy: Iterable[DraDevice]) -> dict[tuple[str, str], int]:
    left = {(name, counter): value for name, counters in pool.counters.items() for counter, value in counters.items()}
    for device in busy:
        for key, value in _takes(device):
            left[key] = left.get(key, 0) - value
    return left


def _takes(device: DraDevice) -> Iterator[tuple[tuple[str, str], int]]:
    for use in device.counters:
        for counter, amount in (use.counters or {}).items():
            yield (use.counter_set, counter), max(0, nanos(amount.value) or 0)


def _fits(device: DraDevice, left: dict[tuple[str, str], int]) -> bool:
    return all(value <= left.get(key, 0) for key, value in _takes(device))


def _share(
    left: dict[tuple[str, str], int], pool: DraPool, card: DraDevice, counter: str, total: int | None
) -> int | None:
    """What is left of `total`, as the counter has it; None where there is no such counter."""
    key = (card.counters[0].counter_set, counter)
    whole = pool.counters.get(key[0], {}).get(counter)
    if not whole or total is None:
        return None
    return total * max(0, min(left[key], whole)) // whole


def _is_open(pool: DraPool, device: DraDevice) -> bool:
    return pool.is_whole and not device.is_tainted


def _device(
    pool: DraPool, device: DraDevice, left: _Left, *, cores: int = 100, slots: int = 1, mode: str | None = None
) -> Device:
    is_slice = bool(device.parent) or device.type == "mig"
    return Device(
        id=clean(device.uuid or f"{pool.driver}/{pool.name}/{device.name}", _LONGEST_ID),
        resource=clean(pool.driver),
        vendor=pool.vendor,
        model=clean(device.model),
        mode="mig" if is_slice else mode,
        card=clean(device.parent, _LONGEST_ID) or None,
        healthy=not device.is_dead,
        memory_total_mib=_mib(device.memory),
        memory_available_mib=None if device.memory is None else _mib(left.memory),
        largest_free_mib=None if device.memory is None else _mib(left.largest),
        compute_total_percent=None if is_slice else cores,
        compute_available_percent=None if is_slice else left.percent,
        slots_total=slots,
        slots_available=left.slots,
    )


def _mib(amount: int | None) -> int | None:
    return None if amount is None else amount >> 20
