"""Which modules of the shared package an app needs: what it imports, and what that imports in turn."""

import ast
from collections.abc import Iterable, Iterator
from pathlib import Path

PACKAGE = "fedcompute"


def modules(apps: Iterable[Path], shared: Path) -> list[Path]:
    """The files of the package in `shared` that any of these app folders reaches, imports inside functions included."""
    found: set[Path] = set()
    waiting = [shared / "__init__.py", *_of_apps(apps, shared)]
    while waiting:
        file = waiting.pop()
        if file not in found:
            found.add(file)
            waiting += _imported(file, shared)
    return sorted(found)


def _of_apps(apps: Iterable[Path], shared: Path) -> Iterator[Path]:
    for app in apps:
        for file in (app / "app.py", *(app / "chalicelib").rglob("*.py")):
            yield from _imported(file, shared)


def _imported(file: Path, shared: Path) -> Iterator[Path]:
    for node in ast.walk(ast.parse(file.read_bytes())):
        for name in _names(node):
            module = shared / f"{name.partition('.')[2]}.py"
            if name.startswith(f"{PACKAGE}.") and module.exists():
                yield module


def _names(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom) and node.module and not node.level:
        return [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
    return []
