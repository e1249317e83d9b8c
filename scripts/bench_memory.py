"""What the gateway's process holds when it searches: resident MiB after each search, and the peak.

python -m scripts.bench_memory [--shape 1000x10x8] [--news nothing] [--searches 5]

The registry is a list in this process, so that no imitation of DynamoDB is counted with it.
"""

import gc
import importlib
import json
import os
from pathlib import Path
from typing import Any

import click

from scripts import bench_gateway
from scripts.bench import REQUEST, process
from scripts.bench_fleet import NEWS


class _Listed:
    """A registry that never changes."""

    def __init__(self, records: tuple[Any, ...]) -> None:
        self._records = records

    def all(self) -> tuple[Any, ...]:
        return self._records


@click.command(help=__doc__)
@click.option("--shape", default="1000x10x8", show_default=True, help="providers x nodes x devices")
@click.option(
    "--news", type=click.Choice(NEWS), default="nothing", show_default=True, help="what each search finds new"
)
@click.option("--searches", default=5, show_default=True)
def main(shape: str, news: str, searches: int) -> None:
    """Runs the command."""
    providers, nodes, devices = shape.split("x")
    with process("scripts.bench_fleet", providers, nodes, devices, "0", news) as fleet:
        assert fleet.stdout is not None
        port = json.loads(fleet.stdout.readline())["port"]
        os.environ.update(bench_gateway.ENVIRONMENT | {"METRICS": "off"})
        app = bench_gateway.app_under_test()
        _give_registry(port, int(providers))
        click.echo(f"{shape}: {_resident_mib():.0f} MiB before the first search")
        for number in range(1, searches + 1):
            found = bench_gateway.measured(app, [json.dumps(REQUEST)])
            click.echo(f"  after search {number}: {_resident_mib():.0f} MiB, peak {found['peak_mb']:.0f}")


def _give_registry(port: int, providers: int) -> None:
    from fedcompute.provider import ProviderRecord  # noqa: PLC0415 (the app that was loaded says from where)

    made: dict[str, Any] = {"name": "Lab", "timeout_ms": 20000, "version": 1, "created_at": "", "updated_at": ""}
    urls = {f"provider-{place:04d}": f"http://127.0.0.1:{port}/{place}" for place in range(providers)}
    records = tuple(ProviderRecord(id=name, base_url=url, **made) for name, url in urls.items())
    kind = importlib.import_module("chalicelib.collaborators").Collaborators
    (gateway,) = (one for one in gc.get_objects() if isinstance(one, kind))
    gateway.registry = _Listed(records)


def _resident_mib() -> float:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS"))


if __name__ == "__main__":
    main()
