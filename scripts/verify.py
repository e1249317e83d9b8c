"""make verify: every check, one after the other, each with its time; the first that fails is shown and ends it.

python -m scripts.verify            all of them, without those named in SKIP
python -m scripts.verify NAME ...   only these
"""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from scripts.settings import ROOT
from scripts.terminal import console, errors, heading

BIN = Path(sys.executable).parent
PYTEST = (sys.executable, "-m", "pytest")
SHARED = "layers/fedcompute/python"
RACE_ROUNDS = "20"


@dataclass(frozen=True)
class Check:
    """One command. A `live` one prints as it runs; another prints only when it fails."""

    name: str
    command: Sequence[str]
    about: str
    environment: Mapping[str, str] = field(default_factory=dict)
    live: bool = False


def checks() -> list[Check]:
    """All checks, the quick ones first."""
    shell = shutil.which("shellcheck")
    return [
        Check("format", (str(BIN / "ruff"), "format", "--check", "."), "ruff format; `make format` mends it"),
        Check("lint", (str(BIN / "ruff"), "check", "."), "ruff check"),
        # Once per app: each has an app.py and a chalicelib.
        _types("types-shared", SHARED, SHARED),
        _types("types-gateway", "gateway_app", "gateway_app", SHARED),
        _types("types-provider", "provider_app", "provider_app", SHARED),
        _types("types-scripts", "scripts", ".", "gateway_app", "provider_app", SHARED),
        Check("imports", (str(BIN / "lint-imports"),), "import-linter: which layer may know which"),
        *(
            [
                Check(
                    "shell",
                    (shell, "scripts/python.sh", "scripts/invoke", "scripts/registry_backup", ".ci/run"),
                    "shellcheck, where it is installed",
                )
            ]
            if shell
            else []
        ),
        Check("secrets", (sys.executable, "-m", "scripts.secret_scan"), "no keys, tokens or private keys in the tree"),
        Check(
            "audit",
            (sys.executable, "-m", "scripts.audit_packages"),
            "known vulnerabilities, where the index can be reached",
            live=True,
        ),
        Check(
            "tests", (*PYTEST, "-n", "2", "-m", "not e2e and not stress and not ui"), "the hermetic tests", live=True
        ),
        Check("race", (*PYTEST, "-m", "stress"), "the stress tests", {"STRESS_ROUNDS": RACE_ROUNDS}, live=True),
        Check("build", (sys.executable, "-m", "scripts.build"), "packages, layer and wheel", live=True),
        Check("templates", (sys.executable, "-m", "scripts.lint_templates"), "cfn-lint and checkov", live=True),
    ]


def main(names: Sequence[str]) -> int:
    """Runs the checks with these names, or all. Returns an exit code."""
    every = checks()
    skipped = os.environ.get("SKIP", "").replace(",", " ").split()
    unknown = {*names, *skipped} - {one.name for one in every}
    if unknown:
        errors.print(
            f"There is no check {', '.join(sorted(unknown))}; there are {', '.join(one.name for one in every)}."
        )
        return 2
    chosen = [one for one in every if one.name in names] if names else [one for one in every if one.name not in skipped]
    if any(one.name == "tests" for one in chosen):
        console.print(
            "Not among the tests: end-to-end ones (make test-e2e), the page's (make test-ui) and stress ones (make test-race)."
        )
    for check in chosen:
        if not passes(check):
            return 1
    return 0


def passes(check: Check) -> bool:
    """Runs one check and says how it went."""
    if check.live:
        heading(f"{check.name}: {check.about}")
    began = time.monotonic()
    done = subprocess.run(
        check.command,
        cwd=ROOT,
        env={**os.environ, **check.environment},
        stdout=None if check.live else subprocess.PIPE,
        stderr=None if check.live else subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode and done.stdout:
        errors.print(done.stdout, markup=False)
    outcome = "FAILED" if done.returncode else "passed"
    console.print(f"{outcome}  {check.name:<15} {time.monotonic() - began:6.1f} s  {check.about}", markup=False)
    return done.returncode == 0


def _types(name: str, what: str, *path: str) -> Check:
    cache = f"--cache-dir=.mypy_cache/{name}"
    return Check(name, (str(BIN / "mypy"), cache, what), "mypy, strict", {"MYPYPATH": os.pathsep.join(path)})


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
