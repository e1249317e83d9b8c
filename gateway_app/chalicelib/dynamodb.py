"""The DynamoDB client: made from botocore alone, bounded in time, and with retries left to the registry."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import botocore.session
from botocore.config import Config

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.client import DynamoDBClient

CONNECT_TIMEOUT_S = 1
READ_TIMEOUT_S = 1

# One attempt a call: a client that repeats a write by itself hides that the first one may have been applied.
_CONFIG = Config(
    connect_timeout=CONNECT_TIMEOUT_S,
    read_timeout=READ_TIMEOUT_S,
    retries={"mode": "standard", "total_max_attempts": 1},
    max_pool_connections=32,
    tcp_keepalive=True,
)


def make_client(endpoint_url: str | None = None) -> DynamoDBClient:
    """A client for the environment's region and credentials, at AWS_ENDPOINT_URL unless an endpoint is given.

    Threads may share it. Raises botocore's own errors, such as NoRegionError.
    """
    client = botocore.session.get_session().create_client("dynamodb", endpoint_url=endpoint_url, config=_CONFIG)
    return cast("DynamoDBClient", client)
