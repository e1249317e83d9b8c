"""Which processes there are. Read from /proc on Linux, from `ps` elsewhere."""

import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

PROC = Path("/proc")


@dataclass(frozen=True)
class Process:
    """A process that is there. `started` tells it from a later one with the same number."""

    pid: int
    group: int
    started: str
    is_zombie: bool


def find(pid: int) -> Process | None:
    """The live process with this number; a zombie has ended."""
    found = _read_stat(pid) if _has_proc() else next((one for one in _from_ps("-p", str(pid))), None)
    return None if found is None or found.is_zombie else found


def members(group: int) -> list[Process]:
    """The live processes of a process group."""
    everyone = _from_proc() if _has_proc() else _from_ps("-A")
    return [one for one in everyone if one.group == group and not one.is_zombie]


def command_line(pid: int) -> str:
    """A process's command and arguments, or "" where they can't be read."""
    if _has_proc():
        try:
            return (PROC / str(pid) / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
        except OSError:
            return ""
    return _output(["ps", "-o", "command=", "-p", str(pid)]).strip()


def boot() -> str:
    """Tells this run of the machine from the one before: process numbers begin anew with it."""
    try:
        return (PROC / "sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return _output(["sysctl", "-n", "kern.boottime"]).strip()


def parse_stat(text: str) -> Process:
    """One /proc/PID/stat line. The name, in parentheses, may hold spaces and parentheses itself (proc(5))."""
    head, _, tail = text.rpartition(")")
    fields = tail.split()
    return Process(
        pid=int(head.split(" ", 1)[0]), group=int(fields[2]), started=fields[19], is_zombie=fields[0] in "ZX"
    )


def parse_ps(text: str) -> Iterator[Process]:
    """The lines of `ps -o pid=,pgid=,stat=,lstart=`."""
    for line in text.splitlines():
        pid, group, state, started = line.split(None, 3)
        yield Process(int(pid), int(group), started.strip(), is_zombie=state.startswith("Z"))


def _has_proc() -> bool:
    return (PROC / "self/stat").exists()


def _read_stat(pid: int) -> Process | None:
    try:
        return parse_stat((PROC / str(pid) / "stat").read_text(errors="replace"))
    except (OSError, ValueError, IndexError):
        return None


def _from_proc() -> Iterator[Process]:
    for entry in PROC.iterdir():
        found = _read_stat(int(entry.name)) if entry.name.isdigit() else None
        if found is not None:
            yield found


def _from_ps(*which: str) -> Iterator[Process]:
    return parse_ps(_output(["ps", "-o", "pid=,pgid=,stat=,lstart=", *which]))


def _output(command: list[str]) -> str:
    try:
        return subprocess.run(command, capture_output=True, text=True, check=False).stdout
    except OSError:
        return ""
