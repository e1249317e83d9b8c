"""What a person sees: steps with their times, and failures in words that say what to do."""

import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console

LOG_LINES_SHOWN = 20

console = Console(highlight=False, soft_wrap=True)
errors = Console(highlight=False, soft_wrap=True, stderr=True)


class Failure(Exception):  # noqa: N818 (it is told to a person by this word)
    """Something that a person can act on. The end of `log` explains it, where there is one."""

    def __init__(self, message: str, log: Path | None = None) -> None:
        super().__init__(message)
        self.log = log


def heading(text: str) -> None:
    """The name of what follows."""
    console.print(f"\n[bold]{text}[/bold]")


def line(text: str) -> None:
    """One line under a heading, printed as it is."""
    console.print(f"  {text}", markup=False)


def fail(failure: Failure) -> None:
    """A failure on stderr: the end of its log first, so that the message is the last thing read."""
    if failure.log is not None:
        errors.print(f"\nThe end of {failure.log}:", markup=False)
        for text in last_lines(failure.log, LOG_LINES_SHOWN):
            errors.print(f"  {text}", markup=False)
    errors.print("\n[bold red]Failed:[/bold red] ", end="")
    errors.print(str(failure), markup=False)


def last_lines(path: Path, count: int) -> list[str]:
    """The last lines of a text file; none where it can't be read."""
    try:
        with path.open(errors="replace") as file:
            return [text.rstrip("\n") for text in deque(file, maxlen=count)]
    except OSError:
        return []


@contextmanager
def timed(name: str) -> Iterator[None]:
    """A line with the name and the time taken, once the block has ended well."""
    started = time.monotonic()
    yield
    line(f"{name}  {time.monotonic() - started:.1f} s")
