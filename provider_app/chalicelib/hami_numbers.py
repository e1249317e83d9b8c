"""Numbers and flags as HAMi's Go code reads them from text."""

import re

_INTEGER = re.compile(r"[+-]?[0-9]{1,18}")
_LARGEST = 2**31 - 1

_FLAGS = dict.fromkeys(("1", "t", "T", "true", "TRUE", "True"), True) | dict.fromkeys(
    ("0", "f", "F", "false", "FALSE", "False"), False
)


def amount(text: str) -> int | None:
    """A 32-bit integer of 0 or more (strconv.ParseInt(..., 10, 32)); None for anything else."""
    number = integer(text)
    return number if number is not None and 0 <= number <= _LARGEST else None


def integer(text: str) -> int | None:
    """An integer (strconv.Atoi); None for anything else."""
    return int(text) if _INTEGER.fullmatch(text) else None


def flag(text: str) -> bool | None:
    """A flag (strconv.ParseBool); None for anything else."""
    return _FLAGS.get(text)


def is_amount(number: int) -> bool:
    """Whether an integer that was decoded already is a 32-bit one of 0 or more."""
    return 0 <= number <= _LARGEST
