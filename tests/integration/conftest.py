"""DynamoDB in this process, by moto; providers on loopback; the gateway between the two."""

from collections.abc import Iterator
from typing import Any

import pytest
from fakes.bad_providers import BadProviders
from fakes.gateway import Gateway
from fakes.provider_fleet import ProviderFleet
from fakes.registry_table import a_table
from fakes.scripted_client import OneCallAtATime
from moto import mock_aws

from chalicelib.dynamodb import make_client
from chalicelib.registry import Registry


@pytest.fixture(scope="session")
def _dynamodb_client() -> Iterator[Any]:
    client = make_client()
    yield client
    client.close()


@pytest.fixture
def dynamodb(_dynamodb_client: Any) -> Iterator[Any]:
    """A DynamoDB client that reaches moto alone."""
    with mock_aws():
        yield OneCallAtATime(_dynamodb_client)


@pytest.fixture
def table(dynamodb: Any) -> Iterator[str]:
    """The name of an empty registry table."""
    with a_table(dynamodb) as name:
        yield name


@pytest.fixture
def fleet() -> Iterator[ProviderFleet]:
    """Providers that answer, or stop, as the test says."""
    with ProviderFleet() as fleet:
        yield fleet


@pytest.fixture
def bad() -> Iterator[BadProviders]:
    """Providers that misbehave."""
    with BadProviders() as bad:
        yield bad


@pytest.fixture
def gateway(dynamodb: Any, table: str, monkeypatch: pytest.MonkeyPatch) -> Gateway:
    """The gateway with an empty registry, open to this machine."""
    gateway = Gateway(monkeypatch, REGISTRY_TABLE=table)
    gateway.module.gateway.registry = Registry(lambda: dynamodb, table)
    return gateway
