"""The typed client against the gateway, and against what is no gateway."""

import json
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from fakes.gateway import Gateway
from fakes.gateway_server import Asked, Served, always, calls_of, serving
from fakes.inventories import a_device, a_node
from fakes.provider_fleet import ProviderFleet

from fedcompute.client import Client
from fedcompute.client_errors import GatewayError, IncompleteError, UnreachableError
from fedcompute.provider import NewProvider
from fedcompute.request import SearchRequest

CPU = {"cpu": {"minimum_millicores": 1000}}


@pytest.fixture
def served(gateway: Gateway) -> Iterator[Served]:
    with serving(calls_of(gateway)) as served:
        yield served


@pytest.fixture
def client(served: Served) -> Iterator[Client]:
    with Client(served.url) as client:
        yield client


def lab(fleet: ProviderFleet, client: Client, provider_id: str = "lab-a") -> None:
    fleet.add(provider_id, a_node("n1", a_device()))
    client.register(NewProvider(id=provider_id, name=f"Lab {provider_id}", base_url=fleet.base_url(provider_id)))


def test_search_answers_with_candidates_and_keeps_the_body(
    fleet: ProviderFleet, served: Served, client: Client
) -> None:
    lab(fleet, client)

    answer = client.search(CPU)

    assert [(one.provenance.provider_id, one.node.name) for one in answer.candidates] == [("lab-a", "n1")]
    assert answer.candidates[0].hint is not None
    assert answer.providers[0].is_answered
    assert answer.raw == served.last_body


def test_model_is_sent_as_it_was_made(fleet: ProviderFleet, served: Served, client: Client) -> None:
    client.search(SearchRequest.model_validate_json('{"gpu": {"vendor": "nvidia"}, "limit": 3}'))

    assert json.loads(served.asked[-1].body) == {"gpu": {"vendor": "NVIDIA"}, "limit": 3}


def test_resources_are_added_up_by_provider(fleet: ProviderFleet, client: Client) -> None:
    lab(fleet, client)

    found = client.resources()

    assert found.totals.nodes == 1
    assert [one.provider_id for one in found.by_provider] == ["lab-a"]


def test_record_lives_through_all_verbs(client: Client) -> None:
    made = client.register({"id": "lab-a", "name": "Lab", "base_url": "http://lab.test"})
    patched = client.patch("lab-a", {"labels": {"region": "eu"}}, made.version)
    replaced = client.replace("lab-a", {"name": "Lab A", "base_url": "http://lab.test"}, patched.version)

    assert (made.version, patched.labels, replaced.labels) == (1, {"region": "eu"}, {})
    assert client.get("lab-a").name == "Lab A"
    client.remove("lab-a", replaced.version)
    assert list(client.providers()) == []


def test_pages_are_followed_to_the_last(client: Client) -> None:
    for place in range(5):
        client.register({"id": f"lab-{place}", "name": "Lab", "base_url": "http://lab.test"})

    pages = list(client.pages(limit=2))

    assert [len(page.providers) for page in pages] == [2, 2, 1]
    assert [one.id for one in client.providers()] == [f"lab-{place}" for place in range(5)]


def test_check_tells_how_asking_went(fleet: ProviderFleet, client: Client) -> None:
    lab(fleet, client)

    found = client.check("lab-a")

    assert found.provider.outcome == "ok"
    assert found.inventory is not None
    assert (found.inventory.nodes, found.inventory.devices) == (1, 1)


def test_refusal_is_an_exception_with_the_code_and_every_mistake(client: Client) -> None:
    with pytest.raises(GatewayError) as caught:
        client.search({"gpu": {"count": 0}, "strategy": "cheapest"})

    error = caught.value
    assert (error.code, error.status) == ("validation_failed", 422)
    assert [one["pointer"] for one in error.errors] == ["/gpu/count", "/strategy"]
    assert error.request_id


@pytest.mark.parametrize(
    ("call", "code"),
    [
        (lambda client: client.get("nope"), "provider_not_found"),
        (lambda client: client.remove("nope"), "provider_not_found"),
        (lambda client: client.get("../health"), "provider_not_found"),
        (lambda client: client.get(""), "provider_not_found"),
    ],
)
def test_id_that_leads_nowhere_is_told_by_its_code(client: Client, call: object, code: str) -> None:
    with pytest.raises(GatewayError) as caught:
        call(client)  # type: ignore[operator]

    assert caught.value.code == code


def test_stale_version_is_told_by_its_code(client: Client) -> None:
    client.register({"id": "lab-a", "name": "Lab", "base_url": "http://lab.test"})
    client.patch("lab-a", {"name": "Another"})

    with pytest.raises(GatewayError) as caught:
        client.patch("lab-a", {"name": "Mine"}, 1)

    assert (caught.value.code, caught.value.status) == ("version_conflict", 412)


def test_required_provider_that_is_away_fails_the_search_with_what_the_others_have(
    fleet: ProviderFleet, client: Client
) -> None:
    lab(fleet, client)
    client.register({"id": "gone", "name": "Gone", "base_url": fleet.base_url("gone")})

    with pytest.raises(IncompleteError) as caught:
        client.search({**CPU, "partial": "require_all"})

    assert "gone (http_status)" in caught.value.detail
    assert len(caught.value.answer.candidates) == 1


def test_closed_port_is_unreachable() -> None:
    with socket.create_server(("127.0.0.1", 0)) as one:
        port = one.getsockname()[1]

    with Client(f"http://localhost:{port}") as client, pytest.raises(UnreachableError) as caught:
        client.resources()

    assert f"http://localhost:{port}" in caught.value.detail
    assert "refused" in caught.value.detail


def test_gateway_that_never_answers_is_unreachable_after_the_timeout() -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as silent,
        Client(f"http://localhost:{silent.getsockname()[1]}", timeout=0.05) as client,
        pytest.raises(UnreachableError, match=r"within 0\.05 s"),
    ):
        client.resources()


@pytest.mark.parametrize(
    ("status", "body", "headers"),
    [
        (200, b"<html>", {}),
        (200, b'{"totals": 1}', {}),
        (200, b"", {}),
        (502, b"<html>Bad Gateway</html>", {"content-type": "text/html"}),
        (403, b'{"message": "Missing Authentication Token"}', {}),
        (301, b"", {"location": "http://elsewhere.test/"}),
        (500, b"\xff", {}),
    ],
)
def test_what_is_no_gateway_is_told_so(status: int, body: bytes, headers: dict[str, str]) -> None:
    with (
        serving(always(status, body, **headers)) as served,
        Client(served.url) as client,
        pytest.raises(GatewayError) as caught,
    ):
        client.resources()

    assert caught.value.code == "unexpected_answer"
    assert len(served.asked) == 1


def test_newer_gateway_may_say_more() -> None:
    body = b'{"feasibility": "likely", "candidates": [], "total_candidates": 0, "news": [1], "took_ms": 3}'

    with serving(always(200, body)) as served, Client(served.url) as client:
        assert client.search(CPU).feasibility == "likely"


def test_key_is_sent_as_a_bearers() -> None:
    def authorization(key: str | None) -> str | None:
        with serving(always(200, b'{"totals": {}}')) as served, Client(served.url, key) as client:
            client.resources()
            return served.asked[0].headers.get("authorization")

    assert authorization("fc_a_b") == "Bearer fc_a_b"
    assert authorization(None) is None


def test_proxy_is_not_asked_on_the_way_to_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(asked: Asked) -> tuple[int, dict[str, str], bytes]:
        raise AssertionError(asked)

    with serving(refuse) as proxy, serving(always(200, b'{"totals": {}}')) as served:
        monkeypatch.setenv("http_proxy", proxy.url)

        for url in (served.url, served.url.replace("localhost", "127.0.0.1")):
            with Client(url) as client:
                client.resources()

    assert (len(proxy.asked), len(served.asked)) == (0, 2)


def test_proxy_is_asked_on_the_way_to_other_machines_and_netrc_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    netrc = tmp_path / "netrc"
    netrc.write_text("machine gateway.test login a password b\n")
    monkeypatch.setenv("NETRC", str(netrc))
    with serving(always(200, b'{"totals": {}}')) as proxy:
        monkeypatch.setenv("http_proxy", proxy.url)
        monkeypatch.delenv("no_proxy", raising=False)
        with Client("http://gateway.test") as client:
            client.resources()

    assert [one.path for one in proxy.asked] == ["http://gateway.test/api/v1/resources"]
    assert "authorization" not in proxy.asked[0].headers


def test_key_does_not_cross_a_network_in_the_open() -> None:
    with pytest.raises(ValueError, match="use https"):
        Client("http://gateway.test", "fc_a_b")


@pytest.mark.parametrize("url", ["localhost:8080", "", "ftp://a", "http://", "http://a b", "http://u:p@host"])
def test_address_that_is_none_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match="is no gateway's address"):
        Client(url)


def test_gateway_may_have_a_path() -> None:
    with serving(always(200, b'{"totals": {}}')) as served, Client(f"{served.url}/prod/") as client:
        client.resources()

    assert served.asked[0].path == "/prod/api/v1/resources"
