"""Reads lock files: which distributions they pin, and the part of one that some of them need."""

import re
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, requires


def pinned(lock: str) -> dict[str, str]:
    """The lines of each pinned distribution (version and hashes), by its normal name."""
    blocks = re.split(r"^(?=[A-Za-z0-9])", re.sub(r"^#.*\n", "", lock, flags=re.MULTILINE), flags=re.MULTILINE)
    return {normal(re.split(r"[=\[]", block, maxsplit=1)[0]): block for block in blocks if block.strip()}


def part(lock: str, roots: Iterable[str]) -> str:
    """What a lock says of these distributions and of all that they require."""
    blocks = pinned(lock)
    wanted: set[str] = set()
    waiting = [normal(name) for name in roots]
    while waiting:
        name = waiting.pop()
        if name in blocks and name not in wanted:
            wanted.add(name)
            waiting += _required(name)
    return "".join(block for name, block in blocks.items() if name in wanted)


def roots(requirements: str) -> list[str]:
    """The names in a requirements.in."""
    return re.findall(r"^([A-Za-z0-9][A-Za-z0-9._-]*)", requirements, re.MULTILINE)


def normal(name: str) -> str:
    """A distribution's name as in the name of its folder."""
    return re.sub(r"[-_.]+", "_", name).lower()


def _required(name: str) -> list[str]:
    try:
        found = requires(name) or []
    except PackageNotFoundError:  # only for another system
        found = []
    return [normal(re.split(r"[^A-Za-z0-9._-]", one, maxsplit=1)[0]) for one in found if "extra ==" not in one]
