"""One command at a time starts or ends the fleet of a checkout."""

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from scripts.terminal import Failure, line

WAIT_S = 60.0


@contextmanager
def alone(run_dir: Path, *, wait: bool = False) -> Iterator[None]:
    """Holds the checkout's lock; the system lets go of it when the process ends, however it ends.

    Raises Failure when another command has it, with `wait` only after a minute.
    """
    run_dir.mkdir(parents=True, exist_ok=True)
    with (run_dir / "lock").open("a+") as file:
        if not _take(file.fileno()):
            file.seek(0)
            other = f"`make dev` or `make stop` (process {file.read().strip() or 'unknown'})"
            if not wait:
                raise Failure(f"{other} is at work in this checkout; try again when it has ended.")
            line(f"Waiting for {other} ...")
            _wait(file.fileno(), other)
        file.truncate(0)
        file.write(str(os.getpid()))
        file.flush()
        yield


def _take(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _wait(descriptor: int, other: str) -> None:
    deadline = time.monotonic() + WAIT_S
    while not _take(descriptor):
        if time.monotonic() > deadline:
            raise Failure(f"{other} still has not ended; end it with kill.")
        time.sleep(0.1)
