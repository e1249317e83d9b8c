"""A provider's record as a DynamoDB item, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from pydantic import ValidationError

from fedcompute.provider import ProviderRecord

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mypy_boto3_dynamodb.type_defs import AttributeValueTypeDef

type Item = Mapping[str, Any]  # attribute values as DynamoDB writes them: {"S": "text"}
type Key = dict[str, AttributeValueTypeDef]

PROVIDERS = "provider"  # the partition that holds every record: one Query gives them by id

_NUMBERS = ("timeout_ms", "key_version", "version")
_OPTIONAL_TEXTS = ("owner", "verified_at", "old_key_until")
_TEXTS = ("name", "base_url", "created_at", "updated_at")


class Stored(NamedTuple):
    """A record, and the write that made it so; a record that was made by hand has none."""

    record: ProviderRecord
    write_id: str | None


class UnreadableItemError(Exception):
    """An item that is no provider's record; the message names the attributes that are wrong, and no value."""


def key_of(provider_id: str) -> Key:
    """Where a provider's record stands."""
    return {"pk": {"S": PROVIDERS}, "sk": {"S": provider_id}}


def id_of(item: Item) -> str:
    """The id of the provider whose item this is, readable or not."""
    return str(item["sk"]["S"])


def item_of(record: ProviderRecord, write_id: str) -> dict[str, AttributeValueTypeDef]:
    """The whole item; what is optional and not said is left out."""
    item: dict[str, AttributeValueTypeDef] = {
        **key_of(record.id),
        "enabled": {"BOOL": record.enabled},
        "write_id": {"S": write_id},
    }
    item |= {name: {"S": getattr(record, name)} for name in _TEXTS}
    item |= {name: {"S": getattr(record, name)} for name in _OPTIONAL_TEXTS if getattr(record, name) is not None}
    item |= {name: {"N": str(getattr(record, name))} for name in _NUMBERS}
    if record.labels:
        item["labels"] = {"M": {name: {"S": text} for name, text in record.labels.items()}}
    return item


def stored_of(item: Item) -> Stored:
    """The record in an item. It is checked as a caller's is: people edit tables by hand.

    Raises: UnreadableItemError.
    """
    fields = {name: _plain(item[name]) for name in ProviderRecord.model_fields if name in item}
    try:
        record = ProviderRecord.model_validate({**fields, "id": id_of(item)})
    except ValidationError as error:
        wrong = sorted({str(detail["loc"][0]) for detail in error.errors(include_url=False, include_input=False)})
        raise UnreadableItemError(", ".join(wrong)) from error
    return Stored(record, write_id_of(item))


def write_id_of(item: Item) -> str | None:
    """The write that made an item what it is."""
    write_id: str | None = item.get("write_id", {}).get("S")
    return write_id


def _plain(value: Mapping[str, Any]) -> Any:
    """The Python value of an attribute; None, which no required field takes, for a type that records don't use."""
    match value:
        case {"S": str(text)}:
            return text
        case {"N": str(digits)}:
            return int(digits) if digits.isdecimal() else None
        case {"BOOL": bool(truth)}:
            return truth
        case {"M": dict(members)}:
            return {name: _plain(member) for name, member in members.items()}
    return None
