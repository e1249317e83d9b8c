"""Proves that a package can start: what it must hold is there, and every handler can be imported from it.

The import sees the unpacked zip, the layer, and what Lambda's own run time adds: nothing of this environment.
"""

import json
import platform
import struct
import subprocess
import sys
import zipfile
from collections.abc import Iterable
from importlib.metadata import distribution
from pathlib import Path

from scripts import locks
from scripts.terminal import Failure

# Lambda's Python run time has the AWS SDK; packages leave it out.
RUN_TIME = ("boto3", "botocore", "jmespath", "python-dateutil", "s3transfer", "six", "urllib3")
# The machine's number in an ELF header (System V ABI, e_machine).
MACHINES = {"x86_64": 62, "arm64": 183}
IMPORT = """
import importlib, sys
sys.path[:0] = sys.argv[1:4]
for handler in sys.argv[4:]:
    module, _, name = handler.rpartition(".")
    getattr(importlib.import_module(module), name)
"""


def check(zipped: Path, template: Path, scratch: Path, layer: Path | None = None) -> None:
    """Imports each handler of the template. Raises Failure for one that can't be, with its traceback."""
    _unpack(zipped, scratch / "package")
    (scratch / "layer").mkdir()
    if layer is not None:
        _unpack(layer, scratch / "layer")
    names = named_in(json.loads(template.read_text()))
    run_time = _run_time(scratch / "run-time")
    # Isolated, without site: neither this environment's packages nor the working folder are in reach.
    paths = [scratch / "package", scratch / "layer" / "python", run_time]
    command = [sys.executable, "-I", "-S", "-B", "-c", IMPORT, *map(str, paths), *names]
    done = subprocess.run(command, cwd=scratch, env={}, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Failure(f"The package {zipped.name} does not start:\n{done.stderr.strip()}")


def check_contents(zipped: Path, wanted: Iterable[str], architecture: str) -> None:
    """Every wanted distribution is in the zip, and its machine code is for `architecture`. Raises Failure."""
    with zipfile.ZipFile(zipped) as archive:
        names = archive.namelist()
        missing = sorted(set(wanted) - {_distribution(name) for name in names})
        if missing:
            raise Failure(f"The package {zipped.name} lacks {', '.join(missing)}.")
        for name in names:
            with archive.open(name) as file:
                head = file.read(20)
            if head[:4] == b"\x7fELF" and struct.unpack_from("<H", head, 18)[0] != MACHINES[architecture]:
                raise Failure(f"The package {zipped.name} is for {architecture}, but {name} in it is not.")


def can_import(architecture: str) -> bool:
    """Whether this machine runs code that was built for Lambda on `architecture`."""
    return platform.system() == "Linux" and architecture == machine()


def machine() -> str:
    """This machine's architecture by Lambda's name."""
    return "arm64" if platform.machine().lower() in ("arm64", "aarch64") else "x86_64"


def named_in(template: dict[str, dict[str, dict[str, dict[str, str]]]]) -> list[str]:
    """The handlers of a SAM template's functions, each once."""
    resources = template["Resources"].values()
    return sorted({one["Properties"]["Handler"] for one in resources if "Handler" in one.get("Properties", {})})


def _distribution(name: str) -> str:
    folder = name.partition("/")[0]
    return locks.normal(folder.partition("-")[0]) if folder.endswith(".dist-info") else ""


def _unpack(zipped: Path, target: Path) -> None:
    with zipfile.ZipFile(zipped) as archive:
        archive.extractall(target)


def _run_time(target: Path) -> Path:
    """A folder with the packages of Lambda's own run time."""
    target.mkdir()
    for name in RUN_TIME:
        found = distribution(name)
        for top in {file.parts[0] for file in found.files or () if file.parts[0] not in ("..", "__pycache__")}:
            (target / top).symlink_to(Path(str(found.locate_file(top))))
    return target
