"""A provider's record in the registry: what callers send, and what they get back."""

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any

from pydantic import AfterValidator, Field, StringConstraints, TypeAdapter, ValidationError
from pydantic.json_schema import SkipJsonSchema

from fedcompute.base_url import LONGEST, check_base_url
from fedcompute.documents import Document

ID_PATTERN = r"^[a-z0-9]([a-z0-9-]{0,62}[a-z0-9])?$"

# Characters that act and do not show: control characters, line separators, those that turn the direction of writing,
# and those of no width but the two that join letters and emoji.
_ACTING = r"\x00-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
TEXT_PATTERN = rf"^[^{_ACTING}]*$"
NAME_PATTERN = rf"^[^{_ACTING}]*[^\s\u200c\u200d{_ACTING}][^{_ACTING}]*$"


def _matching(pattern: str, words: str) -> AfterValidator:
    """Holds a text against a pattern, and says in words what it must be."""

    def check(text: str) -> str:
        if re.fullmatch(pattern, text) is None:
            raise ValueError(words)
        return text

    return AfterValidator(check)


ProviderId = Annotated[
    str,
    _matching(ID_PATTERN, "must be 1 to 64 of a-z, 0-9 and -, which stands neither first nor last"),
    Field(json_schema_extra={"pattern": ID_PATTERN}),
]
Name = Annotated[
    str,
    StringConstraints(min_length=1, max_length=128),
    _matching(
        NAME_PATTERN,
        "must have a character that shows, no control characters, and none that turn the direction of writing",
    ),
    Field(json_schema_extra={"pattern": NAME_PATTERN}),
]
BaseUrl = Annotated[
    str,
    AfterValidator(check_base_url),
    Field(json_schema_extra={"pattern": r"^https?://[^/?#@\s\\]+(/[^?#\s\\]*)?$", "maxLength": LONGEST}),
]
TimeoutMs = Annotated[int, Field(ge=100, le=20000)]
_plain = _matching(TEXT_PATTERN, "must have no control characters, and none that turn the direction of writing")
_PLAIN_TEXT = Field(json_schema_extra={"pattern": TEXT_PATTERN})
LabelKey = Annotated[str, StringConstraints(min_length=1, max_length=317), _plain]
LabelText = Annotated[str, StringConstraints(max_length=253), _plain, _PLAIN_TEXT]
Labels = Annotated[dict[LabelKey, LabelText], Field(max_length=64)]


def _check_instant(text: str) -> str:
    if datetime.fromisoformat(text).tzinfo is None:
        raise ValueError("must have a time zone")
    return text


Instant = Annotated[str, AfterValidator(_check_instant)]

DEFAULT_TIMEOUT_MS = 1500
READ_ONLY = ("owner", "key_version", "verified_at", "version", "created_at", "updated_at")


class ProviderFields(Document):
    """What an owner says of a provider."""

    name: Name = Field(description="For people.")
    base_url: BaseUrl = Field(description="The inventory is at this plus /api/v1/inventory. Need not be unique.")
    enabled: bool = Field(True, description="Whether searches ask it.")
    timeout_ms: TimeoutMs = Field(DEFAULT_TIMEOUT_MS, description="The most that one call may take.")
    labels: Labels = Field({}, description="To choose providers by, in a search.")


class Identified(Document):
    """What names a provider; first in every record, since pydantic lists the last base's fields first."""

    id: ProviderId


class NewProvider(ProviderFields, Identified):
    """The body of POST /api/v1/providers."""


class ReplacedProvider(ProviderFields):
    """The body of PUT /api/v1/providers/{id}; an `id` in it must be the path's."""

    id: ProviderId | None = Field(None, json_schema_extra={"readOnly": True})


class ProviderRecord(ProviderFields, Identified):
    """One provider as the registry holds it. Times are RFC 3339 in UTC; `version` counts its changes from 1."""

    owner: str | None = None
    key_version: int = 1
    verified_at: str | None = None
    version: int
    created_at: str
    updated_at: str
    # Until when the key before this `key_version` counts too; between the registry and its gateways, in no answer.
    old_key_until: SkipJsonSchema[Instant | None] = Field(None, exclude=True)

    @property
    def etag(self) -> str:
        """The strong entity tag of this version."""
        return f'"{self.version}"'


def merged(record: ProviderRecord, patch: Mapping[str, Any]) -> dict[str, Any]:
    """The body of a replacement that applies a JSON merge patch (RFC 7396): null removes an optional field."""
    fields = {name: getattr(record, name) for name in ProviderFields.model_fields}
    return _merge(fields, patch)


def _merge(target: Mapping[str, Any], patch: Mapping[str, Any]) -> dict[str, Any]:
    result = dict(target)
    for name, value in patch.items():
        if value is None:
            result.pop(name, None)
        elif isinstance(value, Mapping):
            inner = result.get(name)
            result[name] = _merge(inner if isinstance(inner, Mapping) else {}, value)
        else:
            result[name] = value
    return result


_ID = TypeAdapter(ProviderId)


def is_provider_id(text: str) -> bool:
    """Whether a text could be a provider's id."""
    try:
        _ID.validate_python(text)
    except ValidationError:
        return False
    return True
