"""Sizes and cold starts of the packages, beside the same search written plainly: chalice, boto3, requests, pydantic, threads.

A cold start is the time from a new process to the answer of its first request, under AWS's own runtime interface client
(awslambdaric), the package unzipped, files in the page cache: a search of 3 providers, for the provider's package its health.
The registry is DynamoDB in the emulator. The import alone is measured apart, beside that of botocore with a DynamoDB client.
"""

import argparse
import json
import math
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from scripts import archives, build, events, fleet, gateway, ports, runtime_api, services, settings, table
from scripts.packages import CHALICE, Variant, run
from scripts.settings import ROOT, Settings
from scripts.terminal import Failure, console, fail

ENVIRONMENT = ROOT / ".run" / "bench-venv"
LOCK = ROOT / "infra" / "bench" / "requirements.txt"
PLAIN = ROOT / "infra" / "bench" / "plain"
# Nothing of a gateway, and what no app can do without that reads a table.
CLIENT = """import botocore.session
botocore.session.get_session().create_client("dynamodb", region_name="us-east-1")
"""
IMPORT = "import sys; sys.path[:0] = sys.argv[1:]; import app"
SETTINGS = {
    "REGISTRY_TABLE": "bench",
    "AUTH": "open",
    "PROVIDER_ADDRESSES": "any",
    "PROVIDER_ID": "provider-a",
    "INVENTORY_FILE": "inventories/provider-a.json",
    "AWS_DEFAULT_REGION": "us-east-1",
    "AWS_ACCESS_KEY_ID": "testing",
    "AWS_SECRET_ACCESS_KEY": "testing",
    "NO_PROXY": "*",
    "PYTHONDONTWRITEBYTECODE": "1",  # as in Lambda, whose task folder can't be written
}


HEALTH = events.api_event(["/health"], "GET", "/health")
WANTED = {
    "gpu": {"minimum_memory_mib": 20000, "minimum_compute_percent": 25, "vendor": "NVIDIA"},
    "cpu": {"minimum_millicores": 4000},
    "memory": {"minimum_bytes": 16 << 30},
}
SEARCH = events.api_event([gateway.SEARCH], "POST", gateway.SEARCH, json.dumps(WANTED))
FLEET = ("3", "4", "8", "0", "nothing")  # what scripts.bench_fleet takes


class Package(NamedTuple):
    """One of those that are compared: its zips and where they were unpacked. `asked`: the first event; None: none."""

    name: str
    zips: tuple[Path, ...]
    folder: Path
    layer: Path
    asked: dict[str, Any] | None


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command. Returns its exit code."""
    parser = argparse.ArgumentParser(prog="python -m scripts.bench_cold_start", description=__doc__)
    parser.add_argument("--rounds", type=int, default=9)
    given = parser.parse_args(arguments)
    try:
        _install()
        with tempfile.TemporaryDirectory(prefix="fedcompute-bench-") as folder, _registry(Path(folder)) as endpoint:
            compare(_packages(Path(folder)), given.rounds, SETTINGS | {"AWS_ENDPOINT_URL": endpoint})
    except Failure as failure:
        fail(failure)
        return 1
    return 0


def compare(packages: Sequence[Package], rounds: int, settings: Mapping[str, str]) -> None:
    """Measures all packages in turn, so that what else the machine does meets them alike, and prints medians.

    Raises Failure where two that search do not find the same.
    """
    taken: dict[str, list[tuple[float, ...]]] = {one.name: [] for one in packages}
    found: dict[str, Any] = {}
    for number in range(rounds + 1):
        for one in packages:
            cold_ms, answer = (math.nan, None) if one.asked is None else _cold_start(one, settings)
            if one.asked is SEARCH:
                found[one.name] = _essence(answer)
            if number:  # the first round fills the page cache
                taken[one.name].append((*_import_ms(one, settings), cold_ms))
    if len({json.dumps(one) for one in found.values()}) != 1:
        raise Failure(f"They do not find the same: {json.dumps(found)[:2000]}")
    columns = ("zip KiB", "unzipped KiB", "import ms", "its CPU ms", "cold start ms")
    console.print(f"{'package':<34}" + "".join(f"{name:>14}" for name in columns), markup=False)
    for one in packages:
        zipped = sum(file.stat().st_size for file in one.zips) >> 10
        unzipped = sum(len(content) for file in one.zips for content in archives.read(file).values()) >> 10
        medians = [statistics.median(column) for column in zip(*taken[one.name], strict=True)]
        numbers = "".join(f"{number:>14.0f}".replace("nan", "  -") for number in (zipped, unzipped, *medians))
        console.print(f"{one.name:<34}{numbers}", markup=False)


def _essence(answer: Any) -> list[Any]:
    """What two searches must agree on."""
    found = json.loads(answer["body"])
    names = [(one.get("provenance", one)["provider_id"], one["node"]["name"]) for one in found["candidates"]]
    devices = [[device["id"] for device in one["devices"]] for one in found["candidates"]]
    return [found["total_candidates"], names, devices, [one["score"] for one in found["candidates"]]]


@contextmanager
def _registry(scratch: Path) -> Iterator[str]:
    """A table in an emulator of its own with three made-up providers that run; the emulator's address."""
    (port,) = ports.free_ports(1)
    local = settings.read()
    local = replace(local, run_dir=scratch / "run", table="bench", ports={**local.ports, "emulator": port})
    fleet_command = [sys.executable, "-m", "scripts.bench_fleet", *FLEET]
    with (
        fleet.up(local, [services.emulator(local)], lambda *_: None) as started,
        subprocess.Popen(
            fleet_command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as providers,
    ):
        try:
            assert providers.stdout is not None
            _fill(local, json.loads(providers.stdout.readline())["port"])
            yield local.url("emulator")
        finally:
            providers.kill()
            fleet.down(local.run_dir, started)


def _fill(local: Settings, port: int) -> None:
    table.create(local)
    client = table.client(local)
    for place in range(int(FLEET[0])):
        texts = {
            "name": "Lab",
            "base_url": f"http://127.0.0.1:{port}/{place}",
            "created_at": "2026-01-01T00:00:00.000Z",
            "updated_at": "2026-01-01T00:00:00.000Z",
            "write_id": "seed",
        }
        client.put_item(
            TableName=local.table,
            Item={
                "pk": {"S": "provider"},
                "sk": {"S": f"provider-{place:04d}"},
                "enabled": {"BOOL": True},
                **{name: {"S": text} for name, text in texts.items()},
                **{
                    name: {"N": number}
                    for name, number in (("timeout_ms", "20000"), ("key_version", "1"), ("version", "1"))
                },
            },
        )


def _packages(scratch: Path) -> list[Package]:
    built = build.build(Variant(build.architecture(), has_layer=True))
    layer = built.zip("layer")
    found = []
    for name, asked in (("gateway", SEARCH), ("provider", HEALTH)):
        found.append(_unpacked(name, (built.zip(name), layer), scratch / name, asked))
        bare = (_without_bytecode(built.zip(name), scratch), _without_bytecode(layer, scratch))
        found.append(_unpacked(f"{name} without .pyc", bare, scratch / f"{name}-bare", asked))
    plain = _unpacked("the same search, plainly written", (_plain(scratch / "plain-app"),), scratch / "plain", SEARCH)
    client = Package("botocore with a DynamoDB client", (), scratch / "client", scratch / "client", None)
    client.folder.mkdir()
    (client.folder / "app.py").write_text(CLIENT)
    return [*found, plain, client]


def _unpacked(name: str, zips: tuple[Path, ...], folder: Path, asked: dict[str, Any]) -> Package:
    for zipped, part in zip(zips, ("task", "layer"), strict=False):
        with zipfile.ZipFile(zipped) as archive:
            archive.extractall(folder / part)
    return Package(name, zips, folder / "task", folder / "layer" / "python", asked)


def _without_bytecode(zipped: Path, scratch: Path) -> Path:
    files = {name: content for name, content in archives.read(zipped).items() if not name.endswith(".pyc")}
    target = scratch / f"bare-{zipped.name}"
    archives.write(target, files)
    return target


def _plain(folder: Path) -> Path:
    """What `chalice package` makes of it."""
    shutil.copytree(PLAIN, folder)
    (folder / ".chalice").mkdir()
    (folder / ".chalice" / "config.json").write_text(json.dumps({"version": "2.0", "app_name": "plain"}))
    run([*CHALICE, "package", str(folder / "out")], folder)
    return folder / "out" / "deployment.zip"


def _cold_start(package: Package, settings: Mapping[str, str]) -> tuple[float, Any]:
    """Milliseconds to the first answer, and that."""
    with runtime_api.runtime() as lambda_runtime:
        environment = {**settings, "PYTHONPATH": str(package.layer)}
        command = [str(ENVIRONMENT / "bin" / "python"), "-m", "awslambdaric", "app.app"]
        began = time.perf_counter()
        process = lambda_runtime.start(command, package.folder, environment)
        ended, answer = lambda_runtime.invoke(package.asked)
        process.kill()
        process.wait()
    if not isinstance(answer, dict) or answer.get("statusCode") != 200:
        raise Failure(f"{package.name} did not answer: {answer}")
    return (ended - began) * 1000, answer


def _import_ms(package: Package, settings: Mapping[str, str]) -> tuple[float, float]:
    """Wall time and processor time of a process that imports the app; the latter is the same on a busy machine."""
    command = [str(ENVIRONMENT / "bin" / "python"), "-c", IMPORT, str(package.folder), str(package.layer)]
    began = time.perf_counter()
    process = subprocess.Popen(command, env={**os.environ, **settings}, stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    took = time.perf_counter() - began
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise Failure(f"{package.name} can't be imported.")
    return took * 1000, (used.ru_utime + used.ru_stime) * 1000


def _install() -> None:
    if not (ENVIRONMENT / ".installed").exists():
        command = [sys.executable, str(ROOT / "scripts" / "install.py"), str(ENVIRONMENT), str(LOCK)]
        if subprocess.run(command, cwd=ROOT, check=False).returncode:
            raise Failure("The runtime interface client can't be installed; see the messages above.")


if __name__ == "__main__":
    raise SystemExit(main())
