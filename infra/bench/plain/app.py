"""The same search as such apps are mostly written: boto3's table, requests in threads, pydantic models, no cache.

For scripts/bench_cold_start.py. It knows what the benchmark's providers have, and ranks by best-fit: one GPU of a vendor
with free memory and compute on a node with free CPU and memory.
"""

import os
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import boto3
import requests
from chalice import Chalice
from pydantic import BaseModel

app = Chalice(app_name="plain")
table = boto3.resource("dynamodb", region_name="us-east-1").Table(os.environ.get("REGISTRY_TABLE", "bench"))


class Gpu(BaseModel):
    minimum_memory_mib: int
    minimum_compute_percent: int
    vendor: str


class Cpu(BaseModel):
    minimum_millicores: int


class Memory(BaseModel):
    minimum_bytes: int


class Search(BaseModel):
    gpu: Gpu
    cpu: Cpu
    memory: Memory


class Taint(BaseModel):
    key: str
    value: str
    effect: str


class NodeCpu(BaseModel):
    total_millicores: int
    available_millicores: int


class NodeMemory(BaseModel):
    total_bytes: int
    available_bytes: int


class Pods(BaseModel):
    total: int
    available: int


class Device(BaseModel):
    id: str
    resource: str
    vendor: str
    model: str
    index: int
    numa: int
    mode: str | None
    card: str | None
    pool: bool
    healthy: bool
    memory_total_mib: int
    memory_available_mib: int
    largest_free_mib: int | None
    compute_total_percent: int
    compute_available_percent: int
    slots_total: int
    slots_available: int


class Node(BaseModel):
    name: str
    ready: bool
    schedulable: bool
    labels: dict[str, str]
    taints: list[Taint]
    cpu: NodeCpu
    memory: NodeMemory
    pods: Pods
    devices: list[Device]


class Inventory(BaseModel):
    schema_version: int
    provider_id: str
    source: str
    observed_at: str
    nodes: list[Node]


class Candidate(BaseModel):
    provider_id: str
    score: float
    node: Node
    devices: list[Device]


class Answer(BaseModel):
    total_candidates: int
    candidates: list[Candidate]


@app.route("/api/v1/resources/search", methods=["POST"])
def search() -> dict[str, Any]:
    """Ask all providers, keep the nodes that fit, the best first."""
    wanted = Search.model_validate_json(app.current_request.raw_body)
    providers = [item for item in table.scan()["Items"] if item["pk"] == "provider" and item["enabled"]]
    with ThreadPoolExecutor(len(providers)) as pool:
        inventories = list(pool.map(inventory, providers))
    found = [
        candidate
        for one in inventories
        for node in one.nodes
        if (candidate := candidate_of(one.provider_id, node, wanted)) is not None
    ]
    found.sort(key=lambda one: (-one.score, one.provider_id, one.node.name))
    return Answer(total_candidates=len(found), candidates=found[:20]).model_dump()


def inventory(provider: dict[str, Any]) -> Inventory:
    """What a provider has."""
    answer = requests.get(provider["base_url"] + "/api/v1/inventory", timeout=float(provider["timeout_ms"]) / 1000)
    answer.raise_for_status()
    return Inventory.model_validate_json(answer.content)


def candidate_of(provider_id: str, node: Node, wanted: Search) -> Candidate | None:
    """The node with its smallest device that is enough; None: it does not fit."""
    gpu = wanted.gpu
    tolerated = all(taint.effect == "PreferNoSchedule" or taint.key == "nvidia.com/gpu" for taint in node.taints)
    enough = [
        device
        for device in node.devices
        if device.healthy
        and device.vendor == gpu.vendor
        and device.slots_available
        and device.memory_available_mib >= gpu.minimum_memory_mib
        and device.compute_available_percent >= gpu.minimum_compute_percent
    ]
    if not (
        node.ready
        and node.schedulable
        and tolerated
        and node.pods.available
        and node.cpu.available_millicores >= wanted.cpu.minimum_millicores
        and node.memory.available_bytes >= wanted.memory.minimum_bytes
        and enough
    ):
        return None
    device = min(enough, key=lambda one: (one.memory_available_mib, one.compute_available_percent, one.index))
    spare = [
        (node.cpu.available_millicores, wanted.cpu.minimum_millicores),
        (node.memory.available_bytes, wanted.memory.minimum_bytes),
        (len(enough), 1),
        (device.memory_available_mib, gpu.minimum_memory_mib),
        (device.compute_available_percent, gpu.minimum_compute_percent),
    ]
    score = 1 / (1 + sum((free - need) / need for free, need in spare) / len(spare))
    return Candidate(provider_id=provider_id, score=round(score + 1e-12, 9), node=node, devices=[device])
