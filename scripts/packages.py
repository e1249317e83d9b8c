"""Makes what is deployed: a zip and a template per app, and the layer with the shared package.

Each app is packaged by Chalice from a copy. The shared package goes along in Chalice's vendor folder, or stays out where
functions get it from the layer.
"""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from scripts import archives, handlers, locks, reachable, templates
from scripts.settings import ROOT
from scripts.terminal import Failure

SHARED = ROOT / "layers" / "fedcompute"
SHARED_CODE = SHARED / "python" / "fedcompute"
INFRA = ROOT / "infra"
APPS = {"gateway": "gateway_app", "provider": "provider_app"}
LITTER = shutil.ignore_patterns("__pycache__", "*.egg-info", "build", "deployments", "deployed", "*_cache")
# A provider that reads a cluster runs beside it, not in Lambda: the client is 150 MB and functions never load it.
ONLY_ON_HOSTS = frozenset({"kubernetes"})
CHALICE = (sys.executable, str(Path(sys.executable).with_name("chalice")))
STAGE = "api"
SMALLEST_APP = """from chalice.app import Chalice

app = Chalice(app_name="dependencies")
app.route("/", name="smallest")(dict)
"""
# What Chalice prints, with exit code 0, when a package would lack what it needs.
INCOMPLETE = "Could not install dependencies"
EPOCH = "315532800"  # 1980-01-01, the first day of a zip file's calendar


@dataclass(frozen=True)
class Variant:
    """How packages are cut: for which machine, and whether the shared package comes as a layer or in each zip."""

    architecture: str
    has_layer: bool

    @property
    def name(self) -> str:
        """The folder's name in build/."""
        return self.architecture if self.has_layer else f"{self.architecture}-vendored"


class Beside(NamedTuple):
    """What a package is made with."""

    dependencies: Path
    layer: Path


def dependencies(scratch: Path, zipped: Path, app: str, variant: Variant) -> None:
    """The distributions that an app's function needs, as Chalice picks them for Lambda, compiled."""
    (scratch / ".chalice").mkdir()
    (scratch / "app.py").write_text(SMALLEST_APP)
    (scratch / "requirements.txt").write_text(lock(app))
    settings = {"version": "2.0", "app_name": "dependencies", "lambda_architecture": variant.architecture}
    (scratch / ".chalice" / "config.json").write_text(json.dumps(settings))
    printed = run([*CHALICE, "package", str(scratch / "out")], scratch)
    if INCOMPLETE in printed:
        raise Failure(f"The package of {app} lacks dependencies:\n{printed[printed.index(INCOMPLETE) :].strip()}")
    files = archives.read(scratch / "out" / "deployment.zip")
    del files["app.py"]
    archives.write(zipped, _compiled(files, scratch / "compiled", "/var/task"))
    handlers.check_contents(zipped, locks.pinned(lock(app)), variant.architecture)


def package(scratch: Path, app: str, variant: Variant, outputs: tuple[Path, Path], beside: Beside) -> None:
    """A deployable package of one app: its zip and its template."""
    zipped, template = outputs
    copy = scratch / APPS[app]
    _copy(APPS[app], copy, variant)
    extras = scratch / f"{app}.json"
    extras.write_text(json.dumps(templates.extras(INFRA / "api.json", INFRA / f"{app}.json")))
    run([*CHALICE, "package", "--stage", STAGE, "--merge-template", str(extras), str(scratch / "out")], copy)
    made = templates.checked(json.loads((scratch / "out" / "sam.json").read_text()), app)
    template.write_text(json.dumps(made, indent=1) + "\n")
    own = _compiled(archives.read(scratch / "out" / "deployment.zip"), scratch / "compiled", "/var/task")
    archives.write(zipped, {**archives.read(beside.dependencies), **own})
    if handlers.can_import(variant.architecture):
        handlers.check(zipped, template, scratch / "unpacked", beside.layer if variant.has_layer else None)


def lock(app: str) -> str:
    """The part of an app's lock that its function needs."""
    folder = ROOT / APPS[app]
    wanted = set(locks.roots((folder / "requirements.in").read_text())) - ONLY_ON_HOSTS
    return locks.part((folder / "requirements.txt").read_text(), wanted)


def layer(scratch: Path, zipped: Path) -> None:
    """What both apps need of the shared package, as a Lambda layer: below python/, where Lambda looks."""
    wanted = reachable.modules([ROOT / folder for folder in APPS.values()], SHARED_CODE)
    files = {f"python/fedcompute/{one.name}": one.read_bytes() for one in wanted}
    archives.write(zipped, _compiled(files, scratch / "compiled", "/opt"))


def wheel(scratch: Path, output: Path) -> None:
    """The shared package with its command line, for pip."""
    copy = scratch / "fedcompute"
    shutil.copytree(SHARED, copy, ignore=LITTER)
    command = [sys.executable, "-m", "pip", "wheel", "--no-build-isolation", "--no-deps", "-w", str(scratch / "out")]
    run([*command, str(copy)], scratch)
    shutil.move(next((scratch / "out").glob("*.whl")), output)


def run(command: Sequence[str], directory: Path) -> str:
    """Runs a packaging command; what it printed. Raises Failure with that when it fails."""
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


def _copy(folder: str, copy: Path, variant: Variant) -> None:
    """The app as Chalice packages it, with the files that its function reads in the vendor folder."""
    shutil.copytree(ROOT / folder, copy, ignore=LITTER)
    (copy / "requirements.txt").unlink()  # what it pins is in the dependencies already
    (copy / "vendor").mkdir()
    if (copy / "inventories").exists():
        (copy / "inventories").rename(copy / "vendor" / "inventories")
    if not variant.has_layer:
        _vendor(reachable.modules([ROOT / folder], SHARED_CODE), copy / "vendor" / "fedcompute")
    configured = copy / ".chalice" / "config.json"
    settings = json.loads(configured.read_text()) | {"lambda_architecture": variant.architecture}
    configured.write_text(json.dumps(settings))


def _vendor(modules: Iterable[Path], target: Path) -> None:
    target.mkdir()
    for one in modules:
        shutil.copyfile(one, target / one.name)


def _compiled(files: dict[str, bytes], scratch: Path, root: str) -> dict[str, bytes]:
    return archives.compiled({name: one for name, one in files.items() if archives.is_used(name)}, scratch, root)
