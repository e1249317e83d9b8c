"""One JSON object per line on stderr, where Lambda, the emulators and `make logs` look for it."""

import sys
import traceback
from datetime import UTC, datetime
from typing import Any

import msgspec

LEVELS = {"DEBUG": 10, "INFO": 20, "WARNING": 30, "ERROR": 40}


class Log:
    """Writes lines at or above its level. No line holds a secret, a body, or remote text that was not cleaned."""

    def __init__(self, app: str, level: str = "INFO") -> None:
        self.app = app
        self.threshold = LEVELS[level]

    def write(self, level: str, event: str, **fields: Any) -> None:
        """One line: time, level, app, event and the fields."""
        if LEVELS[level] < self.threshold:
            return
        time = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        line = {"time": time, "level": level, "app": self.app, "event": event, **fields}
        # One call: lines of other threads can't come between its parts.
        sys.stderr.write(msgspec.json.encode(line, enc_hook=str).decode() + "\n")
        sys.stderr.flush()

    def exception(self, event: str, error: BaseException, **fields: Any) -> None:
        """A line at ERROR with the traceback, for what nobody expected."""
        self.write("ERROR", event, **fields, traceback="".join(traceback.format_exception(error)))
