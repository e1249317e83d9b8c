"""AUTH=keys: every route by every kind of key, whose record is whose, and what each change leaves in the log."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from fakes.gateway import PROVIDERS, RESOURCES, SEARCH, load_app
from fakes.keyed_gateway import KeyedGateway

from chalicelib.callers import caller_of
from chalicelib.key_store import KEPT_S, KeyStore
from chalicelib.keys import digest_of, new_id, new_secret, presented, text_of
from chalicelib.registry import Registry

PUBLIC_ROUTES = {"/", "/health", "/ready", "/docs", "/openapi.json"}
ONE = PROVIDERS + "/{provider_id}"
ROLE_OF = {
    ("POST", PROVIDERS): "provider",
    ("GET", PROVIDERS): "search",
    ("GET", ONE): "search",
    ("PUT", ONE): "provider",
    ("PATCH", ONE): "provider",
    ("DELETE", ONE): "provider",
    ("POST", ONE + "/check"): "provider",
    ("POST", SEARCH): "search",
    ("GET", RESOURCES): "search",
    ("GET", "/metrics"): "search",
}
SEARCH_BODY = {"cpu": {"minimum_millicores": 1}}


def routes() -> list[tuple[str, str]]:
    return sorted((method, path) for path, methods in load_app().app.routes.items() for method in methods)


GUARDED = [(method, path) for method, path in routes() if path not in PUBLIC_ROUTES]


@pytest.fixture
def keyed(dynamodb: Any, table: str, tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> KeyedGateway:
    return KeyedGateway(monkeypatch, dynamodb, table, tmp_path)


def audit_lines(text: str) -> list[dict[str, Any]]:
    lines = [json.loads(line) for line in text.splitlines() if line.startswith("{")]
    return [line for line in lines if line["event"] == "audit"]


def path_of(pattern: str) -> str:
    return pattern.replace("{provider_id}", "nobody")


def without_id(answer: Any) -> dict[str, Any]:
    return {name: value for name, value in answer.problem.items() if name != "request_id"}


def test_every_route_is_public_by_the_list_or_asks_for_a_role():
    assert {(method, path) for method, path in GUARDED} <= set(ROLE_OF)
    assert len(GUARDED) >= 9


@pytest.mark.parametrize(("method", "path"), GUARDED)
def test_no_route_but_the_public_ones_answers_without_a_valid_key(keyed, method, path):
    past = (datetime.now(UTC) - timedelta(seconds=1)).isoformat()
    admin = keyed.a_key("admin")
    bad = {
        "none": None,
        "malformed": "x",
        "unknown": text_of(new_id(), new_secret()),
        "wrong": admin[:-1] + ("A" if admin[-1] != "A" else "B"),
        "expired": keyed.a_key("admin", expires_at=past),
        "disabled": keyed.a_key("admin", disabled=True),
        "revoked": keyed.a_key("admin", disabled=True, revoked_at=past),
    }

    answers = {name: keyed.ask(key, method, path_of(path)) for name, key in bad.items()}

    assert {name: answer.status for name, answer in answers.items()} == dict.fromkeys(bad, 401)
    assert all(without_id(answer) == without_id(answers["none"]) for answer in answers.values())
    headers = [
        {name: value for name, value in one.headers.items() if name != "x-request-id"} for one in answers.values()
    ]
    assert all(one == headers[0] for one in headers)
    assert headers[0]["www-authenticate"].startswith("Bearer")


@pytest.mark.parametrize("role", ["search", "provider", "admin"])
@pytest.mark.parametrize(("method", "path"), GUARDED)
def test_route_is_for_its_role_and_for_admins(keyed, method, path, role):
    answer = keyed.ask(keyed.a_key(role), method, path_of(path), SEARCH_BODY if path == SEARCH else None)

    if role in ("admin", ROLE_OF[method, path]):
        assert answer.status not in (401, 403)
    else:
        assert (answer.status, answer.problem["code"]) == (403, "forbidden")
        assert ROLE_OF[method, path] in answer.problem["detail"]


@pytest.mark.parametrize("path", sorted(PUBLIC_ROUTES & {path for _, path in routes()}))
def test_public_routes_ask_for_no_key_and_mind_no_wrong_one(keyed, path):
    for key in (None, "x", keyed.a_key("search", disabled=True)):
        assert keyed.ask(key, "GET", path).status == 200


def test_key_without_a_role_may_do_nothing(keyed):
    assert keyed.ask(keyed.a_key("root"), "GET", PROVIDERS).status == 403


def test_foreign_host_and_origin_are_no_matter_where_keys_are_asked_for(keyed):
    answer = keyed.ask(
        keyed.a_key("search"), "GET", PROVIDERS, Host="gateway.example", Origin="https://elsewhere.example"
    )

    assert answer.status == 200


def test_registry_that_cannot_be_read_lets_nobody_in(keyed, dynamodb):
    key = keyed.a_key("admin")
    keyed.module.gateway.registry = Registry(lambda: dynamodb, "no-such-table")

    for given in (key, text_of(new_id(), new_secret())):
        answer = keyed.ask(given, "GET", PROVIDERS)
        assert (answer.status, answer.problem["code"]) == (503, "registry_unavailable")
        assert answer.headers["retry-after"]
    assert keyed.ask(None, "GET", PROVIDERS).status == 401


def test_caller_of_a_public_route_is_nobody(keyed):
    keyed.ask(keyed.a_key("admin"), "GET", "/health")

    with pytest.raises(KeyError):
        caller_of(type("Request", (), {"context": {}})())


class CountingTable:
    """The table's part that KeyStore uses, and how often it was read."""

    def __init__(self, dynamodb: Any, table: str) -> None:
        self.real = Registry(lambda: dynamodb, table).table
        self.reads = 0

    def attempts(self) -> Any:
        return self.real.attempts()

    def get(self, attempts: Any, key: Any) -> Any:
        self.reads += 1
        return self.real.get(attempts, key)


class Known:
    """A KeyStore over the table, at a time that the test sets."""

    def __init__(self, dynamodb: Any, table: str) -> None:
        self.now = 0.0
        self.table = CountingTable(dynamodb, table)
        self.store = KeyStore(self.table, monotonic=lambda: self.now)

    def state(self, text: str) -> str | None:
        key = self.store.matching(presented(f"Bearer {text}"))
        return None if key is None else key.state(datetime.now(UTC))


@pytest.fixture
def known(dynamodb, table):
    return Known(dynamodb, table)


def test_verified_key_costs_one_read_in_30_seconds(keyed, known):
    key = keyed.a_key("search")

    states = [known.state(key) for _ in range(100)]

    assert states == ["active"] * 100
    assert known.table.reads == 1


def test_revoked_key_stops_within_30_seconds(keyed, known):
    key = keyed.a_key("search")
    known.state(key)
    keyed.change(key, revoked_at="2026-01-01T00:00:00Z")

    known.now = KEPT_S - 0.001
    before = known.state(key)
    known.now = KEPT_S

    assert (before, known.state(key), KEPT_S) == ("active", "revoked", 30.0)


def test_rotated_key_works_at_once_and_the_old_secret_stops_with_it(keyed, known):
    old = keyed.a_key("search")
    known.state(old)
    secret = new_secret()
    keyed.change(old, digest=digest_of(secret))

    assert known.state(text_of(keyed.rows[old].key_id, secret)) == "active"
    assert known.state(old) is None


def test_removed_key_and_spoiled_row_are_unknown(keyed, known, dynamodb, table):
    key = keyed.a_key("admin")
    place = {"pk": {"S": "key"}, "sk": {"S": keyed.rows[key].key_id}}
    dynamodb.update_item(TableName=table, Key=place, UpdateExpression="REMOVE disabled")

    assert known.state(key) is None


def test_too_many_calls_of_one_key_are_429_and_another_key_is_free(dynamodb, table, tmp_path, monkeypatch):
    keyed = KeyedGateway(monkeypatch, dynamodb, table, tmp_path, KEY_RATE_PER_S="1")
    busy, calm = keyed.a_key("search"), keyed.a_key("search")

    answers = [keyed.ask(busy, "GET", PROVIDERS) for _ in range(12)]

    refused = next(answer for answer in answers if answer.status != 200)
    assert (refused.status, refused.problem["code"]) == (429, "rate_limited")
    assert int(refused.headers["retry-after"]) >= 1
    assert [answer.status for answer in answers[:3]] == [200] * 3
    assert keyed.ask(calm, "GET", PROVIDERS).status == 200


def test_owner_who_has_as_many_providers_as_one_may_have_takes_no_room_from_others(
    dynamodb, table, tmp_path, monkeypatch
):
    keyed = KeyedGateway(monkeypatch, dynamodb, table, tmp_path, OWNER_PROVIDERS="2")
    greedy, other = keyed.a_key("provider"), keyed.a_key("provider", principal="lab-b")
    keyed.add(greedy, "a", "http://lab-a.test")
    keyed.add(keyed.a_key("provider"), "b", "http://lab-a.test")  # another key of the same principal

    refused = keyed.ask(greedy, "POST", PROVIDERS, {"id": "c", "name": "C", "base_url": "http://lab-a.test"})
    keyed.add(other, "of-another", "http://lab-b.test")
    of_an_admin = keyed.a_key("admin")
    keyed.add(of_an_admin, "of-an-admin", "http://lab-a.test")
    for provider_id in ("a", "b"):
        keyed.ask(greedy, "DELETE", f"{PROVIDERS}/{provider_id}")
    keyed.add(greedy, "c", "http://lab-a.test")

    assert (refused.status, refused.problem["code"]) == (409, "owner_full")
    assert "lab-a has 2 providers" in refused.problem["detail"]
    assert "OWNER_PROVIDERS" in refused.problem["detail"]


def test_record_belongs_to_who_registered_it(keyed):
    mine, theirs = keyed.a_key("provider"), keyed.a_key("provider", principal="lab-b")
    admin = keyed.a_key("admin", principal="root")
    record = keyed.add(mine, "provider-a", "http://lab-a.test")
    path = f"{PROVIDERS}/provider-a"
    body = {"name": "x", "base_url": "http://lab-a.test"}

    refused = [
        keyed.ask(theirs, "PUT", path, body),
        keyed.ask(theirs, "PATCH", path, {"name": "x"}),
        keyed.ask(theirs, "DELETE", path),
        keyed.ask(theirs, "POST", path + "/check"),
    ]
    allowed = [
        keyed.ask(mine, "PATCH", path, {"name": "y"}),
        keyed.ask(mine, "POST", path + "/check"),
        keyed.ask(admin, "PUT", path, body),
        keyed.ask(keyed.a_key("provider"), "DELETE", path),
    ]

    assert record["owner"] == "lab-a"
    assert [(answer.status, answer.problem["code"]) for answer in refused] == [(403, "forbidden")] * 4
    assert [answer.status for answer in allowed] == [200, 200, 200, 204]


def test_owner_of_a_record_is_nobodys_to_say(keyed):
    mine = keyed.a_key("provider")
    keyed.add(mine, "provider-a", "http://lab-a.test")

    answers = [
        keyed.ask(mine, "PATCH", f"{PROVIDERS}/provider-a", {name: value})
        for name, value in {"owner": "lab-b", "key_version": 7, "verified_at": "2026-01-01T00:00:00Z"}.items()
    ]
    unknown = keyed.ask(mine, "PATCH", f"{PROVIDERS}/provider-a", {"old_key_until": "2036-01-01T00:00:00Z"})

    assert [answer.status for answer in (*answers, unknown)] == [422] * 4


def test_address_is_shown_to_the_owner_and_to_admins_alone(keyed):
    mine = keyed.a_key("provider", "search")
    keyed.add(mine, "provider-a", "http://lab-a.test")
    readers = {
        "owner": mine,
        "admin": keyed.a_key("admin", principal="root"),
        "searcher": keyed.a_key("search", principal="user"),
        "another owner": keyed.a_key("provider", "search", principal="lab-b"),
    }

    one = {who: keyed.ask(key, "GET", f"{PROVIDERS}/provider-a").json["base_url"] for who, key in readers.items()}
    listed = {who: keyed.ask(key, "GET", PROVIDERS).json["providers"][0]["base_url"] for who, key in readers.items()}

    shown = "http://lab-a.test"
    assert one == listed == {"owner": shown, "admin": shown, "searcher": None, "another owner": None}


def test_each_change_leaves_one_line_that_says_who_did_what(keyed, capsys):
    mine = keyed.a_key("provider")
    path = f"{PROVIDERS}/provider-a"
    keyed.add(mine, "provider-a", "http://lab-a.test")
    keyed.ask(mine, "PATCH", path, {"name": "Lab A"}, **{"X-Request-Id": "r-1"})
    keyed.ask(mine, "PATCH", path, {"name": "Lab A"})
    keyed.ask(mine, "PATCH", path, {"name": "Lab B"}, **{"If-Match": '"7"'})
    keyed.ask(mine, "DELETE", path)
    keyed.ask(mine, "DELETE", path)

    output = capsys.readouterr().err
    lines = audit_lines(output)

    assert [(line["action"], line["version_from"], line["version_to"]) for line in lines] == [
        ("register", None, 1),
        ("change", 1, 2),
        ("remove", 2, None),
    ]
    assert {(line["principal"], line["key_id"]) for line in lines} == {("lab-a", keyed.rows[mine].key_id)}
    assert lines[1]["request_id"] == "r-1"
    assert mine.rpartition("_")[2] not in output


def test_no_secret_is_in_any_line_of_the_log(keyed, capsys):
    admin = keyed.a_key("admin")
    record = keyed.add(admin, "provider-a", "http://lab-a.test")
    keyed.ask(admin, "POST", f"{PROVIDERS}/provider-a/check")
    keyed.ask(admin[:-3] + "AAA", "GET", PROVIDERS)

    output = capsys.readouterr().err

    assert admin[20:] not in output
    assert record["key"] not in output
    assert keyed.rows[admin].digest not in output


def test_without_a_master_key_nothing_is_registered(dynamodb, table, tmp_path, monkeypatch):
    keyed = KeyedGateway(monkeypatch, dynamodb, table, tmp_path, MASTER_KEY="")
    admin = keyed.a_key("admin")

    answer = keyed.ask(admin, "POST", PROVIDERS, {"id": "a", "name": "A", "base_url": "http://lab-a.test"})

    assert (answer.status, answer.problem["code"]) == (503, "not_ready")
    assert "MASTER_KEY" in answer.problem["detail"]
    assert keyed.ask(admin, "GET", PROVIDERS).json["providers"] == []


def test_open_gateway_neither_asks_for_keys_nor_gives_any(gateway):
    record = gateway.register("provider-a", "http://lab-a.test")

    assert "key" not in record
    assert (record["owner"], record["enabled"], record["key_version"]) == (None, True, 1)
    assert gateway.call("GET", PROVIDERS, headers={"Authorization": "Bearer x"}).status == 200
