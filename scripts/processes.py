"""Starting and ending the fleet's processes. Each has a group of its own and a record that outlives the command."""

import json
import os
import signal
import subprocess
import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from scripts import process_table
from scripts.services import Service, environment_of

GRACE_S = 15.0  # the emulator saves its state in this time
POLL_S = 0.05


@dataclass(frozen=True)
class Running:
    """A process that was started: its number, what tells it from a later one with that number, and its port."""

    name: str
    port: int
    pid: int
    started: str
    boot: str

    @property
    def is_alive(self) -> bool:
        """Whether this very process still runs."""
        found = process_table.find(self.pid)
        return found is not None and found.started == self.started and self.boot == process_table.boot()

    @property
    def has_members(self) -> bool:
        """Whether anything of its group still runs, be it only children that it left behind.

        A group's number is not given out again while the group has members; a process that has taken the number since
        is somebody else's.
        """
        if self.boot != process_table.boot():
            return False
        leader = process_table.find(self.pid)
        return (leader is None or leader.started == self.started) and bool(process_table.members(self.pid))


def start(service: Service, run_dir: Path) -> Running:
    """Starts a service in the background, its output in its log, and writes its record."""
    log = log_path(run_dir, service.name)
    log.parent.mkdir(parents=True, exist_ok=True)
    (run_dir / "tmp").mkdir(exist_ok=True)
    if log.exists():
        log.replace(log.with_suffix(".log.1"))
    with log.open("wb") as output:
        child = subprocess.Popen(
            service.command,
            cwd=service.directory,
            env=environment_of(service),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        found = process_table.find(child.pid)
        running = Running(service.name, service.port, child.pid, found.started if found else "", process_table.boot())
        _write(run_dir, running)
    return running


def recorded(run_dir: Path) -> dict[str, Running]:
    """What was started and not ended since, alive or not, by name."""
    records = {}
    for path in sorted(_records(run_dir).glob("*.json")):
        try:
            records[path.stem] = Running(**json.loads(path.read_text()))
        except (ValueError, TypeError):
            path.unlink()
    return records


def stop(run_dir: Path, processes: Iterable[Running], grace_s: float = GRACE_S) -> list[Running]:
    """Asks each group to end, waits, then ends it by force. Returns those that had to be forced."""
    waiting = [one for one in processes if one.has_members or _forget(run_dir, one)]
    for one in waiting:
        _signal(one, signal.SIGTERM)
    waiting = _wait(run_dir, waiting, grace_s)
    for one in waiting:
        _signal(one, signal.SIGKILL)
    _wait(run_dir, waiting, grace_s)
    return waiting


def log_path(run_dir: Path, name: str) -> Path:
    """Where a service's output goes."""
    return run_dir / "log" / f"{name}.log"


def _wait(run_dir: Path, processes: list[Running], grace_s: float) -> list[Running]:
    deadline = time.monotonic() + grace_s
    while processes and time.monotonic() < deadline:
        processes = [one for one in processes if one.has_members or _forget(run_dir, one)]
        time.sleep(POLL_S)
    return processes


def _signal(running: Running, number: signal.Signals) -> None:
    with suppress(ProcessLookupError):
        os.killpg(running.pid, number)


def _records(run_dir: Path) -> Path:
    return run_dir / "services"


def _write(run_dir: Path, running: Running) -> None:
    path = _records(run_dir) / f"{running.name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(".partial")
    partial.write_text(json.dumps(asdict(running)))
    partial.replace(path)


def _forget(run_dir: Path, running: Running) -> bool:
    (_records(run_dir) / f"{running.name}.json").unlink(missing_ok=True)
    return False
