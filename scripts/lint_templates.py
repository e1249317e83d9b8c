"""Checks the built templates with cfn-lint and checkov, each in an environment of its own, offline.

What is not kept of their rules stands in infra/lint/, with the reason.
"""

import argparse
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from scripts import build
from scripts.packages import Variant
from scripts.settings import ROOT
from scripts.terminal import Failure, fail, line

LINT = ROOT / "infra" / "lint"
TEMPLATES = ("base", "gateway", "provider")


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command. Returns its exit code."""
    argparse.ArgumentParser(prog="python -m scripts.lint_templates", description=__doc__).parse_args(arguments)
    try:
        built = build.build(Variant(build.architecture(), has_layer=True))
        files = [str(built.template(name)) for name in TEMPLATES]
        _run("cfn-lint", "cfn-lint", *files)
        checked = [argument for file in files for argument in ("--file", file)]
        _run("checkov", "checkov", "--config-file", str(LINT / "checkov.yaml"), *checked)
    except Failure as failure:
        fail(failure)
        return 1
    return 0


def _run(tool: str, program: str, *arguments: str) -> None:
    """Runs a tool that installs itself on first use. Raises Failure with what it found."""
    environment = _environment(tool)
    # checkov asks its vendor's service for guidelines unless a proxy keeps it from that.
    offline = os.environ | {"HTTPS_PROXY": "http://127.0.0.1:9", "NO_PROXY": ""}
    command = [str(environment / "bin" / program), *arguments]
    done = subprocess.run(command, env=offline, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Failure(f"{tool} has found:\n{done.stdout.strip()}\n{done.stderr.strip()[-2000:]}")
    line(f"{tool}: nothing found")


def _environment(tool: str) -> Path:
    run_dir = ROOT / ".run"
    environment, lock = run_dir / f"{tool}-venv", LINT / tool / "requirements.txt"
    stamp = environment / ".installed"
    if not stamp.exists() or stamp.stat().st_mtime < lock.stat().st_mtime:
        command = [sys.executable, str(ROOT / "scripts" / "install.py"), str(environment), str(lock)]
        if subprocess.run(command, cwd=ROOT, check=False).returncode:
            raise Failure(f"{tool} can't be installed; see the messages above.")
    return environment


if __name__ == "__main__":
    raise SystemExit(main())
