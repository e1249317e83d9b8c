"""make build: what is deployed, in build/: a package per app, the layer, the templates and the shared package's wheel.

Builds only what changed since. ARCHITECTURE=arm64 packages for Graviton; without it for machines like this one.
"""

import argparse
import os
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from pathlib import Path

from scripts import docs_viewer, fingerprints, handlers, packages, templates
from scripts.packages import APPS, INFRA, SHARED, SHARED_CODE, Variant
from scripts.settings import ROOT
from scripts.terminal import Failure, console, fail

BUILD = ROOT / "build"


@dataclass(frozen=True)
class Built:
    """Where the files of one variant are."""

    folder: Path

    def zip(self, name: str) -> Path:
        """The package of an app, or the layer."""
        return self.folder / f"{name}.zip"

    def template(self, name: str) -> Path:
        """The template of the base, the gateway or the provider."""
        return self.folder / f"{name}.json"


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command. Returns its exit code."""
    parser = argparse.ArgumentParser(prog="python -m scripts.build", description=__doc__)
    parser.add_argument("--vendored", action="store_true", help="the shared package in each zip instead of a layer")
    given = parser.parse_args(arguments)
    try:
        build(Variant(architecture(), has_layer=not given.vendored))
        _step("wheel", [BUILD / _wheel_name()], fingerprints.of([SHARED]), packages.wheel)
    except Failure as failure:
        fail(failure)
        return 1
    return 0


def architecture() -> str:
    """What ARCHITECTURE names, else this machine's. Raises Failure."""
    named = os.environ.get("ARCHITECTURE") or handlers.machine()
    if named not in handlers.MACHINES:
        raise Failure(f"ARCHITECTURE={named} is none of Lambda's; it is {' or '.join(handlers.MACHINES)}.")
    return named


def build(variant: Variant) -> Built:
    """Everything of one variant that is not there yet. Raises Failure."""
    console.print(f"  {docs_viewer.fetch()}", markup=False)
    built = Built(BUILD / variant.name)
    built.folder.mkdir(parents=True, exist_ok=True)
    apps = [ROOT / folder for folder in APPS.values()]
    layer = built.zip("layer")
    if variant.has_layer:
        _step("layer", [layer], fingerprints.of([SHARED_CODE, *apps]), packages.layer)
    else:
        layer.unlink(missing_ok=True)
    _step("base", [built.template("base")], fingerprints.of([INFRA / "base.json"]), templates.copy_base)
    for name in APPS:
        _app(name, variant, built, layer)
    return built


def _app(name: str, variant: Variant, built: Built, layer: Path) -> None:
    wanted = BUILD / "dependencies" / f"{name}-{variant.architecture}.zip"
    wanted.parent.mkdir(exist_ok=True)
    pinned = fingerprints.of([], packages.lock(name), variant.architecture, version("chalice"))
    _step("its wheels", [wanted], pinned, partial(packages.dependencies, app=name, variant=variant))
    sources = [ROOT / APPS[name], SHARED_CODE, INFRA / "api.json", INFRA / f"{name}.json"]
    made_of = fingerprints.of([*sources, ROOT / "scripts" / "templates.py"], variant.name, pinned)
    outputs = (built.zip(name), built.template(name))
    beside = packages.Beside(wanted, layer)

    def make(scratch: Path, _: Path) -> None:
        packages.package(scratch, name, variant, outputs, beside)

    _step(name, outputs, made_of, make)


def _step(name: str, outputs: Sequence[Path], made_of: str, make: Callable[[Path, Path], None]) -> None:
    began = time.monotonic()

    def scratched() -> None:
        with tempfile.TemporaryDirectory(prefix="fedcompute-build-") as scratch:
            make(Path(scratch), outputs[0])

    if fingerprints.unless_current(outputs, made_of, scratched):
        took, size = time.monotonic() - began, outputs[0].stat().st_size / 1024
        text = f"  {name:<9} {size:8.0f} KiB  {took:5.1f} s  {outputs[0].relative_to(ROOT)}"
    else:
        text = f"  {name:<9}    as it was           {outputs[0].relative_to(ROOT)}"
    console.print(text, markup=False)


def _wheel_name() -> str:
    text = (SHARED_CODE / "__init__.py").read_text()
    version = text.partition('__version__ = "')[2].partition('"')[0]
    return f"fedcompute-{version}-py3-none-any.whl"


if __name__ == "__main__":
    raise SystemExit(main())
