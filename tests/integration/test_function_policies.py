"""What the functions' roles allow is what the code calls: no more, by the code; no less, by watching it."""

import ast
import json
from collections.abc import Iterator
from typing import Any

import pytest
from botocore import xform_name
from botocore.session import get_session
from fakes.registry_table import a_provider, a_table
from moto import mock_aws

from chalicelib.changes import patched
from chalicelib.dynamodb import make_client
from chalicelib.key_store import KeyStore
from chalicelib.keys import Presented
from chalicelib.registry import Registry
from scripts.settings import ROOT

# Each call of an AWS client in the code, and the IAM actions that it needs (the service authorization reference).
# A transaction needs the actions of what it is made of.
ACTIONS = {
    "get_item": {"dynamodb:GetItem"},
    "query": {"dynamodb:Query"},
    "update_item": {"dynamodb:UpdateItem"},
    "transact_write_items": {"dynamodb:PutItem", "dynamodb:UpdateItem", "dynamodb:DeleteItem"},
    "get_parameter": {"ssm:GetParameter"},
    "get_secret_value": {"secretsmanager:GetSecretValue"},
    "invoke": {"lambda:InvokeFunction"},
}
READS_MASTER_KEY = {"ssm:GetParameter", "secretsmanager:GetSecretValue"}
WRITTEN_BY_LAMBDA = {"logs:CreateLogStream", "logs:PutLogEvents"}


def statements(name: str, role: str = "ApiHandlerRole") -> list[dict[str, Any]]:
    """Every statement of a template's role, whatever its conditions."""
    properties = json.loads((ROOT / "infra" / f"{name}.json").read_text())["Resources"][role]["Properties"]
    policies = [one["Fn::If"][1] if "Fn::If" in one else one for one in properties["Policies"]]
    return [statement for one in policies for statement in one["PolicyDocument"]["Statement"]]


def allowed(name: str, role: str = "ApiHandlerRole") -> set[str]:
    actions = [one["Action"] for one in statements(name, role)]
    return {action for one in actions for action in ([one] if isinstance(one, str) else one)}


def called_in(app: str) -> set[str]:
    """Names of the AWS operations that are called anywhere in an app."""
    found = set()
    known = ACTIONS.keys() | _all_operations()
    for file in (ROOT / app / "chalicelib").glob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in known:
                found.add(node.func.attr)
    return found


def _all_operations() -> set[str]:
    """Operations of the services that the gateway makes clients of, but for names that plain Python has too."""
    services = ("dynamodb", "ssm", "secretsmanager", "lambda", "s3", "sqs")
    names = {xform_name(one) for name in services for one in get_session().get_service_model(name).operation_names}
    return {name for name in names if "_" in name or name in ACTIONS}


class TestGatewaysRole:
    def test_each_call_in_the_code_is_allowed_and_nothing_else(self) -> None:
        needed = {action for call in called_in("gateway_app") for action in ACTIONS[call]}

        assert needed | WRITTEN_BY_LAMBDA == allowed("gateway")

    def test_nothing_is_allowed_on_everything(self) -> None:
        for one in [*statements("gateway"), *statements("gateway", "PartRole"), *statements("provider")]:
            resource = json.dumps(one["Resource"])
            assert "*" not in resource, resource
            assert "*" not in json.dumps(one["Action"])

    def test_registry_and_keys_work_with_what_is_allowed_and_use_all_of_it(self, watched: tuple[Any, set[str]]) -> None:
        registry, seen = watched

        registry.create(a_provider("lab"))
        registry.ping()
        registry.get("lab")
        registry.all()
        registry.page(10)
        registry.replace("lab", lambda record: patched(record, {"name": "Other"}))
        registry.remove("lab")
        KeyStore(registry.table).matching(Presented("none", "nothing"))

        assert seen == {action for action in allowed("gateway") if action.startswith("dynamodb:")}


class TestRoleOfTheFunctionForParts:
    def test_it_may_read_the_master_key_and_has_nothing_to_do_with_the_registry_or_with_further_parts(self) -> None:
        assert allowed("gateway", "PartRole") == WRITTEN_BY_LAMBDA | READS_MASTER_KEY

    def test_the_gateway_may_invoke_it_and_no_other_function(self) -> None:
        invoking = [one for one in statements("gateway") if one["Action"] == "lambda:InvokeFunction"]

        assert [one["Resource"] for one in invoking] == [{"Fn::GetAtt": ["Part", "Arn"]}]

    def test_both_roles_read_the_same_key(self) -> None:
        def reading(role: str) -> list[dict[str, Any]]:
            return [one for one in statements("gateway", role) if READS_MASTER_KEY & {str(one["Action"])}]

        assert reading("PartRole") == reading("ApiHandlerRole")


class TestProvidersRole:
    def test_it_may_write_its_log_and_nothing_else(self) -> None:
        assert called_in("provider_app") == set()
        assert allowed("provider") == WRITTEN_BY_LAMBDA


@pytest.fixture
def watched() -> Iterator[tuple[Registry, set[str]]]:
    """A registry, and the actions that its calls have needed so far."""
    seen: set[str] = set()

    def note(params: dict[str, Any], model: Any, **_: Any) -> None:
        body = json.loads(params["body"])
        if model.name == "TransactWriteItems":
            seen.update(f"dynamodb:{kind}Item" for one in body["TransactItems"] for kind in one)
        else:
            seen.add(f"dynamodb:{model.name}")

    with mock_aws():
        client = make_client()
        with a_table(client) as name:
            client.meta.events.register("before-call.dynamodb", note)
            yield Registry(lambda: client, name), seen
            client.meta.events.unregister("before-call.dynamodb", note)
