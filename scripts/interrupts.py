"""Ctrl-C, SIGTERM and a closed terminal as one exception, and places where it has to wait."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Interrupted(BaseException):
    """Somebody asked this command to end. No Exception, so that no handler for errors takes it."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


class _State:
    held = 0
    pending: int | None = None
    told = False


@contextmanager
def raised() -> Iterator[None]:
    """Inside, the first signal to end raises Interrupted in the main thread; the clean-up is then left to finish."""
    _State.told = False
    before = {number: signal.signal(number, _on_signal) for number in SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def held() -> Iterator[None]:
    """Inside, a signal to end waits until the block has ended: for steps that must not be half done."""
    _State.held += 1
    try:
        yield
    finally:
        _State.held -= 1
    if not _State.held and _State.pending is not None:
        number, _State.pending = _State.pending, None
        _tell(number)


def _on_signal(number: int, _: FrameType | None) -> None:
    if _State.held:
        _State.pending = number
    else:
        _tell(number)


def _tell(number: int) -> None:
    if not _State.told:
        _State.told = True
        raise Interrupted(number)
