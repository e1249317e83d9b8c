"""make test-e2e: the end-to-end tests, with an emulator of their own on a free port.

First those of the commands and of the registry, then the API's, unchanged on each target: `chalice local`, the emulator,
and the LocalStack that LOCALSTACK_ENDPOINT names, where it names one. What was deployed is then deployed again so that it
divides searches of more than two providers, and once more with AUTH=keys, for tests of these. TARGETS=local,emulator chooses; arguments go to pytest.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from scripts import fleet, gateway, interrupts, ports, processes, services, settings, table
from scripts.settings import ROOT, Settings
from scripts.terminal import Failure, fail, heading, line

API = "tests/e2e/test_api.py"
DIVIDED = "tests/e2e/test_divided_search.py"
KEYED = "tests/e2e/test_keys_when_deployed.py"
STACK_PREFIX = "fedcompute-e2e"
NO_TESTS = 5  # pytest's exit code where none was chosen


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
    """Runs the tests while a whole fleet of its own is there for them: the emulator, and a gateway to compare with."""
    names = _targets()
    free = dict(zip(settings.DEFAULT_PORTS, ports.free_ports(len(settings.DEFAULT_PORTS)), strict=True))
    configured = replace(settings.read(), run_dir=folder, ports=free)
    try:
        with fleet.up(configured, services.fleet(configured), _table_when_ready(configured)):
            gateway.register(configured)
            codes = [_pytest(folder, {"REGISTRY_TEST_ENDPOINT": configured.url("emulator")}, ["tests", *arguments])]
            for name in names:
                environment = _environment(name, configured)
                with _target(name, configured, environment) as address:
                    heading(f"The API on {name}: {address}")
                    told = {"E2E_TARGET": name, "E2E_GATEWAY": address, "E2E_REFERENCE": configured.url("gateway")}
                    codes.append(_pytest(folder, told, [API, *arguments]))
                    if name == "local":
                        continue
                    heading(f"Divided searches on {name}: {address}")
                    _script("deploy", environment | {"SEARCH_PART_PROVIDERS": "2"})
                    told |= {"E2E_DIVIDED_AT": _endpoint(name, configured), "E2E_STACK": f"{STACK_PREFIX}-gateway"}
                    codes.append(_pytest(folder, told, [DIVIDED, *arguments]))
                    heading(f"Keys on {name}: {address}")
                    told = {**environment, **told, "E2E_DIVIDED_AT": "", "E2E_KEYS_AT": _endpoint(name, configured)}
                    codes.append(_pytest(folder, told, [KEYED, *arguments]))
    finally:
        with interrupts.held():
            fleet.down(folder, list(processes.recorded(folder).values()))
            _end_leftovers(folder)
    # Arguments may choose tests that stand in one of these places only.
    return next((code for code in codes if code not in (0, NO_TESTS)), min(codes))


def _targets() -> list[str]:
    """Which targets the API is tried on."""
    usual = ["local", "emulator", *(["localstack"] if os.environ.get("LOCALSTACK_ENDPOINT") else [])]
    chosen = os.environ.get("TARGETS", ",".join(usual)).replace(",", " ").split()
    if unknown := sorted(set(chosen) - {"local", "emulator", "localstack"}):
        raise Failure(f"TARGETS names {', '.join(unknown)}; there are local, emulator and localstack.")
    if "localstack" not in chosen:
        line("Not on LocalStack: LOCALSTACK_ENDPOINT names none.")
    return chosen


def _table_when_ready(configured: Settings) -> fleet.WhenReady:
    def when_ready(service: services.Service, running: Any, is_new: bool) -> None:  # noqa: ARG001 (the fleet's call)
        if service.name == "emulator":
            table.create(configured)

    return when_ready


def _environment(name: str, configured: Settings) -> dict[str, str]:
    """What the deployment scripts are told."""
    return os.environ | {
        "TARGET": name,
        "RUN_DIR": str(configured.run_dir),
        "EMULATOR_PORT": str(configured.ports["emulator"]),
        "STACK_PREFIX": STACK_PREFIX,
        "PROVIDERS": " ".join(settings.PROVIDERS),
    }


def _endpoint(name: str, configured: Settings) -> str:
    """Where a target's own API answers."""
    return os.environ["LOCALSTACK_ENDPOINT"] if name == "localstack" else configured.url("emulator")


@contextmanager
def _target(name: str, configured: Settings, environment: Mapping[str, str]) -> Iterator[str]:
    """The gateway's address on a target, deployed for the block."""
    if name == "local":
        yield configured.url("gateway")
        return
    _script("deploy", environment)
    try:
        told = dict(row.split() for row in _script("urls", environment).splitlines())
        yield told["gateway"]
    finally:
        with interrupts.held():
            _script("undeploy", environment)


def _script(name: str, environment: Mapping[str, str]) -> str:
    command = [sys.executable, "-m", f"scripts.{name}"]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Failure(f"scripts.{name} failed:\n{done.stdout[-6000:]}{done.stderr[-3000:]}")
    return done.stdout


def _pytest(folder: Path, told: Mapping[str, str], arguments: Sequence[str]) -> int:
    command = [sys.executable, "-m", "pytest", "-m", "e2e", f"--basetemp={folder / 'tests'}", *arguments]
    return subprocess.run(command, cwd=ROOT, env={**os.environ, **told}, check=False).returncode


def _end_leftovers(folder: Path) -> None:
    """Ends the fleets that tests began in copies of the tree and, having been cut short, did not end."""
    for services_folder in folder.glob("tests/**/.run/services"):
        run_dir = services_folder.parent
        fleet.down(run_dir, list(processes.recorded(run_dir).values()))


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
