"""What the gateway answers about its registry: records, pages of them, and what a check found."""

from typing import Annotated

from msgspec import Meta, Struct, field

from fedcompute.answer import SOMETIMES, Answer, Entry


class Record(Answer, kw_only=True, dict=True):
    """One provider. `base_url` is None where the caller may not see it; `key` stands in the answer to its registration alone."""

    id: str
    name: str = ""
    base_url: str | None = None
    enabled: bool = True
    timeout_ms: int | None = None
    labels: dict[str, str] = field(default_factory=dict)
    owner: str | None = None
    key_version: int = 1
    verified_at: str | None = None
    version: int = 0
    created_at: str | None = None
    updated_at: str | None = None
    key: Annotated[str | None, Meta(extra_json_schema=SOMETIMES)] = None


class RecordPage(Answer, kw_only=True, dict=True):
    """A part of the list of providers; `next_token` asks for the part after it."""

    providers: list[Record]
    next_token: str | None = None


class Timings(Struct, kw_only=True):
    """How long the parts of a call took, in ms; `first_byte` and `total` count from its start."""

    dns: float | None = None
    connect: float | None = None
    tls: float | None = None
    first_byte: float | None = None
    total: float | None = None


class Summary(Struct, kw_only=True):
    """What an inventory holds."""

    source: str = ""
    observed_at: str | None = None
    nodes: int = 0
    devices: int = 0
    devices_unused: int = 0


class CheckAnswer(Answer, kw_only=True, dict=True):
    """The answer of POST /api/v1/providers/{id}/check; `inventory` is None where none came."""

    provider: Entry
    timings_ms: Timings
    inventory: Summary | None = None
