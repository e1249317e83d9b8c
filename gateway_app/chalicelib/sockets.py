"""The sockets on which libcurl waits for something, and on which of them it has happened."""

import select

import pycurl

_IN, _OUT = select.POLLIN, select.POLLOUT  # the same numbers for epoll
_MASKS = {pycurl.POLL_IN: _IN, pycurl.POLL_OUT: _OUT, pycurl.POLL_INOUT: _IN | _OUT}


class Sockets:
    """By file descriptor, over epoll; where there is none, as on macOS, over poll.

    `selectors` does this too, at more than twice the cost, and every call to a provider comes by here a few times.
    """

    def __init__(self) -> None:
        self._kernel = select.epoll() if hasattr(select, "epoll") else None
        self._list = select.poll() if self._kernel is None else self._kernel

    def watch(self, fd: int, event: int) -> None:
        """Wait for what libcurl wants of a socket, one of its POLL_ numbers, and no longer for what it wanted before."""
        try:
            self._list.register(fd, _MASKS[event])
        except FileExistsError:
            self._list.modify(fd, _MASKS[event])

    def forget(self, fd: int) -> None:
        """Wait for nothing more. One that nobody watches, or that was closed meanwhile, is forgotten already."""
        try:  # noqa: SIM105 (a context manager costs more than the call)
            self._list.unregister(fd)
        except (OSError, KeyError):
            pass

    def happened(self, wait_s: float) -> list[tuple[int, int]]:
        """The sockets on which something has happened, within so many seconds, and what, as libcurl's CSELECT_ flags."""
        found = self._list.poll(wait_s * 1000) if self._kernel is None else self._kernel.poll(wait_s)
        return [(fd, _FLAGS.get(mask) or _flags(mask)) for fd, mask in found]

    def close(self) -> None:
        """Give the kernel's list back."""
        if self._kernel is not None:
            self._kernel.close()


def _flags(mask: int) -> int:
    """Errors and ends are for whoever waits, to be found when it reads or writes."""
    return (pycurl.CSELECT_IN if mask & ~_OUT else 0) | (pycurl.CSELECT_OUT if mask & ~_IN else 0)


_FLAGS = {mask: _flags(mask) for mask in (_IN, _OUT, _IN | _OUT)}  # all but what is rare
