"""Amounts as people write them, as whole numbers of the API's units: exactly, and rounded up where a unit is too coarse."""

import re

import click

from fedcompute import quantities

_BYTES = re.compile(r"([0-9]+(?:\.[0-9]*)?|\.[0-9]+)\s*(?:([KMGTPE])(i?)B?|B)", re.ASCII | re.IGNORECASE)
_MIB = 1 << 20


class _Amount(click.ParamType[int]):
    """One kind of amount; `read` gives None for what is none."""

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """The amount in the API's unit."""
        if isinstance(value, int):
            return value
        text = str(value).strip()
        found = self.read(text)
        if found is None:
            self.fail(f"{text!r} is {self.wrong(text)}", param, ctx)
        if found < 1:
            self.fail(f"{text!r} is less than anything; leave the option out to ask for none", param, ctx)
        return found

    def read(self, text: str) -> int | None:
        """The amount, or None."""
        raise NotImplementedError

    def wrong(self, text: str) -> str:
        """What a text is that is no amount, and what would be one."""
        raise NotImplementedError


class Memory(_Amount):
    """Bytes: 16GiB, 16GB, 16384MiB, 1.5TiB, 16Gi."""

    name = "AMOUNT"

    def read(self, text: str) -> int | None:
        """Bytes, rounded up."""
        match = _BYTES.fullmatch(text)
        if match is None or text.endswith("m"):  # a cluster would read 500m as half a byte
            return None
        number, letter, binary = match.groups(default="")
        letter = letter.upper()
        return quantities.whole(number + (f"{letter}i" if binary else letter.replace("K", "k")))

    def wrong(self, text: str) -> str:
        """Numbers alone are refused: a cluster would read bytes, and HAMi MiB."""
        if text.replace(".", "", 1).isdecimal():
            return f"of no unit; write {text}MiB, {text}GiB or {text}GB"
        return "no amount of memory; write it like 30GiB, 30GB or 30000MiB"


class GpuMemory(Memory):
    """MiB, written like Memory."""

    def read(self, text: str) -> int | None:
        """MiB, rounded up."""
        found = super().read(text)
        return None if found is None else -(-found // _MIB)


class Cores(_Amount):
    """Millicores: 4, 0.5, 500m."""

    name = "CORES"

    def read(self, text: str) -> int | None:
        """Millicores, rounded up."""
        return quantities.millis(text) if re.fullmatch(r"[0-9.]+m?", text, re.ASCII) else None

    def wrong(self, text: str) -> str:
        """How cores are written."""
        return "no number of cores; write it like 4, 0.5 or 500m"


class Percent(_Amount):
    """A whole percentage: 50, 50%."""

    name = "PERCENT"

    def read(self, text: str) -> int | None:
        """Percent."""
        digits = text.removesuffix("%").rstrip()
        return int(digits) if re.fullmatch(r"[0-9]{1,9}", digits, re.ASCII) else None

    def wrong(self, text: str) -> str:
        """How percents are written."""
        return "no whole percentage; write it like 50"


class Milliseconds(_Amount):
    """A time: 8s, 1.5s, 500ms."""

    name = "TIME"

    def read(self, text: str) -> int | None:
        """Milliseconds, rounded up."""
        match = re.fullmatch(r"([0-9.]+)\s*(ms|s)", text, re.ASCII)
        if match is None:
            return None
        return quantities.millis(match[1]) if match[2] == "s" else quantities.whole(match[1])

    def wrong(self, text: str) -> str:
        """How times are written."""
        return "no time; write it like 8s or 500ms"
