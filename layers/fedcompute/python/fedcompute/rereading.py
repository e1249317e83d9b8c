"""An inventory that came again with a part of it changed: only what is new in it is read."""

from collections.abc import Mapping
from typing import NamedTuple

import msgspec
from msgspec import Raw, Struct

from fedcompute.inventory import Inventory, Name, Node, Warning  # noqa: A004 (the contract's word)
from fedcompute.pieces import MOST_WARNINGS_BYTES, NODE, Mending
from fedcompute.reading import Sound, checked, read_surveyed
from fedcompute.soundness import MOST_NODES
from fedcompute.survey import Surveyed, SurveyedNode, share_texts

# What was made of nodes, by a fingerprint of their text: 64 bits with a secret of this process. A provider that could guess
# it would have no more of it than nodes of its own taken for one another.
Familiar = Mapping[int, SurveyedNode]

# Above that, it is first seen that the nodes are no more than what can be read: each number of a list becomes a Raw of 30 times its size.
MOST_UNCOUNTED_BYTES = 256 << 10


class Reread(NamedTuple):
    """An inventory as it is read, what of it will be familiar next time, how many of its nodes already were, and how large the
    others are.
    """

    surveyed: Surveyed
    familiar: Familiar
    recognized: int
    new_bytes: int


class _Unopened(Inventory, frozen=True, kw_only=True):
    """An inventory whose nodes are not looked into."""

    nodes: list[Raw]  # type: ignore[assignment]


class _Named(Struct, frozen=True, kw_only=True):
    """What each node must have."""

    name: Name
    ready: bool
    schedulable: bool


class _Counted(Struct, frozen=True):
    nodes: list[_Named]


_UNOPENED = msgspec.json.Decoder(_Unopened)
_COUNTED = msgspec.json.Decoder(_Counted)


def read_again(body: bytes, provider_id: str, familiar: Familiar) -> Reread:
    """What `read_surveyed` returns, or raises, for the same body; the more of it is familiar, the sooner.

    What is new shares its texts with others of its kind, as it is about to be kept.
    """
    try:
        if len(body) > MOST_UNCOUNTED_BYTES:
            _COUNTED.decode(body)
        unopened = _UNOPENED.decode(body)
        if len(unopened.nodes) > MOST_NODES:
            raise msgspec.ValidationError("too many")
        marks = [hash(bytes(text)) for text in unopened.nodes]
        new, mended, warnings = _new_nodes(unopened.nodes, marks, familiar)
        if mended:
            _check_as_pieces(body, unopened.nodes)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        surveyed = read_surveyed(body, provider_id)
        return Reread(surveyed, {}, 0, len(body))
    inventory = checked(_opened(unopened, list(new.values()), warnings), body, provider_id)
    sound = Sound()
    next_time: dict[int, SurveyedNode] = {}
    fresh: list[SurveyedNode] = []
    nodes = dict(zip(new, inventory.nodes, strict=True))
    for place, mark in enumerate(marks):
        known = familiar.get(mark)
        if known is not None:
            sound.add_known(known)
            next_time[mark] = known
        elif place in nodes:
            one = sound.add(nodes[place])
            if one is not None and place not in mended:
                next_time[mark] = one
                fresh.append(one)
    share_texts(fresh)
    new_bytes = sum(len(memoryview(unopened.nodes[place])) for place in new)
    return Reread(sound.of(inventory), next_time, len(next_time) - len(fresh), new_bytes)


def _new_nodes(
    texts: list[Raw], marks: list[int], familiar: Familiar
) -> tuple[dict[int, Node], set[int], list[Warning]]:
    """What is not familiar, by its place; where it was read piece by piece; and what was left out of it."""
    mending = Mending([])
    new: dict[int, Node] = {}
    mended: set[int] = set()
    for place, mark in enumerate(marks):
        if mark in familiar:
            continue
        try:
            new[place] = NODE.decode(texts[place])
        except msgspec.ValidationError as fault:
            mended.add(place)
            node = mending.node(place, bytes(texts[place]), fault)
            if node is not None:
                new[place] = node
    return new, mended, mending.warnings


def _check_as_pieces(body: bytes, nodes: list[Raw]) -> None:
    """Raises where a document of which nodes are read in pieces may be read in another way than it was here."""
    if not body.isascii():
        body.decode()
    if len(body) - sum(len(memoryview(text)) for text in nodes) > MOST_WARNINGS_BYTES or body.count(b'"nodes"') > 1:
        raise msgspec.ValidationError("its other members are to be read in pieces as well")


def _opened(unopened: _Unopened, nodes: list[Node], warnings: list[Warning]) -> Inventory:
    return Inventory(
        schema_version=unopened.schema_version,
        provider_id=unopened.provider_id,
        source=unopened.source,
        observed_at=unopened.observed_at,
        nodes=nodes,
        warnings=[*unopened.warnings, *warnings],
    )
