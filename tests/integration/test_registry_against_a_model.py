"""The registry against a dict, on moto."""

from typing import Any

import pytest
from contracts.model_contract import ModelContract
from fakes.scripted_client import KnowsTokens


class TestModelOnMoto(ModelContract):
    @pytest.fixture
    def dynamodb(self, dynamodb: Any) -> Any:
        return KnowsTokens(dynamodb)
