"""DynamoDB in this process, by moto."""

from collections.abc import Iterator
from typing import Any

import pytest
from fakes.registry_table import a_table
from fakes.scripted_client import OneCallAtATime
from moto import mock_aws

from chalicelib.dynamodb import make_client


@pytest.fixture(scope="session")
def _dynamodb_client() -> Iterator[Any]:
    client = make_client()
    yield client
    client.close()


@pytest.fixture
def client(_dynamodb_client: Any) -> Iterator[Any]:
    """A DynamoDB client that reaches moto alone."""
    with mock_aws():
        yield OneCallAtATime(_dynamodb_client)


@pytest.fixture
def table(client: Any) -> Iterator[str]:
    """The name of an empty registry table."""
    with a_table(client) as name:
        yield name
