"""The registry goes out as lines and comes back as it was."""

import io
from collections.abc import Iterator
from typing import Any

import pytest
from fakes.registry_table import a_provider, a_table
from moto import mock_aws

from chalicelib.dynamodb import make_client
from chalicelib.registry import Registry
from scripts.registry_backup import bring_back, export
from scripts.terminal import Failure


@pytest.fixture
def client() -> Iterator[Any]:
    with mock_aws():
        yield make_client()


def lines_of(client: Any, table: str) -> str:
    output = io.StringIO()
    export(client, table, output)
    return output.getvalue()


def without_version(lines: str) -> list[str]:
    return [line for line in lines.splitlines() if '"sk": {"S": "version"}' not in line]


def test_registry_comes_back_as_it_was(client: Any) -> None:
    with a_table(client) as old, a_table(client) as new:
        registry = Registry(lambda: client, old)
        for number in range(60):
            registry.create(a_provider(f"lab-{number}", labels={"land": "Österreich"}))
        lines = lines_of(client, old)

        assert bring_back(client, new, lines.splitlines()) == 61

        assert without_version(lines_of(client, new)) == without_version(lines)
        assert Registry(lambda: client, new).all() == registry.all()


def test_gateway_that_runs_sees_what_was_brought_back(client: Any) -> None:
    with a_table(client) as table:
        registry = Registry(lambda: client, table)
        registry.create(a_provider("lab-1"))
        registry.all()
        lines = lines_of(client, table)
        registry.remove("lab-1")
        registry.all()

        bring_back(client, table, lines.splitlines())

        assert [one.id for one in registry.all()] == ["lab-1"]


@pytest.mark.parametrize(("replace", "left"), [(False, ["lab-1", "lab-2"]), (True, ["lab-1"])])
def test_what_the_lines_do_not_hold_goes_only_when_asked(client: Any, replace: bool, left: list[str]) -> None:
    with a_table(client) as table:
        registry = Registry(lambda: client, table)
        registry.create(a_provider("lab-1"))
        lines = lines_of(client, table)
        registry.create(a_provider("lab-2"))

        bring_back(client, table, lines.splitlines(), replace=replace)

        assert [one.id for one in registry.all()] == left


def test_line_that_is_no_item_is_named_and_nothing_is_written(client: Any) -> None:
    with a_table(client) as table:
        with pytest.raises(Failure, match="Line 2"):
            bring_back(client, table, ['{"pk": {"S": "provider"}, "sk": {"S": "lab"}}', '{"pk": 1}'])

        assert lines_of(client, table) == ""
