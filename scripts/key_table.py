"""The keys in the registry's table, on any of the targets, as the operator changes them."""

import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from chalicelib.keys import KEYS, Key, item_of, key_of, place_of
from fedcompute.text import clean
from scripts import processes, settings
from scripts.terminal import Failure

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.client import DynamoDBClient
    from mypy_boto3_dynamodb.type_defs import PutItemInputTypeDef

LOCALSTACK = "http://localhost:4566"
TARGETS = ("emulator", "localstack", "aws")
_BOUNDS = Config(connect_timeout=3, read_timeout=10, retries={"total_max_attempts": 3})
_ANY: Mapping[str, Any] = {"region_name": "us-east-1", "aws_access_key_id": "test", "aws_secret_access_key": "test"}


def client_of(target: str, endpoint: str | None, region: str | None) -> "DynamoDBClient":
    """A client for a target; emulators take any credentials, AWS the environment's."""
    try:
        if target == "aws":
            return boto3.client("dynamodb", endpoint_url=endpoint, region_name=region, config=_BOUNDS)
        own = (os.environ.get("LOCALSTACK_ENDPOINT") or LOCALSTACK) if target == "localstack" else _emulator()
        return boto3.client("dynamodb", endpoint_url=endpoint or own, config=_BOUNDS, **_ANY)
    except (BotoCoreError, ValueError) as error:
        raise Failure(f"There is no client for {target}: {error}") from error


def _emulator() -> str:
    """The local fleet's, on the port that it has now."""
    run_dir = settings.run_dir()
    started = processes.recorded(run_dir)
    return settings.read(remembered={name: one.port for name, one in started.items()}).url("emulator")


class KeyTable:
    """Reads and writes keys. Raises Failure, in words, for what DynamoDB refuses."""

    def __init__(self, client: "DynamoDBClient", name: str) -> None:
        self._client = client
        self._name = name

    def add(self, key: Key) -> None:
        """Puts a new key in."""
        self._put(key, "attribute_not_exists(pk)", {})

    def all(self) -> list[Key]:
        """Every key that can be read, by principal."""
        pages = self._client.get_paginator("query").paginate(
            TableName=self._name,
            ConsistentRead=True,
            KeyConditionExpression="pk = :pk",
            ExpressionAttributeValues={":pk": {"S": KEYS}},
        )
        items = self._asked(lambda: [item for page in pages for item in page["Items"]])
        keys = [key for key in map(key_of, items) if key is not None]
        return sorted(keys, key=lambda key: (key.principal, key.created_at, key.key_id))

    def change(self, key_id: str, change: Callable[[Key], Key]) -> Key:
        """Puts what `change` makes of a key in its place; one that is revoked stays as it is."""
        item = self._asked(
            lambda: self._client.get_item(TableName=self._name, Key=place_of(key_id), ConsistentRead=True)
        ).get("Item")
        key = None if item is None else key_of(item)
        if key is None:
            raise Failure(f"There is no key {clean(key_id)}; `list` shows those that there are.")
        if key.revoked_at is not None:
            raise Failure(f"The key {key_id} was revoked; make a new one.")
        changed = change(key)
        self._put(changed, "digest = :digest AND attribute_not_exists(revoked_at)", {":digest": {"S": key.digest}})
        return changed

    def _put(self, key: Key, condition: str, values: Mapping[str, Any]) -> None:
        put: PutItemInputTypeDef = {"TableName": self._name, "Item": item_of(key), "ConditionExpression": condition}
        if values:
            put["ExpressionAttributeValues"] = values
        self._asked(lambda: self._client.put_item(**put))

    def _asked[Result](self, call: Callable[[], Result]) -> Result:
        try:
            return call()
        except ClientError as error:
            code = error.response["Error"]["Code"]
            if code == "ConditionalCheckFailedException":
                raise Failure("Somebody else has just changed this key; look at it again.") from error
            raise Failure(f"DynamoDB refuses it for the table {self._name} ({code}).") from error
        except BotoCoreError as error:
            raise Failure(f"DynamoDB can't be used: {error}") from error
