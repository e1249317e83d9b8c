"""The registry's contract on a running DynamoDB: an emulator, or a table that nobody minds."""

import os
from collections.abc import Iterator
from typing import Any

import pytest
from contracts.registry_contract import RegistryContract
from fakes.registry_table import a_table

from chalicelib.dynamodb import make_client

ENDPOINT = os.environ.get("REGISTRY_TEST_ENDPOINT")

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(not ENDPOINT, reason="REGISTRY_TEST_ENDPOINT names no DynamoDB, such as http://127.0.0.1:4566"),
]


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    client = make_client(ENDPOINT)
    yield client
    client.close()


@pytest.fixture
def table(client: Any) -> Iterator[str]:
    with a_table(client) as name:
        yield name


class TestRegistryOnEmulator(RegistryContract):
    pass
