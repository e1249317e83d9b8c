"""What the registry's transactions are made of. Every change moves the version item along, so that kept copies notice."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chalicelib.items import Key, Stored, item_of, key_of

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.type_defs import (
        DeleteTypeDef,
        PutTypeDef,
        TransactWriteItemTypeDef,
    )

    from fedcompute.provider import ProviderRecord

VERSION_KEY: Key = {"pk": {"S": "registry"}, "sk": {"S": "version"}}


def creation(table: str, record: ProviderRecord, write_id: str) -> TransactWriteItemTypeDef:
    """Puts a record where there is none."""
    return {
        "Put": {
            "TableName": table,
            "Item": item_of(record, write_id),
            "ConditionExpression": "attribute_not_exists(pk)",
            "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
        }
    }


def replacement(table: str, record: ProviderRecord, write_id: str, seen: Stored) -> TransactWriteItemTypeDef:
    """Puts a record in the place of the one that was seen."""
    put: PutTypeDef = {"TableName": table, "Item": item_of(record, write_id)}
    _while_still(put, seen)
    return {"Put": put}


def removal(table: str, seen: Stored) -> TransactWriteItemTypeDef:
    """Removes the record that was seen."""
    delete: DeleteTypeDef = {"TableName": table, "Key": key_of(seen.record.id)}
    _while_still(delete, seen)
    return {"Delete": delete}


def version_bump(table: str, write_id: str) -> TransactWriteItemTypeDef:
    """Moves the version item along, or makes it."""
    return {
        "Update": {
            "TableName": table,
            "Key": VERSION_KEY,
            "UpdateExpression": "ADD #version :one SET #write_id = :write_id",
            "ExpressionAttributeNames": {"#version": "version", "#write_id": "write_id"},
            "ExpressionAttributeValues": {":one": {"N": "1"}, ":write_id": {"S": write_id}},
        }
    }


def _while_still(change: PutTypeDef | DeleteTypeDef, seen: Stored) -> None:
    """The condition that nobody wrote in between. The write counts too: a record made anew begins at version 1 again."""
    change["ConditionExpression"] = "#version = :version AND attribute_not_exists(#write_id)"
    change["ExpressionAttributeNames"] = {"#version": "version", "#write_id": "write_id"}
    change["ExpressionAttributeValues"] = {":version": {"N": str(seen.record.version)}}
    change["ReturnValuesOnConditionCheckFailure"] = "ALL_OLD"
    if seen.write_id is not None:
        change["ConditionExpression"] = "#version = :version AND #write_id = :write_id"
        change["ExpressionAttributeValues"] = {
            ":version": {"N": str(seen.record.version)},
            ":write_id": {"S": seen.write_id},
        }
