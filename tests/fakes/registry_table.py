"""The registry's table as infra/base.json describes it, and what tests put in it."""

import json
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from botocore.exceptions import ClientError

from chalicelib.items import item_of
from chalicelib.writes import VERSION_KEY
from fedcompute.provider import NewProvider, ProviderRecord

_TEMPLATE = Path(__file__).resolve().parent.parent.parent / "infra" / "base.json"


@contextmanager
def a_table(client: Any) -> Iterator[str]:
    """The name of an empty table, which is gone afterwards."""
    described = json.loads(_TEMPLATE.read_text())["Resources"]["RegistryTable"]["Properties"]
    name = f"registry-{uuid.uuid4()}"
    plain = {part: described[part] for part in ("AttributeDefinitions", "KeySchema", "BillingMode")}
    client.create_table(TableName=name, **plain)
    try:
        yield name
    finally:
        client.delete_table(TableName=name)


def takes_empty_texts(client: Any, table: str) -> bool:
    """Whether an attribute may be "", as on AWS; a DynamoDB Local of before May 2020 refuses it."""
    key = {"pk": {"S": "text"}, "sk": {"S": "empty"}}
    try:
        client.put_item(TableName=table, Item={**key, "text": {"S": ""}})
    except ClientError:
        return False
    client.delete_item(TableName=table, Key=key)
    return True


def a_provider(provider_id: str = "provider-a", **fields: Any) -> NewProvider:
    defaults = {"name": "Lab A", "base_url": "http://lab-a.test"}
    return NewProvider(id=provider_id, **{**defaults, **fields})


def a_record(provider_id: str = "provider-a", **fields: Any) -> ProviderRecord:
    defaults = {
        "name": "Lab A",
        "base_url": "http://lab-a.test",
        "version": 1,
        "created_at": "2026-01-01T00:00:00.000Z",
        "updated_at": "2026-01-01T00:00:00.000Z",
    }
    return ProviderRecord(id=provider_id, **{**defaults, **fields})


def fill(client: Any, table: str, records: list[ProviderRecord]) -> None:
    """Puts records in the table, 25 at a time, and the version item as after one write."""
    items = [item_of(record, "seed") for record in records]
    items.append({**VERSION_KEY, "version": {"N": "1"}, "write_id": {"S": "seed"}})
    for start in range(0, len(items), 25):
        requests = [{"PutRequest": {"Item": item}} for item in items[start : start + 25]]
        client.batch_write_item(RequestItems={table: requests})
