"""scripts.keys against a table, and what the gateway makes of the keys that it prints."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from click.testing import CliRunner, Result
from fakes.gateway import PROVIDERS
from fakes.keyed_gateway import KeyedGateway
from fakes.registry_table import a_provider

from scripts import key_commands


@pytest.fixture
def keyed(dynamodb, table, tmp_path, monkeypatch) -> KeyedGateway:
    monkeypatch.setattr(key_commands, "client_of", lambda *_: dynamodb._client)
    return KeyedGateway(monkeypatch, dynamodb, table, tmp_path)


@pytest.fixture
def run(keyed, table):
    def run(*arguments: str, output: str = "json") -> Result:
        return CliRunner().invoke(key_commands.keys, ["--table", table, "--output", output, *arguments])

    return run


def made(run: Any, *roles: str, principal: str = "lab-a") -> Any:
    chosen = [word for role in roles for word in ("--role", role)]
    result = run("create", "--principal", principal, *chosen)
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def test_key_that_is_made_works_and_no_list_shows_it_again(keyed, run, dynamodb, table):
    key = made(run, "search", "provider")

    listed = json.loads(run("list").stdout)

    assert keyed.ask(key["key"], "GET", PROVIDERS).status == 200
    assert listed == [{name: value for name, value in key.items() if name != "key"}]
    assert (listed[0]["principal"], listed[0]["roles"], listed[0]["state"]) == (
        "lab-a",
        ["search", "provider"],
        "active",
    )
    assert key["key"].rpartition("_")[2] not in str(dynamodb.scan(TableName=table)["Items"])


def test_key_expires_after_90_days_unless_said_otherwise(run):
    key = made(run, "search")
    forever = json.loads(run("create", "--principal", "a", "--role", "admin", "--days", "0").stdout)

    left = datetime.fromisoformat(key["expires_at"]) - datetime.now(UTC)
    assert left.days in (89, 90)
    assert forever["expires_at"] is None


def test_key_alone_is_on_stdout_for_people(run):
    result = run("create", "--principal", "lab-a", "--role", "search", output="table")

    assert result.stdout.startswith("fc_")
    assert result.stdout.count("\n") == 1
    assert "shown this once" in result.stderr


def test_list_for_people_has_a_line_per_key(run):
    key = made(run, "search")

    result = run("list", output="table")

    assert key["key_id"] in result.output
    assert "active" in result.output


def test_rotated_key_has_the_same_id_and_another_secret(keyed, run):
    old = made(run, "search")

    new = json.loads(run("rotate", old["key_id"]).stdout)

    assert new["key_id"] == old["key_id"]
    assert new["rotated_at"]
    assert (keyed.ask(new["key"], "GET", PROVIDERS).status, keyed.ask(old["key"], "GET", PROVIDERS).status) == (
        200,
        401,
    )


def test_revoked_key_is_refused_and_stays_so(keyed, run):
    key = made(run, "admin")

    revoked = json.loads(run("revoke", key["key_id"]).stdout)
    again = run("rotate", key["key_id"])

    assert revoked["state"] == "revoked"
    assert keyed.ask(key["key"], "GET", PROVIDERS).status == 401
    assert (again.exit_code, "was revoked" in again.output) == (1, True)


def audited(result: Result) -> list[Any]:
    lines = [json.loads(line) for line in result.stderr.splitlines() if line.startswith('{"time"')]
    return [line for line in lines if line["event"] == "audit"]


def test_each_change_leaves_a_line_that_says_who_did_what_and_holds_no_secret(keyed, run, tmp_path, monkeypatch):
    monkeypatch.setenv("LOGNAME", "alice")
    keyed.module.gateway.registry.create(a_provider(), "lab-a")
    created = run("create", "--principal", "lab-a", "--role", "search")
    key_id = json.loads(created.stdout)["key_id"]
    results = [
        created,
        run("rotate", key_id),
        run("revoke", key_id),
        run("rotate-provider", "provider-a", "--master-key", f"file:{tmp_path}/master.key", "--overlap-hours", "0"),
    ]

    lines = [line for result in results for line in audited(result)]

    assert [line["action"] for line in lines] == ["create", "rotate", "revoke", "rotate-provider"]
    assert {line["operator"] for line in lines} == {"alice"}
    assert {(line["key_id"], line["principal"], *line["roles"]) for line in lines[:3]} == {(key_id, "lab-a", "search")}
    assert (lines[3]["provider_id"], lines[3]["version_from"], lines[3]["version_to"]) == ("provider-a", 1, 2)
    shown = [json.loads(result.stdout) for result in results]
    assert not any(one["key"][-20:] in result.stderr for one in shown if "key" in one for result in results)


def test_what_changes_nothing_leaves_no_line(run):
    assert audited(run("list")) == audited(run("revoke", "nobody")) == []


def test_next_key_of_a_provider_is_the_one_that_the_gateway_signs_with(keyed, run, tmp_path):
    registry = keyed.module.gateway.registry
    registry.all()
    registry.create(a_provider(), "lab-a")

    result = run("rotate-provider", "provider-a", "--master-key", f"file:{tmp_path}/master.key")

    said = json.loads(result.stdout)
    (record,) = registry.all()  # the version item was moved along
    assert (record.key_version, record.version) == (2, 2) == (said["key_version"], 2)
    assert keyed.module.gateway.signing.key_of(record) == said["key"]
    assert datetime.fromisoformat(record.old_key_until) > datetime.now(UTC)


def test_rotation_without_an_overlap_ends_the_old_key_now(keyed, run, tmp_path):
    registry = keyed.module.gateway.registry
    registry.create(a_provider(), "lab-a")
    reference = f"file:{tmp_path}/master.key"

    run("rotate-provider", "provider-a", "--master-key", reference)
    run("rotate-provider", "provider-a", "--master-key", reference, "--overlap-hours", "0")

    assert registry.get("provider-a").old_key_until is None


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["rotate", "nobody"], 1, "There is no key nobody"),
        (["revoke", "nobody"], 1, "There is no key nobody"),
        (["rotate-provider", "nobody", "--master-key", "file:/dev/null/x"], 1, "master key"),
        (["create", "--principal", "a b", "--role", "search"], 2, "--principal"),
        (["create", "--principal", "a", "--role", "root"], 2, "root"),
        (["create", "--principal", "a"], 2, "--role"),
    ],
)
def test_mistake_is_told_in_words(run, arguments, code, words):
    result = run(*arguments)

    assert result.exit_code == code
    assert words in result.output


def test_table_that_is_not_there_is_told(keyed):
    result = CliRunner().invoke(key_commands.keys, ["--table", "none", "list"])

    assert (result.exit_code, "the table none" in result.output) == (1, True)


def test_keys_are_no_providers(keyed, run):
    made(run, "search")

    assert keyed.module.gateway.registry.all() == ()
