"""The registry's table in the emulator, made from the same template as on AWS."""

import json
from typing import TYPE_CHECKING, Any

import boto3
from botocore.config import Config
from botocore.exceptions import ClientError

from scripts.settings import ROOT, Settings
from scripts.terminal import Failure

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

TEMPLATE = ROOT / "infra" / "base.json"
# What makes the table what it is; backups, encryption and protection belong to AWS.
SHAPE = ("KeySchema", "AttributeDefinitions", "BillingMode", "GlobalSecondaryIndexes", "LocalSecondaryIndexes")


def create(configured: Settings) -> None:
    """Makes the table where it is absent."""
    shape = table_shape(json.loads(TEMPLATE.read_text()))
    try:
        client(configured).create_table(TableName=configured.table, **shape)
    except ClientError as error:
        if error.response["Error"]["Code"] != "ResourceInUseException":
            raise Failure(f"The emulator made no table {configured.table}: {error}") from error


def client(configured: Settings) -> "DynamoDBClient":
    """For the emulator's tables."""
    return boto3.client(
        "dynamodb",
        endpoint_url=configured.url("emulator"),
        region_name="us-east-1",
        aws_access_key_id="test",
        aws_secret_access_key="test",  # noqa: S106 (the emulator takes any)
        config=Config(proxies={}, connect_timeout=5, read_timeout=10, retries={"total_max_attempts": 2}),
    )


def table_shape(template: dict[str, Any]) -> dict[str, Any]:
    """The arguments of CreateTable, without the name, from the one DynamoDB table of a CloudFormation template."""
    tables = [one for one in template["Resources"].values() if one["Type"] == "AWS::DynamoDB::Table"]
    if len(tables) != 1:
        raise Failure(f"{TEMPLATE.relative_to(ROOT)} has {len(tables)} DynamoDB tables; one is needed.")
    return {name: value for name, value in tables[0]["Properties"].items() if name in SHAPE}
