"""An inventory that came again with a part of it changed: only what is new in it is read."""

from collections.abc import Mapping
from typing import NamedTuple

import msgspec
from msgspec import Raw

from fedcompute.inventory import Inventory, Node, Warning  # noqa: A004 (the contract's word)
from fedcompute.parting import Familiar, Parted, parted, parted_alike
from fedcompute.pieces import MOST_WARNINGS_BYTES, NODE, Mending
from fedcompute.reading import Sound, checked, read_surveyed
from fedcompute.survey import Surveyed, SurveyedNode, share_texts


class Reread(NamedTuple):
    """An inventory as it is read, what of it will be familiar next time, how many of its nodes already were, and how large the
    others are. `is_simple`: familiar nodes hold nothing that is looked for in a document.
    """

    surveyed: Surveyed
    familiar: Familiar
    recognized: int
    new_bytes: int
    is_simple: bool = False


NOTHING = Reread(Surveyed(Inventory(provider_id=""), ()), {}, 0, 0)


def read_again(body: bytes, provider_id: str, last: Reread = NOTHING) -> Reread:
    """What `read_surveyed` returns, or raises, for the same body; the more of it is familiar from the last time, the sooner.

    What is new shares its texts with others of its kind, as it is about to be kept.
    """
    familiar = last.familiar
    try:
        parts = (parted_alike(body, familiar) if last.is_simple else None) or parted(body, familiar)
        new, mended, warnings = _read(parts.new)
        if mended:
            _check_as_pieces(body, parts)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return Reread(read_surveyed(body, provider_id), {}, 0, len(body))
    opened = _opened(parts.rest, list(new.values()), warnings)
    inventory = checked(opened, body, parts.looks, provider_id)
    sound = Sound()
    next_time: dict[int, SurveyedNode] = {}
    fresh: list[SurveyedNode] = []
    nodes = dict(zip(new, inventory.nodes, strict=True))
    for place, mark in enumerate(parts.marks):
        known = familiar.get(mark)
        if known is not None:
            if sound.add_known(known):
                next_time[mark] = known
        elif place in nodes:
            one = sound.add(nodes[place])
            if one is not None and place not in mended:
                one.text_bytes = len(memoryview(parts.new[place]))
                next_time[mark] = one
                fresh.append(one)
    share_texts(fresh)
    new_bytes = sum(len(memoryview(parts.new[place])) for place in new)
    return Reread(sound.of(inventory), next_time, len(next_time) - len(fresh), new_bytes, parts.looks.are_simple)


def _read(texts: Mapping[int, bytes | Raw]) -> tuple[dict[int, Node], set[int], list[Warning]]:
    """What stands in texts, by their place; where it was read piece by piece; and what was left out of it."""
    mending = Mending([])
    new: dict[int, Node] = {}
    mended: set[int] = set()
    for place, text in texts.items():
        try:
            new[place] = NODE.decode(text)
        except msgspec.ValidationError as fault:
            mended.add(place)
            node = mending.node(place, bytes(text), fault)
            if node is not None:
                new[place] = node
    return new, mended, mending.warnings


def _check_as_pieces(body: bytes, parts: Parted) -> None:
    """Raises where a document of which nodes are read in pieces may be read in another way than it was here."""
    if not body.isascii():
        body.decode()
    if parts.beside_bytes > MOST_WARNINGS_BYTES:
        raise msgspec.ValidationError("its other members are to be read in pieces as well")


def _opened(rest: Inventory, nodes: list[Node], warnings: list[Warning]) -> Inventory:
    return Inventory(
        schema_version=rest.schema_version,
        provider_id=rest.provider_id,
        source=rest.source,
        observed_at=rest.observed_at,
        nodes=nodes,
        warnings=[*rest.warnings, *warnings],
    )
