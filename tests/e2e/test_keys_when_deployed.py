"""AUTH=keys where it is deployed: callers' keys made, changed and ended by scripts.keys, signed calls between functions.

scripts/e2e.py has deployed a gateway and three providers without keys, and says where the target's own API is. Here the
gateway is deployed again with keys, and provider-a with the one that the gateway gave it.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import boto3
import pytest
import requests

from fedcompute.signatures import sign_request
from scripts.services import NO_ACCOUNT
from scripts.settings import ROOT

ENDPOINT = os.environ.get("E2E_KEYS_AT", "")
GATEWAY = os.environ.get("E2E_GATEWAY", "")
PREFIX = os.environ.get("STACK_PREFIX", "")
SEARCH = "/api/v1/resources/search"
PROVIDERS = "/api/v1/providers"
INVENTORY = "/api/v1/inventory"
MASTER_KEY = "ssm:/fedcompute-e2e/master-key"
RATE_PER_S = 2  # and six at once: no key here makes as many but one

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(not ENDPOINT, reason="E2E_KEYS_AT names no target; make test-e2e deploys some"),
]


def ask(
    key: str | None, method: str, path: str, body: Any = None, address: str = GATEWAY, **headers: str
) -> requests.Response:
    carried = headers if key is None else {"Authorization": f"Bearer {key}", **headers}
    with requests.Session() as session:
        session.trust_env = False
        return session.request(method, address + path, json=body, headers=carried, timeout=40)


def run(module: str, *arguments: str, **environment: str) -> str:
    command = [sys.executable, "-m", f"scripts.{module}", *arguments]
    own = {**os.environ, **NO_ACCOUNT, "AWS_ENDPOINT_URL": ENDPOINT, **environment}
    done = subprocess.run(command, cwd=ROOT, env=own, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    return done.stdout


def client(service: str) -> Any:
    return boto3.client(service, endpoint_url=ENDPOINT, region_name=NO_ACCOUNT["AWS_DEFAULT_REGION"])


@dataclass
class Deployed:
    """A gateway that asks for keys, and provider-a, which has its own."""

    table: str
    admin: str = ""
    provider_key: str = ""
    provider: str = ""

    def keys(self, *arguments: str) -> Any:
        target = os.environ["E2E_TARGET"]
        return json.loads(run("keys", "--target", target, "--table", self.table, "--output", "json", *arguments))

    def a_key(self, *roles: str, principal: str = "lab-a") -> Any:
        chosen = [word for role in roles for word in ("--role", role)]
        return self.keys("create", "--principal", principal, *chosen)

    def check(self, provider_id: str) -> str:
        return str(ask(self.admin, "POST", f"{PROVIDERS}/{provider_id}/check").json()["provider"]["outcome"])


@pytest.fixture(scope="module")
def deployed() -> Iterator[Deployed]:
    client("ssm").put_parameter(
        Name=MASTER_KEY.removeprefix("ssm:"), Value="m" * 40, Type="SecureString", Overwrite=True
    )
    settings = {"AUTH": "keys", "MASTER_KEY": MASTER_KEY, "KEY_RATE_PER_S": str(RATE_PER_S)}
    settings["SEARCH_PART_PROVIDERS"] = "2"  # so that parts sign too
    run("deploy", **settings)
    outputs = client("cloudformation").describe_stacks(StackName=f"{PREFIX}-base")["Stacks"][0]["Outputs"]
    table = next(one["OutputValue"] for one in outputs if one["OutputKey"] == "RegistryTable")
    deployed = Deployed(table)
    deployed.admin = deployed.a_key("admin", principal="root")["key"]
    record = ask(deployed.admin, "GET", f"{PROVIDERS}/provider-a").json()
    ask(deployed.admin, "DELETE", f"{PROVIDERS}/provider-a")
    deployed.provider = record["base_url"]
    anew = {name: record[name] for name in ("id", "name", "base_url")} | {"timeout_ms": 20000}
    made = ask(deployed.admin, "POST", PROVIDERS, anew)
    assert (made.status_code, made.json()["enabled"]) == (201, False)
    deployed.provider_key = made.json()["key"]
    run("deploy", **settings, PROVIDERS="provider-a", PROVIDER_KEY=deployed.provider_key)
    yield deployed
    client("ssm").delete_parameter(Name=MASTER_KEY.removeprefix("ssm:"))


def test_nothing_but_the_public_routes_answers_without_a_key(deployed: Deployed) -> None:
    wrong = deployed.admin[:-4] + ("AAAA" if not deployed.admin.endswith("AAAA") else "BBBB")

    guarded = [ask(key, "GET", path) for key in (None, wrong) for path in (PROVIDERS, "/api/v1/resources", "/metrics")]

    assert {(answer.status_code, answer.json()["code"]) for answer in guarded} == {(401, "unauthenticated")}
    assert {ask(None, "GET", path).status_code for path in ("/", "/health", "/ready", "/openapi.json")} == {200}


def test_each_role_may_do_its_own(deployed: Deployed) -> None:
    searcher, owner = deployed.a_key("search")["key"], deployed.a_key("provider")["key"]
    record = {"id": "keyed-lab", "name": "Lab", "base_url": "http://127.0.0.1:1027"}

    statuses = {
        "searcher lists": ask(searcher, "GET", PROVIDERS).status_code,
        "searcher registers": ask(searcher, "POST", PROVIDERS, record).status_code,
        "owner registers": ask(owner, "POST", PROVIDERS, record).status_code,
        "owner searches": ask(owner, "POST", SEARCH, {"gpu": {}}).status_code,
        "owner changes another's": ask(owner, "PATCH", f"{PROVIDERS}/provider-a", {"name": "x"}).status_code,
        "owner removes its own": ask(owner, "DELETE", f"{PROVIDERS}/keyed-lab").status_code,
    }

    assert list(statuses.values()) == [200, 403, 201, 403, 403, 204], statuses
    shown = ask(searcher, "GET", f"{PROVIDERS}/provider-a").json()["base_url"]
    assert (shown, ask(deployed.admin, "GET", f"{PROVIDERS}/provider-a").json()["base_url"]) == (
        None,
        deployed.provider,
    )


def test_key_is_listed_rotated_revoked_and_expires(deployed: Deployed) -> None:
    old, ended, late = deployed.a_key("search"), deployed.a_key("search"), deployed.a_key("search")
    listed = {one["key_id"]: one for one in deployed.keys("list")}
    new = deployed.keys("rotate", old["key_id"])
    deployed.keys("revoke", ended["key_id"])
    client("dynamodb").update_item(
        TableName=deployed.table,
        Key={"pk": {"S": "key"}, "sk": {"S": late["key_id"]}},
        UpdateExpression="SET expires_at = :past",
        ExpressionAttributeValues={":past": {"S": "2026-01-01T00:00:00Z"}},
    )

    answers = {
        name: ask(key["key"], "GET", PROVIDERS).status_code
        for name, key in {"new": new, "old": old, "ended": ended, "late": late}.items()
    }

    assert "key" not in listed[old["key_id"]]
    assert answers == {"new": 200, "old": 401, "ended": 401, "late": 401}


def test_key_that_calls_too_often_is_told_when_to_come_back(deployed: Deployed) -> None:
    busy = deployed.a_key("search")["key"]

    answers = [ask(busy, "GET", f"{PROVIDERS}/nobody") for _ in range(15 * RATE_PER_S)]

    refused = [answer for answer in answers if answer.status_code == 429]
    assert {answer.status_code for answer in answers} == {404, 429}
    assert {answer.json()["code"] for answer in refused} == {"rate_limited"}
    assert all(int(answer.headers["Retry-After"]) >= 1 for answer in refused)


def test_function_with_its_key_takes_part_and_those_without_do_not(deployed: Deployed) -> None:
    assert deployed.check("provider-a") == "ok"

    found = ask(deployed.admin, "POST", SEARCH, {"gpu": {}, "deadline_ms": 20000}).json()

    outcomes = {one["id"]: one["outcome"] for one in found["providers"]}
    assert outcomes.pop("provider-a") in ("ok", "not_modified")
    assert outcomes == {"provider-b": "signature_invalid", "provider-c": "signature_invalid"}
    assert {one["provenance"]["provider_id"] for one in found["candidates"]} == {"provider-a"}


def test_provider_function_refuses_unsigned_foreign_and_repeated_calls(deployed: Deployed) -> None:
    now = int(time.time())
    right = sign_request([deployed.provider_key], f"e2e-{now}", now, "provider-a").headers
    foreign = sign_request(["A" * 43 + "="], f"e2e-{now}-b", now, "provider-a").headers

    statuses = [
        ask(None, "GET", INVENTORY, address=deployed.provider, **headers).status_code
        for headers in ({}, foreign, right, right)
    ]

    assert statuses == [401, 401, 200, 403]


def test_next_key_of_a_provider_counts_beside_the_one_it_has(deployed: Deployed) -> None:
    deployed.keys("rotate-provider", "provider-a", "--master-key", MASTER_KEY)

    assert deployed.check("provider-a") == "ok"
