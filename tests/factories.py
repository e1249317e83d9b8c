"""Nodes, devices and requests in which everything has a default, so that a test shows only what matters.

An amount is written (available, total), as in "30,000 of 40,000".
"""

import json
from typing import Any

from fedcompute.demand import Demand
from fedcompute.explanation import match
from fedcompute.inventory import Cpu, Device, Memory, Node, Pods
from fedcompute.ranking import Fit, best_fit_of
from fedcompute.reasons import Reason
from fedcompute.request import SearchRequest, parse_search

Amount = tuple[int | None, int | None]
UNKNOWN: Amount = (None, None)


def device(
    id: str = "GPU-1",  # noqa: A002 (the contract's word)
    *,
    memory: Amount = (40000, 40000),
    compute: Amount = (100, 100),
    slots: Amount = (1, 1),
    **others: Any,
) -> Device:
    """A healthy A100 that nobody uses and that one job can have; `others` are the fields of a Device."""
    fields: dict[str, Any] = {
        "resource": "nvidia.com/gpu",
        "vendor": "NVIDIA",
        "model": "NVIDIA A100",
        "index": 0,
        "healthy": True,
    }
    return Device(
        id=id,
        memory_available_mib=memory[0],
        memory_total_mib=memory[1],
        compute_available_percent=compute[0],
        compute_total_percent=compute[1],
        slots_available=slots[0],
        slots_total=slots[1],
        **(fields | others),
    )


def shared(id: str = "GPU-1", *, slots: Amount = (10, 10), **others: Any) -> Device:  # noqa: A002
    """An A100 that HAMi shares among ten jobs."""
    return device(id, slots=slots, mode="hami-core", **others)


def devices(how_many: int, **fields: Any) -> list[Device]:
    """Devices alike: GPU-0, GPU-1 and so on."""
    return [device(f"GPU-{place}", **{"index": place, **fields}) for place in range(how_many)]


def node(
    *its_devices: Device,
    name: str = "n1",
    cpu: Amount = (64000, 64000),
    memory: Amount = (1 << 39, 1 << 39),
    pods: Amount | None = None,
    **others: Any,
) -> Node:
    """A node that nothing ails and that nothing runs on; `others` are the fields of a Node."""
    return Node(
        name=name,
        cpu=Cpu(available_millicores=cpu[0], total_millicores=cpu[1]),
        memory=Memory(available_bytes=memory[0], total_bytes=memory[1]),
        pods=None if pods is None else Pods(available=pods[0], total=pods[1]),
        devices=list(its_devices),
        **({"ready": True, "schedulable": True} | others),
    )


def request(*, cpu: int | None = None, memory: int | None = None, **members: Any) -> SearchRequest:
    """A search request as a caller sends it; for one GPU where nothing is asked for."""
    body = dict(members)
    if cpu is not None:
        body["cpu"] = {"minimum_millicores": cpu}
    if memory is not None:
        body["memory"] = {"minimum_bytes": memory}
    if not body.keys() & {"gpu", "cpu", "memory"}:
        body["gpu"] = {}
    return parse_search(json.dumps(body).encode(), 8000)


def demand(**members: Any) -> Demand:
    """What a request asks of each node."""
    return Demand.of(request(**members))


def reasons(of: Node, **members: Any) -> list[Reason]:
    """Why a node does not fit a request."""
    return list(match(of, demand(**members)).reasons)


def fits(of: Node, **members: Any) -> bool:
    """Whether a node fits a request."""
    return not reasons(of, **members)


def fit(of: Node, wanted: Demand) -> Fit:
    """The candidate that a node is."""
    found = match(of, wanted)
    assert not found.reasons, f"{of.name} does not fit: {found.reasons}"
    return best_fit_of(of, found.groups, wanted)


def fit_or_none(of: Node, wanted: Demand) -> Fit | None:
    """The candidate that a node is, or None where it does not fit."""
    found = match(of, wanted)
    return None if found.reasons else best_fit_of(of, found.groups, wanted)
