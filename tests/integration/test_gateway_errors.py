"""Every error that a caller of the gateway can meet, as an API Gateway event and through `chalice local`."""

import json
import os
import queue
import re
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from http.client import HTTPConnection
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from fakes.gateway import FOLDER, OPEN, PROVIDERS, RESOURCES, SEARCH, Answer, Gateway, event_for

from chalicelib.gateway_settings import SettingsError, read_settings
from fedcompute import __version__
from fedcompute.documents import LARGEST_BYTES
from fedcompute.errors import STATUS

PUBLIC = {"/", "/docs", "/health", "/openapi.json", "/ready"}
A_SEARCH = {"cpu": {"minimum_millicores": 1}}


def code_of(answer: Answer) -> tuple[int, str]:
    return answer.status, answer.problem["code"]


def pointers_of(answer: Answer) -> list[str]:
    return sorted(error["pointer"] for error in answer.problem["errors"])


def lines_of(capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in capsys.readouterr().err.splitlines()]


@pytest.fixture
def nobody() -> Iterator[str]:
    """An endpoint at which nothing listens."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{bound.getsockname()[1]}"


@pytest.fixture
def cut_off(monkeypatch: pytest.MonkeyPatch, nobody: str) -> Gateway:
    """A gateway whose registry does not answer."""
    return Gateway(monkeypatch, AWS_ENDPOINT_URL=nobody)


# Bodies


@pytest.mark.parametrize(
    "body",
    [
        "",
        " ",
        "{",
        "}{",
        "{'cpu': 1}",
        '{"limit": NaN}',
        '{"limit": 1e999}',
        '{"limit": ' + "9" * 5000 + "}",
        "\ufeff{}",
        "\ud800",
        '"\\ud800"',
        "[" * 100_000,
        '{"gpu": ' * 5000 + "{}" + "}" * 5000,
        "null null",
    ],
    ids=lambda body: repr(body[:12]),
)
def test_body_that_is_not_json_is_malformed(cut_off: Gateway, body: str) -> None:
    assert code_of(cut_off.call("POST", SEARCH, body)) == (400, "malformed_json")


@pytest.mark.parametrize("body", ["null", "[]", "1", '"text"', "{}", "true"])
def test_json_that_is_no_search_is_invalid_as_a_whole(cut_off: Gateway, body: str) -> None:
    answer = cut_off.call("POST", SEARCH, body)

    assert code_of(answer) == (422, "validation_failed")
    assert pointers_of(answer) == [""]


def test_every_problem_of_a_search_is_told_at_once_with_its_place(cut_off: Gateway) -> None:
    answer = cut_off.call(
        "POST",
        SEARCH,
        {
            "gpu": {"count": 0, "colour": "red", "vendor": "", "model": "--"},
            "cpu": {},
            "memory": {"minimum_bytes": True},
            "tolerations": [{"key": "k", "effect": "Sometimes"}],
            "strategy": "fastest",
            "limit": "5",
            "deadline_ms": 26_000,
            "providers": {"include": "a", "labels": {"a": 1}},
            "partial": None,
            "a/b~c": 1,
        },
    )

    assert code_of(answer) == (422, "validation_failed")
    assert set(pointers_of(answer)) == {
        "/gpu/count",
        "/gpu/colour",
        "/gpu/vendor",
        "/gpu/model",
        "/cpu/minimum_millicores",
        "/memory/minimum_bytes",
        "/tolerations/0/effect",
        "/strategy",
        "/limit",
        "/deadline_ms",
        "/providers/include",
        "/providers/labels/a",
        "/partial",
        "/a~1b~0c",
    }
    assert all(error["message"] and "pydantic" not in error["message"] for error in answer.problem["errors"])


def test_body_at_the_limit_is_read_and_one_above_is_too_large(cut_off: Gateway) -> None:
    fits, too_large = "1".ljust(LARGEST_BYTES), "1".ljust(LARGEST_BYTES + 1)

    assert code_of(cut_off.call("POST", SEARCH, fits)) == (422, "validation_failed")
    assert code_of(cut_off.call("POST", SEARCH, too_large)) == (413, "payload_too_large")
    assert code_of(cut_off.call("POST", PROVIDERS, too_large)) == (413, "payload_too_large")


def test_record_that_is_invalid_is_told_so_with_its_places(cut_off: Gateway) -> None:
    answer = cut_off.call("POST", PROVIDERS, {"id": "Not an id", "base_url": "ftp://x", "timeout_ms": 1, "version": 3})

    assert code_of(answer) == (422, "validation_failed")
    assert {"/id", "/name", "/base_url", "/timeout_ms", "/version"} <= set(pointers_of(answer))


@pytest.mark.parametrize(
    "base_url",
    [
        "http://169.254.169.254/latest",
        "http://[fd00:ec2::254]",
        "http://0.0.0.0:1",
        "http://2130706433",
        "http://user:secret@lab.test",
        "http://lab.test\\@127.0.0.1",
        "http://lab.test/?q=1",
        "file:///etc/passwd",
    ],
)
def test_address_where_no_provider_may_be_is_refused_at_once(cut_off: Gateway, base_url: str) -> None:
    answer = cut_off.call("POST", PROVIDERS, {"id": "a", "name": "A", "base_url": base_url})

    assert code_of(answer) == (422, "validation_failed")
    assert pointers_of(answer) == ["/base_url"]
    assert "secret" not in answer.text


def test_aws_endpoint_and_the_gateway_itself_are_no_providers(cut_off: Gateway, nobody: str) -> None:
    for base_url in (nobody, "http://localhost:8080"):
        answer = cut_off.call(
            "POST", PROVIDERS, {"id": "a", "name": "A", "base_url": base_url}, {"Host": "localhost:8080"}
        )

        assert code_of(answer) == (422, "validation_failed")


# Content types


@pytest.mark.parametrize(
    "content_type",
    [
        *("text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "x", "*/*", ""),
        # What the pages of other sites may send unasked is text/plain, whatever follows it.
        *("text/plain; application/json", "text/plain;application/json", "text/plain, application/json"),
        *("application/json, text/plain", "application/jsonp", "x/application/json"),
    ],
)
def test_body_of_another_type_is_refused(cut_off: Gateway, content_type: str) -> None:
    answer = cut_off.call("POST", SEARCH, A_SEARCH, {"Content-Type": content_type})

    assert code_of(answer) == (415, "unsupported_media_type")


def test_body_of_no_type_is_refused(cut_off: Gateway) -> None:
    event = event_for(cut_off.app, "POST", SEARCH, json.dumps(A_SEARCH), {"Host": "localhost"})

    assert code_of(cut_off.handle(event)) == (415, "unsupported_media_type")


@pytest.mark.parametrize(
    "content_type",
    ["application/json", "application/json; charset=utf-8", "APPLICATION/JSON ;x=y", "application/merge-patch+json"],
)
def test_body_of_a_json_type_is_read(cut_off: Gateway, content_type: str) -> None:
    answer = cut_off.call("POST", SEARCH, "{", {"Content-Type": content_type})

    assert code_of(answer) == (400, "malformed_json")


# Bodies that ask for more than an answer


@pytest.mark.parametrize("values", [9_995, 9_996])
def test_answer_about_many_mistakes_is_bounded(cut_off: Gateway, values: int) -> None:
    """Ten thousand values may be looked at: what is wrong with more is not looked for."""
    answer = cut_off.search(providers={"include": [1] * values})

    if values == 9_995:
        assert code_of(answer) == (422, "validation_failed")
        assert answer.problem["detail"] == f"{values} things are wrong with the request; errors has the first 100."
        assert len(answer.problem["errors"]) == 100
    else:
        assert code_of(answer) == (413, "payload_too_large")
        assert "10000 values" in answer.problem["detail"]


@pytest.mark.parametrize(
    "body",
    [
        '{"cpu": {"minimum_millicores": 1}, "cpu": {"minimum_millicores": 2}}',
        '{"cpu": {"minimum_millicores": 1, "minimum_millicores": 1}}',
        '{"cpu": {"minimum_millicores": 1}, "\\u0063pu": {"minimum_millicores": 2}}',
    ],
)
def test_name_that_stands_twice_in_a_body_is_refused(cut_off: Gateway, body: str) -> None:
    answer = cut_off.call("POST", SEARCH, body)

    assert code_of(answer) == (400, "malformed_json")
    assert "stands more than once" in answer.problem["detail"]


# Methods and routes


def test_answer_to_head_has_no_body(cut_off: Gateway) -> None:
    answer = cut_off.call("HEAD", "/health")

    assert (answer.status, answer.text) == (405, "")


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("PUT", SEARCH, {"POST"}),
        ("GET", SEARCH, {"POST"}),
        ("POST", "/health", {"GET"}),
        ("DELETE", PROVIDERS, {"GET", "POST"}),
        ("POST", f"{PROVIDERS}/a", {"GET", "PUT", "PATCH", "DELETE"}),
        ("GET", f"{PROVIDERS}/a/check", {"POST"}),
    ],
)
def test_other_methods_are_refused_with_those_allowed(
    cut_off: Gateway, method: str, path: str, allowed: set[str]
) -> None:
    answer = cut_off.call(method, path)

    assert code_of(answer) == (405, "method_not_allowed")
    assert set(answer.headers["allow"].split(", ")) == allowed
    assert all(name in answer.problem["detail"] for name in allowed)


# Faults of our own


def test_unhandled_exception_is_500_without_a_word_of_it_and_one_line_with_all_of_it(
    cut_off: Gateway, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def breaks(*arguments: object) -> None:
        raise KeyError("a secret of ours")

    monkeypatch.setattr(cut_off.module, "search", breaks)

    answer = cut_off.call("POST", SEARCH, A_SEARCH)

    assert code_of(answer) == (500, "internal")
    assert "secret" not in answer.text
    assert "KeyError" not in answer.text
    (line,) = lines_of(capsys)
    assert (line["level"], line["status"], line["request_id"]) == ("ERROR", 500, answer.headers["x-request-id"])
    assert line["traceback"].endswith("KeyError: 'a secret of ours'\n")
    assert "breaks" in line["traceback"]


def test_debug_is_off(cut_off: Gateway) -> None:
    assert not cut_off.app.debug


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", SEARCH, A_SEARCH),
        ("GET", RESOURCES, None),
        ("GET", PROVIDERS, None),
        ("GET", f"{PROVIDERS}/a", None),
        ("POST", f"{PROVIDERS}/a/check", None),
        ("DELETE", f"{PROVIDERS}/a", None),
        ("POST", PROVIDERS, {"id": "a", "name": "A", "base_url": "http://lab.test"}),
    ],
)
def test_registry_that_does_not_answer_is_503_with_when_to_come_back(
    cut_off: Gateway, method: str, path: str, body: object
) -> None:
    answer = cut_off.call(method, path, body)

    assert code_of(answer) == (503, "registry_unavailable")
    assert int(answer.headers["retry-after"]) >= 1


def test_gateway_without_its_registry_is_alive_and_not_ready(cut_off: Gateway) -> None:
    health, ready = cut_off.call("GET", "/health"), cut_off.call("GET", "/ready")

    assert (health.status, health.json) == (200, {"status": "ok", "version": __version__})
    assert code_of(ready) == (503, "not_ready")
    assert ready.problem["checks"] == {"registry": "registry_unavailable"}
    assert int(ready.headers["retry-after"]) >= 1


def test_gateway_with_its_registry_is_ready(gateway: Gateway) -> None:
    answer = gateway.call("GET", "/ready")

    assert (answer.status, answer.json) == (200, {"status": "ok", "checks": {"registry": "ok"}})


def test_problem_and_log_line_name_the_same_code_and_request(
    cut_off: Gateway, capsys: pytest.CaptureFixture[str]
) -> None:
    answer = cut_off.call("POST", SEARCH, "hidden", {"X-Request-Id": "mine"})

    (line,) = lines_of(capsys)
    assert (line["code"], line["request_id"]) == (answer.problem["code"], answer.problem["request_id"])
    assert line["request_id"] == "mine"
    assert "hidden" not in json.dumps(line)


def test_every_code_has_a_plain_name() -> None:
    assert all(re.fullmatch(r"[a-z_]+", code) for code in STATUS)


# Who may call: AUTH=open


@pytest.mark.parametrize(
    "host", ["localhost", "LOCALHOST:8080", "127.0.0.1:8080", "[::1]", "[::1]:8080", "gateway.lan", "gateway.lan:80"]
)
def test_hosts_of_this_machine_and_named_ones_are_answered(monkeypatch: pytest.MonkeyPatch, host: str) -> None:
    gateway = Gateway(monkeypatch, ALLOWED_HOSTS="gateway.lan, other.lan")

    assert gateway.call("GET", "/health", headers={"Host": host}).status == 200


@pytest.mark.parametrize(
    "host",
    ["evil.test", "evil.test:80", "localhost.evil.test", "127.0.0.1.evil.test", "[::2]", "10.0.0.1", "localhost:80:80"],
)
def test_foreign_hosts_are_refused(cut_off: Gateway, host: str) -> None:
    assert code_of(cut_off.call("GET", "/health", headers={"Host": host})) == (403, "foreign_host")
    assert code_of(cut_off.call("POST", SEARCH, A_SEARCH, {"Host": host})) == (403, "foreign_host")


def test_request_without_a_host_is_answered(cut_off: Gateway) -> None:
    assert cut_off.handle(event_for(cut_off.app, "GET", "/health", None, {})).status == 200


@pytest.mark.parametrize("origin", ["http://localhost:8080", "https://LOCALHOST:8080"])
def test_pages_of_the_same_origin_are_answered(cut_off: Gateway, origin: str) -> None:
    answer = cut_off.call("GET", "/health", headers={"Host": "localhost:8080", "Origin": origin})

    assert answer.status == 200


@pytest.mark.parametrize(
    "origin",
    ["http://evil.test", "null", "http://localhost:8081", "http://localhost", "localhost:8080", "x://localhost:8080"],
)
def test_pages_of_another_origin_are_refused(cut_off: Gateway, origin: str) -> None:
    answer = cut_off.call("POST", SEARCH, A_SEARCH, {"Host": "localhost:8080", "Origin": origin})

    assert code_of(answer) == (403, "foreign_origin")


# Who may call: AUTH=keys


@pytest.fixture
def keyed(cut_off: Gateway, monkeypatch: pytest.MonkeyPatch) -> Gateway:
    """A gateway as it is on AWS when nothing is said."""
    for name in OPEN:
        monkeypatch.delenv(name)
    return cut_off


def test_every_route_but_the_public_ones_asks_for_a_key(keyed: Gateway) -> None:
    routes = [(path, method) for path, methods in keyed.app.routes.items() for method in methods if path not in PUBLIC]
    assert len(routes) >= 9

    for path, method in routes:
        answer = keyed.call(method, path.replace("{provider_id}", "a"), A_SEARCH if method == "POST" else None)

        assert code_of(answer) == (401, "unauthenticated"), path
        assert answer.headers["www-authenticate"].startswith("Bearer")


@pytest.mark.parametrize("header", ["", "Bearer", "Bearer fc_x_y", "Basic eDp5", "fc_x_y"])
def test_key_that_is_none_opens_nothing(keyed: Gateway, header: str) -> None:
    answer = keyed.call("GET", PROVIDERS, headers={"Authorization": header})

    assert code_of(answer) == (401, "unauthenticated")


def test_public_routes_are_answered_without_a_key_whatever_the_host(keyed: Gateway) -> None:
    assert keyed.call("GET", "/health", headers={"Host": "abc.execute-api.eu-central-1.amazonaws.com"}).status == 200
    assert keyed.call("GET", "/ready").problem["code"] == "not_ready"


# Settings


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("FANOUT_CONNECTIONS", "many"),
        ("FANOUT_THREADS", "0"),
        ("AUTH", "closed"),
        ("PROVIDER_ADDRESSES", "mine"),
        ("SEARCH_DEADLINE_MS", "30000"),
        ("REGISTRY_TABLE", "x"),
        ("MAX_INVENTORY_BYTES", "1"),
        ("LOG_LEVEL", "LOUD"),
    ],
)
def test_bad_setting_is_500_for_the_caller_and_its_name_in_the_log(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], variable: str, value: str
) -> None:
    gateway = Gateway(monkeypatch, **{variable: value})

    answer = gateway.call("GET", "/health")

    assert code_of(answer) == (500, "internal")
    assert variable not in answer.text
    assert "Traceback" not in answer.text
    (line,) = lines_of(capsys)
    assert f"SettingsError: environment: {variable}: " in line["traceback"]
    assert "input_value" not in line["traceback"]


def test_every_bad_variable_is_named_at_once() -> None:
    with pytest.raises(SettingsError, match=r"REGISTRY_TABLE: .*; AUTH: .*; FANOUT_THREADS: ") as caught:
        read_settings({"AUTH": "maybe", "FANOUT_THREADS": "some"})

    assert "maybe" not in str(caught.value)


def test_variables_that_are_empty_are_as_if_not_set() -> None:
    settings = read_settings({"REGISTRY_TABLE": "registry", "AUTH": "", "FANOUT_CONNECTIONS": ""})

    assert (settings.auth, settings.provider_addresses, settings.fanout_connections) == ("keys", "public", 512)


@pytest.mark.parametrize("unsafe", [{"AUTH": "open"}, {"PROVIDER_ADDRESSES": "any"}])
def test_what_is_for_ones_own_machine_is_refused_on_aws_and_not_on_an_emulator(unsafe: Mapping[str, str]) -> None:
    on_lambda = {"REGISTRY_TABLE": "registry", "AWS_LAMBDA_FUNCTION_NAME": "gateway", **unsafe}

    with pytest.raises(SettingsError, match=next(iter(unsafe))):
        read_settings(on_lambda)

    assert not read_settings({**on_lambda, "AWS_ENDPOINT_URL": "http://127.0.0.1:4566"}).is_on_aws


def test_open_gateway_on_aws_answers_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    gateway = Gateway(monkeypatch, PROVIDER_ADDRESSES="public", AWS_LAMBDA_FUNCTION_NAME="gateway")

    for method, path, body in (("GET", "/health", None), ("POST", SEARCH, A_SEARCH), ("GET", PROVIDERS, None)):
        assert code_of(gateway.call(method, path, body)) == (500, "internal")


# Through `chalice local`


PATIENCE_S = 10.0


class Served(NamedTuple):
    """A running `chalice local` whose registry does not answer."""

    port: int
    log: queue.SimpleQueue[str]

    def lines_until(self, text: str) -> list[str]:
        """What it has written since it was asked last, up to the line that holds this; queue.Empty where none ever does."""
        lines = [self.log.get(timeout=PATIENCE_S)]
        while text not in lines[-1]:
            lines.append(self.log.get(timeout=PATIENCE_S))
        return lines

    def call(
        self, method: str, path: str, body: bytes | None = None, headers: Mapping[str, str] | None = None
    ) -> Answer:
        connection = HTTPConnection("127.0.0.1", self.port, timeout=10)
        try:
            connection.request(method, path, body, dict(headers or {}))
            response = connection.getresponse()
            text = response.read().decode()
            return Answer(response.status, {name.lower(): value for name, value in response.getheaders()}, text)
        finally:
            connection.close()


@pytest.fixture(scope="module")
def served() -> Iterator[Served]:
    with socket.socket() as bound, socket.socket() as probe:
        bound.bind(("127.0.0.1", 0))
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        probe.close()
        environment = {**os.environ, **OPEN, "REGISTRY_TABLE": "registry", "PYTHONUNBUFFERED": "1"}
        environment["AWS_ENDPOINT_URL"] = f"http://127.0.0.1:{bound.getsockname()[1]}"
        chalice = Path(sys.executable).with_name("chalice")
        with subprocess.Popen(
            [chalice, "local", "--no-autoreload", "--host", "127.0.0.1", "--port", str(port)],
            cwd=FOLDER,
            env=environment,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        ) as process:
            assert process.stdout is not None
            assert process.stderr is not None
            log: queue.SimpleQueue[str] = queue.SimpleQueue()
            lines = process.stderr
            reading = threading.Thread(target=lambda: [log.put(line) for line in lines])
            reading.start()
            try:
                assert process.stdout.readline().startswith("Serving on")
                yield Served(port, log)
            finally:
                process.terminate()
                reading.join()


JSON_TYPE = {"Content-Type": "application/json"}


@pytest.mark.parametrize(
    ("method", "path", "body", "headers", "status", "code"),
    [
        ("POST", SEARCH, b"{", JSON_TYPE, 400, "malformed_json"),
        ("POST", SEARCH, b"", JSON_TYPE, 400, "malformed_json"),
        ("POST", SEARCH, b"\xff\xfe", JSON_TYPE, 400, "malformed_json"),
        ("POST", SEARCH, b"{}", JSON_TYPE, 422, "validation_failed"),
        ("POST", SEARCH, b"{}", {}, 415, "unsupported_media_type"),
        ("POST", SEARCH, b"{}", {"Content-Type": "text/plain"}, 415, "unsupported_media_type"),
        ("POST", SEARCH, b" " * (LARGEST_BYTES + 1), JSON_TYPE, 413, "payload_too_large"),
        ("POST", SEARCH, json.dumps(A_SEARCH).encode(), JSON_TYPE, 503, "registry_unavailable"),
        ("GET", "/ready", None, {}, 503, "not_ready"),
        ("GET", SEARCH, None, {}, 405, "method_not_allowed"),
        ("DELETE", PROVIDERS, None, {}, 405, "method_not_allowed"),
        ("GET", "/health", None, {"Host": "evil.test"}, 403, "foreign_host"),
        ("GET", "/health", None, {"Origin": "http://evil.test"}, 403, "foreign_origin"),
        ("GET", f"{PROVIDERS}/%2e%2e", None, {}, 404, "provider_not_found"),
    ],
)
def test_errors_are_problems_through_chalice_local_too(
    served: Served,
    method: str,
    path: str,
    body: bytes | None,
    headers: Mapping[str, str],
    status: int,
    code: str,
) -> None:
    answer = served.call(method, path, body, headers)

    assert code_of(answer) == (status, code)
    assert ("retry-after" in answer.headers) == (status == 503)
    assert ("allow" in answer.headers) == (status == 405)


def test_own_pages_are_answered_through_chalice_local(served: Served) -> None:
    host = f"localhost:{served.port}"

    answer = served.call("GET", "/health", headers={"Host": host, "Origin": f"http://{host}", "X-Request-Id": "mine"})

    assert (answer.status, answer.headers["x-request-id"]) == (200, "mine")
    assert answer.headers["content-type"] == "application/json"


def test_unknown_route_through_chalice_local_is_its_own_403(served: Served) -> None:
    answer = served.call("GET", "/nowhere")

    assert answer.status == 403
    assert answer.json == {"message": "Missing Authentication Token"}


def test_each_request_through_chalice_local_is_one_line_of_json(served: Served) -> None:
    served.call("GET", "/health", headers={"X-Request-Id": "look-for-me"})
    served.call("GET", "/health", headers={"X-Request-Id": "and-then"})

    lines = [line for line in served.lines_until("and-then") if "look-for-me" in line]
    assert len(lines) == 1
    assert json.loads(lines[0])["path"] == "/health"
