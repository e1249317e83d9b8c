"""Many who change the registry at once, on moto."""

import pytest
from contracts.contention_contract import ContentionContract

pytestmark = pytest.mark.stress


class TestContentionOnMoto(ContentionContract):
    pass
