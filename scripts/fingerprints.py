"""Knows what a built file was made of, so that only what changed is built again."""

import hashlib
import json
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from scripts.settings import ROOT

# How packages are made: a change of these changes every package.
MAKERS = ("scripts/build.py", "scripts/packages.py", "scripts/archives.py", "scripts/reachable.py", "scripts/locks.py")
IGNORED = frozenset({"__pycache__", "deployed", "deployments"})


def of(sources: Iterable[Path], *choices: str) -> str:
    """One hash over these files (folders: all below), the scripts that package, this Python and the choices made."""
    digest = hashlib.sha256("\0".join([sys.version, *choices]).encode())
    for file in sorted(_files([*sources, *(ROOT / name for name in MAKERS)])):
        digest.update(f"\0{file.relative_to(ROOT).as_posix()}\0".encode())
        digest.update(file.read_bytes())
    return digest.hexdigest()


def of_content(file: Path) -> str:
    """The hash of one file's bytes."""
    return hashlib.sha256(file.read_bytes()).hexdigest()


def unless_current(outputs: Sequence[Path], fingerprint: str, make: Callable[[], None]) -> bool:
    """Makes the outputs unless they are what was made of this fingerprint before. Whether it had to."""
    stamp = outputs[0].parent / f".{outputs[0].stem}.made-of"
    try:
        known = json.loads(stamp.read_text())
        if known == {"inputs": fingerprint, "outputs": [of_content(one) for one in outputs]}:
            return False
    except (OSError, ValueError):
        pass
    stamp.unlink(missing_ok=True)
    make()
    stamp.write_text(json.dumps({"inputs": fingerprint, "outputs": [of_content(one) for one in outputs]}))
    return True


def _files(sources: Iterable[Path]) -> Iterable[Path]:
    for source in sources:
        if source.is_file():
            yield source
        for file in source.rglob("*"):
            if file.is_file() and not IGNORED & set(file.parts) and not file.parent.name.endswith(".egg-info"):
                yield file
