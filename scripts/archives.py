"""Zip files that are equal when what they hold is equal: sorted names, one time, plain permissions."""

import os
import subprocess
import sys
import zipfile
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from scripts.terminal import Failure

TIME = (1980, 1, 1, 0, 0, 0)
# What a running function never reads. Licences stay.
UNUSED_FOLDERS = frozenset({"tests", "test", "sboms", "__pycache__"})
UNUSED_NAMES = frozenset({"RECORD", "WHEEL", "INSTALLER", "REQUESTED", "py.typed"})


def write(target: Path, files: Mapping[str, bytes]) -> None:
    """Writes a zip of these files, by name."""
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in sorted(files):
            entry = zipfile.ZipInfo(name, TIME)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o100644 << 16  # Lambda must be able to read it
            archive.writestr(entry, files[name])


def read(source: Path) -> dict[str, bytes]:
    """The files of a zip, by name."""
    with zipfile.ZipFile(source) as archive:
        return {name: archive.read(name) for name in archive.namelist() if not name.endswith("/")}


def normalise(target: Path) -> None:
    """Writes a zip anew in this form."""
    write(target, read(target))


def is_used(name: str) -> bool:
    """Whether a file belongs into a package: no tests, type stubs, installers' records or second pydantic."""
    path = PurePosixPath(name)
    return not (
        UNUSED_FOLDERS & set(path.parts[:-1])
        or (path.name in UNUSED_NAMES and (path.name == "py.typed" or path.parts[0].endswith(".dist-info")))
        or path.suffix == ".pyi"
        # Version 1's interface stands beside version 2's, for models of version 1 only.
        or path.parts[:2] == ("pydantic", "v1")
    )


def compiled(files: Mapping[str, bytes], scratch: Path, root: str) -> dict[str, bytes]:
    """The files with a .pyc beside each module that Python takes as it is, whatever the time stamps (PEP 552).

    `root` is where the files will stand, for tracebacks. The same input gives the same bytes: one process, sorted names,
    one hash seed.
    """
    for name, content in files.items():
        (scratch / name).parent.mkdir(parents=True, exist_ok=True)
        (scratch / name).write_bytes(content)
    command = [sys.executable, "-m", "compileall", "-q", "--invalidation-mode", "unchecked-hash"]
    command += ["-s", str(scratch), "-p", root, str(scratch)]
    environment = os.environ | {"PYTHONHASHSEED": "0"}
    environment.pop("PYTHONPATH", None)
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Failure(f"A module can't be compiled:\n{done.stdout.strip()}{done.stderr.strip()}")
    made = {one.relative_to(scratch).as_posix(): one.read_bytes() for one in scratch.rglob("*.pyc")}
    return {**files, **made}
