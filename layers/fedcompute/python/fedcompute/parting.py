"""A document taken apart: the texts of its nodes, and what stands beside them.

Nodes whose text is known are not looked into, nor is it looked for where they end: their length is known as well.
"""

import secrets
from collections.abc import Mapping
from typing import NamedTuple

import msgspec
from msgspec import Raw, Struct

from fedcompute.inventory import Inventory, Name
from fedcompute.soundness import MOST_NODES
from fedcompute.survey import SurveyedNode
from fedcompute.wellformed import Looks, looks_of, looks_of_parts

# What was made of nodes, in their order, by a fingerprint of their text: 64 bits with a secret of this process. A provider
# that could guess it would have no more of it than that a text of its own passes for a node of its own.
Familiar = dict[int, SurveyedNode]

# Above that, it is first seen that nodes are no more than what can be read: each number of a list becomes a Raw of 30 times its size.
MOST_UNCOUNTED_BYTES = 256 << 10

_NAME, _NODES, _WARNINGS = b'"nodes"', b'"nodes":', b'"warnings":'
_TAIL_BYTES = 64 << 10  # in which a document's own warnings are looked for


class Parted(NamedTuple):
    """A document's nodes by the marks of their texts, and the texts of those that are not familiar, by their place."""

    rest: Inventory  # its nodes are not to be looked at
    marks: list[int]
    new: Mapping[int, bytes | Raw]
    beside_bytes: int  # of the document, that are no node's
    looks: Looks


class _Unopened(Inventory, frozen=True, kw_only=True):
    """An inventory whose nodes are not looked into."""

    nodes: list[Raw]  # type: ignore[assignment]


class _WithoutNodes(Inventory, frozen=True, kw_only=True):
    nodes: str  # type: ignore[assignment]


class _Named(Struct, frozen=True, kw_only=True):
    """What each node must have."""

    name: Name
    ready: bool
    schedulable: bool


class _Counted(Struct, frozen=True):
    nodes: list[_Named]


_UNOPENED = msgspec.json.Decoder(_Unopened)
_WITHOUT_NODES = msgspec.json.Decoder(_WithoutNodes)
_COUNTED = msgspec.json.Decoder(_Counted)
_COUNTED_NODES = msgspec.json.Decoder(list[list[_Named]])
_TEXTS = msgspec.json.Decoder(list[list[Raw]])

# Stands for the nodes while the rest is read: no provider can write it, so it is seen that it stood where the nodes belong.
_STAND_IN = secrets.token_hex(16)
_STAND_IN_TEXT = msgspec.json.encode(_STAND_IN)


def parted(body: bytes, familiar: Familiar) -> Parted:
    """A document taken apart. Raises msgspec's errors and RecursionError where it can't be done so."""
    if body.count(_NAME) > 1:
        raise msgspec.ValidationError("nodes may stand twice, and one of them be bad")
    if len(body) > MOST_UNCOUNTED_BYTES:
        _COUNTED.decode(body)
    rest = _UNOPENED.decode(body)
    if len(rest.nodes) > MOST_NODES:
        raise msgspec.ValidationError("too many")
    marks = [hash(bytes(text)) for text in rest.nodes]
    new = {place: text for place, text in enumerate(rest.nodes) if marks[place] not in familiar}
    beside_bytes = len(body) - sum(len(memoryview(text)) for text in rest.nodes)
    return Parted(rest, marks, new, beside_bytes, looks_of(body))


def parted_alike(body: bytes, familiar: Familiar) -> Parted | None:
    """The same, where the document is like the one that has these nodes, and both are simple; else None.

    Known nodes are passed over. What was passed over is whole nodes from one comma to the next, so whoever parses the
    document comes by the same commas; what lies between must be a list for itself, and the rest, with a text in the place
    of the list, a document: then there is no other reading.
    """
    start = body.find(_NODES) + len(_NODES)
    if start < len(_NODES):
        return None
    start = _after_space(body, start)
    if body[start : start + 1] != b"[":
        return None
    walk = _Walk(body, start, familiar)
    walk.forward()
    ways = [_Way(walk.end, [], None)] if walk.end is not None else map(walk.backward, walk.guessed_ends())
    for way in sorted(ways, key=lambda way: -len(way.after)):
        try:
            found = walk.parted(way)
        except (msgspec.DecodeError, RecursionError):
            continue
        if found is not None:
            return found
    return None


class _Way(NamedTuple):
    """Where a list of nodes may end, the marks of the known nodes that are last, and where what is before those ends; None:
    nothing is.
    """

    end: int
    after: list[int]
    until: int | None


class _Walk:
    """Along a document's list of nodes, which begins at `start`, over those that are known."""

    def __init__(self, body: bytes, start: int, familiar: Familiar) -> None:
        self._body = body
        self._start = start
        self._familiar = familiar
        self._marks: list[int] = []
        self._new: dict[int, bytes | Raw] = {}
        self.at = start + 1  # where the next node begins
        self.end: int | None = None  # of the list, once it was met

    def forward(self) -> None:
        """As far as nodes are known, or new ones are as long as known ones."""
        body = self._body
        for mark, one in self._familiar.items():
            end = self.at + one.text_bytes
            text = body[self.at : end]
            found = hash(text)
            follows = body[end : end + 1]
            if follows not in (b",", b"]") or (found != mark and not _is_whole(text)):
                return
            if found not in self._familiar:
                self._new[len(self._marks)] = text
            self._marks.append(found)
            if follows == b"]":
                self.end = end
                return
            self.at = _after_space(body, end + 1)

    def guessed_ends(self) -> set[int]:
        """Where the list may end: with the document's last bracket, or with the last one before its own warnings."""
        body = self._body
        own_warnings = body.rfind(_WARNINGS, max(self.at, len(body) - _TAIL_BYTES))
        before = [len(body)] if own_warnings < 0 else [len(body), own_warnings]
        return {body.rfind(b"]", self.at, end) for end in before} - {-1}

    def backward(self, end: int) -> _Way:
        """From where the list may end as far back as nodes are known."""
        body, until = self._body, end
        marks: list[int] = []
        for mark, one in reversed(self._familiar.items()):
            begin = until - one.text_bytes
            if begin < self.at or hash(body[begin:until]) != mark:
                break
            if begin == self.at:
                return _Way(end, [mark, *reversed(marks)], None)
            comma = begin - 2 if body[begin - 1 : begin] == b" " else begin - 1
            if comma < self.at or body[comma : comma + 1] != b",":
                break
            marks.append(mark)
            until = comma
        return _Way(end, marks[::-1], until)

    def parted(self, way: _Way) -> Parted | None:
        """The document, if that is how its list ends. None, or msgspec's errors and RecursionError: it is not."""
        body = self._body
        end, after, until = way
        middle = b"" if until is None else body[self.at : until]
        texts = [] if until is None else _texts(middle)
        if until is not None and not texts and (self._marks or after):
            return None  # a comma too many
        head, tail = body[: self._start], body[end + 1 :]
        rest = _WITHOUT_NODES.decode(b"".join((head, _STAND_IN_TEXT, tail)))
        between = [hash(bytes(text)) for text in texts]
        marks = [*self._marks, *between, *after]
        if rest.nodes != _STAND_IN or len(marks) > MOST_NODES:
            return None
        looks = looks_of_parts((head, *map(bytes, self._new.values()), middle, tail))
        if not looks.are_simple or head.count(_NAME) + tail.count(_NAME) > 1:
            return None
        new = dict(self._new)
        for place, (mark, text) in enumerate(zip(between, texts, strict=True), len(self._marks)):
            if mark not in self._familiar:
                new[place] = text
        return Parted(rest, marks, new, len(head) + len(tail) + len(marks), looks)


def _after_space(body: bytes, at: int) -> int:
    """Past one space, which many programs write."""
    return at + (body[at : at + 1] == b" ")


def _is_whole(text: bytes) -> bool:
    """Whether it is one JSON value."""
    try:
        return len(_values(text)) == 1
    except (msgspec.DecodeError, RecursionError):
        return False


def _texts(middle: bytes) -> list[Raw]:
    """The nodes of a list, of which the brackets are missing. Raises msgspec's errors and RecursionError."""
    if len(middle) > MOST_UNCOUNTED_BYTES:
        _COUNTED_NODES.decode(b"".join((b"[[", middle, b"]]")))
    return _values(middle)


def _values(listed: bytes) -> list[Raw]:
    lists = _TEXTS.decode(b"".join((b"[[", listed, b"]]")))  # as deep as they stand in the document
    if len(lists) != 1:
        raise msgspec.DecodeError("more than one list")
    return lists[0]
