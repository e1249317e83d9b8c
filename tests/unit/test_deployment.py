"""Deploying, against a CloudFormation that plays out what it is told."""

import json
from typing import Any

import pytest
from botocore.exceptions import ClientError

from scripts import aws_account, costs, deployment, events, targets
from scripts.build import Built
from scripts.settings import read
from scripts.stacks import Stack, Stacks
from scripts.targets import Target
from scripts.terminal import Failure

AWS = Target("aws", "", "", lays_layers=True, auth="keys", provider_addresses="public", allowed_hosts="")


class FakeCloudFormation:
    """One stack: its states in turn, its events, and how its change set comes out."""

    def __init__(
        self, statuses: list[str | None], change_set: dict[str, Any] | None = None, events: list[Any] | None = None
    ):
        self.statuses = statuses
        self.change_set = {"Status": "CREATE_COMPLETE", "Changes": [], **(change_set or {})}
        self.events = events or []
        self.called: list[str] = []

    def describe_stacks(self, StackName: str) -> Any:  # noqa: N803
        status = self.statuses.pop(0) if len(self.statuses) > 1 else self.statuses[0]
        if status is None:
            raise ClientError({"Error": {"Code": "ValidationError", "Message": f"{StackName} does not exist"}}, "any")
        return {"Stacks": [{"StackName": StackName, "StackId": StackName, "StackStatus": status}]}

    def describe_change_set(self, **_: Any) -> Any:
        return self.change_set

    def create_change_set(self, **given: Any) -> Any:
        self.called.append(f"create {given['ChangeSetType']}")
        return {"Id": "change-set"}

    def execute_change_set(self, **_: Any) -> None:
        self.called.append("execute")

    def delete_change_set(self, **_: Any) -> None:
        self.called.append("delete change set")

    def delete_stack(self, **_: Any) -> None:
        self.called.append("delete stack")

    def get_paginator(self, _: str) -> Any:
        return self

    def paginate(self, **_: Any) -> Any:
        done = self.events if "execute" in self.called else []
        return [{"StackEvents": [{"EventId": str(number), **one} for number, one in enumerate(reversed(done))]}]


def event(status: str, name: str, reason: str = "") -> dict[str, str]:
    return {"ResourceStatus": status, "LogicalResourceId": name, "ResourceType": "any", "ResourceStatusReason": reason}


def stack(status: str) -> dict[str, str]:
    return {**event(status, "one"), "ResourceType": "AWS::CloudFormation::Stack"}


def apply(client: FakeCloudFormation, **options: Any) -> tuple[bool, list[str]]:
    told: list[str] = []
    stacks = Stacks(client, told.append, 0, **options)
    return stacks.apply(Stack("one", {"Resources": {}}, {})), told


class TestStacks:
    def test_stack_that_is_not_there_is_made_and_its_events_are_told(self) -> None:
        client = FakeCloudFormation(
            [None, None, "CREATE_COMPLETE"], events=[event("CREATE_COMPLETE", "Table"), stack("CREATE_COMPLETE")]
        )

        changed, told = apply(client)

        assert changed
        assert client.called == ["create CREATE", "execute"]
        assert told == ["CREATE_COMPLETE              Table", "CREATE_COMPLETE              one"]

    @pytest.mark.parametrize(
        "words", ["The submitted information didn't contain changes.", "No updates are to be performed."]
    )
    def test_nothing_to_change_executes_nothing(self, words: str) -> None:
        client = FakeCloudFormation(["UPDATE_COMPLETE"], {"Status": "FAILED", "StatusReason": words})

        changed, _ = apply(client)

        assert not changed
        assert client.called == ["create UPDATE", "delete change set"]

    @pytest.mark.parametrize(("empty_means_unchanged", "changed"), [(True, False), (False, True)])
    def test_empty_change_set_is_none_only_where_the_target_makes_such(
        self, empty_means_unchanged: bool, changed: bool
    ) -> None:
        client = FakeCloudFormation(["UPDATE_COMPLETE"], events=[stack("UPDATE_COMPLETE")])

        assert apply(client, empty_means_unchanged=empty_means_unchanged)[0] is changed

    def test_failure_names_the_first_resource_that_failed_and_not_those_it_took_along(self) -> None:
        done = [
            event("UPDATE_FAILED", "Other", "Resource update cancelled"),
            event("UPDATE_FAILED", "Role", "no such policy"),
            event("UPDATE_FAILED", "Later", "another reason"),
            stack("UPDATE_ROLLBACK_COMPLETE"),
        ]
        client = FakeCloudFormation(["UPDATE_COMPLETE", "UPDATE_COMPLETE", "UPDATE_ROLLBACK_COMPLETE"], events=done)

        with pytest.raises(Failure, match=r"the version before still stands.*Role \(any\): no such policy"):
            apply(client)

    def test_stack_that_never_got_ready_is_removed_first(self) -> None:
        client = FakeCloudFormation(
            ["ROLLBACK_COMPLETE", "ROLLBACK_COMPLETE", None, "CREATE_COMPLETE"], events=[stack("CREATE_COMPLETE")]
        )

        apply(client)

        assert client.called == ["delete stack", "create CREATE", "execute"]

    def test_stack_that_somebody_else_changes_is_left_alone(self) -> None:
        client = FakeCloudFormation(["UPDATE_IN_PROGRESS"])

        with pytest.raises(Failure, match="Somebody else"):
            apply(client)

        assert client.called == []

    def test_change_set_that_cannot_be_tells_why(self) -> None:
        client = FakeCloudFormation(["UPDATE_COMPLETE"], {"Status": "FAILED", "StatusReason": "Parameter X is missing"})

        with pytest.raises(Failure, match="Parameter X is missing"):
            apply(client)


class TestTargets:
    def test_emulator_is_the_usual_one(self) -> None:
        target = targets.find(read({"EMULATOR_PORT": "4999"}), {})

        assert (target.name, target.lays_layers, target.is_aws) == ("emulator", True, False)
        assert target.url("abc") == "http://127.0.0.1:4999/restapis/abc/api/_user_request_"

    def test_unknown_one_is_refused(self) -> None:
        with pytest.raises(Failure, match="azure"):
            targets.find(read({}), {"TARGET": "azure"})

    def test_localstack_that_does_not_answer_is_told_with_how_to_start_one(self) -> None:
        with pytest.raises(Failure, match=r"compose\.yaml"):
            targets.find(read({}), {"TARGET": "localstack", "LOCALSTACK_ENDPOINT": "http://127.0.0.1:9"})

    def test_aws_has_no_samples_unless_they_are_named(self) -> None:
        assert deployment.names(AWS, {}).providers == ()
        assert deployment.names(AWS, {"PROVIDERS": "provider-a, provider-b"}).providers == ("provider-a", "provider-b")

    def test_provider_without_an_inventory_is_refused(self) -> None:
        with pytest.raises(Failure, match=r"nobody\.json"):
            deployment.names(AWS, {"PROVIDERS": "nobody"})


class TestAws:
    @pytest.mark.parametrize(
        ("reference", "expected"),
        [
            ("ssm:/fedcompute/master-key", {"MasterKeyKind": "ssm", "MasterKeyName": "fedcompute/master-key"}),
            ("secretsmanager:fedcompute", {"MasterKeyKind": "secret", "MasterKeyName": "fedcompute"}),
        ],
    )
    def test_role_may_read_the_one_secret_that_is_named(self, reference: str, expected: dict[str, str]) -> None:
        assert aws_account.gateway_parameters({"MASTER_KEY": reference}) == {"MasterKey": reference, **expected}

    @pytest.mark.parametrize("reference", ["", "file:/tmp/key", "ssm:"])
    def test_keys_that_come_from_nothing_are_refused_on_any_target(
        self, monkeypatch: pytest.MonkeyPatch, reference: str
    ) -> None:
        monkeypatch.setenv("MASTER_KEY", reference)
        keyed, still_open = (targets.find(read({}), {"TARGET": "emulator", "AUTH": auth}) for auth in ("keys", ""))

        for target in (AWS, keyed):
            with pytest.raises(Failure, match="MASTER_KEY"):
                aws_account.refuse_keys_from_nothing(target)
        aws_account.refuse_keys_from_nothing(still_open)

    def test_open_door_is_refused_even_on_paper(self) -> None:
        door = Target("aws", "", "", lays_layers=True, auth="open", provider_addresses="public", allowed_hosts="")

        with pytest.raises(Failure, match="AUTH=open"):
            aws_account.refuse_what_is_unsafe(door, is_dry=True)

    def test_costs_count_what_the_templates_hold(self) -> None:
        function = {
            "Environment": {"Variables": {"REGISTRY_TABLE": "t"}},
            "Architectures": ["x86_64"],
            "MemorySize": 1024,
        }
        document = {
            "Resources": {
                "APIHandler": {"Type": "AWS::Serverless::Function", "Properties": function},
                "Part": {"Type": "AWS::Serverless::Function", "Properties": function},
                "A": {"Type": "AWS::CloudWatch::Alarm", "Properties": {"MetricName": "m"}},
            }
        }

        assert costs.monthly([document, document])["2 alarm metrics"] == pytest.approx(0.20)
        # 1 GB for 150 ms, a million times, at 0.0000166667 USD per GB and second.
        assert costs.searches([document])["Lambda time"] == pytest.approx(2.5, rel=0.001)
        assert costs.searches([document])["API Gateway"] == pytest.approx(3.50)


class TestEvents:
    def test_path_finds_its_route_and_its_parameters(self) -> None:
        made = events.api_event(["/p", "/p/{one}", "/p/{one}/check"], "GET", "/p/lab-1?limit=1&limit=2")

        assert (made["resource"], made["pathParameters"]) == ("/p/{one}", {"one": "lab-1"})
        assert made["multiValueQueryStringParameters"] == {"limit": ["1", "2"]}

    def test_route_without_parameters_is_tried_first(self) -> None:
        assert events.api_event(["/p/{one}", "/p/search"], "POST", "/p/search")["resource"] == "/p/search"

    def test_path_that_no_route_has_is_refused(self) -> None:
        with pytest.raises(Failure, match="No route has /q"):
            events.api_event(["/p"], "GET", "/q")


def test_parameters_of_a_stack_are_those_that_its_template_has(tmp_path: Any) -> None:
    for name in ("base", "gateway", "provider"):
        (tmp_path / f"{name}.json").write_text(
            json.dumps({"Parameters": {"OnAws": {}, "ProviderId": {}}, "Resources": {}})
        )
    for name in ("gateway", "provider"):
        (tmp_path / f"{name}.zip").write_bytes(b"zip")
    made = deployment.Deployment(AWS, deployment.names(AWS, {}), Built(tmp_path), lambda _: True)

    base = {"Artifacts": "b", "LayerArn": "l", "RegistryTable": "t", "RegistryTableArn": "a"}
    assert made.provider_stack("provider-a", base, {}).parameters == {"OnAws": "true", "ProviderId": "provider-a"}
