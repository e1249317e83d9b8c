"""make bench: what a search costs, by the size of the federation, and how that compares with the last run here.

python -m scripts.bench [--shape 100x20x8]... [--latency 0] [--rounds 9] [--n 5] [--no-record]

A fleet of made-up providers and the gateway's Lambda handler run as two processes on loopback. For each shape (providers x
nodes x devices) four ways are measured in turn: `repeated` (nothing changed since the last search, which asked the same),
`revalidated` (nothing changed, another request), `touched` (one node of each provider changed, the same request) and
`changed` (all nodes and devices of all providers are new). Times are medians, less the registry's part, which is moto here.
CPU is the gateway's process alone. The machine's last run is kept in .run/bench.json; `vs last` is this run's CPU over that
one's: under 1 is better.
"""

import json
import platform
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from statistics import median
from typing import Any

import click
from rich.table import Table

from scripts.settings import ROOT
from scripts.terminal import console

RECORD = ROOT / ".run" / "bench.json"
SHAPES = ("3x4x8", "100x20x8", "1000x10x8")
REQUEST = {
    "gpu": {"count": 1, "minimum_memory_mib": 30000, "minimum_compute_percent": 50, "vendor": "NVIDIA"},
    "cpu": {"minimum_millicores": 4000},
    "memory": {"minimum_bytes": 16 << 30},
}
COLUMNS = ("shape", "way", "p50 ms", "cpu ms", "fan-out", "match", "rank", "encode", "MB", "vs last")


@click.command(help=__doc__)
@click.option("--shape", "shapes", multiple=True, default=SHAPES, show_default=True)
@click.option("--latency", default=0, show_default=True, help="ms before a provider answers")
@click.option("--rounds", default=9, show_default=True)
@click.option("--n", default=5, show_default=True, help="searches in a round")
@click.option("--record/--no-record", default=True, help="whether this run is what the next one is compared with")
def main(shapes: tuple[str, ...], latency: int, rounds: int, n: int, record: bool) -> None:
    """Runs the command."""
    last = json.loads(RECORD.read_text()) if RECORD.exists() else {}
    table = Table(
        *COLUMNS,
        title=f"Searches on {platform.machine()}, Python {platform.python_version()}",
        box=None,
        pad_edge=False,
    )
    found: dict[str, float] = {}
    for shape in shapes:
        for way, measured in measure(shape, latency, rounds, n).items():
            key = f"{shape}@{latency} {way}"
            found[key] = measured["cpu"]
            table.add_row(shape, way, *_cells(measured), f"{measured['cpu'] / last[key]:.2f}" if key in last else "-")
            console.print(f"  {key}: {measured['cpu']:.2f} ms of CPU a search", markup=False)
    console.print(table)
    if record:
        RECORD.parent.mkdir(exist_ok=True)
        RECORD.write_text(json.dumps(last | found, indent=2))


def _cells(measured: dict[str, float]) -> list[str]:
    names = ("p50", "cpu", "fanout", "match", "rank", "encode")
    return [*(f"{measured[name]:.2f}" for name in names), f"{measured['peak_mb']:.0f}"]


def measure(shape: str, latency: int, rounds: int, n: int) -> dict[str, dict[str, float]]:
    """All ways side by side: their rounds take turns, so that the machine's moods meet all."""
    with (
        gateway(shape, latency) as repeated,
        gateway(shape, latency) as revalidated,
        gateway(shape, latency, "one") as touched,
        gateway(shape, latency, "all") as changed,
    ):
        ways = {
            "repeated": (repeated, False),
            "revalidated": (revalidated, True),
            "touched": (touched, False),
            "changed": (changed, False),
        }
        batches: dict[str, list[Any]] = {way: [] for way in ways}
        for number in range(rounds + 1):
            for way, (process, is_varied) in ways.items():
                batches[way].append(ask(process, n if number else 3, is_varied=is_varied))
    return {way: _summary(found[1:]) for way, found in batches.items()}  # the first round warms up


def _summary(batches: list[dict[str, Any]]) -> dict[str, float]:
    parts = [part for batch in batches for part in batch["parts"]]
    registry = [part["registry"] for part in parts]
    walls = [wall * 1000 for batch in batches for wall in batch["wall"]]
    cpus = [cpu * 1000 for batch in batches for cpu in batch["cpu"]]
    medians = {name: median(part[name] for part in parts) for name in ("fanout", "match", "rank", "encode")}
    return {
        "p50": median(wall - its for wall, its in zip(walls, registry, strict=True)),
        "cpu": median(cpu - its for cpu, its in zip(cpus, registry, strict=True)),
        "peak_mb": batches[-1]["peak_mb"],
        **medians,
    }


@contextmanager
def gateway(shape: str, latency: int, news: str = "nothing") -> Iterator["subprocess.Popen[str]"]:
    """A fleet and a gateway that has its providers in its registry; `ask` tells it what to search.

    `news`: what every reply brings, as scripts.bench_fleet has it.
    """
    providers, nodes, devices = shape.split("x")
    with process("scripts.bench_fleet", providers, nodes, devices, str(latency), news) as fleet:
        assert fleet.stdout is not None
        port = json.loads(fleet.stdout.readline())["port"]
        with process("scripts.bench_gateway", str(port), providers) as gateway:
            yield gateway


@contextmanager
def process(module: str, *arguments: str) -> Iterator["subprocess.Popen[str]"]:
    """A program of this folder, which ends when its standard input does."""
    command = [sys.executable, "-m", module, *arguments]
    started = subprocess.Popen(command, cwd=ROOT, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        yield started
    finally:
        assert started.stdin is not None
        started.stdin.close()
        started.wait()


def ask(process: "subprocess.Popen[str]", n: int, **how: Any) -> Any:
    """Have `n` searches made; scripts.bench_gateway says how and what comes back."""
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(json.dumps({"n": n, "request": REQUEST, **how}) + "\n")
    process.stdin.flush()
    line = process.stdout.readline()
    if not line:
        raise click.ClickException("the gateway under test ended; what it printed is above")
    return json.loads(line)


if __name__ == "__main__":
    main()
