"""make logs: the logs of all services, each line with its service's name; follows them on a terminal."""

import os
import signal
import sys
import time
from pathlib import Path
from typing import TextIO

from scripts import settings
from scripts.settings import DEFAULT_PORTS
from scripts.terminal import last_lines

LINES_SHOWN = 20
POLL_S = 0.2
COLOURS = (36, 32, 33, 35, 34)


def main() -> int:
    """Runs the command. Returns its exit code."""
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # `make logs | head` ends without a word
    folder = settings.run_dir() / "log"
    tails = [Tail(name, folder / f"{name}.log", _prefix(number, name)) for number, name in enumerate(DEFAULT_PORTS)]
    if not any(tail.path.exists() for tail in tails):
        print("There are no logs yet: run make dev first.")
        return 0
    for tail in tails:
        tail.show_end()
    try:
        while follows():
            time.sleep(POLL_S)
            for tail in tails:
                tail.show_new()
    except KeyboardInterrupt:
        pass
    return 0


def follows() -> bool:
    """Only on a terminal, and not with FOLLOW=0."""
    return sys.stdout.isatty() and os.environ.get("FOLLOW", "1") != "0"


class Tail:
    """The end of one log, and what is written to it from then on, also after the service was started again."""

    def __init__(self, name: str, path: Path, prefix: str) -> None:
        self.name = name
        self.path = path
        self.prefix = prefix
        self.file: TextIO | None = None

    def show_end(self) -> None:
        """Prints the last lines; what comes later is new."""
        for text in last_lines(self.path, LINES_SHOWN):
            self._print(text)
        self.file = self._opened()
        if self.file:
            self.file.seek(0, os.SEEK_END)

    def show_new(self) -> None:
        """Prints what has been written since."""
        if self.file is None or not self._is_current(self.file):
            self.file = self._opened()
        for text in self.file or ():
            self._print(text.rstrip("\n"))

    def _opened(self) -> TextIO | None:
        return self.path.open(errors="replace") if self.path.exists() else None

    def _is_current(self, file: TextIO) -> bool:
        try:
            return os.path.samestat(os.fstat(file.fileno()), self.path.stat())
        except OSError:
            return True

    def _print(self, text: str) -> None:
        print(f"{self.prefix} {text}", flush=True)


def _prefix(number: int, name: str) -> str:
    text = f"{name:<10} |"
    return f"\033[{COLOURS[number]}m{text}\033[0m" if sys.stdout.isatty() else text


if __name__ == "__main__":
    raise SystemExit(main())
