"""What a handshake annotation tells about a device plugin: a hint, never a proof.

Source: Project-HAMi/HAMi, pkg/device/devices.go (CheckHealth). The plugin writes "Reported <time>" (v2.7 and before; Ascend:
"Reported_<time>"), the scheduler "Requesting_<time>" and "Deleted_<time>", with dots in the date until v2.4, dashes since.
Since v2.8 the NVIDIA plugin answers no more, so that "Requesting_" stays for ever. No time has a zone.
"""

import re
from datetime import UTC, datetime, timedelta
from typing import Literal

State = Literal["reported", "requested", "deleted"]

# Clocks differ, and so may zones; HAMi's own 60 s have called healthy nodes dead (Project-HAMi/HAMi#1899).
_SLACK = timedelta(minutes=5)
_STAMP = re.compile(r"(Reported|Requesting|Deleted)[_ ](\d{4})[.-](\d\d)[.-](\d\d) (\d\d):(\d\d):(\d\d)", re.ASCII)
_STATES: dict[str, State] = {"Reported": "reported", "Requesting": "requested", "Deleted": "deleted"}


def state_of(handshake: str) -> State | None:
    """Who wrote last, and what; None for what is no handshake."""
    match = _STAMP.match(handshake)
    return None if match is None else _STATES[match[1]]


def is_recent(handshake: str, now: datetime) -> bool:
    """Whether its time, taken for UTC, is within five minutes of now."""
    match = _STAMP.match(handshake)
    if match is None:
        return False
    try:
        stamp = datetime(*(int(part) for part in match.groups()[1:]), tzinfo=UTC)  # type: ignore[misc, arg-type]
    except ValueError:
        return False
    return abs(now - stamp) <= _SLACK
