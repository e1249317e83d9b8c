"""Where a search's time goes: its parts, for the Server-Timing header and the log."""

import time


class Stopwatch:
    """Laps of one search, in seconds of the monotonic clock."""

    def __init__(self) -> None:
        self.started = self._last = time.monotonic()
        self._parts: dict[str, float] = {}

    def lap(self, part: str) -> None:
        """Count the time since the last lap as this part's."""
        now = time.monotonic()
        self._parts[part] = self._parts.get(part, 0.0) + now - self._last
        self._last = now

    def move(self, part: str, source: str, seconds: float) -> None:
        """Count as `part` what was counted as `source`, as far as there is that much: lanes work side by side."""
        seconds = min(seconds, self._parts[source])
        self._parts[source] -= seconds
        self._parts[part] = self._parts.get(part, 0.0) + seconds

    @property
    def total_ms(self) -> int:
        """Milliseconds since the start."""
        return round((time.monotonic() - self.started) * 1000)

    @property
    def parts_ms(self) -> dict[str, float]:
        """Milliseconds by part."""
        return {part: round(seconds * 1000, 3) for part, seconds in self._parts.items()}

    @property
    def server_timing(self) -> str:
        """The value of a Server-Timing header."""
        return ", ".join([f"{part};dur={seconds * 1000:.3f}" for part, seconds in self._parts.items()])
