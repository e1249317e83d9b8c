"""make build: what is deployed, in build/: a package per app, the layer and the shared package's wheel.

Each app is packaged from a copy, with the shared package in Chalice's vendor folder, and every handler of the package is
imported from the unpacked zip before it counts as built.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from scripts import archives, handlers
from scripts.settings import ROOT
from scripts.terminal import Failure, console, fail

BUILD = ROOT / "build"
SHARED = ROOT / "layers" / "fedcompute"
APPS = {"gateway": "gateway_app", "provider": "provider_app"}
LITTER = shutil.ignore_patterns("__pycache__", "*.egg-info", "build", "deployments", "*_cache")
STAGE = "api"
# What Chalice prints, with exit code 0, when a package would lack what it needs.
INCOMPLETE = "Could not install dependencies"
EPOCH = "315532800"  # 1980-01-01, the first day of a zip file's calendar


def main() -> int:
    """Runs the command. Returns its exit code."""
    try:
        shutil.rmtree(BUILD, ignore_errors=True)
        BUILD.mkdir()
        with tempfile.TemporaryDirectory(prefix="fedcompute-build-") as folder:
            for name, app in APPS.items():
                _timed(name, package, Path(folder), app, BUILD / name)
            _timed("layer", layer, Path(folder), BUILD / "layer.zip")
            _timed("wheel", wheel, Path(folder), BUILD)
    except Failure as failure:
        fail(failure)
        return 1
    return 0


def package(scratch: Path, app: str, output: Path) -> Path:
    """A deployable package of one app in `output`: deployment.zip and its template. Returns the zip."""
    copy = scratch / app
    shutil.copytree(ROOT / app, copy, ignore=LITTER)
    shutil.copytree(SHARED / "python" / "fedcompute", copy / "vendor" / "fedcompute", ignore=LITTER)
    chalice = str(Path(sys.executable).with_name("chalice"))
    printed = _run([sys.executable, chalice, "package", "--stage", STAGE, str(output)], copy)
    if INCOMPLETE in printed:
        raise Failure(f"The package of {app} lacks dependencies:\n{printed[printed.index(INCOMPLETE) :].strip()}")
    zipped = output / "deployment.zip"
    archives.normalise(zipped)
    handlers.check(zipped, output / "sam.json", scratch / f"{app}-unpacked")
    return zipped


def layer(scratch: Path, zipped: Path) -> Path:
    """The shared package as a Lambda layer: below python/, where Lambda looks."""
    copy = scratch / "layer" / "python" / "fedcompute"
    shutil.copytree(SHARED / "python" / "fedcompute", copy, ignore=LITTER)
    files = [one for one in copy.rglob("*") if one.is_file()]
    archives.write(zipped, {one.relative_to(scratch / "layer").as_posix(): one.read_bytes() for one in files})
    return zipped


def wheel(scratch: Path, output: Path) -> Path:
    """The shared package with its command line, for pip."""
    copy = scratch / "fedcompute"
    shutil.copytree(SHARED, copy, ignore=LITTER)
    _run(
        [sys.executable, "-m", "pip", "wheel", "--no-build-isolation", "--no-deps", "-w", str(output), str(copy)],
        scratch,
    )
    return next(output.glob("*.whl"))


def _run(command: Sequence[str], directory: Path) -> str:
    # Packaging wants a region, and none of the caller's: nothing is deployed here.
    environment = os.environ | {
        "AWS_DEFAULT_REGION": "us-east-1",
        "SOURCE_DATE_EPOCH": EPOCH,
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    done = subprocess.run(
        command,
        cwd=directory,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode:
        raise Failure(f"{' '.join(command[1:4])} failed:\n{done.stdout.strip()}")
    return done.stdout


def _timed(name: str, step: Callable[..., Path], *arguments: object) -> None:
    began = time.monotonic()
    built = step(*arguments)
    size = built.stat().st_size / 1024
    console.print(
        f"  {name:<9} {size:8.0f} KiB  {time.monotonic() - began:5.1f} s  {built.relative_to(ROOT)}", markup=False
    )


if __name__ == "__main__":
    raise SystemExit(main())
