"""Zip files that are equal when what they hold is equal: sorted names, one time, plain permissions."""

import zipfile
from collections.abc import Mapping
from pathlib import Path

TIME = (1980, 1, 1, 0, 0, 0)


def write(target: Path, files: Mapping[str, bytes]) -> None:
    """Writes a zip of these files, by name."""
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in sorted(files):
            entry = zipfile.ZipInfo(name, TIME)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o100644 << 16  # Lambda must be able to read it
            archive.writestr(entry, files[name])


def normalise(target: Path) -> None:
    """Writes a zip anew in this form."""
    with zipfile.ZipFile(target) as archive:
        files = {name: archive.read(name) for name in archive.namelist() if not name.endswith("/")}
    write(target, files)
