"""Callers' keys: their text, what the table holds of them, how often they may call."""

from dataclasses import asdict, replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chalicelib.keys import Key, digest_of, item_of, key_of, new_id, new_secret, presented, text_of
from chalicelib.rate_limit import BURST_S, MOST_BUCKETS, RateLimit
from fedcompute.errors import Problem

NOW = datetime(2026, 1, 1, tzinfo=UTC)
SECRET = "s3cr3t_-" * 5 + "abc"  # as long as a real one


def a_key(**fields):
    defaults = {
        "key_id": "abcdefgh23456777",
        "digest": digest_of(SECRET),
        "principal": "lab-a",
        "roles": ("search", "provider"),
        "created_at": "2026-01-01T00:00:00Z",
    }
    return Key(**{**defaults, **fields})


def test_new_key_is_read_from_its_header():
    key_id, secret = new_id(), new_secret()

    given_key = presented(f"Bearer {text_of(key_id, secret)}")

    assert (given_key.key_id, given_key.secret) == (key_id, secret)


def test_new_keys_differ_and_have_256_bits():
    assert len({new_secret() for _ in range(100)}) == len({new_id() for _ in range(100)}) == 100
    assert len(SECRET) == 43


@pytest.mark.parametrize(
    "header",
    [
        None,
        "",
        "Bearer",
        "Bearer fc_",
        f"Basic {text_of('a' * 16, SECRET)}",
        text_of("a" * 16, SECRET),
        f"Bearer {text_of('A' * 16, SECRET)[:-1]}",
        f"Bearer {text_of('a' * 16, SECRET)} x",
        f"Bearer {text_of('a' * 16, SECRET)}, Bearer {text_of('a' * 16, SECRET)}",
        f"Bearer {text_of('a' * 15 + '.', SECRET)}",
        "Bearer fc_" + "é" * 16 + "_" + "é" * 43,
    ],
)
def test_header_that_holds_no_key_is_none(header):
    assert presented(header) is None


@given(st.text())
def test_any_header_is_read(header):
    presented(header)


def test_only_the_right_secret_is_a_keys():
    right = presented(f"Bearer {text_of('a' * 16, SECRET)}")
    wrong = presented(f"Bearer {text_of('a' * 16, new_secret())}")

    assert right.is_secret_of(a_key())
    assert not wrong.is_secret_of(a_key())
    assert not right.is_secret_of(None)


def test_hash_is_sha256_of_the_secrets_text():
    assert digest_of("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"  # FIPS 180-2, B.1


def test_neither_item_nor_repr_holds_a_secret():
    given_key = presented(f"Bearer {text_of('a' * 16, SECRET)}")

    assert SECRET not in str(item_of(a_key()))
    assert SECRET not in repr(given_key)
    assert a_key().digest not in repr(a_key())


@pytest.mark.parametrize(
    ("fields", "state"),
    [
        ({}, "active"),
        ({"expires_at": "2026-01-01T00:00:01Z"}, "active"),
        ({"expires_at": "2026-01-01T00:00:00Z"}, "expired"),
        ({"disabled": True}, "disabled"),
        ({"revoked_at": "2025-01-01T00:00:00Z"}, "revoked"),
    ],
)
def test_state_is_told_by_time_and_marks(fields, state):
    assert a_key(**fields).state(NOW) == state


@pytest.mark.parametrize(
    "key",
    [
        a_key(),
        a_key(expires_at="2027-01-01T00:00:00Z", rotated_at="2026-06-01T00:00:00Z", disabled=True, revoked_at="x"),
        a_key(roles=("search",)),
    ],
)
def test_key_is_the_same_after_the_table(key):
    assert asdict(key_of(item_of(key))) == asdict(key)


@pytest.mark.parametrize(
    "changes",
    [
        {"digest": {"S": ""}},
        {"digest": None},
        {"principal": {"S": "a b"}},
        {"principal": None},
        {"roles": {"S": "admin"}},
        {"roles": None},
        {"disabled": None},
        {"disabled": {"S": "false"}},
        {"expires_at": {"S": "tomorrow"}},
        {"expires_at": {"S": "2027-01-01T00:00:00"}},
        {"more": {"S": "x"}},
        {"created_at": None},
    ],
)
def test_item_that_was_spoiled_by_hand_is_no_key(changes):
    item = {name: value for name, value in {**item_of(a_key()), **changes}.items() if value is not None}

    assert key_of(item) is None


def test_role_that_is_none_is_left_out():
    item = item_of(replace(a_key(), roles=("search", "root")))

    assert key_of(item).roles == ("search",)


class Clock:
    now = 1000.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


def calls_let_through(limit, key_id="a"):
    for count in range(10_000):
        try:
            limit.take(key_id)
        except Problem:
            return count
    raise AssertionError("no limit")


def test_key_may_call_in_a_burst_and_then_at_its_rate(clock):
    limit = RateLimit(10, monotonic=clock)

    assert calls_let_through(limit) == 10 * BURST_S
    clock.now += 0.5
    assert calls_let_through(limit) == 5
    clock.now += 3600
    assert calls_let_through(limit) == 10 * BURST_S


def test_refusal_says_when_to_come_back(clock):
    limit = RateLimit(0.4, monotonic=clock)  # a bucket of 1.2 calls
    limit.take("a")

    with pytest.raises(Problem) as refusal:
        limit.take("a")

    assert refusal.value.code == "rate_limited"
    assert refusal.value.headers["Retry-After"] == "2"  # 0.8 of a call are missing
    clock.now += 2
    limit.take("a")


def test_keys_do_not_take_from_each_other_and_few_are_remembered(clock):
    limit = RateLimit(1, monotonic=clock)

    assert [calls_let_through(limit, key_id) for key_id in "abc"] == [BURST_S] * 3
    for number in range(MOST_BUCKETS + 10):
        limit.take(f"key-{number}")
    assert len(limit._buckets) == MOST_BUCKETS


def test_expiry_is_read_in_its_own_zone():
    key = a_key(expires_at=(NOW + timedelta(hours=1)).isoformat())

    assert (key.state(NOW), key.state(NOW + timedelta(hours=1))) == ("active", "expired")
