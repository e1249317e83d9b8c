"""Servers on loopback whose TLS misbehaves. A behaviour is given each connection as it was accepted."""

import socket
import ssl
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

DRIP_S = 0.02
LARGEST_PIECE = 65536

Behaviour = Callable[[socket.socket, threading.Event], None]


@contextmanager
def tls_server(behaves: Behaviour) -> Iterator[int]:
    """Its port. Each connection has a thread; all end with the block."""
    ended = threading.Event()
    listener = socket.create_server(("127.0.0.1", 0))
    serving: list[tuple[threading.Thread, socket.socket]] = []

    def serve(accepted: socket.socket) -> None:
        with accepted, suppress(OSError):
            behaves(accepted, ended)

    def accept() -> None:
        while not ended.is_set():
            with suppress(OSError):
                accepted, _ = listener.accept()
                thread = threading.Thread(target=serve, args=(accepted,))
                serving.append((thread, accepted))
                thread.start()

    accepting = threading.Thread(target=accept)
    accepting.start()
    try:
        yield listener.getsockname()[1]
    finally:
        ended.set()
        with suppress(OSError):
            listener.shutdown(socket.SHUT_RDWR)
        accepting.join()
        listener.close()
        for thread, accepted in serving:
            with suppress(OSError):
                accepted.shutdown(socket.SHUT_RDWR)
            thread.join()


def resets(accepted: socket.socket, _: threading.Event) -> None:
    """In the middle of the handshake."""
    accepted.recv(LARGEST_PIECE)
    accepted.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def closes(accepted: socket.socket, _: threading.Event) -> None:
    """In the middle of the handshake."""
    accepted.recv(LARGEST_PIECE)


def speaks_plainly(accepted: socket.socket, _: threading.Event) -> None:
    """As a web server does on whose plain port somebody speaks TLS."""
    accepted.recv(LARGEST_PIECE)
    accepted.sendall(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")


def drips_its_handshake(accepted: socket.socket, ended: threading.Event) -> None:
    """A record that is announced and comes a byte at a time."""
    accepted.recv(LARGEST_PIECE)
    for byte in b"\x16\x03\x03\x3f\xff" + b"\x00" * 0x3FFF:
        accepted.sendall(bytes([byte]))
        if ended.wait(DRIP_S):
            return


def drips_records(context: ssl.SSLContext) -> Behaviour:
    """After a good handshake the answer comes a byte at a time, each in a record of its own."""

    def behaves(accepted: socket.socket, ended: threading.Event) -> None:
        with context.wrap_socket(accepted, server_side=True) as tls:
            tls.recv(LARGEST_PIECE)
            tls.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
            while not ended.wait(DRIP_S):
                tls.sendall(b" ")

    return behaves


def drips_a_record(context: ssl.SSLContext) -> Behaviour:
    """After a good handshake the answer comes in one record, of which a byte is sent at a time."""

    def behaves(accepted: socket.socket, ended: threading.Event) -> None:
        incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        tls = context.wrap_bio(incoming, outgoing, server_side=True)
        _until_done(tls.do_handshake, accepted, incoming, outgoing)
        _until_done(lambda: tls.read(LARGEST_PIECE), accepted, incoming, outgoing)
        tls.write(b"HTTP/1.1 200 OK\r\nContent-Length: 10000\r\n\r\n" + b" " * 10_000)
        for byte in outgoing.read():
            accepted.sendall(bytes([byte]))
            if ended.wait(DRIP_S):
                return

    return behaves


def _until_done(
    step: Callable[[], object], accepted: socket.socket, incoming: ssl.MemoryBIO, outgoing: ssl.MemoryBIO
) -> None:
    while True:
        try:
            step()
        except ssl.SSLWantReadError:
            accepted.sendall(outgoing.read())
            incoming.write(accepted.recv(LARGEST_PIECE))
        else:
            accepted.sendall(outgoing.read())
            return
