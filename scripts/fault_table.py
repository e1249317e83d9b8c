"""Every way in which a provider can misbehave, against the gateway's own handler: outcome, time and memory of each.

python -m scripts.fault_table
"""

import os
import subprocess
import sys

from scripts.settings import ROOT

PATHS = ("tests", "gateway_app", "layers/fedcompute/python")


def run(program: str, *arguments: str) -> int:
    """Runs a program of tests/faults with what the tests import on its path. Returns its exit code."""
    path = os.pathsep.join(str(ROOT / one) for one in PATHS)
    command = [sys.executable, str(ROOT / "tests" / "faults" / program), *arguments]
    return subprocess.run(command, env={**os.environ, "PYTHONPATH": path}, check=False).returncode


if __name__ == "__main__":
    raise SystemExit(run("fault_table_program.py"))
