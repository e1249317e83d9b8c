"""What the decoder lets pass and this gateway does not: bytes that are no UTF-8, and names that stand twice.

Two parsers disagree about an object in which a name stands twice. To look for that everywhere would cost more than to read
the document; it is looked for where the document says twice, or in an odd way, whose inventory it is.
"""

import json
import re
from collections.abc import Iterable
from typing import Any, NamedTuple

import msgspec

Flaw = tuple[str, str]  # the outcome, and why in words

_WHOSE = b'"provider_id"'
_ODDLY_WRITTEN = re.compile(rb"\\u00[4-7]")  # letters that needed no escape


class Looks(NamedTuple):
    """What a document looks like at a glance. In one that is plain and does not name its provider twice nothing is to be found."""

    is_plain: bool  # it can't hold a control character, one that looks like another, or an escape
    names_once: bool  # at most

    @property
    def are_simple(self) -> bool:
        """Whether nothing is to be looked for."""
        return self.is_plain and self.names_once


class _RepeatedError(Exception):
    """The name that stands twice."""


def check_json(body: bytes) -> None:
    """Returns for a JSON document, whatever it says. Raises what decoding it would: of syntax, of UTF-8 and of depth."""
    msgspec.json.decode(body, type=msgspec.Raw)
    if not body.isascii():
        body.decode()


def looks_of(body: bytes) -> Looks:
    """What a document looks like."""
    # From both ends: half the time of counting.
    return Looks(_is_plain(body), body.find(_WHOSE) == body.rfind(_WHOSE))


def looks_of_parts(parts: Iterable[bytes]) -> Looks:
    """What a document looks like of which all else is known to be plain and to name no provider."""
    is_plain, names = True, 0
    for part in parts:
        is_plain = is_plain and _is_plain(part)
        names += part.count(_WHOSE)
    return Looks(is_plain, names <= 1)


def _is_plain(text: bytes) -> bool:
    return text.isascii() and b"\\" not in text and b"\x7f" not in text


def flaw_of(body: bytes, looks: Looks) -> Flaw | None:
    """What is wrong with a document that can be decoded; None: nothing was found."""
    if not looks.is_plain:
        try:
            body.decode()
        except UnicodeDecodeError:
            return "not_json", "not JSON: it is not UTF-8"
    if not looks.names_once or (not looks.is_plain and _ODDLY_WRITTEN.search(body)):
        return _repeated(body)
    return None


def _repeated(body: bytes) -> Flaw | None:
    try:
        json.loads(body, object_pairs_hook=_check, parse_int=len, parse_float=len)
    except _RepeatedError:
        return "invalid_inventory", "no inventory: a name stands twice in one object"
    except (ValueError, RecursionError):
        return "not_json", "not JSON: it can't be read in one way only"
    return None


def _check(pairs: list[tuple[str, Any]]) -> None:
    if len({name for name, _ in pairs}) != len(pairs):
        raise _RepeatedError
