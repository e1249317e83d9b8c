"""What the registry promises when it is larger than DynamoDB's page of 1 MB."""

from typing import Any

import pytest
from fakes.registry_table import a_record, fill
from fakes.scripted_client import ScriptedClient

from chalicelib.attempts import Pacing
from chalicelib.registry import Registry

COUNT = 2600


class LargeRegistryContract:
    pacing = Pacing()

    @pytest.fixture
    def full_table(self, dynamodb: Any, table: str) -> str:
        base_url = "http://lab.test/" + "x" * 300  # 1.3 MB in all
        fill(dynamodb, table, [a_record(f"provider-{n:04}", base_url=base_url) for n in range(COUNT)])
        return table

    def test_every_record_beyond_the_first_page_is_listed_once_and_kept(self, dynamodb, full_table):
        scripted = ScriptedClient(dynamodb)
        registry = Registry(lambda: scripted, full_table, pacing=self.pacing)

        records = registry.all()
        again = registry.all()

        assert [record.id for record in records] == [f"provider-{n:04}" for n in range(COUNT)]
        assert again is records
        assert scripted.calls.count("query") > 1

    def test_empty_pages_do_not_end_the_list(self, dynamodb, table):
        fill(dynamodb, table, [a_record("a"), a_record("b"), a_record("c")])

        def answers_nothing_yet(call: Any) -> Any:
            return {"Items": [], "LastEvaluatedKey": {"pk": {"S": "provider"}, "sk": {"S": "a"}}}

        scripted = ScriptedClient(dynamodb, query=[answers_nothing_yet, answers_nothing_yet])

        records = Registry(lambda: scripted, table).all()

        assert [record.id for record in records] == ["b", "c"]
