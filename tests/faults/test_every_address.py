"""No policy is talked into connecting where it does not allow: each connect is observed, in a network of its own."""

from pathlib import Path
from typing import Any, NamedTuple

import pytest
from fakes.address_matrix import ROWS
from fakes.alone import run_alone

from chalicelib.addresses import Reach

ALLOWED = {
    "public": (Reach.PUBLIC, Reach.PRIVATE, Reach.ANY),
    "private": (Reach.PRIVATE, Reach.ANY),
    "loopback": (Reach.ANY,),
    "never": (),
}


class Tried(NamedTuple):
    host: str
    reach: str
    refusal: str | None
    outcome: str
    called: list[str]
    by_redirect: list[str]


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Any:
    return run_alone("addresses_program.py", tmp_path_factory.mktemp("alone"))


@pytest.fixture(scope="module")
def tried(found: Any) -> list[Tried]:
    return [Tried(*one) for one in found["rows"]]


def kinds(tried: list[Tried]) -> list[tuple[str, Tried]]:
    return [(row.kind, one) for row, one in zip((row for row in ROWS for _ in Reach), tried, strict=True)]


def test_connects_are_seen_where_they_are_allowed(tried: list[Tried]) -> None:
    seen = {one.host for kind, one in kinds(tried) if one.reach in ALLOWED[kind] and one.called}

    assert {"8.8.8.8", "public.test", "10.0.0.7", "private.test", "127.0.0.1", "loopback.test", "[::1]"} <= seen


def test_no_search_connects_where_its_policy_does_not_allow(tried: list[Tried]) -> None:
    off_policy = [one for kind, one in kinds(tried) if one.reach not in ALLOWED[kind] and set(one.called) - {"8.8.8.8"}]

    assert off_policy == []


def test_no_redirect_leads_anywhere(tried: list[Tried]) -> None:
    assert {tuple(one.by_redirect) for one in tried} == {("8.8.4.4",)}


def test_address_that_is_no_name_is_refused_at_registration_too(tried: list[Tried]) -> None:
    names = (".test", ".test.")
    let_pass = [
        one
        for kind, one in kinds(tried)
        if one.reach not in ALLOWED[kind] and one.refusal is None and not one.host.lower().endswith(names)
    ]

    assert let_pass == []


def test_name_that_leads_elsewhere_after_it_was_registered_is_not_followed_there(found: Any) -> None:
    for before, after, refusal, _, called_first, outcome, called in found["flips"]:
        assert (refusal, called_first) == (None, [before])
        assert (outcome, called) == ("address_blocked", []), after


def test_resolver_that_never_answers_costs_its_bound_and_leaves_no_thread(tmp_path: Path) -> None:
    found = run_alone(
        "resolver_program.py",
        tmp_path,
        resolv="nameserver 127.0.0.53\noptions timeout:5 attempts:2\n",
        RES_OPTIONS="timeout:1 attempts:1",
    )

    assert set(found["outcomes"]) <= {"timeout", "dns_failure"}
    assert found["took_ms"] <= 700 + 400
    assert found["threads_left"] == 0
    assert found["queries"] > 0
