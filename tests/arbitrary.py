"""Arbitrary nodes, devices and requests: small numbers, so that equal, just enough and just too little are common."""

from typing import Any

from factories import Amount, device, node, request
from hypothesis import strategies as st

from fedcompute.inventory import Device, Node

STRATEGIES = ("best-fit", "most-available", "binpack", "spread")
MOST = 4


def amounts(step: int = 1) -> st.SearchStrategy[Amount]:
    """(available, total), each perhaps unknown, available never above total."""
    pairs = [
        (available, total)
        for total in (None, *range(MOST + 1))
        for available in (None, *range((MOST if total is None else total) + 1))
    ]
    all_free: list[Amount] = [(total, total) for total in range(1, MOST + 1)]
    return st.sampled_from([(_times(step, free), _times(step, total)) for free, total in (*pairs, *all_free * 3)])


def _times(step: int, amount: int | None) -> int | None:
    return None if amount is None else amount * step


@st.composite
def sound_devices(draw: st.DrawFn, id: str = "GPU-1") -> Device:  # noqa: A002
    memory = draw(amounts())
    most_free = min((amount for amount in memory if amount is not None), default=MOST)
    return device(
        id,
        memory=memory,
        compute=draw(amounts(50)),
        slots=draw(amounts()),
        largest_free_mib=draw(st.none() | st.none() | st.integers(0, most_free)),
        resource=draw(st.sampled_from(["nvidia.com/gpu", "nvidia.com/gpu", "amd.com/gpu"])),
        vendor=draw(st.sampled_from(["NVIDIA", "NVIDIA", "AMD"])),
        model=draw(st.sampled_from(["A100", "A100", "H100"])),
        healthy=draw(st.sampled_from([True, True, True, False])),
        pool=draw(st.sampled_from([False, False, False, True])),
        mode=draw(st.sampled_from([None, "hami-core", "mig"])),
        card=draw(st.sampled_from([None, None, "c1", "c2"])),
        index=draw(st.sampled_from([None, 0, 1])),
    )


@st.composite
def sound_nodes(draw: st.DrawFn, name: str = "n1") -> Node:
    how_many = draw(st.integers(0, 4))
    return node(
        *[draw(sound_devices(f"GPU-{place}")) for place in range(how_many)],
        name=name,
        cpu=draw(amounts()),
        memory=draw(amounts()),
        pods=draw(st.none() | amounts()),
        ready=draw(st.sampled_from([True, True, True, False])),
        schedulable=draw(st.sampled_from([True, True, True, False])),
    )


@st.composite
def gpu_parts(draw: st.DrawFn, *, minimums: bool = True) -> dict[str, Any]:
    part: dict[str, Any] = {
        "count": draw(st.sampled_from([1, 1, 2, 3])),
        "sharing": draw(st.sampled_from(["any", "any", "whole"])),
    }
    if minimums and draw(st.booleans()):
        part["minimum_memory_mib"] = draw(st.integers(1, MOST))
    if minimums and draw(st.booleans()):
        part["minimum_compute_percent"] = draw(st.sampled_from([1, 50, 100, 150]))
    if draw(st.booleans()):
        part["vendor"] = "nvidia"
    return part


@st.composite
def request_bodies(draw: st.DrawFn, *, minimums: bool = True) -> dict[str, Any]:
    """The arguments of factories.request and factories.demand."""
    body: dict[str, Any] = {"strategy": draw(st.sampled_from(STRATEGIES))}
    asked = draw(st.sets(st.sampled_from(["gpu", "cpu", "memory"]), min_size=1))
    if "gpu" in asked:
        body["gpu"] = draw(gpu_parts(minimums=minimums))
    for name in sorted(asked - {"gpu"}):
        body[name] = draw(st.sampled_from([1, 1, 2, 3]))
    return body


requests = request_bodies().map(lambda body: request(**body))


@st.composite
def federations(draw: st.DrawFn) -> dict[str, list[Node]]:
    """The nodes of up to three providers, by the providers' ids."""
    counts = draw(st.dictionaries(st.sampled_from("abcd"), st.integers(0, 3), min_size=1, max_size=3))
    return {name: [draw(sound_nodes(f"n{at}")) for at in range(count)] for name, count in counts.items()}
