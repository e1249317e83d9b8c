"""Proves that a package can start: imports every handler from the unpacked zip, with only what Lambda adds to it."""

import json
import platform
import subprocess
import sys
import zipfile
from importlib.metadata import distribution
from pathlib import Path

from scripts.terminal import Failure, line

# Lambda's Python run time has the AWS SDK; Chalice's packages leave it out.
RUN_TIME = ("boto3", "botocore", "jmespath", "python-dateutil", "s3transfer", "six", "urllib3")
IMPORT = """
import importlib, sys
sys.path[:0] = sys.argv[1:3]
for handler in sys.argv[3:]:
    module, _, name = handler.rpartition(".")
    getattr(importlib.import_module(module), name)
"""


def check(zipped: Path, template: Path, scratch: Path) -> None:
    """Imports each handler of the template. Raises Failure for one that can't be, with its traceback."""
    with zipfile.ZipFile(zipped) as archive:
        archive.extractall(scratch / "package")
    names = named_in(json.loads(template.read_text()))
    if (platform.system(), platform.machine()) != ("Linux", "x86_64"):
        line(f"{', '.join(names)}: not imported here, since the package is for Linux on x86_64")
        return
    run_time = _run_time(scratch / "run-time")
    # Isolated, without site: neither this environment's packages nor the working folder are in reach.
    command = [sys.executable, "-I", "-S", "-c", IMPORT, str(scratch / "package"), str(run_time), *names]
    done = subprocess.run(command, cwd=scratch, env={}, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Failure(f"The package in {zipped.parent.name} does not start:\n{done.stderr.strip()}")


def named_in(template: dict[str, dict[str, dict[str, dict[str, str]]]]) -> list[str]:
    """The handlers of a SAM template's functions, each once."""
    resources = template["Resources"].values()
    return sorted({one["Properties"]["Handler"] for one in resources if "Handler" in one.get("Properties", {})})


def _run_time(target: Path) -> Path:
    """A folder with the packages of Lambda's own run time."""
    target.mkdir()
    for name in RUN_TIME:
        found = distribution(name)
        for top in {file.parts[0] for file in found.files or () if file.parts[0] not in ("..", "__pycache__")}:
            (target / top).symlink_to(Path(str(found.locate_file(top))))
    return target
