"""Which kept connections something came on, looked at over real sockets of this process."""

import socket
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from chalicelib.resting import Peer, Resting


class Pair:
    """A connection: `ours` is what libcurl would keep, `theirs` the provider's end."""

    def __init__(self, stack: ExitStack, listener: socket.socket) -> None:
        self.ours = stack.enter_context(socket.create_connection(listener.getsockname()[:2]))
        self.theirs = stack.enter_context(listener.accept()[0])

    @property
    def peer(self) -> Peer:
        return self.ours.getpeername()[:2]


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


@pytest.fixture(params=["127.0.0.1", "::1"])
def pair(stack: ExitStack, request: pytest.FixtureRequest) -> Pair:
    family = socket.AF_INET6 if ":" in request.param else socket.AF_INET
    try:
        listener = socket.create_server((request.param, 0), family=family)
    except OSError:
        pytest.skip(f"this machine has no {request.param}")
    return Pair(stack, stack.enter_context(listener))


@pytest.fixture
def resting(pair: Pair) -> Resting:
    resting = Resting()
    resting.add(pair.ours.fileno())
    return resting


def test_quiet_connection_is_not_disturbed(resting: Resting) -> None:
    assert resting.disturbed() == frozenset()


def test_connection_on_which_something_came_is_disturbed_until_it_is_used(resting: Resting, pair: Pair) -> None:
    pair.theirs.sendall(b"HTTP/1.1 200 OK\r\n\r\n")

    assert resting.disturbed() == resting.disturbed() == {pair.peer}
    resting.discard(pair.ours.fileno())
    assert resting.disturbed() == frozenset()


def test_connection_that_was_closed_there_is_disturbed(resting: Resting, pair: Pair) -> None:
    pair.theirs.close()

    assert resting.disturbed() == {pair.peer}


def test_connection_that_was_closed_here_is_forgotten(resting: Resting, pair: Pair) -> None:
    pair.theirs.close()
    pair.ours.close()

    assert resting.disturbed() == frozenset()


def test_number_of_no_connection_is_passed_over(tmp_path: Path) -> None:
    resting = Resting()
    with socket.socket() as closed, (tmp_path / "file").open("w+") as file:
        resting.add(closed.fileno())
        resting.add(file.fileno())
        resting.discard(closed.fileno())
        resting.discard(closed.fileno())
        resting.add(closed.fileno())
        closed.close()

        assert resting.disturbed() == frozenset()
