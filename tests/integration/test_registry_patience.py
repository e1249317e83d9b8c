"""What a request asks of the registry has one bound, however many calls it takes."""

from collections.abc import Sequence
from itertools import repeat
from typing import Any

import pytest
from botocore.exceptions import ReadTimeoutError
from fakes.fake_time import FakeTime
from fakes.registry_table import a_provider
from fakes.scripted_client import Call, ScriptedClient

from chalicelib.attempts import LONGEST_CALL_S
from chalicelib.dynamodb import READ_TIMEOUT_S
from chalicelib.registry import Registry
from fedcompute.errors import Problem
from fedcompute.provider import ProviderRecord


@pytest.mark.parametrize("takes_s", [0.5, 1.1, 1.6, 2.4])
def test_registering_where_the_list_is_read_first_ends_within_the_bound(
    dynamodb: Any, table: str, takes_s: float
) -> None:
    time = FakeTime()

    def takes_long(call: Call) -> Any:
        time.sleep(takes_s)
        return call()

    def hangs(call: Call) -> Any:
        time.sleep(READ_TIMEOUT_S)
        raise ReadTimeoutError(endpoint_url="https://dynamodb.test")

    scripted = ScriptedClient(
        dynamodb, get_item=repeat(takes_long), query=repeat(takes_long), transact_write_items=repeat(hangs)
    )
    registry = Registry(lambda: scripted, table, pacing=time.pacing)

    with pytest.raises(Problem, match="registry_unavailable"):
        registry.create(a_provider(), admit=lambda _: None)

    assert time.now_s < LONGEST_CALL_S


def test_record_that_is_not_admitted_is_not_made(dynamodb: Any, table: str) -> None:
    registry = Registry(lambda: dynamodb, table)
    registry.create(a_provider("a"))

    def refuse(records: Sequence[ProviderRecord]) -> None:
        raise Problem("registry_full", f"{[record.id for record in records]}")

    with pytest.raises(Problem, match="registry_full: \\['a'\\]"):
        registry.create(a_provider("b"), admit=refuse)

    assert [record.id for record in registry.all()] == ["a"]
