"""Connections that are kept between two searches: over one on which something came meanwhile nothing is asked any more.

libcurl looks for that once a second at most. It would take what came, unasked, for the answer to the next call.
"""

import os
import select
import socket
from contextlib import suppress

Peer = tuple[str, int]  # an address and a port


class Resting:
    """By file descriptor. libcurl closes connections as it likes, so each is known by its inode too."""

    def __init__(self) -> None:
        self._inodes: dict[int, int] = {}

    def add(self, fd: int) -> None:
        """No call uses this connection now; libcurl keeps it, or is about to close it."""
        with suppress(OSError):
            self._inodes[fd] = os.fstat(fd).st_ino

    def discard(self, fd: int) -> None:
        """A call uses it."""
        self._inodes.pop(fd, None)

    def disturbed(self) -> frozenset[Peer]:
        """With whom there is a connection that was closed, or on which something has come, since it was used last."""
        poll = select.poll()
        for fd, inode in list(self._inodes.items()):
            if _inode_of(fd) == inode:
                poll.register(fd, select.POLLIN)
            else:
                del self._inodes[fd]
        return frozenset(peer for fd, _ in poll.poll(0) for peer in _peers_of(fd))


def _inode_of(fd: int) -> int | None:
    try:
        return os.fstat(fd).st_ino
    except OSError:
        return None


def _peers_of(fd: int) -> list[Peer]:
    with suppress(OSError), socket.socket(fileno=os.dup(fd)) as connection:
        return [connection.getpeername()[:2]]
    return []  # reset: libcurl gets an error at once, and opens a new one
