"""The registry's contracts on running DynamoDBs: the emulator, DynamoDB Local, or a table that nobody minds."""

import os
from collections.abc import Iterator
from typing import Any

import pytest
from contracts.contention_contract import ContentionContract
from contracts.large_registry_contract import LargeRegistryContract
from contracts.model_contract import ModelContract
from contracts.registry_contract import RegistryContract
from fakes.registry_table import a_table, takes_empty_texts

from chalicelib.dynamodb import make_client

# LocalStack's DynamoDB is DynamoDB Local.
VARIABLES = {"REGISTRY_TEST_ENDPOINT": "endpoint", "LOCALSTACK_ENDPOINT": "localstack"}
ENDPOINTS = {name: os.environ[variable] for variable, name in VARIABLES.items() if os.environ.get(variable)}

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(not ENDPOINTS, reason="REGISTRY_TEST_ENDPOINT names no DynamoDB, such as http://127.0.0.1:4566"),
]


@pytest.fixture(scope="module", params=ENDPOINTS or ["none"])
def dynamodb(request: pytest.FixtureRequest) -> Iterator[Any]:
    dynamodb = make_client(ENDPOINTS[request.param])
    yield dynamodb
    dynamodb.close()


@pytest.fixture
def table(dynamodb: Any) -> Iterator[str]:
    with a_table(dynamodb) as name:
        yield name


class TestRegistryOnEmulator(RegistryContract):
    @pytest.fixture
    def shortest(self, dynamodb: Any, table: str) -> str:
        return "" if takes_empty_texts(dynamodb, table) else "-"


class TestLargeRegistryOnEmulator(LargeRegistryContract):
    pass


class TestModelOnEmulator(ModelContract):
    pass


class TestContentionOnEmulator(ContentionContract):
    pass
