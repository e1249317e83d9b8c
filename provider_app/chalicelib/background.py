"""Work on threads that nobody has to wait for: they end with the process."""

import threading
from collections.abc import Callable
from concurrent.futures import Future


def begin[Result](work: Callable[[], Result], name: str) -> "Future[Result]":
    """Starts `work` on a daemon thread; the future has its result or what it raised.

    An executor's threads are joined when Python exits: one that hangs would hold up the exit.
    """
    future: Future[Result] = Future()

    def run() -> None:
        try:
            future.set_result(work())
        except BaseException as error:  # noqa: BLE001 (whoever waits gets it)
            future.set_exception(error)

    threading.Thread(target=run, name=name, daemon=True).start()
    return future
