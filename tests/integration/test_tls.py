"""Providers whose TLS is not sound: each kind by itself, its outcome, what is said of it, and in time."""

import ssl
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

import pytest
from fakes import bad_tls
from fakes.certificates import DAY, Authority, certificate_for, server_side
from fakes.patience import in_time
from fakes.provider_fleet import ProviderFleet

from chalicelib import handle
from chalicelib.addresses import AddressPolicy, Reach
from chalicelib.calls import Call, Reply
from chalicelib.fanout import Fanout

AMPLE_MS = 5000
BUDGET_MS = 300


@pytest.fixture
def authority(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Authority:
    """The only one that the gateway trusts."""
    authority = Authority(tmp_path)
    monkeypatch.setattr(handle.certifi, "where", lambda: str(authority.file))
    return authority


@pytest.fixture
def sound(authority: Authority) -> ssl.SSLContext:
    return server_side(authority.certificate("localhost"))


@contextmanager
def fleet_with(context: ssl.SSLContext) -> Iterator[ProviderFleet]:
    """One provider, a, that speaks TLS like this."""
    with ProviderFleet(context) as fleet:
        fleet.add("a")
        yield fleet


def ask(url: str, timeout_ms: int = AMPLE_MS) -> Reply:
    """One call by a process that has no connection yet."""
    errors: list[BaseException] = []
    fanout = Fanout(
        AddressPolicy(Reach.ANY),
        threads=1,
        connections=8,
        most_body_bytes=1 << 20,
        on_error=lambda _, error: errors.append(error),
    )
    replies: list[Reply] = []
    fanout.ask([Call("a", url, timeout_ms)], time.monotonic() + AMPLE_MS / 1000, lambda _, one: replies.append(one))
    assert errors == []
    (reply,) = replies
    return reply


def asked_over(context: ssl.SSLContext, host: str = "localhost") -> tuple[Reply, int]:
    """The reply, and how many requests got through."""
    with fleet_with(context) as fleet:
        return ask(fleet.base_url("a", host)), len(fleet.requests)


def test_sound_certificate_is_trusted(sound: ssl.SSLContext) -> None:
    reply, requests = asked_over(sound)

    assert (reply.outcome, requests) == ("ok", 1)


@pytest.mark.parametrize(
    ("begins", "ends", "words"),
    [(-2 * DAY, -DAY, "certificate has expired"), (DAY, 2 * DAY, "certificate is not yet valid")],
)
def test_certificate_out_of_its_time_is_not_trusted(
    authority: Authority, begins: timedelta, ends: timedelta, words: str
) -> None:
    reply, requests = asked_over(server_side(authority.certificate("localhost", begins=begins, ends=ends)))

    assert (reply.outcome, requests) == ("tls_failure", 0)
    assert words in str(reply.message)


def test_certificate_of_an_unknown_authority_or_of_nobody_is_not_trusted(authority: Authority, tmp_path: Path) -> None:
    (tmp_path / "stranger").mkdir()
    strangers = Authority(tmp_path / "stranger").certificate("localhost")
    own = certificate_for("localhost", tmp_path)

    for file in (strangers, own):
        reply, requests = asked_over(server_side(file))
        assert (reply.outcome, requests) == ("tls_failure", 0)
        assert "certificate" in str(reply.message)


@pytest.mark.parametrize("host", ["localhost", "LocalHost", "127.0.0.1"])
def test_certificate_of_another_name_is_not_trusted_and_the_message_does_not_tell_the_address(
    authority: Authority, host: str
) -> None:
    reply, requests = asked_over(server_side(authority.certificate("lab.example")), host)

    assert (reply.outcome, requests) == ("tls_failure", 0)
    assert "does not match" in str(reply.message) or "no alternative" in str(reply.message)
    assert host.lower() not in str(reply.message).lower()


def test_versions_of_tls_that_are_too_old_are_not_spoken(authority: Authority) -> None:
    context = server_side(authority.certificate("localhost"))
    context.set_ciphers("ALL:@SECLEVEL=0")
    with pytest.warns(DeprecationWarning, match="TLS"):
        context.minimum_version, context.maximum_version = ssl.TLSVersion.TLSv1, ssl.TLSVersion.TLSv1_1

    reply, requests = asked_over(context)

    assert (reply.outcome, requests) == ("tls_failure", 0)


def test_version_that_is_old_enough_is_spoken(authority: Authority) -> None:
    context = server_side(authority.certificate("localhost"))
    context.maximum_version = ssl.TLSVersion.TLSv1_2

    assert asked_over(context)[0].outcome == "ok"


def test_certificate_of_a_hundred_kilobytes_is_not_read(authority: Authority) -> None:
    names = tuple(f"{number:0200}.example"[-60:] for number in range(5000))

    reply, requests = asked_over(server_side(authority.certificate("localhost", also_for=names)))

    assert (reply.outcome, requests) == ("tls_failure", 0)


@pytest.mark.parametrize("behaves", [bad_tls.resets, bad_tls.closes, bad_tls.speaks_plainly])
def test_handshake_that_breaks_is_tls_failure(behaves: bad_tls.Behaviour) -> None:
    with bad_tls.tls_server(behaves) as port:
        reply = in_time(BUDGET_MS, lambda: ask(f"https://localhost:{port}"))

    assert reply.outcome == "tls_failure"
    assert "localhost" not in str(reply.message)
    assert str(port) not in str(reply.message)


def test_plain_call_to_a_port_that_speaks_tls_is_no_answer(sound: ssl.SSLContext) -> None:
    with fleet_with(sound) as fleet:
        reply = ask(fleet.base_url("a").replace("https:", "http:"))

    assert reply.outcome == "protocol_error"
    assert fleet.requests == []


@pytest.mark.parametrize(
    "behaves_with",
    [lambda _: bad_tls.drips_its_handshake, bad_tls.drips_records, bad_tls.drips_a_record],
    ids=["in the handshake", "in records", "in a record"],
)
def test_tls_that_drips_is_a_timeout(
    sound: ssl.SSLContext, behaves_with: Callable[[ssl.SSLContext], bad_tls.Behaviour]
) -> None:
    with bad_tls.tls_server(behaves_with(sound)) as port:
        reply = in_time(BUDGET_MS, lambda: ask(f"https://localhost:{port}", BUDGET_MS))

    assert (reply.outcome, reply.message) == ("timeout", f"no answer within {BUDGET_MS} ms")
