"""The registry's contracts on a running DynamoDB: an emulator, or a table that nobody minds."""

import os
from collections.abc import Iterator
from typing import Any

import pytest
from contracts.contention_contract import ContentionContract
from contracts.large_registry_contract import LargeRegistryContract
from contracts.registry_contract import RegistryContract
from fakes.registry_table import a_table

from chalicelib.dynamodb import make_client

ENDPOINT = os.environ.get("REGISTRY_TEST_ENDPOINT")

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(not ENDPOINT, reason="REGISTRY_TEST_ENDPOINT names no DynamoDB, such as http://127.0.0.1:4566"),
]


@pytest.fixture(scope="module")
def dynamodb() -> Iterator[Any]:
    dynamodb = make_client(ENDPOINT)
    yield dynamodb
    dynamodb.close()


@pytest.fixture
def table(dynamodb: Any) -> Iterator[str]:
    with a_table(dynamodb) as name:
        yield name


class TestRegistryOnEmulator(RegistryContract):
    pass


class TestLargeRegistryOnEmulator(LargeRegistryContract):
    pass


class TestContentionOnEmulator(ContentionContract):
    pass
