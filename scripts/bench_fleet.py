"""Made-up providers for measurements: many ids on one loopback port, each with a prepared inventory.

Run by scripts.bench as a process of its own: python -m scripts.bench_fleet PROVIDERS NODES DEVICES LATENCY_MS CHANGED
prints its port, then serves until its standard input ends. CHANGED is 1 where every revalidation is answered in full.
"""

import asyncio
import hashlib
import json
import random
import sys
from typing import Any

HEAD = "HTTP/1.1 {status}\r\nContent-Type: application/json\r\nETag: {etag}\r\nX-Observed-At: 2026-01-01T00:00:00Z\r\n"
MODELS = (("NVIDIA A100-SXM4-80GB", 81920), ("NVIDIA H100 80GB HBM3", 81559), ("NVIDIA L4", 23034), ("Tesla T4", 15360))


def inventory(provider: int, nodes: int, devices: int) -> dict[str, Any]:
    """A provider's reply; the same numbers give the same reply."""
    chance = random.Random(provider)  # noqa: S311 (made-up data)
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

    def __init__(self, providers: int, nodes: int, devices: int, latency_s: float, *, is_changed: bool) -> None:
        bodies = [
            json.dumps(inventory(one, nodes, devices), separators=(",", ":")).encode() for one in range(providers)
        ]
        self.bytes = sum(map(len, bodies))
        self._latency_s = latency_s
        self._is_changed = is_changed
        self._answers = [self._prepared(body) for body in bodies]

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
                full, unchanged = self._answers[provider]
                if self._latency_s:
                    await asyncio.sleep(self._latency_s)
                writer.write(full if self._is_changed or b"If-None-Match" not in head else unchanged)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()


async def main() -> None:
    """Runs the fleet."""
    providers, nodes, devices, latency_ms, changed = map(int, sys.argv[1:6])
    fleet = Fleet(providers, nodes, devices, latency_ms / 1000, is_changed=bool(changed))
    server = await asyncio.start_server(fleet.serve, "127.0.0.1", 0, backlog=4096)
    print(json.dumps({"port": server.sockets[0].getsockname()[1], "bytes": fleet.bytes}), flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(main())
