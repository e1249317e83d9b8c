"""The headers of a reply, and what of them is believed."""

from collections.abc import Sequence

LONGEST_VALUE = 256

Header = tuple[bytes, bytes]  # its name in lower case, and its value


def header(line: bytes) -> Header:
    """A header's line, taken apart."""
    name, _, value = line.partition(b":")
    return name.strip().lower(), value.strip()


def plain_value(headers: Sequence[Header], name: bytes) -> str | None:
    """A header's value where it is short, printable ASCII; of several, the last. `name` in lower case."""
    value = dict(headers).get(name)
    if not value or len(value) > LONGEST_VALUE:
        return None
    text = value.decode("latin-1")
    return text if text.isascii() and text.isprintable() else None


def all_values(headers: Sequence[Header], name: bytes) -> list[str]:
    """The values of every header of this name; `name` in lower case."""
    return [value.decode("latin-1") for its_name, value in headers if its_name == name]
