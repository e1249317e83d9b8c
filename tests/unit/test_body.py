"""A provider's body: whole and decoded, or an error; however it is cut into pieces, and never past its bound."""

import gzip
import tracemalloc
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chalicelib.body import Body

MOST = 1000


def pieces_of(data: bytes, size: int) -> list[bytes]:
    return [data[place : place + size] for place in range(0, len(data), size)]


def received(body: Body, data: bytes, size: int = 7) -> str:
    """The outcome of a body that comes in pieces."""
    if all(map(body.take, pieces_of(data, size))):
        body.end()
    return "ok" if body.fault is None else body.fault[0]


@given(st.binary(max_size=MOST), st.integers(1, 2000), st.sampled_from(["", "identity", "gzip", "GZIP", "x-gzip"]))
def test_body_comes_out_as_it_went_in_however_it_is_cut(data: bytes, size: int, coding: str) -> None:
    body = Body(coding, MOST + 100)
    sent = data if coding in ("", "identity") else gzip.compress(data)

    assert received(body, sent, size) == "ok"
    assert body.whole() == data


@given(st.binary(min_size=1, max_size=MOST), st.data(), st.integers(1, 50))
def test_gzip_that_is_cut_anywhere_is_a_protocol_error(data: bytes, chance: st.DataObject, size: int) -> None:
    sent = gzip.compress(data)
    cut = chance.draw(st.integers(1, len(sent) - 1))

    assert received(Body("gzip", MOST), sent[:cut], size) == "protocol_error"


@given(st.binary(max_size=MOST), st.integers(1, 50))
def test_no_bytes_make_anything_but_an_outcome(data: bytes, size: int) -> None:
    assert received(Body("gzip", MOST), data, size) in ("ok", "protocol_error", "too_large")


@pytest.mark.parametrize("coding", ["br", "deflate", "zstd", "gzip, gzip", "gzip,gzip", "rot13", "identity, gzip", "é"])
def test_coding_that_was_not_asked_for_is_a_protocol_error(coding: str) -> None:
    assert received(Body(coding, MOST), b"{}") == "protocol_error"


def test_checksum_and_what_follows_are_checked() -> None:
    sent = gzip.compress(b"{}")

    assert received(Body("gzip", MOST), sent[:-8] + b"\0" * 8) == "protocol_error"
    assert received(Body("gzip", MOST), sent + b"x") == "protocol_error"
    assert received(Body("gzip", MOST), sent + sent) == "protocol_error"
    assert received(Body("gzip", MOST), zlib.compress(b"{}")) == "protocol_error"


@pytest.mark.parametrize(("size", "outcome"), [(MOST, "ok"), (MOST + 1, "too_large")])
def test_bound_holds_for_what_is_sent_and_for_what_it_becomes(size: int, outcome: str) -> None:
    assert received(Body("", MOST), b" " * size) == outcome
    assert received(Body("gzip", MOST), gzip.compress(b" " * size)) == outcome


def test_bomb_is_never_decoded_past_the_bound() -> None:
    body = Body("gzip", MOST)

    assert received(body, gzip.compress(b" " * (64 << 20), 9), 1 << 20) == "too_large"
    assert len(body.whole()) <= MOST


def test_gzip_of_nothing_without_end_is_too_large() -> None:
    body = Body("gzip", MOST)
    body.take(gzip.compress(b"")[:10])

    assert received(body, b"\0\0\0\xff\xff" * MOST) == "too_large"


def test_empty_body_is_nothing_whatever_its_coding_says() -> None:
    assert received(Body("gzip", MOST), b"") == "ok"


def test_end_says_what_is_wrong_with_the_whole() -> None:
    whole, cut = Body("gzip", MOST), Body("gzip", MOST)
    whole.take(gzip.compress(b"{}"))
    cut.take(gzip.compress(b"{}")[:-1])

    assert whole.end() is None
    assert cut.end() == ("protocol_error", "its gzip is cut short")


def test_second_piece_of_a_bomb_is_decoded_no_further_than_what_is_left() -> None:
    sent = gzip.compress(b"a" * 900 + b" " * 10_000, 0)  # as it is: every byte that comes is one that goes out
    body = Body("gzip", MOST)
    body.take(sent[:600])

    assert not body.take(sent[600:])
    assert body._bytes == MOST + 1


@pytest.mark.parametrize("size", [(1 << 20) - 1, 1 << 20, (1 << 20) + 1, 3 << 20])
def test_piece_that_becomes_a_large_text_is_read_whole(size: int) -> None:
    body = Body("gzip", size)

    assert received(body, gzip.compress(b" " * size), 1 << 20) == "ok"
    assert body.whole() == b" " * size


def test_bomb_costs_the_bound_and_not_twice_the_bound() -> None:
    bound = 8 << 20
    bomb = gzip.compress(b" " * (2 * bound))
    body = Body("gzip", bound)

    tracemalloc.start()
    try:
        assert not body.take(bomb)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert peak < 1.25 * bound
