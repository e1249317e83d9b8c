"""Many who change the registry at once, on moto."""

from typing import Any

import pytest
from contracts.contention_contract import ContentionContract
from fakes.scripted_client import KnowsTokens

pytestmark = pytest.mark.stress


class TestContentionOnMoto(ContentionContract):
    @pytest.fixture
    def dynamodb(self, dynamodb: Any) -> Any:
        return KnowsTokens(dynamodb)
