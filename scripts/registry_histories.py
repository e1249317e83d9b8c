"""The registry against a dict, and under many clients at once, at full size on one DynamoDB: what ran, and for how long.

python -m scripts.registry_histories TARGET     moto, emulator (one of its own), or the address of a DynamoDB

MODEL_EXAMPLES (200), MODEL_STEPS (50) and MODEL_SEED (1) are of the first, CONTENTION_CALLS (500, of each of 8 clients)
and CONTENTION_SEED (1) of the second.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from scripts import fleet, interrupts, ports, processes, services, settings
from scripts.settings import ROOT
from scripts.terminal import Failure, fail

FULL_SIZE: Mapping[str, str] = {"MODEL_EXAMPLES": "200", "MODEL_STEPS": "50", "CONTENTION_CALLS": "500"}
ON_MOTO = (
    "tests/integration/test_registry_against_a_model.py",
    "tests/integration/test_registry_under_contention.py",
)
AT_ENDPOINT = ("-m", "e2e", "-k", "Model or Contention", "tests/e2e/test_registry_on_emulator.py")


def main(arguments: Sequence[str]) -> int:
    """Runs both on the target that is named. Returns an exit code."""
    if len(arguments) != 1:
        print(__doc__)
        return 2
    (target,) = arguments
    try:
        if target == "moto":
            return _pytest(ON_MOTO)
        if target == "emulator":
            with interrupts.raised(), _emulator() as endpoint:
                return _pytest(AT_ENDPOINT, endpoint)
        return _pytest(AT_ENDPOINT, target)
    except Failure as failure:
        fail(failure)
        return 1
    except interrupts.Interrupted as interrupted:
        return 128 + interrupted.number


@contextmanager
def _emulator() -> Iterator[str]:
    """The address of an emulator that is there for the block, on a port that was free."""
    free = dict(zip(settings.DEFAULT_PORTS, ports.free_ports(len(settings.DEFAULT_PORTS)), strict=True))
    with tempfile.TemporaryDirectory(prefix="fedcompute-registry-") as folder:
        configured = replace(settings.read(), run_dir=Path(folder), ports=free)
        try:
            with fleet.up(configured, [services.emulator(configured)], lambda *_: None):
                yield configured.url("emulator")
        finally:
            with interrupts.held():
                fleet.down(configured.run_dir, list(processes.recorded(configured.run_dir).values()))


def _pytest(arguments: Sequence[str], endpoint: str = "") -> int:
    told = {**FULL_SIZE, **os.environ, "REGISTRY_TEST_ENDPOINT": endpoint, "LOCALSTACK_ENDPOINT": ""}
    command = [sys.executable, "-m", "pytest", "-q", "-s", *arguments]
    return subprocess.run(command, cwd=ROOT, env=told, check=False).returncode


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
