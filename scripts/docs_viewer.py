"""Gets swagger-ui for /docs from npm, once, into the gateway's package; runs on a bare Python.

Without npm, or without a network, nothing is lost but the viewer: /docs then lists the operations.
"""

import base64
import hashlib
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

PACKAGE = "swagger-ui-dist"
VERSION = "5.35.0"
SHA512 = (
    "U06rpMtW9V3XPGOBeamTUSr0Z09jMX4IJuANpE/EZbAhw0G8CgwrzU4YmXkn/h0wCDNsXdGarTNNHC3sU8yVUQ=="  # npm's own integrity
)
WANTED = ("swagger-ui.css", "swagger-ui-bundle.js", "swagger-ui-bundle.js.LICENSE.txt", "LICENSE", "NOTICE")
TARGET = Path(__file__).resolve().parent.parent / "gateway_app" / "chalicelib" / "viewer"
PATIENCE_S = 120


def main() -> int:
    """Runs the command. Returns 0 also where there is no viewer to be had: it is a comfort."""
    print(f"  {fetch()}")
    return 0


def fetch(target: Path = TARGET) -> str:
    """Unpacks the viewer unless this version is there. Returns what was done, or why not, in words."""
    stamp = target / "VERSION"
    if stamp.exists() and stamp.read_text() == VERSION:
        return f"The viewer of /docs is there: {PACKAGE} {VERSION}."
    npm = shutil.which("npm")
    if npm is None:
        return "No viewer for /docs: npm is not installed. /docs lists the operations instead."
    with tempfile.TemporaryDirectory(prefix="fedcompute-viewer-") as scratch:
        try:
            archive = _packed(npm, Path(scratch))
            _unpack(archive, target)
        except (OSError, ValueError, subprocess.SubprocessError, tarfile.TarError, KeyError) as error:
            return f"No viewer for /docs: {error}. /docs lists the operations instead."
    stamp.write_text(VERSION)
    return f"Unpacked {PACKAGE} {VERSION} for /docs."


def _packed(npm: str, folder: Path) -> Path:
    """The package's archive, as npm gives it. ValueError for one that is not the one that is pinned here."""
    command = [npm, "pack", "--silent", "--pack-destination", str(folder), f"{PACKAGE}@{VERSION}"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=PATIENCE_S)
    if done.returncode:
        raise ValueError(f"npm pack failed: {(done.stderr.strip() or done.stdout.strip())[-300:]}")
    (archive,) = folder.glob("*.tgz")
    if base64.b64encode(hashlib.sha512(archive.read_bytes()).digest()).decode() != SHA512:
        raise ValueError(f"what npm gave for {PACKAGE} {VERSION} is not what is pinned")
    return archive


def _unpack(archive: Path, target: Path) -> None:
    with tarfile.open(archive) as opened:
        files = {name: opened.extractfile(f"package/{name}") for name in WANTED}
        contents = {name: file.read() for name, file in files.items() if file is not None}
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    for name, content in contents.items():
        (target / name).write_bytes(content)


if __name__ == "__main__":
    sys.exit(main())
