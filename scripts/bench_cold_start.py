"""Sizes and cold starts of the packages, beside a plain Chalice app with boto3 and pydantic in its zip.

A cold start is the time from a new process to the answer of its first request, under AWS's own runtime interface client
(awslambdaric), the package unzipped, files in the page cache. The import alone is measured apart.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from scripts import archives, build, events, runtime_api
from scripts.packages import CHALICE, Variant, run
from scripts.settings import ROOT
from scripts.terminal import Failure, console, fail

ENVIRONMENT = ROOT / ".run" / "bench-venv"
LOCK = ROOT / "infra" / "bench" / "requirements.txt"
PLAIN = """
import boto3
from chalice import Chalice
from pydantic import BaseModel

app = Chalice(app_name="plain")
table = boto3.resource("dynamodb", region_name="us-east-1").Table("any")


class Answer(BaseModel):
    status: str


@app.route("/health")
def health():
    return Answer(status="ok").model_dump()
"""
IMPORT = "import sys; sys.path[:0] = sys.argv[1:]; import app"
SETTINGS = {
    "REGISTRY_TABLE": "any",
    "AUTH": "open",
    "PROVIDER_ADDRESSES": "any",
    "PROVIDER_ID": "provider-a",
    "INVENTORY_FILE": "inventories/provider-a.json",
    "AWS_ENDPOINT_URL": "http://127.0.0.1:9",
    "AWS_DEFAULT_REGION": "us-east-1",
    "PYTHONDONTWRITEBYTECODE": "1",  # as in Lambda, whose task folder can't be written
}


class Package(NamedTuple):
    """One of those that are compared: its zips and where they were unpacked."""

    name: str
    zips: tuple[Path, ...]
    folder: Path
    layer: Path


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command. Returns its exit code."""
    parser = argparse.ArgumentParser(prog="python -m scripts.bench_cold_start", description=__doc__)
    parser.add_argument("--rounds", type=int, default=9)
    given = parser.parse_args(arguments)
    try:
        _install()
        with tempfile.TemporaryDirectory(prefix="fedcompute-bench-") as folder:
            compare(_packages(Path(folder)), given.rounds)
    except Failure as failure:
        fail(failure)
        return 1
    return 0


def compare(packages: Sequence[Package], rounds: int) -> None:
    """Measures all packages in turn, so that what else the machine does meets them alike, and prints medians."""
    taken: dict[str, list[tuple[float, float, float]]] = {one.name: [] for one in packages}
    for number in range(rounds + 1):
        for one in packages:
            measured = (*_import_ms(one), _cold_start_ms(one))
            if number:  # the first round fills the page cache
                taken[one.name].append(measured)
    columns = ("zip KiB", "unzipped KiB", "import ms", "its CPU ms", "cold start ms")
    console.print(f"{'package':<34}" + "".join(f"{name:>14}" for name in columns), markup=False)
    for one in packages:
        zipped = sum(file.stat().st_size for file in one.zips) >> 10
        unzipped = sum(len(content) for file in one.zips for content in archives.read(file).values()) >> 10
        medians = [statistics.median(column) for column in zip(*taken[one.name], strict=True)]
        numbers = "".join(f"{number:>14.0f}" for number in (zipped, unzipped, *medians))
        console.print(f"{one.name:<34}{numbers}", markup=False)


def _packages(scratch: Path) -> list[Package]:
    built = build.build(Variant(build.architecture(), has_layer=True))
    layer = built.zip("layer")
    found = []
    for name in ("gateway", "provider"):
        found.append(_unpacked(name, (built.zip(name), layer), scratch / name))
        bare = (_without_bytecode(built.zip(name), scratch), _without_bytecode(layer, scratch))
        found.append(_unpacked(f"{name} without .pyc", bare, scratch / f"{name}-bare"))
    found.append(
        _unpacked("plain chalice + boto3 + pydantic", (_plain(scratch / "plain-app"), layer), scratch / "plain")
    )
    return [one._replace(zips=one.zips[:1]) if one.name.startswith("plain") else one for one in found]


def _unpacked(name: str, zips: tuple[Path, Path], folder: Path) -> Package:
    for zipped, part in zip(zips, ("task", "layer"), strict=True):
        with zipfile.ZipFile(zipped) as archive:
            archive.extractall(folder / part)
    return Package(name, zips, folder / "task", folder / "layer" / "python")


def _without_bytecode(zipped: Path, scratch: Path) -> Path:
    files = {name: content for name, content in archives.read(zipped).items() if not name.endswith(".pyc")}
    target = scratch / f"bare-{zipped.name}"
    archives.write(target, files)
    return target


def _plain(folder: Path) -> Path:
    """What `chalice package` makes of an app that is written as Chalice's own examples are."""
    (folder / ".chalice").mkdir(parents=True)
    (folder / "app.py").write_text(PLAIN)
    (folder / "requirements.txt").write_text("boto3\npydantic\n")
    (folder / ".chalice" / "config.json").write_text(json.dumps({"version": "2.0", "app_name": "plain"}))
    run([*CHALICE, "package", str(folder / "out")], folder)
    return folder / "out" / "deployment.zip"


def _cold_start_ms(package: Package) -> float:
    event = events.api_event(["/health"], "GET", "/health")
    with runtime_api.runtime() as lambda_runtime:
        environment = SETTINGS | {"PYTHONPATH": str(package.layer)}
        command = [str(ENVIRONMENT / "bin" / "python"), "-m", "awslambdaric", "app.app"]
        began = time.perf_counter()
        process = lambda_runtime.start(command, package.folder, environment)
        ended, answer = lambda_runtime.invoke(event)
        process.kill()
        process.wait()
    if not isinstance(answer, dict) or answer.get("statusCode") != 200:
        raise Failure(f"{package.name} did not answer: {answer}")
    return (ended - began) * 1000


def _import_ms(package: Package) -> tuple[float, float]:
    """Wall time and processor time of a process that imports the app; the latter is the same on a busy machine."""
    command = [str(ENVIRONMENT / "bin" / "python"), "-c", IMPORT, str(package.folder), str(package.layer)]
    began = time.perf_counter()
    process = subprocess.Popen(command, env=os.environ | SETTINGS, stderr=subprocess.DEVNULL)
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
