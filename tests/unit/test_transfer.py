"""One call's end: what libcurl's numbers mean, and how long its parts took."""

from types import SimpleNamespace

import pycurl
import pytest

from chalicelib.addresses import AddressPolicy, Reach
from chalicelib.calls import Call, Timings
from chalicelib.curl_words import without_place
from chalicelib.reply_headers import LONGEST_VALUE, all_values, header, plain_value
from chalicelib.transfer import MOST_IGNORED_BYTES, Transfer

TLS = (
    *("E_SSL_CONNECT_ERROR", "E_SSL_ENGINE_NOTFOUND", "E_SSL_ENGINE_SETFAILED", "E_SSL_CERTPROBLEM", "E_SSL_CIPHER"),
    *("E_PEER_FAILED_VERIFICATION", "E_SSL_ENGINE_INITFAILED", "E_SSL_CACERT_BADFILE", "E_SSL_SHUTDOWN_FAILED"),
    *("E_SSL_CRL_BADFILE", "E_SSL_ISSUER_ERROR", "E_SSL_PINNEDPUBKEYNOTMATCH", "E_SSL_INVALIDCERTSTATUS"),
)
OTHERS = {
    pycurl.E_OPERATION_TIMEDOUT: "timeout",
    pycurl.E_COULDNT_CONNECT: "unreachable",
    pycurl.E_COULDNT_RESOLVE_HOST: "dns_failure",
    pycurl.E_FILESIZE_EXCEEDED: "too_large",
    pycurl.E_PARTIAL_FILE: "protocol_error",
    pycurl.E_RECV_ERROR: "protocol_error",
    pycurl.E_GOT_NOTHING: "protocol_error",
}


def a_transfer(*, is_cut: bool = False) -> Transfer:
    transfer = Transfer(AddressPolicy(Reach.ANY), 1 << 20)
    transfer.begin(Call("a", "http://lab.test", 1500), 1500, is_cut)
    return transfer


@pytest.mark.parametrize("name", TLS)
def test_each_fault_of_tls_is_one(name: str) -> None:
    assert a_transfer().end(getattr(pycurl, name)).outcome == "tls_failure"


@pytest.mark.parametrize(("errno", "outcome"), OTHERS.items())
def test_other_ends_have_their_own_outcomes(errno: int, outcome: str) -> None:
    assert a_transfer().end(errno).outcome == outcome


def test_timeout_that_is_the_searchs_is_its_deadline() -> None:
    assert a_transfer(is_cut=True).end(pycurl.E_OPERATION_TIMEDOUT).outcome == "deadline_exceeded"


@pytest.mark.parametrize(
    ("seconds", "timings"),
    [
        ((0.001, 0.003, 0.010, 0.020, 0.030), Timings(1, 2, 7, 20, 30)),
        ((0.001, 0.003, 0.0, 0.020, 0.030), Timings(1, 2, 0, 20, 30)),  # no TLS
        ((0.002, 0.0, 0.0, 0.0, 0.030), Timings(2, 0, 0, 0, 30)),  # never connected
    ],
)
def test_times_are_those_of_the_parts_in_milliseconds(seconds: tuple[float, ...], timings: Timings) -> None:
    transfer = a_transfer()
    names = (
        *(pycurl.NAMELOOKUP_TIME, pycurl.CONNECT_TIME, pycurl.APPCONNECT_TIME),
        *(pycurl.STARTTRANSFER_TIME, pycurl.TOTAL_TIME),
    )
    said = dict(zip(names, seconds, strict=True))
    transfer.curl = SimpleNamespace(getinfo=lambda what: said.get(what, ""), errstr=lambda: "")  # type: ignore[assignment]

    assert transfer.end(pycurl.E_RECV_ERROR).timings == timings


def test_body_that_nobody_wants_is_taken_up_to_a_bound() -> None:
    transfer = a_transfer()
    for line in (b"HTTP/1.1 503 Busy\r\n", b"\r\n"):
        transfer._on_header(line)

    taken = [transfer._on_body(b"x" * (MOST_IGNORED_BYTES // 2)) for _ in range(3)]

    assert taken == [None, None, -1]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("no name matches 'lab.test'", "no name matches 'its host'"),
        ("no name matches 'LAB.Test.'", "no name matches 'its host'"),
        ("reset in connection to lab.test:8443", "reset in connection to its host"),
        ("lab.test:84430", "its host:84430"),
        ("no match for 10.0.0.7 nor [10.0.0.7]:8443", "no match for its host nor its host"),
        ("labxtest", "labxtest"),
    ],
)
def test_words_do_not_tell_where_a_provider_is(words: str, told: str) -> None:
    assert without_place(words, ("lab.test", "10.0.0.7"), 8443) == told
    assert without_place("as it is", ("", ""), 80) == "as it is"
    assert without_place("x" * 121, (), 80) == "x" * 119 + "…"


@pytest.mark.parametrize("line", [b"HTTP/1.1\r\n", b"HTTP/1.1 abc Hm\r\n", b"HTTP/1.1 -1\r\n"])
def test_head_without_a_status_is_no_answer(line: bytes) -> None:
    transfer = a_transfer()
    for one in (line, b"\r\n"):
        assert transfer._on_header(one) is None

    reply = transfer.end(pycurl.E_RECV_ERROR)

    assert (reply.outcome, reply.http_status) == ("protocol_error", None)


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (b"x", "x"),
        (b"  x y ", "x y"),
        (b"x" * LONGEST_VALUE, "x" * LONGEST_VALUE),
        (b"x" * (LONGEST_VALUE + 1), None),
        (b"", None),
        (b"\xe9", None),
        (b"a\x01", None),
    ],
)
def test_header_is_believed_where_it_is_short_and_plain(value: bytes, told: str | None) -> None:
    headers = list(map(header, [b"ETag: first\r\n", b"eTAG :" + value + b"\r\n", b"Etag-2: other\r\n"]))

    assert plain_value(headers, b"etag") == told
    assert all_values(headers, b"etag") == ["first", value.strip().decode("latin-1")]
    assert plain_value(headers, b"none") is None
