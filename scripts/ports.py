"""Whether a port is free, and if not, who has it."""

import re
import shutil
import socket
import subprocess
import textwrap
from pathlib import Path

from scripts import process_table

LONGEST_COMMAND = 160
LISTENING = "0A"  # the state's number in /proc/net/tcp


def is_taken(port: int) -> bool:
    """Whether a server on 127.0.0.1 could not be reached on this port as the only one."""
    return any(_answers(family, host, port) for family, host in _LOOPBACK) or not _can_bind(port)


def holder(port: int) -> str:
    """Who listens on a port, in words: "process 123 (python3 -m http.server)"."""
    pid = _pid_by_proc(port) if Path("/proc/net/tcp").exists() else None
    pid = pid or _pid_by_lsof(port)
    if pid is None:
        return "a process of another user"
    command = process_table.command_line(pid)
    if not command:
        return f"process {pid}"
    return f"process {pid} ({textwrap.shorten(command, LONGEST_COMMAND, placeholder=' ...')})"


def free_ports(count: int) -> list[int]:
    """Ports of 127.0.0.1 that nobody had a moment ago."""
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports: list[int] = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


def listening_inodes(table: str, port: int) -> set[str]:
    """The socket inodes that listen on a port, from the text of /proc/net/tcp or tcp6 (proc(5))."""
    rows = [line.split() for line in table.splitlines()[1:]]
    return {row[9] for row in rows if row[3] == LISTENING and int(row[1].rpartition(":")[2], 16) == port}


# A server on ::1 alone also counts: "localhost" is tried there first.
_LOOPBACK = ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1"))


def _answers(family: socket.AddressFamily, host: str, port: int) -> bool:
    try:
        with socket.socket(family, socket.SOCK_STREAM) as one:
            one.settimeout(1)
            return one.connect_ex((host, port)) == 0
    except OSError:
        return False


def _can_bind(port: int) -> bool:
    try:
        with socket.create_server(("127.0.0.1", port)):
            return True
    except OSError:
        return False


def _pid_by_proc(port: int) -> int | None:
    inodes: set[str] = set()
    for table in (Path("/proc/net/tcp"), Path("/proc/net/tcp6")):
        if table.exists():
            inodes |= listening_inodes(table.read_text(), port)
    wanted = {f"socket:[{inode}]" for inode in inodes}
    for process in Path("/proc").iterdir():
        if wanted and process.name.isdigit() and _has_open(process, wanted):
            return int(process.name)
    return None


def _has_open(process: Path, wanted: set[str]) -> bool:
    try:
        return any(str(descriptor.readlink()) in wanted for descriptor in (process / "fd").iterdir())
    except OSError:
        return False


def _pid_by_lsof(port: int) -> int | None:
    lsof = shutil.which("lsof")
    if lsof is None:
        return None
    asked = [lsof, "-nP", f"-iTCP:{port}", "-sTCP:LISTEN", "-Fp"]
    found = re.search(
        r"^p(\d+)$", subprocess.run(asked, capture_output=True, text=True, check=False).stdout, re.MULTILINE
    )
    return int(found[1]) if found else None
