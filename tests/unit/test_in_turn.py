"""A lock that is handed on in order."""

import threading

from chalicelib.in_turn import InTurn

AMPLE_S = 10.0


def test_who_gives_it_back_does_not_get_it_before_those_who_wait() -> None:
    lock, order = InTurn(), []
    assert lock.acquire(0)

    def wait(name: str) -> None:
        assert lock.acquire(AMPLE_S)
        order.append(name)
        lock.release()

    threads = []
    for number, name in enumerate(("first", "second"), 1):
        threads.append(threading.Thread(target=wait, args=(name,)))
        threads[-1].start()
        while len(lock._waiting) < number:
            pass
    assert lock.is_waited_for
    lock.release()
    assert lock.acquire(AMPLE_S)
    order.append("giver")
    lock.release()
    for thread in threads:
        thread.join(AMPLE_S)

    assert order == ["first", "second", "giver"]
    assert not lock.is_waited_for


def test_who_does_not_get_it_in_time_waits_no_more() -> None:
    lock = InTurn()
    assert lock.acquire(0)

    assert not lock.acquire(0.01)

    assert not lock.is_waited_for
    lock.release()
    assert lock.acquire(0)
