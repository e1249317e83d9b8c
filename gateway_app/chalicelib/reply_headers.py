"""The header lines of a reply, as they were sent, and what of them is believed."""

from collections.abc import Sequence

LONGEST_VALUE = 256


def plain_value(lines: Sequence[bytes], name: bytes) -> str | None:
    """A header's value where it is short, printable ASCII; of several, the last."""
    for line in reversed(lines):
        for text in _value(line, name):
            return text if 0 < len(text) <= LONGEST_VALUE and text.isascii() and text.isprintable() else None
    return None


def all_values(lines: Sequence[bytes], name: bytes) -> list[str]:
    """The values of every header of this name; `name` in lower case."""
    return [text for line in lines for text in _value(line, name)]


def _value(line: bytes, name: bytes) -> list[str]:
    key, _, value = line.partition(b":")
    return [value.strip().decode("latin-1")] if key.strip().lower() == name else []
