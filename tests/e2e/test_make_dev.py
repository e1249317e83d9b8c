"""make dev, stop and logs as a person runs them, in a copy of the tree, on free ports."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import requests

from scripts.ports import free_ports
from scripts.settings import DEFAULT_PORTS, ROOT, port_variable

pytestmark = pytest.mark.e2e

EMULATOR_VENV = (ROOT / os.environ.get("EMULATOR_VENV", ".run/emulator-venv")).absolute()
PROVIDER_D = {"id": "provider-d", "name": "Lab D", "base_url": "http://localhost:1027/d"}
PATIENCE_S = 60


@dataclass(frozen=True)
class Checkout:
    """A copy of the tree with ports of its own, and the environments of this one."""

    folder: Path
    ports: dict[str, int]

    @property
    def environment(self) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if name not in ("RUN_DIR", "MAKEFLAGS", "MAKELEVEL")}
        return kept | {
            "VENV": sys.prefix,
            "EMULATOR_VENV": str(EMULATOR_VENV),
            "PYTHONPATH": str(self.folder / "layers" / "fedcompute" / "python"),
            **{port_variable(name): str(port) for name, port in self.ports.items()},
        }

    def begin(self, *arguments: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            ["make", *arguments],
            cwd=self.folder,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def make(self, *arguments: str) -> str:
        code, printed = self.try_make(*arguments)
        assert code == 0, printed
        return printed

    def try_make(self, *arguments: str) -> tuple[int, str]:
        with self.begin(*arguments) as process:
            printed, _ = process.communicate(timeout=PATIENCE_S)
        return process.returncode, printed

    def pids(self) -> dict[str, int]:
        records = (self.folder / ".run" / "services").glob("*.json")
        return {path.stem: json.loads(path.read_text())["pid"] for path in records}

    def listening(self) -> set[str]:
        return {name for name, port in self.ports.items() if _answers(port)}

    def processes(self) -> list[Path]:
        """All processes that were begun in this copy."""
        return [one for one in Path("/proc").iterdir() if one.name.isdigit() and _is_in(one, self.folder)]

    def ask(self, method: str, path: str, body: Any = None) -> requests.Response:
        with requests.Session() as session:
            session.trust_env = False
            return session.request(method, f"http://127.0.0.1:{self.ports['gateway']}{path}", json=body, timeout=20)


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Checkout]:
    if not EMULATOR_VENV.exists():
        pytest.skip("the emulator is not installed; make test-e2e does that")
    folder = tmp_path_factory.mktemp("checkout")
    listed = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    for name in subprocess.run(listed, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\0"):
        if name and (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, folder / name)
    copy = Checkout(folder, dict(zip(DEFAULT_PORTS, free_ports(len(DEFAULT_PORTS)), strict=True)))
    yield copy
    copy.try_make("stop")


@pytest.fixture
def running(checkout: Checkout) -> Checkout:
    checkout.make("dev")
    return checkout


@pytest.fixture
def stopped(checkout: Checkout) -> Checkout:
    checkout.make("stop")
    return checkout


def test_first_command_starts_everything_and_shows_an_answered_search(stopped: Checkout) -> None:
    printed = stopped.make("dev")

    assert stopped.listening() == set(DEFAULT_PORTS)
    assert "6 candidates (best-fit, 3 providers" in printed
    assert all(f"{name} " in printed for name in DEFAULT_PORTS)
    assert f"http://localhost:{stopped.ports['gateway']}" in printed
    assert max(map(len, printed.splitlines())) <= 140  # the wide layout, which a pipe gets


def test_search_asks_all_three_providers(running: Checkout) -> None:
    answer = running.ask("POST", "/api/v1/resources/search", {"cpu": {"minimum_millicores": 1000}}).json()

    outcomes = {one["id"]: one["outcome"] for one in answer["providers"]}
    assert {outcomes[name] for name in ("provider-a", "provider-b", "provider-c")} <= {"ok", "not_modified"}
    assert answer["candidates"]


def test_second_command_says_what_runs_and_starts_nothing(running: Checkout) -> None:
    before = running.pids()

    printed = running.make("dev")

    assert running.pids() == before
    assert printed.count("already runs") == len(DEFAULT_PORTS)
    assert "6 candidates (best-fit, 3 providers" in printed


def test_killed_provider_alone_is_started_again(running: Checkout) -> None:
    before = running.pids()
    os.kill(before["provider-b"], signal.SIGKILL)

    printed = running.make("dev")

    after = running.pids()
    assert after.pop("provider-b") != before.pop("provider-b")
    assert after == before
    assert printed.count("already runs") == len(DEFAULT_PORTS) - 1


def test_records_survive_stop_and_start(running: Checkout) -> None:
    running.ask("DELETE", "/api/v1/providers/provider-d")
    assert running.ask("POST", "/api/v1/providers", PROVIDER_D).status_code == 201

    running.make("stop")
    running.make("dev")

    assert running.ask("GET", "/api/v1/providers/provider-d").json()["base_url"] == PROVIDER_D["base_url"]
    running.ask("DELETE", "/api/v1/providers/provider-d")


def test_killed_emulator_loses_only_what_came_after_its_start(running: Checkout) -> None:
    running.make("stop")
    running.make("dev")
    running.ask("POST", "/api/v1/providers", PROVIDER_D)
    os.kill(running.pids()["emulator"], signal.SIGKILL)

    printed = running.make("dev")

    assert running.ask("GET", "/api/v1/providers/provider-d").status_code == 404
    assert running.ask("GET", "/api/v1/providers/provider-a").status_code == 200
    assert printed.count("already runs") == 3


def test_record_that_a_person_edited_is_left_alone(running: Checkout) -> None:
    usual = running.ask("GET", "/api/v1/providers/provider-c").json()["base_url"]
    running.ask("PATCH", "/api/v1/providers/provider-c", {"base_url": "http://localhost:1027/edited", "name": "Mine"})

    printed = running.make("dev")

    record = running.ask("GET", "/api/v1/providers/provider-c").json()
    running.ask("PATCH", "/api/v1/providers/provider-c", {"base_url": usual})
    assert (record["base_url"], record["name"]) == ("http://localhost:1027/edited", "Mine")
    assert "http://localhost:1027/edited" in printed


def test_providers_move_along_when_their_ports_are_changed(running: Checkout) -> None:
    running.make("stop")
    port = free_ports(1)[0]

    running.make("dev", f"PROVIDER_A_PORT={port}")

    record = running.ask("GET", "/api/v1/providers/provider-a").json()
    running.make("stop")
    assert record["base_url"] == f"http://localhost:{port}"


def test_taken_port_is_named_with_its_holder_and_nothing_is_started(stopped: Checkout) -> None:
    with socket.create_server(("127.0.0.1", stopped.ports["provider-b"])):
        code, printed = stopped.try_make("dev")

    assert code != 0
    assert f"Port {stopped.ports['provider-b']} for provider-b is taken by process {os.getpid()}" in printed
    assert "PROVIDER_B_PORT" in printed
    assert stopped.pids() == {}


def test_service_that_cannot_start_shows_its_log_and_takes_the_others_down(stopped: Checkout) -> None:
    app = stopped.folder / "gateway_app" / "app.py"
    code = app.read_text()
    app.write_text("raise RuntimeError('no gateway today')\n")

    try:
        exit_code, printed = stopped.try_make("dev")
    finally:
        app.write_text(code)

    assert exit_code != 0
    assert "no gateway today" in printed
    assert _becomes_true(lambda: not stopped.processes() and not stopped.listening())


def test_broken_inventory_is_told_before_anything_starts(stopped: Checkout) -> None:
    file = stopped.folder / "provider_app" / "inventories" / "provider-b.json"
    text = file.read_text()
    file.write_text(text.replace('"ready": true', '"ready": "yes"', 1))

    try:
        code, printed = stopped.try_make("dev")
    finally:
        file.write_text(text)

    assert code != 0
    assert "provider-b.json" in printed
    assert "ready" in printed
    assert stopped.pids() == {}


def test_stop_leaves_no_process_and_no_port_and_may_be_said_twice(running: Checkout) -> None:
    first = running.make("stop")
    second = running.make("stop")

    assert "gateway" in first
    assert "Nothing is running" in second
    assert running.processes() == []
    assert running.listening() == set()


@pytest.mark.parametrize("whom", ["everyone in the terminal", "make alone"])
@pytest.mark.parametrize("started", [1, 5])
def test_interrupted_start_leaves_nothing(stopped: Checkout, whom: str, started: int) -> None:
    with stopped.begin("dev") as process:
        assert _becomes_true(lambda: len(stopped.pids()) >= started)
        if whom == "make alone":
            process.terminate()
        else:
            os.killpg(process.pid, signal.SIGINT)
        process.communicate(timeout=PATIENCE_S)

    assert process.returncode != 0
    assert _becomes_true(lambda: not stopped.processes())
    assert stopped.listening() == set()
    assert stopped.pids() == {}


def test_only_loopback_is_bound(running: Checkout) -> None:
    hosts = [_own_address()]

    assert [(host, port) for host in hosts for port in running.ports.values() if _answers(port, host)] == []


def test_second_start_at_the_same_time_is_refused(stopped: Checkout) -> None:
    with stopped.begin("dev") as first:
        assert _becomes_true(lambda: bool(stopped.pids()))
        code, printed = stopped.try_make("dev")
        first.communicate(timeout=PATIENCE_S)

    assert first.returncode == 0
    assert code != 0
    assert "is at work in this checkout" in printed


def test_logs_of_all_services_are_printed_with_their_names(running: Checkout) -> None:
    printed = running.make("logs")

    assert all(f"\n{name}" in f"\n{printed}" for name in ("emulator", "gateway", "provider-a"))


def _is_in(process: Path, folder: Path) -> bool:
    try:
        return (process / "cwd").readlink().is_relative_to(folder)
    except OSError:
        return False


def _answers(port: int, host: str = "127.0.0.1") -> bool:
    with socket.socket() as one:
        one.settimeout(1)
        return one.connect_ex((host, port)) == 0


def _own_address() -> str:
    """This machine's address to the outside; nothing is sent."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
        try:
            one.connect(("192.0.2.1", 9))
        except OSError:
            pytest.skip("this machine has no address but loopback")
        address: str = one.getsockname()[0]
    return address


def _becomes_true(condition: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + PATIENCE_S
    while not (holds := condition()) and time.monotonic() < deadline:
        time.sleep(0.02)
    return holds
