"""What a route says of itself where it is declared: what it takes and gives. The API's document is made of this."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from msgspec import Struct
from pydantic import BaseModel

PUBLIC = "public"

HTML = "text/html; charset=utf-8"


class Query(NamedTuple):
    """A parameter of the query: its name, its JSON Schema, and what it is for."""

    name: str
    schema: Mapping[str, Any]
    about: str


@dataclass(frozen=True, eq=False)
class Contract:
    """What a route takes and gives.

    `gives`: the shape of a JSON body, the media type of any other, or None for none. `errors`: the codes that its view
    raises, beside those that every such route has. `also`: what other statuses carry. `patches`: the body is a merge patch.
    """

    gives: type[Struct] | str | None
    status: int = 200
    takes: type[BaseModel] | None = None
    patches: bool = False
    query: Sequence[Query] = ()
    headers: Sequence[str] = ()
    is_conditional: bool = False
    errors: Sequence[str] = ()
    also: Mapping[int, type[Struct] | None] = field(default_factory=dict)


class Operation(NamedTuple):
    """One method of one route, as it is served."""

    method: str
    path: str
    role: str
    name: str
    text: str
    contract: Contract

    @property
    def errors(self) -> list[str]:
        """Every code that this operation can answer with."""
        codes = {"foreign_host", "foreign_origin", "internal", *self.contract.errors}
        if self.role != PUBLIC:
            codes |= {"unauthenticated", "forbidden", "rate_limited", "registry_unavailable"}
        if self.contract.takes is not None:
            codes |= {"malformed_json", "payload_too_large", "unsupported_media_type", "validation_failed"}
        if self.contract.is_conditional:
            codes.add("version_conflict")
        return sorted(codes)
