"""The fan-out over real sockets: every misbehaviour ends as its outcome, in time, and costs nobody else anything."""

import json
import random
import select
import socket
import sys
import threading
import time
import tracemalloc
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple, NoReturn

import pycurl
import pytest
from fakes.bad_endpoints import swallowing_endpoint
from fakes.bad_providers import FAULTS, BadProviders, Listener
from fakes.certificates import certificate_for, server_side
from fakes.fault_outcomes import OUTCOME_OF, SLOW
from fakes.inventories import a_node, an_inventory
from fakes.patience import in_time
from fakes.provider_fleet import ProviderFleet
from fakes.registry_table import a_record
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from chalicelib import handle, lane, transfer
from chalicelib.addresses import AddressPolicy, Reach
from chalicelib.asking import Asking
from chalicelib.calls import OUTCOMES, Call, Reply
from chalicelib.crews import MOST_SEARCHES, shares_of
from chalicelib.fanout import Fanout
from chalicelib.inventories import Answered, Inventories
from chalicelib.sockets import Sockets

BUDGET_MS = 400
AMPLE_S = 10.0
CAP_BYTES = 1 << 20


class Errors(list[tuple[str, BaseException]]):
    """What the fan-out would have logged."""

    def __call__(self, provider_id: str, error: BaseException) -> None:
        self.append((provider_id, error))


class RecordingPolicy(AddressPolicy):
    """Remembers every address that was about to be connected to."""

    def __init__(self, reach: Reach = Reach.ANY, forbidden: Sequence[str] = ()) -> None:
        super().__init__(reach, forbidden)
        self.asked: set[tuple[str, int]] = set()

    def refusal(self, host: str, port: int, *rest: str) -> str | None:
        self.asked.add((host, port))
        return super().refusal(host, port, *rest)


def a_fanout(policy: AddressPolicy | None = None, **settings: Any) -> Fanout:
    defaults = {"threads": 1, "connections": 64, "most_body_bytes": CAP_BYTES, "on_error": Errors()}
    return Fanout(policy or AddressPolicy(Reach.ANY), **{**defaults, **settings})


def in_ms(milliseconds: float) -> float:
    """A deadline."""
    return time.monotonic() + milliseconds / 1000


def ask(fanout: Fanout, calls: Sequence[Call], deadline_ms: float = AMPLE_S * 1000) -> dict[str, Reply]:
    """The reply to each call; fails where one is delivered twice or never."""
    replies: list[tuple[str, Reply]] = []
    fanout.ask(calls, in_ms(deadline_ms), lambda call, reply: replies.append((call.provider_id, reply)))
    assert sorted(provider_id for provider_id, _ in replies) == sorted(call.provider_id for call in calls)
    return dict(replies)


def outcomes(replies: Mapping[str, Reply]) -> dict[str, str]:
    return {provider_id: reply.outcome for provider_id, reply in replies.items()}


def names_of(answered: Answered) -> list[str]:
    return [node.name for node in answered.inventory.nodes] if answered.inventory else []


@pytest.fixture
def pool() -> Iterator[ThreadPoolExecutor]:
    """Threads that search while the test looks on."""
    with ThreadPoolExecutor(2 * MOST_SEARCHES) as pool:
        yield pool


def calls_to(fleet: ProviderFleet, *provider_ids: str, timeout_ms: int = 10_000) -> list[Call]:
    """Calls to providers of the fleet, which has them from then on."""
    for provider_id in provider_ids:
        if provider_id not in fleet.labs:
            fleet.add(provider_id)
    return [Call(provider_id, fleet.base_url(provider_id), timeout_ms) for provider_id in provider_ids]


def hold(fleet: ProviderFleet, *provider_ids: str) -> None:
    for provider_id in provider_ids:
        fleet.labs[provider_id].is_held = True


# Every fault at once, beside one healthy provider


class Asked(NamedTuple):
    """All faults in one search."""

    answers: dict[str, Answered]
    connected_to: set[tuple[str, int]]
    ports: set[int]  # of the providers
    was_followed: bool
    errors: Errors


@pytest.fixture(scope="module")
def asked() -> Asked:
    policy, errors = RecordingPolicy(), Errors()
    asking = Asking(a_fanout(policy, connections=2 * len(FAULTS), on_error=errors), Inventories())
    with BadProviders() as bad, ProviderFleet() as fleet:
        fleet.add("healthy")
        records = [
            a_record(name, base_url=bad.base_url(name), timeout_ms=BUDGET_MS if name in SLOW else 10_000)
            for name in FAULTS
        ]
        records.append(a_record("healthy", base_url=fleet.base_url("healthy"), timeout_ms=10_000))
        answers = asking.ask(records, in_ms(AMPLE_S * 1000))
        ports = {bad.port, fleet.port}
        by_id = {answered.record.id: answered for answered in answers}
        return Asked(by_id, policy.asked, ports, bad.elsewhere.was_called, errors)


def test_every_fault_has_its_outcome_here() -> None:
    assert set(OUTCOME_OF) == set(FAULTS)


@pytest.mark.parametrize("fault", OUTCOME_OF)
def test_fault_ends_as_its_outcome(asked: Asked, fault: str) -> None:
    entry = asked.answers[fault].entry

    assert entry.outcome == OUTCOME_OF[fault], entry.message
    assert (entry.message is None) == (entry.outcome == "ok")
    assert (entry.nodes is None) == (entry.outcome != "ok")


def test_faults_together_end_within_their_budget(bad: BadProviders) -> None:
    fanout = a_fanout(connections=2 * len(FAULTS))
    calls = [Call(name, bad.base_url(name), BUDGET_MS) for name in FAULTS]

    replies = in_time(BUDGET_MS, lambda: ask(fanout, calls))

    assert {replies[name].outcome for name in SLOW} == {"timeout"}
    assert all(replies[name].took_ms >= BUDGET_MS for name in SLOW)


def test_healthy_provider_is_unharmed_by_the_faults_beside_it(asked: Asked) -> None:
    healthy = asked.answers["healthy"]

    assert (healthy.entry.outcome, names_of(healthy), healthy.entry.warnings) == ("ok", ["gpu-01"], [])


def test_no_redirect_is_followed(asked: Asked) -> None:
    assert not asked.was_followed
    assert {host for host, _ in asked.connected_to} == {"127.0.0.1"}
    assert {port for _, port in asked.connected_to} == asked.ports


def test_no_fault_of_a_provider_is_an_error_of_the_gateway(asked: Asked) -> None:
    assert asked.errors == []


@pytest.mark.parametrize(
    ("fault", "nodes", "warning"),
    [
        ("huge-integer", ["good"], "invalid_node"),
        ("huge-integer-that-python-reads", ["good"], "invalid_node"),
        ("negative-amount", ["good"], "invalid_node"),
        ("duplicate-node", ["good"], "duplicate_node"),
        ("duplicate-device", ["good"], "duplicate_device"),
        ("available-above-total", ["good"], "invalid_device"),
        ("truth-for-a-number", ["good"], "invalid_device"),
        ("unknown-fields", ["gpu-01", "n2"], None),
        ("characters-that-act", ["good[2J"], None),
        ("labelled-as-latin-1", ["good"], None),
    ],
)
def test_what_is_bad_in_an_inventory_is_left_out_with_a_warning(
    asked: Asked, fault: str, nodes: list[str], warning: str | None
) -> None:
    answered = asked.answers[fault]

    assert names_of(answered) == nodes
    assert [one.code for one in answered.entry.warnings] == ([] if warning is None else [warning])
    assert all(one.provider_id == fault for one in answered.entry.warnings)


@pytest.mark.parametrize("fault", ["interim-answer-first", "trailers"])
def test_headers_of_an_interim_answer_and_of_a_trailer_are_not_the_answers(asked: Asked, fault: str) -> None:
    assert asked.answers[fault].reply.etag is None


def test_bytes_after_an_answer_do_not_reach_the_next_search(bad: BadProviders) -> None:
    fanout = a_fanout()
    calls = [Call("more-than-its-length", bad.base_url("more-than-its-length"), 5000)]

    replies = [ask(fanout, calls)["more-than-its-length"] for _ in range(2)]

    assert [reply.outcome for reply in replies] == ["ok", "ok"]
    assert replies[0].body == replies[1].body


def test_connection_that_is_reset_when_it_is_used_again_costs_no_search_its_answer(bad: BadProviders) -> None:
    fanout = a_fanout()
    calls = [Call("resets-when-asked-again", bad.base_url("resets-when-asked-again"), 5000)]

    found = [ask(fanout, calls)["resets-when-asked-again"].outcome for _ in range(4)]

    assert found == ["ok"] * 4


def test_answer_that_nobody_asked_for_is_never_taken_for_the_next_ones(bad: BadProviders) -> None:
    fanout = a_fanout()
    calls = [Call("answers-once-more-unasked", bad.base_url("answers-once-more-unasked"), 5000)]

    for _ in range(3):
        reply = ask(fanout, calls)["answers-once-more-unasked"]
        assert reply.outcome == "ok"
        assert b"gpu-01" in reply.body
        assert bad.said_more.acquire(timeout=AMPLE_S)  # it waits in the connection now


# What is sent, and what of it is believed


def test_request_names_the_path_below_the_base_url_and_nothing_of_this_machine(
    fleet: ProviderFleet, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / ".netrc").write_text("machine 127.0.0.1 login me password secret")
    monkeypatch.setenv("HOME", str(tmp_path))
    fleet.add("a")

    ask(a_fanout(), [Call("a", fleet.base_url("a"), 5000)])

    (seen,) = fleet.requests
    assert seen.path == "/p/a/api/v1/inventory"
    assert seen.headers == {
        "host": f"127.0.0.1:{fleet.port}",
        "accept": "application/json",
        "accept-encoding": "gzip",
        "user-agent": "fedcompute-gateway",
    }


def test_slash_at_the_end_of_a_base_url_makes_no_difference(fleet: ProviderFleet) -> None:
    fleet.add("a")

    ask(a_fanout(), [Call("a", fleet.base_url("a") + "/", 5000)])

    assert fleet.requests[0].path == "/p/a/api/v1/inventory"


def test_proxies_of_the_environment_are_not_used(fleet: ProviderFleet, monkeypatch: pytest.MonkeyPatch) -> None:
    proxy = Listener()
    for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, f"http://127.0.0.1:{proxy.port}")

    replies = ask(a_fanout(), calls_to(fleet, "a"))

    assert outcomes(replies) == {"a": "ok"}
    assert not proxy.was_called
    proxy.close()


def test_entity_tag_is_sent_back_and_304_is_not_modified(fleet: ProviderFleet) -> None:
    lab = fleet.add("a")

    reply = ask(a_fanout(), [Call("a", fleet.base_url("a"), 5000, lab.etag())])["a"]

    assert fleet.requests[0].headers["if-none-match"] == lab.etag()
    assert (reply.outcome, reply.http_status, reply.body, reply.etag) == ("not_modified", 304, b"", lab.etag())


@pytest.mark.parametrize("etag", ['"' + "x" * 255 + '"', '"\x01"', '"é"', ""])
def test_entity_tag_that_could_not_be_sent_back_is_not_kept(fleet: ProviderFleet, etag: str) -> None:
    fleet.add("a", headers={"ETag": etag}, sends_etag=False)

    reply = ask(a_fanout(), calls_to(fleet, "a"))["a"]

    assert (reply.outcome, reply.etag) in [("ok", None), ("protocol_error", None)]


def test_timings_add_up(fleet: ProviderFleet) -> None:
    reply = ask(a_fanout(), calls_to(fleet, "a"))["a"]

    assert reply.took_ms == reply.timings.total
    assert 0 <= reply.timings.connect <= reply.timings.first_byte <= reply.timings.total


# Bounds


@pytest.mark.parametrize(("above", "outcome"), [(0, "ok"), (1, "too_large")])
def test_cap_holds_for_what_a_compressed_body_becomes(fleet: ProviderFleet, above: int, outcome: str) -> None:
    fleet.add("a", body=b" " * (CAP_BYTES + above))

    reply = ask(a_fanout(), calls_to(fleet, "a"))["a"]

    assert reply.outcome == outcome
    assert len(reply.body) == (CAP_BYTES if outcome == "ok" else 0)


@pytest.mark.parametrize(("headers", "outcome"), [(7, "ok"), (9, "protocol_error")])
def test_cap_holds_for_headers(fleet: ProviderFleet, headers: int, outcome: str) -> None:
    fleet.add("a", headers={f"X-Padding-{number}": "x" * 8000 for number in range(headers)})

    replies = ask(a_fanout(), calls_to(fleet, "a"))

    assert outcomes(replies) == {"a": outcome}


def test_search_deadline_before_the_providers_own_timeout_is_deadline_exceeded(fleet: ProviderFleet) -> None:
    calls = calls_to(fleet, "hung", "well", timeout_ms=10_000)
    hold(fleet, "hung")
    fanout = a_fanout()

    replies = in_time(200, lambda: ask(fanout, calls, deadline_ms=200))

    assert outcomes(replies) == {"hung": "deadline_exceeded", "well": "ok"}


def test_deadline_in_the_past_still_gives_every_provider_an_outcome(fleet: ProviderFleet) -> None:
    replies = ask(a_fanout(), calls_to(fleet, "a", "b"), deadline_ms=-1)

    assert outcomes(replies) == {"a": "deadline_exceeded", "b": "deadline_exceeded"}


def test_search_of_nobody_ends(fleet: ProviderFleet) -> None:
    assert ask(a_fanout(), []) == {}


# Where providers may be


@pytest.mark.parametrize(
    ("host", "reach"),
    [
        ("127.0.0.1", Reach.PUBLIC),
        ("127.0.0.1", Reach.PRIVATE),
        ("localhost", Reach.PRIVATE),
        ("2130706433", Reach.PRIVATE),
        ("127.1", Reach.PRIVATE),
        ("0x7f.0.0.1", Reach.PRIVATE),
        ("[::1]", Reach.PRIVATE),
        ("[::ffff:127.0.0.1]", Reach.PRIVATE),
        ("[64:ff9b::7f00:1]", Reach.PRIVATE),
        ("0.0.0.0", Reach.ANY),
        ("169.254.169.254", Reach.ANY),
        ("[fe80::1]", Reach.ANY),
        ("[fd00:ec2::254]", Reach.ANY),
    ],
)
def test_blocked_address_is_never_connected_to(host: str, reach: Reach) -> None:
    listener, policy = Listener(), RecordingPolicy(reach)

    replies = ask(a_fanout(policy), [Call("a", f"http://{host}:{listener.port}", 2000)])

    assert outcomes(replies) == {"a": "address_blocked"}
    assert policy.asked
    assert not listener.was_called
    listener.close()


def test_aws_endpoint_is_never_connected_to_even_where_loopback_is_allowed() -> None:
    listener = Listener()
    policy = AddressPolicy(Reach.ANY, [f"http://localhost:{listener.port}"])

    replies = ask(a_fanout(policy), [Call("a", f"http://127.0.0.1:{listener.port}", 2000)])

    assert outcomes(replies) == {"a": "address_blocked"}
    assert not listener.was_called
    listener.close()


def test_other_schemes_are_not_spoken() -> None:
    replies = ask(a_fanout(), [Call("a", "file:///etc", 2000), Call("b", "gopher://127.0.0.1:1", 2000)])

    assert set(outcomes(replies).values()) == {"protocol_error"}


def test_name_that_no_resolver_can_know_is_dns_failure() -> None:
    too_long_a_label = "x" * 64

    replies = ask(a_fanout(), [Call("a", f"http://{too_long_a_label}.test", 2000)])

    assert outcomes(replies) == {"a": "dns_failure"}


def test_port_at_which_nothing_listens_is_unreachable() -> None:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))

        replies = ask(a_fanout(), [Call("a", f"http://127.0.0.1:{bound.getsockname()[1]}", 2000)])

    assert outcomes(replies) == {"a": "unreachable"}


@pytest.mark.skipif(sys.platform != "linux", reason="other systems refuse where Linux drops")
def test_address_that_swallows_connections_is_a_timeout() -> None:
    with swallowing_endpoint() as url:
        replies = in_time(200, lambda: ask(a_fanout(), [Call("a", url, 200)]))

    assert outcomes(replies) == {"a": "timeout"}
    assert replies["a"].timings.connect == 0


# TLS


def test_certificate_is_checked_for_who_signed_it_and_for_the_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = certificate_for("localhost", tmp_path)
    stranger = a_fanout()
    ask(stranger, [])
    with ProviderFleet(server_side(file)) as fleet:
        fleet.add("a")
        by_name, by_address = fleet.base_url("a", "localhost"), fleet.base_url("a")

        of_a_stranger = ask(stranger, [Call("a", by_name, 5000)])["a"]
        monkeypatch.setattr(handle.certifi, "where", lambda: str(file))
        trusting = ask(a_fanout(), [Call("a", by_name, 5000)])["a"]
        of_another_name = ask(a_fanout(), [Call("a", by_address, 5000)])["a"]

    assert [of_a_stranger.outcome, trusting.outcome, of_another_name.outcome] == ["tls_failure", "ok", "tls_failure"]
    assert trusting.body
    assert len(fleet.requests) == 1


def test_handshake_that_stalls_is_a_timeout(bad: BadProviders) -> None:
    url = bad.base_url("silent").replace("http:", "https:")

    replies = in_time(200, lambda: ask(a_fanout(), [Call("a", url, 200)]))

    assert outcomes(replies) == {"a": "timeout"}


# Connections


def test_connections_are_bounded_and_those_who_wait_are_answered_too(
    fleet: ProviderFleet, pool: ThreadPoolExecutor
) -> None:
    calls = calls_to(fleet, *(f"p{number}" for number in range(20)))
    hold(fleet, *fleet.labs)

    searching = pool.submit(ask, a_fanout(connections=4), calls)
    fleet.wait_until(lambda fleet: len(fleet.requests) == 3)  # of four, one is another search's
    fleet.release()

    assert set(outcomes(searching.result(AMPLE_S)).values()) == {"ok"}
    assert fleet.most_open <= 4


@pytest.mark.parametrize(("connections", "threads"), [(1, 4), (5, 2), (24, 3)])
def test_searches_at_once_share_the_connections(
    fleet: ProviderFleet, pool: ThreadPoolExecutor, connections: int, threads: int
) -> None:
    calls = calls_to(fleet, *(f"p{number}" for number in range(12)))
    fanout = a_fanout(connections=connections, threads=threads)

    searches = [pool.submit(ask, fanout, calls) for _ in range(12)]

    assert {outcome for search in searches for outcome in outcomes(search.result(AMPLE_S)).values()} == {"ok"}
    assert fleet.most_open <= connections


def test_who_still_waits_for_a_connection_at_the_deadline_was_not_asked(fleet: ProviderFleet) -> None:
    calls = calls_to(fleet, *(f"p{number}" for number in range(6)))
    hold(fleet, *fleet.labs)

    replies = ask(a_fanout(connections=1), calls, deadline_ms=150)

    assert set(outcomes(replies).values()) == {"deadline_exceeded"}
    # The one that hangs is given up a moment before the deadline; the next one may begin in that moment.
    assert len(fleet.requests) <= 2
    assert sum("still waiting for its turn" in str(reply.message) for reply in replies.values()) >= 4


def test_hung_provider_gives_its_connection_to_those_who_wait(fleet: ProviderFleet) -> None:
    calls = [*calls_to(fleet, "hung", timeout_ms=100), *calls_to(fleet, "a", "b")]
    hold(fleet, "hung")

    replies = ask(a_fanout(connections=1), calls)

    assert outcomes(replies) == {"hung": "timeout", "a": "ok", "b": "ok"}


def test_next_search_uses_the_connections_of_the_last_one(fleet: ProviderFleet, pool: ThreadPoolExecutor) -> None:
    calls = calls_to(fleet, *(f"p{number}" for number in range(10)))
    fanout = a_fanout(threads=2)
    hold(fleet, *fleet.labs)
    first = pool.submit(ask, fanout, calls)
    fleet.wait_until(lambda fleet: len(fleet.requests) == 10)
    fleet.release()
    first.result(AMPLE_S)

    ask(fanout, calls)

    assert fleet.accepted == 10
    connections = [{seen.connection for seen in fleet.requests[half : half + 10]} for half in (0, 10)]
    assert connections[1] <= connections[0]


def test_connections_that_were_closed_meanwhile_are_opened_anew(fleet: ProviderFleet) -> None:
    calls = calls_to(fleet, *(f"p{number}" for number in range(10)))
    fanout = a_fanout()
    ask(fanout, calls)
    fleet.drop_connections()
    fleet.wait_until(lambda fleet: fleet.open == 0)

    replies = ask(fanout, calls)

    assert set(outcomes(replies).values()) == {"ok"}


# Searches at once


def test_hung_search_does_not_hold_up_another(fleet: ProviderFleet, pool: ThreadPoolExecutor) -> None:
    hanging, well = calls_to(fleet, "hung"), calls_to(fleet, "a")
    fanout = a_fanout()
    hold(fleet, "hung")
    hung = pool.submit(ask, fanout, hanging)
    fleet.wait_until(lambda fleet: fleet.requests_of("hung") != [])

    replies = ask(fanout, well)

    assert outcomes(replies) == {"a": "ok"}
    assert not hung.done()
    fleet.release()
    assert outcomes(hung.result(AMPLE_S)) == {"hung": "ok"}


def test_searches_at_once_each_get_their_own_answers(fleet: ProviderFleet, pool: ThreadPoolExecutor) -> None:
    calls = calls_to(fleet, *(f"p{number}" for number in range(10)))
    fanout = a_fanout(threads=2)

    def search(number: int) -> dict[str, Reply]:
        return ask(fanout, calls[number % 5 :])

    found = list(pool.map(search, range(4 * MOST_SEARCHES)))

    for number, replies in enumerate(found):
        assert set(replies) == {call.provider_id for call in calls[number % 5 :]}
        for provider_id, reply in replies.items():
            assert f'"provider_id": "{provider_id}"'.encode() in reply.body


def test_search_that_finds_every_crew_busy_ends_by_its_deadline(fleet: ProviderFleet, pool: ThreadPoolExecutor) -> None:
    fanout = a_fanout()
    hanging, well = calls_to(fleet, "hung"), calls_to(fleet, "a", "b")
    hold(fleet, "hung")
    hung = [pool.submit(ask, fanout, hanging) for _ in range(MOST_SEARCHES)]
    fleet.wait_until(lambda fleet: len(fleet.requests) == MOST_SEARCHES)

    replies = in_time(200, lambda: ask(fanout, well, deadline_ms=200))

    assert outcomes(replies) == {"a": "deadline_exceeded", "b": "deadline_exceeded"}
    assert all("busy" in str(reply.message) for reply in replies.values())
    fleet.release()
    assert [outcomes(search.result(AMPLE_S)) for search in hung] == [{"hung": "ok"}] * MOST_SEARCHES


def test_search_that_waits_for_a_crew_gets_one_when_another_ends(
    fleet: ProviderFleet, pool: ThreadPoolExecutor
) -> None:
    fanout = a_fanout(connections=1)
    hanging, well = calls_to(fleet, "hung"), calls_to(fleet, "a")
    hold(fleet, "hung")
    hung = pool.submit(ask, fanout, hanging)
    fleet.wait_until(lambda fleet: len(fleet.requests) == 1)

    waiting = pool.submit(ask, fanout, well)
    fleet.release()

    assert outcomes(waiting.result(AMPLE_S)) == {"a": "ok"}
    assert outcomes(hung.result(AMPLE_S)) == {"hung": "ok"}


def test_fifty_searches_with_hung_providers_leave_nothing_behind(fleet: ProviderFleet, bad: BadProviders) -> None:
    fanout = a_fanout(threads=2)
    calls = [*calls_to(fleet, "a", "b"), *calls_to(fleet, "hung-1", "hung-2", timeout_ms=40)]
    hold(fleet, "hung-1", "hung-2")

    def left_behind() -> tuple[int, int]:
        fleet.wait_until(lambda fleet: fleet.open <= 2)
        return threading.active_count(), len(list(Path("/dev/fd").iterdir()))

    for _ in range(3):
        ask(fanout, calls)
    threads, descriptors = left_behind()
    for _ in range(50):
        replies = ask(fanout, calls)
        assert outcomes(replies) == {"a": "ok", "b": "ok", "hung-1": "timeout", "hung-2": "timeout"}

    threads_now, descriptors_now = left_behind()
    assert threads_now <= threads
    assert descriptors_now <= descriptors + 2


# Connections


@given(st.integers(1, 2000), st.integers(1, 16))
def test_crews_together_never_hold_more_than_there_may_be(connections: int, lanes: int) -> None:
    lanes = min(lanes, connections)
    shares = shares_of(connections, lanes)

    assert shares.first >= 1
    assert all(share >= 1 for share in shares.others)
    assert lanes * (shares.first + sum(shares.others)) <= lanes * shares.all <= connections


def test_search_that_is_alone_borrows_what_nobody_needs_and_gives_it_back_as_its_calls_end(
    fleet: ProviderFleet, pool: ThreadPoolExecutor
) -> None:
    shares = shares_of(80, 1)  # 60, and 2 for each of 7 others
    fanout = a_fanout(connections=80)
    names = [f"p{place:03}" for place in range(100)]
    many, few = calls_to(fleet, *names), calls_to(fleet, "a", "b", "c", "d")
    hold(fleet, *names)

    first = pool.submit(ask, fanout, many)
    fleet.wait_until(lambda fleet: fleet.open == 80 - len(shares.others))
    assert set(outcomes(ask(fanout, few)).values()) == {"ok"}  # over one connection
    assert fleet.most_open == 80 - len(shares.others) + 1
    fleet.release()
    assert set(outcomes(first.result(AMPLE_S)).values()) == {"ok"}
    fleet.wait_until(lambda fleet: fleet.open <= shares.first + 1)

    hold(fleet, *names)
    again = pool.submit(ask, fanout, many)
    fleet.wait_until(lambda fleet: fleet.open >= 80 - len(shares.others) - 1)  # another crew keeps connections now
    assert set(outcomes(ask(fanout, few)).values()) == {"ok"}
    assert fleet.most_open <= 80
    fleet.release()
    assert set(outcomes(again.result(AMPLE_S)).values()) == {"ok"}


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have one loopback address")
def test_connections_that_rest_count_as_well(fleet: ProviderFleet, pool: ThreadPoolExecutor) -> None:
    shares = shares_of(80, 1)
    fanout = a_fanout(connections=80)
    calls = []
    for place in range(180):
        fleet.listen(f"127.0.1.{place + 1}")
        (call,) = calls_to(fleet, f"p{place:03}")
        calls.append(structs.replace(call, base_url=fleet.base_url(call.provider_id, f"127.0.1.{place + 1}")))

    ask(fanout, calls[:60])
    hold(fleet, *(call.provider_id for call in calls[60:160]))
    many = pool.submit(ask, fanout, calls[60:160])
    fleet.wait_until(lambda fleet: len(fleet.requests) == 60 + 80 - len(shares.others))
    assert set(outcomes(ask(fanout, calls[160:])).values()) == {"ok"}  # one after the other, none of which is kept
    assert fleet.most_open <= 80
    fleet.release()
    assert set(outcomes(many.result(AMPLE_S)).values()) == {"ok"}

    fleet.wait_until(lambda fleet: fleet.open <= shares.first + 1)


def test_search_beside_one_that_only_waits_for_a_hung_provider_has_its_whole_share(
    fleet: ProviderFleet, pool: ThreadPoolExecutor
) -> None:
    shares = shares_of(80, 1)
    fanout = a_fanout(connections=80)
    names = [f"p{place:03}" for place in range(100)]
    many = calls_to(fleet, *names)
    hung = calls_to(fleet, "hung-1", "hung-2", "hung-3")
    hold(fleet, "hung-1", "hung-2", "hung-3")
    first = pool.submit(ask, fanout, [hung[0], *many])
    fleet.wait_until(lambda fleet: len(fleet.requests) == 101)

    second = pool.submit(ask, fanout, [*hung[1 : 1 + shares.others[0]], *many[:5]])
    fleet.wait_until(lambda fleet: {"hung-2", "hung-3"} <= {request.provider_id for request in fleet.requests})

    assert not first.done()
    fleet.release()
    assert set(outcomes(first.result(AMPLE_S)).values()) == {"ok"}
    assert set(outcomes(second.result(AMPLE_S)).values()) == {"ok"}


def test_share_that_grows_while_a_search_runs_is_used(fleet: ProviderFleet) -> None:
    calls = calls_to(fleet, *(f"p{place}" for place in range(6)))
    hold(fleet, *(call.provider_id for call in calls))
    one = lane.Lane(AddressPolicy(Reach.ANY), 32 << 20, 4)
    asked: list[int] = []

    def most() -> int:
        asked.append(len(fleet.requests))
        if len(fleet.requests) >= 4:
            fleet.release()
        return 1 if len(asked) < 3 else 4

    one._is_prompted = False
    one.run(calls, in_ms(AMPLE_S * 1000), lambda *_: None, most=most)

    assert fleet.most_open == 4


@pytest.mark.parametrize("has_epoll", [True, False])
def test_sockets_are_watched_with_and_without_epoll(
    monkeypatch: pytest.MonkeyPatch, fleet: ProviderFleet, has_epoll: bool
) -> None:
    if not has_epoll:
        monkeypatch.delattr(select, "epoll", raising=False)
    calls = calls_to(fleet, *(f"p{place}" for place in range(20)))
    fanout = a_fanout(connections=8)
    with socket.create_server(("127.0.0.1", 0)) as nobody:
        url = f"http://127.0.0.1:{nobody.getsockname()[1]}"
    calls.append(Call("nobody", url, 10_000))

    for _ in range(3):
        replies = outcomes(ask(fanout, calls))
        assert replies.pop("nobody") == "unreachable"
        assert set(replies.values()) == {"ok"}


@pytest.mark.parametrize("has_epoll", [True, False])
def test_socket_is_waited_for_as_was_said_last(monkeypatch: pytest.MonkeyPatch, has_epoll: bool) -> None:
    if not has_epoll:
        monkeypatch.delattr(select, "epoll", raising=False)
    sockets = Sockets()
    here, there = socket.socketpair()
    with here, there:
        fd = here.fileno()
        sockets.watch(fd, pycurl.POLL_OUT)
        assert sockets.happened(0) == [(fd, pycurl.CSELECT_OUT)]
        sockets.watch(fd, pycurl.POLL_IN)
        assert sockets.happened(0) == []
        there.send(b"x")
        assert sockets.happened(1) == [(fd, pycurl.CSELECT_IN)]
        sockets.watch(fd, pycurl.POLL_INOUT)
        assert sockets.happened(0) == [(fd, pycurl.CSELECT_IN | pycurl.CSELECT_OUT)]
        there.close()
        here.recv(1)
        assert sockets.happened(0)[0][1] & pycurl.CSELECT_IN  # its end is for who reads
        sockets.forget(fd)
        assert sockets.happened(0) == []
        sockets.forget(fd)
    sockets.close()


def test_crew_whose_lane_can_not_be_made_is_not_lost(monkeypatch: pytest.MonkeyPatch, fleet: ProviderFleet) -> None:
    calls = calls_to(fleet, "a")
    fanout = a_fanout(connections=1)

    def refuse(*_: object) -> NoReturn:
        raise OSError("too many open files")

    with monkeypatch.context() as patch:
        patch.setattr(lane.Lane, "__init__", refuse)
        with pytest.raises(OSError, match="too many"):
            ask(fanout, calls)

    assert outcomes(ask(fanout, calls)) == {"a": "ok"}


# Reading against the clock


def test_reply_that_could_not_be_read_in_time_is_not_begun(
    fleet: ProviderFleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transfer, "FIRST_PACE", 1000.0)
    calls = calls_to(fleet, "large", "small")
    fleet.labs["large"].inventory["nodes"] = [a_node(f"n{place}") for place in range(1000)]

    replies = ask(a_fanout(), calls, deadline_ms=20_000)

    assert outcomes(replies) == {"large": "deadline_exceeded", "small": "ok"}
    assert replies["large"].message == "answered too late to be read"


def test_what_is_kept_counts_where_it_is_confirmed(fleet: ProviderFleet, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transfer, "FIRST_PACE", 1000.0)
    (call,) = calls_to(fleet, "a")
    held = structs.replace(call, etag=fleet.labs["a"].etag(), kept_bytes=1_000_000)

    replies = ask(a_fanout(), [held], deadline_ms=5_000)

    assert outcomes(replies) == {"a": "deadline_exceeded"}
    assert outcomes(ask(a_fanout(), [structs.replace(held, kept_bytes=0)])) == {"a": "not_modified"}


def test_one_slow_moment_does_not_keep_a_large_reply_out_for_ever_nor_anothers_at_all(fleet: ProviderFleet) -> None:
    slow = lane.Lane(AddressPolicy(Reach.ANY), 32 << 20, 4)
    calls = calls_to(fleet, "large", "other")
    for name in ("large", "other"):
        fleet.labs[name].inventory["nodes"] = [a_node(f"n{place}") for place in range(1000)]
    slow.run(calls, in_ms(5000), lambda _, reply: None)
    slow._transfers["large"].pace = 1.0
    got: dict[str, list[str]] = {"large": [], "other": []}

    def read(call: Call, reply: Reply) -> int:
        got[call.provider_id].append(reply.outcome)
        return len(reply.body)

    while got["large"][-1:] != ["ok"] and len(got["large"]) < 40:
        slow.run(calls, in_ms(5000), read)

    assert got["large"][0] == "deadline_exceeded"
    assert got["large"][-1] == "ok"
    assert set(got["other"]) == {"ok"}
    assert slow._transfers["large"].pace > 1_000_000  # measured anew


def test_few_replies_wait_to_be_read_however_many_come_at_once(
    fleet: ProviderFleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lane, "MOST_SOCKETS", 8)
    monkeypatch.setattr(lane, "MOST_WAITING_BYTES", 1 << 20)
    calls = calls_to(fleet, *(f"p{number}" for number in range(120)))
    body = json.dumps(an_inventory("p", a_node(labels={"text": "x" * 200_000}))).encode()
    for lab in fleet.labs.values():
        lab.body = body
    one = lane.Lane(AddressPolicy(Reach.ANY), 32 << 20, len(calls))
    one.run(calls, in_ms(AMPLE_S * 1000), lambda *_: None)  # connects
    got: list[str] = []

    def read(_: Call, reply: Reply) -> None:
        fleet.wait_until(
            lambda fleet: len(fleet.requests) == 2 * len(calls)
        )  # all the others are there by now, or soon
        got.append(reply.outcome)

    tracemalloc.start()
    one.run(calls, in_ms(AMPLE_S * 1000), read)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert got == ["ok"] * len(calls)
    assert peak < lane.MOST_WAITING_BYTES + 3 * lane.MOST_SOCKETS * len(body) < len(calls) * len(body) / 3


@pytest.mark.parametrize(
    ("looked_ago_s", "timer_in_s", "deadline_in_s", "is_waited_for", "is_urgent"),
    [
        (0.3, 0.5, 8.0, False, True),  # the next look may come as late as the last: after the time is over
        (0.1, 0.5, 8.0, False, False),
        (0.0, 0.1, 8.0, False, True),
        (0.0, None, 0.1, False, True),
        (0.0, None, 8.0, False, False),
        (0.0, 8.0, 8.0, True, True),
    ],
)
def test_sockets_are_looked_at_in_time_however_much_waits_to_be_read(
    monkeypatch: pytest.MonkeyPatch,
    looked_ago_s: float,
    timer_in_s: float | None,
    deadline_in_s: float,
    is_waited_for: bool,
    is_urgent: bool,
) -> None:
    now = 1000.0
    monkeypatch.setattr(lane.time, "monotonic", lambda: now)
    monkeypatch.setattr(lane, "_WORKING", SimpleNamespace(is_waited_for=is_waited_for))
    one = lane.Lane(AddressPolicy(Reach.ANY), 32 << 20, 4)
    one._looked_at = now - looked_ago_s
    one._timer_at = None if timer_in_s is None else now + timer_in_s

    assert one._is_urgent(now + deadline_in_s) == is_urgent


def test_no_socket_is_left_for_last_each_time(fleet: ProviderFleet, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lane, "MOST_SOCKETS", 2)
    one = lane.Lane(AddressPolicy(Reach.ANY), 32 << 20, 8)
    served: Counter[int] = Counter()
    ends = [socket.socketpair() for _ in range(8)]
    monkeypatch.setattr(one, "_multi", SimpleNamespace(socket_action=lambda fd, _: served.update([fd])))
    for here, there in ends:
        there.send(b"x")
        one._sockets.watch(here.fileno(), pycurl.POLL_IN)

    for _ in range(40):
        assert one._advance(0, in_ms(1000), most=lane.MOST_SOCKETS)

    assert len(served) == 8
    assert max(served.values()) - min(served.values()) <= 2
    for pair in ends:
        for end in pair:
            end.close()


def test_slow_first_reading_is_forgotten_once_most_is_known(fleet: ProviderFleet) -> None:
    one = lane.Lane(AddressPolicy(Reach.ANY), 32 << 20, 4)
    calls = calls_to(fleet, "large")
    fleet.labs["large"].inventory["nodes"] = [a_node(f"n{place}") for place in range(1000)]
    one.run(calls, in_ms(5000), lambda _, reply: len(reply.body))
    one._transfers["large"].pace = 1e6

    one.run(calls, in_ms(5000), lambda _, reply: 0)

    assert one._transfers["large"].pace == transfer.FIRST_PACE


def test_reply_of_which_nothing_had_to_be_read_does_not_tell_how_fast_the_next_is_read(fleet: ProviderFleet) -> None:
    one = lane.Lane(AddressPolicy(Reach.ANY), 32 << 20, 4)
    calls = calls_to(fleet, "large")
    fleet.labs["large"].inventory["nodes"] = [a_node(f"n{place}") for place in range(1000)]

    one.run(calls, in_ms(5000), lambda _, reply: 0)

    assert one._transfers["large"].pace == transfer.FIRST_PACE


def test_search_that_reads_many_replies_lets_another_read_its_own_between_them(
    fleet: ProviderFleet, pool: ThreadPoolExecutor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lane, "TURN_S", 0.0)
    fanout = a_fanout()
    many = calls_to(fleet, *(f"a{place}" for place in range(40)))
    (other,) = calls_to(fleet, "b")
    order: list[str] = []
    has_begun, is_waited_for = threading.Event(), threading.Event()

    def deliver(call: Call, _: Reply) -> None:
        order.append(call.provider_id)
        has_begun.set()
        assert is_waited_for.wait(AMPLE_S)  # until the other search wants its turn
        zlib.compress(bytes(1 << 20))  # a moment's work that leaves Python's lock to the providers' thread

    first = pool.submit(fanout.ask, many, in_ms(AMPLE_S * 1000), deliver)
    assert has_begun.wait(AMPLE_S)
    second = pool.submit(
        fanout.ask,
        [other],
        in_ms(AMPLE_S * 1000),
        lambda call, reply: order.append(f"{call.provider_id} {reply.outcome}"),
    )
    while not lane._WORKING.is_waited_for:
        time.sleep(0.001)
    is_waited_for.set()
    first.result(AMPLE_S)
    second.result(AMPLE_S)

    assert "b ok" in order[:-1]
    assert len(order) == 41


# Faults of our own


def test_fault_in_reading_one_reply_is_internal_for_that_provider_alone_and_is_logged(fleet: ProviderFleet) -> None:
    calls = calls_to(fleet, "a", "b", "c")
    errors, delivered = Errors(), {}
    fault = ZeroDivisionError("on purpose")

    def deliver(call: Call, reply: Reply) -> None:
        if call.provider_id == "b" and reply.outcome == "ok":
            raise fault
        delivered[call.provider_id] = reply.outcome

    a_fanout(on_error=errors).ask(calls, in_ms(5000), deliver)

    assert delivered == {"a": "ok", "b": "internal", "c": "ok"}
    assert errors == [("b", fault)]


def test_fault_in_matching_one_provider_is_internal_for_that_provider_alone(fleet: ProviderFleet) -> None:
    records = [a_record(name, base_url=fleet.base_url(name)) for name in ("a", "b", "c")]
    calls_to(fleet, "a", "b", "c")
    errors = Errors()

    def consider(answered: Answered) -> None:
        if answered.record.id == "b":
            raise MemoryError

    answers = Asking(a_fanout(on_error=errors), Inventories()).ask(records, in_ms(5000), consider)

    assert [answered.entry.outcome for answered in answers] == ["ok", "internal", "ok"]
    assert [provider_id for provider_id, _ in errors] == ["b"]


def test_lane_that_breaks_gives_every_provider_an_outcome_and_is_replaced(
    fleet: ProviderFleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = calls_to(fleet, "a", "b", "c")
    errors = Errors()
    fanout = a_fanout(on_error=errors)
    begin = transfer.Transfer.begin

    def breaks(self: transfer.Transfer, call: Call, *arguments: Any, **named: Any) -> None:
        if call.provider_id == "b":
            raise RuntimeError("on purpose")
        begin(self, call, *arguments, **named)

    monkeypatch.setattr(transfer.Transfer, "begin", breaks)
    broken = ask(fanout, calls)
    monkeypatch.undo()
    whole = ask(fanout, calls)

    assert broken["b"].outcome == "internal"
    assert set(outcomes(broken).values()) <= {"ok", "internal"}
    assert len(errors) == 1
    assert set(outcomes(whole).values()) == {"ok"}


@pytest.mark.parametrize("seed", range(6))
def test_whatever_happens_every_provider_has_exactly_one_outcome(
    fleet: ProviderFleet, bad: BadProviders, seed: int
) -> None:
    chance = random.Random(seed)
    faults = chance.sample(sorted(FAULTS), 25)
    calls = [Call(name, bad.base_url(name), chance.choice([100, 150, 5000])) for name in faults]
    calls += calls_to(fleet, "a", "b", timeout_ms=5000)
    calls.append(Call("nowhere", "http://" + "x" * 64 + ".test", 100))
    chance.shuffle(calls)
    fanout = a_fanout(threads=chance.choice([1, 2]), connections=chance.choice([3, 64]))
    deadline_ms = chance.choice([60, 250])

    found = in_time(deadline_ms, lambda: outcomes(ask(fanout, calls, deadline_ms)))

    assert set(found.values()) <= set(OUTCOMES)
