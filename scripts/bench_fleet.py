"""Made-up providers for measurements: many ids on one loopback port, each with a prepared inventory.

Run by scripts.bench as a process of its own: python -m scripts.bench_fleet PROVIDERS NODES DEVICES LATENCY_MS NEWS
prints its port, then serves until its standard input ends. NEWS is what every reply brings: `nothing` (it confirms), `one`
(another state of one node), `all` (other nodes and devices).
"""

import asyncio
import hashlib
import itertools
import json
import random
import sys
from typing import Any

HEAD = "HTTP/1.1 {status}\r\nContent-Type: application/json\r\nETag: {etag}\r\nX-Observed-At: 2026-01-01T00:00:00Z\r\n"
NEWS = ("nothing", "one", "all")
IN_TURN = 3  # inventories of each provider that has news
MODELS = (("NVIDIA A100-SXM4-80GB", 81920), ("NVIDIA H100 80GB HBM3", 81559), ("NVIDIA L4", 23034), ("Tesla T4", 15360))


def inventories(provider: int, nodes: int, devices: int, news: str) -> list[dict[str, Any]]:
    """A provider's replies, one after the other and then from the beginning."""
    if news == "nothing":
        return [inventory(provider, nodes, devices)]
    if news == "all":
        return [inventory(provider, nodes, devices, state) for state in range(IN_TURN)]
    made = [inventory(provider, nodes, devices) for _ in range(IN_TURN)]
    for state, one in enumerate(made):
        one["nodes"][provider % nodes]["pods"]["available"] = 50 + state
    return made


def inventory(provider: int, nodes: int, devices: int, state: int = 0) -> dict[str, Any]:
    """A provider's reply; the same numbers give the same reply."""
    chance = random.Random(provider + 100_000 * state)  # noqa: S311 (made-up data)
    return {
        "schema_version": 1,
        "provider_id": f"provider-{provider:04d}",
        "source": "hami",
        "observed_at": "2026-01-01T00:00:00Z",
        "nodes": [_node(chance, place, devices) for place in range(nodes)],
        "warnings": [],
    }


def _node(chance: random.Random, place: int, devices: int) -> dict[str, Any]:
    model, memory = chance.choice(MODELS)
    cores = chance.choice((32, 64, 96, 128))
    return {
        "name": f"node-{place:04d}",
        "ready": chance.random() > 0.02,
        "schedulable": chance.random() > 0.03,
        "labels": {"topology.kubernetes.io/zone": f"zone-{place % 3}"},
        "taints": [{"key": "nvidia.com/gpu", "value": "", "effect": "NoSchedule"}] if chance.random() < 0.5 else [],
        "cpu": {"total_millicores": cores * 1000, "available_millicores": chance.randrange(cores) * 1000},
        "memory": {"total_bytes": cores << 33, "available_bytes": chance.randrange(cores) << 33},
        "pods": {"total": 110, "available": chance.randrange(110)},
        "devices": [_device(chance, place, index, model, memory) for index in range(devices)],
        "warnings": [],
    }


def _device(chance: random.Random, node: int, index: int, model: str, memory: int) -> dict[str, Any]:
    jobs = chance.choice((0, 0, 0, 1, 1, 2, 3))
    return {
        "id": f"GPU-{node:04d}-{index}-{chance.getrandbits(48):012x}",
        "resource": "nvidia.com/gpu",
        "vendor": "NVIDIA",
        "model": model,
        "index": index,
        "numa": index // 4,
        "mode": "hami-core",
        "card": None,
        "pool": False,
        "healthy": chance.random() > 0.01,
        "memory_total_mib": memory,
        "memory_available_mib": memory - jobs * (memory // 4),
        "largest_free_mib": None,
        "compute_total_percent": 100,
        "compute_available_percent": 100 - jobs * 25,
        "slots_total": 10,
        "slots_available": 10 - jobs,
    }


class Fleet:
    """Answers GET /p/{provider}/api/v1/inventory after the latency, from bytes that were made before."""

    def __init__(self, providers: int, nodes: int, devices: int, latency_s: float, news: str) -> None:
        made = [inventories(one, nodes, devices, news) for one in range(providers)]
        bodies = [[json.dumps(one, separators=(",", ":")).encode() for one in each] for each in made]
        self.bytes = sum(len(each[0]) for each in bodies)
        self._latency_s = latency_s
        self._confirms = news == "nothing"
        self._answers = [itertools.cycle([self._prepared(body) for body in each]) for each in bodies]

    def _prepared(self, body: bytes) -> tuple[bytes, bytes]:
        etag = f'"{hashlib.sha256(body).hexdigest()[:16]}"'
        full = HEAD.format(status="200 OK", etag=etag) + f"Content-Length: {len(body)}\r\n\r\n"
        return full.encode() + body, (HEAD.format(status="304 Not Modified", etag=etag) + "\r\n").encode()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection, until the other side ends it."""
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                provider = int(head.split(b"/", 2)[1])
                full, unchanged = next(self._answers[provider])
                if self._latency_s:
                    await asyncio.sleep(self._latency_s)
                writer.write(unchanged if self._confirms and b"If-None-Match" in head else full)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()


async def main() -> None:
    """Runs the fleet."""
    providers, nodes, devices, latency_ms = map(int, sys.argv[1:5])
    fleet = Fleet(providers, nodes, devices, latency_ms / 1000, sys.argv[5])
    server = await asyncio.start_server(fleet.serve, "127.0.0.1", 0, backlog=4096)
    print(json.dumps({"port": server.sockets[0].getsockname()[1], "bytes": fleet.bytes}), flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(main())
