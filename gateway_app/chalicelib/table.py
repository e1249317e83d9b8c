"""The registry's DynamoDB table: consistent reads, and writes that know whether they were applied."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from chalicelib.attempts import Attempts, Pacing, RefusedError, out_of_reach
from chalicelib.dynamodb_faults import fault_of
from chalicelib.items import PROVIDERS, write_id_of
from chalicelib.writes import VERSION_KEY, version_bump

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from mypy_boto3_dynamodb.client import DynamoDBClient
    from mypy_boto3_dynamodb.type_defs import QueryInputTypeDef, TransactWriteItemTypeDef

    from chalicelib.items import Item, Key

type VersionTag = tuple[str | None, str | None]  # how many writes there were, and which was the last


class Table:
    """One table. Its client is made by the first call, inside that call's bounds."""

    def __init__(self, client_factory: Callable[[], DynamoDBClient], name: str, pacing: Pacing) -> None:
        self.name = name
        self._client_factory = client_factory
        self._pacing = pacing
        self._client: DynamoDBClient | None = None
        self._making = threading.Lock()

    def attempts(self) -> Attempts:
        """The bounds of one call to the registry, which begins now."""
        return Attempts(self._pacing, lambda error: fault_of(error, self.name))

    def get(self, attempts: Attempts, key: Key) -> Item | None:
        """An item as it is now."""
        answer = attempts.run(lambda: self._made().get_item(TableName=self.name, Key=key, ConsistentRead=True))
        return answer.get("Item")

    def version_tag(self, attempts: Attempts) -> VersionTag | None:
        """What changes with every write; None before the first."""
        item = self.get(attempts, VERSION_KEY)
        return None if item is None else (item.get("version", {}).get("N"), write_id_of(item))

    def providers(self, attempts: Attempts, after_id: str | None, page_size: int | None = None) -> Iterator[Item]:
        """Every provider's item by id, from the first above `after_id`; `page_size` at a time, else 1 MB."""
        query: QueryInputTypeDef = {
            "TableName": self.name,
            "ConsistentRead": True,
            "KeyConditionExpression": "pk = :pk" if after_id is None else "pk = :pk AND sk > :after",
            "ExpressionAttributeValues": {":pk": {"S": PROVIDERS}},
        }
        if after_id is not None:
            query["ExpressionAttributeValues"] = {":pk": {"S": PROVIDERS}, ":after": {"S": after_id}}
        if page_size is not None:
            query["Limit"] = page_size
        while True:
            page = attempts.run(lambda: self._made().query(**query))
            if "Items" not in page:
                raise out_of_reach("What answers is no DynamoDB: check AWS_ENDPOINT_URL.")
            yield from page["Items"]
            if not page.get("LastEvaluatedKey"):  # a page may be empty and still not the last
                return
            query["ExclusiveStartKey"] = page["LastEvaluatedKey"]

    def write(self, attempts: Attempts, change: TransactWriteItemTypeDef, key: Key, write_id: str) -> bool:
        """Applies a change to the item at `key`, all or nothing; False where its condition does not hold.

        A write whose answer was lost and whose repetition is refused counts as done when the table shows its work.
        """
        items = [change, version_bump(self.name, write_id)]
        try:
            attempts.run(
                lambda: self._made().transact_write_items(TransactItems=items, ClientRequestToken=write_id),
                is_write=True,
            )
        except RefusedError as refused:
            if not refused.may_have_applied:
                return False
            found = refused.found or self.get(attempts, key)
            return found is None if "Delete" in change else found is not None and write_id_of(found) == write_id
        return True

    def add(self, key: Key, amounts: Mapping[str, int]) -> None:
        """Adds to numbers of an item, or makes them, all at once; one attempt, since a second could add twice.

        Raises botocore's own errors.
        """
        places = range(len(amounts))
        self._made().update_item(
            TableName=self.name,
            Key=key,
            UpdateExpression="ADD " + ", ".join(f"#{place} :{place}" for place in places),
            ExpressionAttributeNames={f"#{place}": name for place, name in enumerate(amounts)},
            ExpressionAttributeValues={
                f":{place}": {"N": str(amount)} for place, amount in enumerate(amounts.values())
            },
        )

    def _made(self) -> DynamoDBClient:
        with self._making:
            if self._client is None:
                self._client = self._client_factory()
            return self._client
