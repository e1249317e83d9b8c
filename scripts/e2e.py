"""make test-e2e: the end-to-end tests, with an emulator of their own on a free port."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from scripts import fleet, interrupts, ports, processes, services, settings
from scripts.settings import ROOT
from scripts.terminal import Failure, fail


def main(arguments: Sequence[str]) -> int:
    """Runs the tests; arguments go to pytest. Returns its exit code."""
    try:
        with interrupts.raised(), tempfile.TemporaryDirectory(prefix="fedcompute-e2e-") as folder:
            return run(Path(folder), arguments)
    except Failure as failure:
        fail(failure)
        return 1
    except interrupts.Interrupted as interrupted:
        return 128 + interrupted.number


def run(folder: Path, arguments: Sequence[str]) -> int:
    """Runs the tests while an emulator with empty tables is there for them."""
    usual = settings.read()
    port = ports.free_ports(1)[0]
    configured = replace(usual, run_dir=folder, ports={**usual.ports, "emulator": port})
    with fleet.up(configured, [services.emulator(configured)], lambda *_: None) as started:
        try:
            environment = os.environ | {"REGISTRY_TEST_ENDPOINT": configured.url("emulator")}
            pytest = [
                sys.executable,
                "-m",
                "pytest",
                "-m",
                "e2e",
                f"--basetemp={folder / 'tests'}",
                "tests",
                *arguments,
            ]
            return subprocess.run(pytest, cwd=ROOT, env=environment, check=False).returncode
        finally:
            with interrupts.held():
                fleet.down(folder, started)
                _end_leftovers(folder)


def _end_leftovers(folder: Path) -> None:
    """Ends the fleets that tests began in copies of the tree and, having been cut short, did not end."""
    for services_folder in folder.glob("tests/**/.run/services"):
        run_dir = services_folder.parent
        fleet.down(run_dir, list(processes.recorded(run_dir).values()))


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
