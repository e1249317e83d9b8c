"""Kubernetes quantities, exactly: "1500m", "1.5Gi", "129e6", 4.

Source of the grammar and the rounding: kubernetes/apimachinery, pkg/api/resource/quantity.go and suffix.go. A number with
an optional sign and either a suffix (n u m k M G T P E, Ki Mi Gi Ti Pi Ei) or a decimal exponent (e3, E-3); no spaces.
What is finer than a nano is rounded away from zero, and no magnitude exceeds 2^63-1, as there.
"""

import re
from functools import lru_cache

LARGEST = 2**63 - 1

_NANO = 10**9
_LARGEST_NANOS = LARGEST * _NANO
_LONGEST = 256  # characters; a real one has at most 20
_FAR = 60  # an exponent beyond it says "more than the largest" or "less than a nano", whatever the digits are

_QUANTITY = re.compile(r"([+-]?)([0-9]*)(?:\.([0-9]*))?(?:([numkMGTPE]|[KMGTPE]i)|[eE]([+-]?[0-9]+))?")
_POWER_OF_TEN = {"n": -9, "u": -6, "m": -3, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_POWER_OF_TWO = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}

Value = str | int | float | None


def nanos(value: Value) -> int | None:
    """A quantity in billionths, exact; None for what is no quantity."""
    if isinstance(value, str):
        return _parsed(value)
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, int):
        return _bounded(value * _NANO) if value.bit_length() <= 128 else _sign(value) * _LARGEST_NANOS
    return _parsed(repr(value))  # the shortest decimal that means this double; nan and inf are no quantities


def whole(value: Value) -> int | None:
    """A quantity in units (bytes, pieces), rounded up as Quantity.Value() does: "500m" is 1."""
    amount = nanos(value)
    return None if amount is None else units(amount)


def millis(value: Value) -> int | None:
    """A quantity in thousandths (millicores), rounded up as Quantity.MilliValue() does: "1n" is 1; at most 2^63-1."""
    amount = nanos(value)
    return None if amount is None else thousandths(amount)


def units(amount: int) -> int:
    """Nanos in whole units, rounded up."""
    return -(-amount // _NANO)


def thousandths(amount: int) -> int:
    """Nanos in thousandths, rounded up; at most 2^63-1."""
    return min(-(-amount // 1_000_000), LARGEST)


@lru_cache(maxsize=16384)  # a cluster's quantities repeat: 20,000 pods have a few hundred different ones
def _parsed(text: str) -> int | None:
    match = _QUANTITY.fullmatch(text) if len(text) <= _LONGEST else None
    if match is None:
        return None
    sign, before, after, suffix, exponent = match.groups(default="")
    digits = before + after
    if not digits:
        return None
    number, power = int(digits), 9 - len(after)
    if suffix in _POWER_OF_TWO:
        number <<= _POWER_OF_TWO[suffix]
    else:
        power += _POWER_OF_TEN.get(suffix, 0) or _exponent(exponent)
    amount = _bounded(_scaled(number, power))
    return -amount if sign == "-" else amount


def _exponent(text: str) -> int:
    """An exponent as a number, bounded: what lies beyond makes no difference to the digits that are allowed."""
    furthest = _FAR + _LONGEST
    return max(-furthest, min(furthest, int(text[:20]))) if text else 0


def _scaled(number: int, power: int) -> int:
    scaled: int = number * 10**power if power >= 0 else -(-number // 10**-power)
    return scaled


def _bounded(amount: int) -> int:
    return max(-_LARGEST_NANOS, min(_LARGEST_NANOS, amount))


def _sign(value: int) -> int:
    return 1 if value > 0 else -1
