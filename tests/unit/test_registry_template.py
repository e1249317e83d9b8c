"""The table's template: what must hold on AWS and must not on an emulator."""

import json
from pathlib import Path
from typing import Any

import pytest

TEMPLATE = Path(__file__).resolve().parent.parent.parent / "infra" / "base.json"


@pytest.fixture
def table() -> Any:
    return json.loads(TEMPLATE.read_text())["Resources"]["RegistryTable"]


def test_table_outlives_its_stack(table):
    assert (table["DeletionPolicy"], table["UpdateReplacePolicy"]) == ("Retain", "Retain")


def test_table_costs_nothing_while_nobody_asks(table):
    assert table["Properties"]["BillingMode"] == "PAY_PER_REQUEST"


def test_table_is_protected_on_aws_alone(table):
    properties = table["Properties"]

    assert properties["DeletionProtectionEnabled"] == {"Fn::If": ["IsAws", True, False]}
    assert properties["PointInTimeRecoverySpecification"] == {
        "Fn::If": ["IsAws", {"PointInTimeRecoveryEnabled": True}, {"Ref": "AWS::NoValue"}]
    }
