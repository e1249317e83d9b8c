"""Connections that are kept between two searches: over one on which something came meanwhile nothing is asked any more.

libcurl looks for that once a second at most. It would take what came, unasked, for the answer to the next call.
"""

import os
import select
import socket
from contextlib import suppress

Peer = tuple[str, int]  # an address and a port


class Resting:
    """By file descriptor. libcurl closes connections as it likes: a number may be of nothing by now, or of another file.

    Of another file that has something to read its peer is told, who loses nothing by that but a kept connection.
    """

    def __init__(self) -> None:
        self._poll = select.poll()

    def add(self, fd: int) -> None:
        """No call uses this connection now; libcurl keeps it, or is about to close it."""
        self._poll.register(fd, select.POLLIN)

    def discard(self, fd: int) -> None:
        """A call uses it."""
        try:  # noqa: SIM105 (a context manager costs more than the call)
            self._poll.unregister(fd)
        except KeyError:
            pass

    def disturbed(self) -> frozenset[Peer]:
        """With whom there is a connection that was closed, or on which something has come, since it was used last."""
        peers: set[Peer] = set()
        for fd, event in self._poll.poll(0):
            if event & select.POLLNVAL:
                self._poll.unregister(fd)
            else:
                peers.update(_peers_of(fd))
        return frozenset(peers)


def _peers_of(fd: int) -> list[Peer]:
    with suppress(OSError), socket.socket(fileno=os.dup(fd)) as connection:
        return [connection.getpeername()[:2]]
    return []  # reset: libcurl gets an error at once, and opens a new one
