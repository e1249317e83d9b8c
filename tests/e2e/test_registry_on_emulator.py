"""The registry's contracts on running DynamoDBs: the emulator, DynamoDB Local, or a table that nobody minds."""

import os
from collections.abc import Iterator
from typing import Any

import botocore.session
import pytest
from botocore.config import Config
from contracts.contention_contract import ContentionContract
from contracts.large_registry_contract import LargeRegistryContract
from contracts.model_contract import ModelContract
from contracts.registry_contract import RegistryContract
from fakes.registry_table import a_table, takes_empty_texts

from chalicelib.dynamodb import make_client

VARIABLES = {"endpoint": "REGISTRY_TEST_ENDPOINT", "localstack": "LOCALSTACK_ENDPOINT"}
ENDPOINTS = {name: os.environ[variable] for name, variable in VARIABLES.items() if os.environ.get(variable)}
# LocalStack hands calls on to DynamoDB Local, which it starts at the first one: that takes longer than the gateway waits.
PATIENT = Config(read_timeout=60, retries={"total_max_attempts": 1}, max_pool_connections=32)

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(not ENDPOINTS, reason="REGISTRY_TEST_ENDPOINT names no DynamoDB, such as http://127.0.0.1:4566"),
]


@pytest.fixture(scope="module", params=ENDPOINTS or ["none"])
def dynamodb(request: pytest.FixtureRequest) -> Iterator[Any]:
    endpoint = ENDPOINTS[request.param]
    dynamodb = make_client(endpoint) if request.param == "endpoint" else a_patient_client(endpoint)
    yield dynamodb
    dynamodb.close()


def a_patient_client(endpoint: str) -> Any:
    return botocore.session.get_session().create_client("dynamodb", endpoint_url=endpoint, config=PATIENT)


@pytest.fixture
def table(dynamodb: Any) -> Iterator[str]:
    with a_table(dynamodb) as name:
        yield name


class TestRegistryOnEmulator(RegistryContract):
    @pytest.fixture
    def shortest(self, dynamodb: Any, table: str) -> str:
        return "" if takes_empty_texts(dynamodb, table) else "-"


@pytest.mark.parametrize(
    "dynamodb", sorted({"endpoint"} & ENDPOINTS.keys()), indirect=True
)  # others take long for 1 MB
class TestLargeRegistryOnEmulator(LargeRegistryContract):
    pass


class TestModelOnEmulator(ModelContract):
    @pytest.fixture
    def dynamodb(self, dynamodb: Any) -> Iterator[Any]:
        """Answers get lost where the model says so, and never because a machine is busy."""
        patient = a_patient_client(dynamodb.meta.endpoint_url)
        yield patient
        patient.close()


class TestContentionOnEmulator(ContentionContract):
    pass
