"""Providers that misbehave, over raw sockets: each at /f/{name}, behind one loopback port.

A fault is a function that is given the connection after the request was read, and ends when it has sent what it sends.
What drips waits between two bytes for the end of the server, so that closing it ends every fault at once.
"""

import functools
import gzip
import json
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from types import TracebackType
from typing import Self

from fakes.inventories import a_device, a_node, an_inventory

DRIP_S = 0.05
METADATA = "http://169.254.169.254/latest/meta-data/"


class Connection:
    """What a fault may do to its caller."""

    def __init__(self, accepted: socket.socket, server: "BadProviders", name: str) -> None:
        self._socket = accepted
        self.server = server
        self.name = name

    def send(self, data: bytes) -> None:
        """All of it; ConnectionError when the caller has gone."""
        self._socket.sendall(data)

    def answer(self, body: bytes, *headers: str, status: str = "200 OK", length: int | None = None) -> None:
        """A well-formed answer, with a length that may be a lie."""
        size = len(body) if length is None else length
        self.send(head(*headers, f"Content-Length: {size}", status=status) + body)

    def drip(self, data: Iterator[bytes]) -> None:
        """A piece at a time, until the server ends or the caller goes."""
        for piece in data:
            self.send(piece)
            if self.server.ended.wait(DRIP_S):
                return

    def pour(self, piece: bytes) -> None:
        """The same piece as fast as it is taken."""
        while not self.server.ended.is_set():
            self.send(piece)

    def hold(self) -> None:
        """Keep the connection open and say nothing, until the server ends or the caller goes."""
        while self._socket.recv(1024):
            pass

    def reset(self) -> None:
        """Close with a reset instead of an end."""
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._socket.close()

    def await_request(self) -> None:
        """Until the caller asks again over the same connection; ConnectionError when it does not."""
        if not self._socket.recv(65536):
            raise ConnectionResetError

    def inventory(self, **fields: object) -> bytes:
        """A good inventory of this provider, but for `fields`."""
        return json.dumps({**an_inventory(self.name), **fields}).encode()


Fault = Callable[[Connection], None]
FAULTS: dict[str, Fault] = {}


def fault(function: Fault) -> Fault:
    """Serve a function under its name, with dashes."""
    FAULTS[function.__name__.replace("_", "-")] = function
    return function


class BadProviders:
    """Serves every fault until it is closed; `with BadProviders() as bad`."""

    def __init__(self) -> None:
        self.ended = threading.Event()
        self.said_more = threading.Semaphore(0)  # released by whoever has sent what nobody asked for
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=256)
        self.port: int = self._listener.getsockname()[1]
        self.elsewhere = Listener()
        self._lock = threading.Lock()
        self._open: set[socket.socket] = set()
        self._threads = [threading.Thread(target=self._accept, name="bad-providers")]
        self._threads[0].start()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def base_url(self, name: str) -> str:
        """What the provider with this fault registers."""
        return f"http://127.0.0.1:{self.port}/f/{name}"

    def close(self) -> None:
        """End every fault, connection and thread."""
        self.ended.set()
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._threads[0].join()
        self._listener.close()
        with self._lock:
            for accepted in self._open:
                with suppress(OSError):
                    accepted.shutdown(socket.SHUT_RDWR)
            left = self._threads[1:]
        for thread in left:
            thread.join()
        self.elsewhere.close()

    def _accept(self) -> None:
        while not self.ended.is_set():
            try:
                accepted, _ = self._listener.accept()
            except OSError:
                return
            thread = threading.Thread(target=self._serve, args=(accepted,), name="bad-provider")
            with self._lock:
                self._open.add(accepted)
                self._threads.append(thread)
                thread.start()

    def _serve(self, accepted: socket.socket) -> None:
        with accepted, suppress(OSError):
            request = b""
            while b"\r\n\r\n" not in request:
                request += accepted.recv(65536) or b"\r\n\r\n"
            name = request.partition(b"/f/")[2].partition(b"/")[0].decode()
            if name in FAULTS:
                FAULTS[name](Connection(accepted, self, name))
        with self._lock:
            self._open.discard(accepted)
            self._threads.remove(threading.current_thread())  # one that ended and is held keeps its stack mapped


class Listener:
    """A port at which nobody should ever call."""

    def __init__(self) -> None:
        self._socket = socket.create_server(("127.0.0.1", 0))
        self._socket.setblocking(False)
        self.port: int = self._socket.getsockname()[1]

    @property
    def was_called(self) -> bool:
        """Whether a connection waits to be accepted."""
        try:
            accepted, _ = self._socket.accept()
        except BlockingIOError:
            return False
        accepted.close()
        return True

    def close(self) -> None:
        """Stop listening."""
        self._socket.close()


def head(*headers: str, status: str = "200 OK") -> bytes:
    """The first part of an answer."""
    return "\r\n".join([f"HTTP/1.1 {status}", "Content-Type: application/json", *headers, "", ""]).encode()


def for_ever(piece: bytes) -> Iterator[bytes]:
    """The same piece, without end."""
    while True:
        yield piece


def a_byte_at_a_time(data: bytes) -> Iterator[bytes]:
    """What a drip sends."""
    return (data[place : place + 1] for place in range(len(data)))


# Slow ones


@fault
def silent(connection: Connection) -> None:
    connection.hold()


@fault
def drips_headers(connection: Connection) -> None:
    connection.drip(a_byte_at_a_time(head("X-Long: " + "x" * 10_000)))


@fault
def drips_a_body_with_its_length(connection: Connection) -> None:
    connection.send(head("Content-Length: 100000"))
    connection.drip(for_ever(b" "))


@fault
def drips_a_body_without_its_length(connection: Connection) -> None:
    connection.send(head("Connection: close"))
    connection.drip(for_ever(b" "))


@fault
def drips_chunks(connection: Connection) -> None:
    connection.send(head("Transfer-Encoding: chunked"))
    connection.drip(for_ever(b"1\r\n \r\n"))


@fault
def drips_a_chunk_size(connection: Connection) -> None:
    connection.send(head("Transfer-Encoding: chunked"))
    connection.drip(for_ever(b"0"))


@fault
def drips_trailers(connection: Connection) -> None:
    connection.send(head("Transfer-Encoding: chunked") + b"1\r\n{\r\n0\r\n")
    connection.drip(for_ever(b"X-Trailer: x\r\n"))


@fault
def drips_interim_answers(connection: Connection) -> None:
    connection.drip(for_ever(b"HTTP/1.1 100 Continue\r\n\r\n"))


@fault
def stops_in_the_body(connection: Connection) -> None:
    connection.answer(connection.inventory()[:-1], length=len(connection.inventory()))
    connection.hold()


# Large ones


@fault
def endless_body(connection: Connection) -> None:
    connection.send(head("Connection: close"))
    connection.pour(b" " * 65536)


@fault
def endless_chunks(connection: Connection) -> None:
    connection.send(head("Transfer-Encoding: chunked"))
    connection.pour(b"1000\r\n" + b" " * 0x1000 + b"\r\n")


@fault
def endless_headers(connection: Connection) -> None:
    connection.send(b"HTTP/1.1 200 OK\r\n")
    connection.pour(b"X-More: " + b"x" * 500 + b"\r\n")


@fault
def endless_header_line(connection: Connection) -> None:
    connection.send(b"HTTP/1.1 200 OK\r\nX-Long: ")
    connection.pour(b"x" * 4096)


@fault
def endless_interim_answers(connection: Connection) -> None:
    connection.pour(b"HTTP/1.1 100 Continue\r\n\r\n")


@fault
def endless_redirect(connection: Connection) -> None:
    connection.send(head(f"Location: http://127.0.0.1:{connection.server.elsewhere.port}/", status="302 Found"))
    connection.pour(b" " * 65536)


@fault
def declares_too_much(connection: Connection) -> None:
    connection.answer(b"{", length=10**18)


@functools.cache
def _bomb() -> bytes:
    return gzip.compress(b" " * (64 << 20), 1)


@fault
def gzip_bomb(connection: Connection) -> None:
    connection.answer(_bomb(), "Content-Encoding: gzip")


@fault
def gzip_of_gzip_bomb(connection: Connection) -> None:
    connection.answer(gzip.compress(_bomb(), 9), "Content-Encoding: gzip, gzip")


@fault
def endless_gzip_of_nothing(connection: Connection) -> None:
    """Empty blocks: every byte is well-formed and none becomes text."""
    connection.send(head("Content-Encoding: gzip", "Connection: close") + gzip.compress(b"")[:10])
    connection.pour(b"\x00\x00\x00\xff\xff" * 4096)


# Broken encodings


@fault
def broken_gzip(connection: Connection) -> None:
    connection.answer(b"\x1f\x8b\x08\x00" + b"\xff" * 100, "Content-Encoding: gzip")


@fault
def gzip_cut_in_the_data(connection: Connection) -> None:
    connection.answer(gzip.compress(connection.inventory())[:-60], "Content-Encoding: gzip")


@fault
def gzip_cut_in_its_checksum(connection: Connection) -> None:
    connection.answer(gzip.compress(connection.inventory())[:-4], "Content-Encoding: gzip")


@fault
def gzip_with_a_wrong_checksum(connection: Connection) -> None:
    connection.answer(gzip.compress(connection.inventory())[:-8] + b"\x00" * 8, "Content-Encoding: gzip")


@fault
def unknown_encoding(connection: Connection) -> None:
    connection.answer(connection.inventory(), "Content-Encoding: rot13")


@fault
def brotli_unasked(connection: Connection) -> None:
    connection.answer(b"\x0b\x02\x80hello\x03", "Content-Encoding: br")


@fault
def text_after_the_gzip(connection: Connection) -> None:
    connection.answer(gzip.compress(connection.inventory()) + b"more", "Content-Encoding: gzip")


@fault
def ten_encodings(connection: Connection) -> None:
    connection.answer(connection.inventory(), "Content-Encoding: " + ", ".join(["gzip"] * 10))


# Broken HTTP


@fault
def shorter_than_its_length(connection: Connection) -> None:
    connection.answer(connection.inventory(), length=len(connection.inventory()) + 10)


@fault
def two_lengths(connection: Connection) -> None:
    connection.answer(connection.inventory(), "Content-Length: 3")


@fault
def negative_length(connection: Connection) -> None:
    connection.answer(connection.inventory(), length=-5)


@fault
def length_that_is_no_number(connection: Connection) -> None:
    connection.send(head("Content-Length: many") + connection.inventory())


@fault
def bad_chunk_size(connection: Connection) -> None:
    connection.send(head("Transfer-Encoding: chunked") + b"zz\r\n{}\r\n0\r\n\r\n")


@fault
def no_last_chunk(connection: Connection) -> None:
    body = connection.inventory()
    connection.send(head("Transfer-Encoding: chunked") + b"%x\r\n%s\r\n" % (len(body), body))


@fault
def http_0_9(connection: Connection) -> None:
    connection.send(connection.inventory())


@fault
def http_9_9(connection: Connection) -> None:
    connection.send(head().replace(b"HTTP/1.1", b"HTTP/9.9") + connection.inventory())


@fault
def garbage_banner(connection: Connection) -> None:
    connection.send(b"SSH-2.0-OpenSSH_9.7\r\n")


@fault
def status_that_is_no_number(connection: Connection) -> None:
    connection.send(b"HTTP/1.1 abc OK\r\nContent-Length: 2\r\n\r\n{}")


@fault
def closes_at_once(connection: Connection) -> None:
    """Without a byte."""


@fault
def resets_at_once(connection: Connection) -> None:
    connection.reset()


@fault
def resets_in_the_body(connection: Connection) -> None:
    connection.send(head("Content-Length: 100000") + b"{" + b" " * 1000)
    connection.reset()


@fault
def switches_protocols(connection: Connection) -> None:
    connection.send(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: tea\r\nConnection: upgrade\r\n\r\n")
    connection.send(connection.inventory())


@fault
def switches_protocols_and_holds(connection: Connection) -> None:
    connection.send(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: tea\r\nConnection: upgrade\r\n\r\n")
    connection.hold()


@fault
def interim_answers_alone(connection: Connection) -> None:
    connection.send(b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n")


@fault
def status_of_many_digits(connection: Connection) -> None:
    connection.answer(connection.inventory(), status=f"2{'0' * 5000} OK")


# Other statuses


@fault
def redirects(connection: Connection) -> None:
    connection.answer(
        connection.inventory(),
        f"Location: http://127.0.0.1:{connection.server.elsewhere.port}/",
        status="307 Temporary Redirect",
    )


@fault
def redirects_to_metadata(connection: Connection) -> None:
    connection.answer(b"", f"Location: {METADATA}", status="302 Found")


@fault
def status_204(connection: Connection) -> None:
    connection.send(head(status="204 No Content"))


@fault
def status_206(connection: Connection) -> None:
    connection.answer(connection.inventory(), "Content-Range: bytes 0-9/10", status="206 Partial Content")


@fault
def status_304_unasked(connection: Connection) -> None:
    connection.send(head('ETag: "1"', status="304 Not Modified"))


@fault
def status_429(connection: Connection) -> None:
    connection.answer(b"{}", "Retry-After: 86400", status="429 Too Many Requests")


@fault
def status_500_with_a_good_body(connection: Connection) -> None:
    connection.answer(connection.inventory(), status="500 Internal Server Error")


@fault
def status_999(connection: Connection) -> None:
    connection.answer(connection.inventory(), status="999 Odd")


# Bodies that are no JSON


@fault
def empty_body(connection: Connection) -> None:
    connection.answer(b"")


@fault
def html(connection: Connection) -> None:
    connection.answer(b"<!doctype html><title>Sign in</title>")


@fault
def not_a_number(connection: Connection) -> None:
    connection.answer(connection.inventory(nodes=[a_node(cpu={"total_millicores": float("nan")})]))


@fault
def deep_nesting(connection: Connection) -> None:
    connection.answer(connection.inventory()[:-1] + b', "deep": ' + b"[" * 50_000 + b"]" * 50_000 + b"}")


@fault
def byte_order_mark(connection: Connection) -> None:
    connection.answer(b"\xef\xbb\xbf" + connection.inventory())


@fault
def utf_16(connection: Connection) -> None:
    connection.answer(connection.inventory().decode().encode("utf-16"))


@fault
def bytes_that_are_not_utf_8(connection: Connection) -> None:
    connection.answer(connection.inventory().replace(b"gpu-01", b"gpu-\xff"))


@fault
def lone_surrogate(connection: Connection) -> None:
    connection.answer(connection.inventory().replace(b"gpu-01", b"gpu-\\ud800"))


@fault
def two_documents(connection: Connection) -> None:
    connection.answer(connection.inventory() * 2)


# JSON that is no inventory of this provider


@fault
def json_that_is_a_list(connection: Connection) -> None:
    connection.answer(b"[]")


@fault
def nodes_that_are_no_list(connection: Connection) -> None:
    connection.answer(connection.inventory(nodes={"gpu-01": {}}))


@fault
def no_provider_id(connection: Connection) -> None:
    connection.answer(connection.inventory(provider_id=None))


@fault
def another_identity(connection: Connection) -> None:
    connection.answer(connection.inventory(provider_id="somebody-else"))


@fault
def schema_of_the_future(connection: Connection) -> None:
    connection.answer(connection.inventory(schema_version=2, nodes={"any": "thing"}))


# Inventories of which a part is bad: the rest must stand


@fault
def json_labelled_as_html(connection: Connection) -> None:
    body = connection.inventory()
    connection.send(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))


@fault
def unknown_fields(connection: Connection) -> None:
    connection.answer(
        connection.inventory(nodes=[a_node(rack="r1"), a_node("n2", a_device(color="red"))], new={"a": 1})
    )


@fault
def interim_answer_first(connection: Connection) -> None:
    connection.send(b'HTTP/1.1 103 Early Hints\r\nETag: "not this"\r\nLink: </x>\r\n\r\n')
    connection.answer(connection.inventory())


@fault
def more_than_its_length(connection: Connection) -> None:
    connection.answer(connection.inventory() + b"HTTP/1.1 200 OK\r\n\r\nsmuggled", length=len(connection.inventory()))


@fault
def huge_integer(connection: Connection) -> None:
    digits = b"9" * 5000
    nodes = [a_node(cpu={"total_millicores": 123456789}), a_node("good")]
    connection.answer(connection.inventory(nodes=nodes).replace(b"123456789", digits))


@fault
def huge_integer_that_python_reads(connection: Connection) -> None:
    nodes = [a_node(cpu={"total_millicores": 123456789}), a_node("good")]
    connection.answer(connection.inventory(nodes=nodes).replace(b"123456789", b"9" * 4299))


@fault
def duplicate_device(connection: Connection) -> None:
    connection.answer(connection.inventory(nodes=[a_node("good", a_device(), a_device())]))


@fault
def duplicate_node(connection: Connection) -> None:
    connection.answer(connection.inventory(nodes=[a_node("good"), a_node("good")]))


@fault
def available_above_total(connection: Connection) -> None:
    devices = [a_device(memory_available_mib=50_000), a_device("GPU-2")]
    connection.answer(connection.inventory(nodes=[a_node("good", *devices)]))


@fault
def negative_amount(connection: Connection) -> None:
    connection.answer(connection.inventory(nodes=[a_node(memory={"total_bytes": -1}), a_node("good")]))


@fault
def truth_for_a_number(connection: Connection) -> None:
    connection.answer(connection.inventory(nodes=[a_node("good", a_device(slots_total=True), a_device("GPU-2"))]))


# More of each


@fault
def slow_but_in_time(connection: Connection) -> None:
    connection.server.ended.wait(DRIP_S)
    connection.answer(connection.inventory())


@fault
def redirects_slowly(connection: Connection) -> None:
    connection.server.ended.wait(DRIP_S)
    connection.answer(b"", f"Location: /f/{connection.name}/again", status="302 Found")


@fault
def redirects_to_a_file(connection: Connection) -> None:
    connection.answer(b"", "Location: file:///etc/passwd", status="302 Found")


@fault
def zstd_unasked(connection: Connection) -> None:
    connection.answer(bytes.fromhex("28b52ffd") + b"\x00" * 40, "Content-Encoding: zstd")


@fault
def http_2(connection: Connection) -> None:
    connection.send(b"\x00\x00\x12\x04" + b"\x00" * 23)


@fault
def cut_in_a_chunk(connection: Connection) -> None:
    connection.send(head("Transfer-Encoding: chunked") + b"fff\r\n" + connection.inventory())


@fault
def chunked_and_a_length(connection: Connection) -> None:
    body = connection.inventory()
    connection.send(
        head("Transfer-Encoding: chunked", "Content-Length: 5") + b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body)
    )


@fault
def longer_than_its_length(connection: Connection) -> None:
    connection.answer(connection.inventory(), length=len(connection.inventory()) - 10)


@fault
def nul_in_a_header(connection: Connection) -> None:
    connection.answer(connection.inventory(), "X-Odd: a\x00b")


@fault
def many_cookies(connection: Connection) -> None:
    connection.answer(connection.inventory(), *(f"Set-Cookie: k{n}={'v' * 3000}; Path=/" for n in range(90)))


@fault
def one_cookie(connection: Connection) -> None:
    connection.answer(connection.inventory(), "Set-Cookie: sid=secret; Path=/")


@fault
def trailers(connection: Connection) -> None:
    body = connection.inventory()
    chunks = b"%x\r\n%s\r\n0\r\n" % (len(body), body)
    connection.send(head("Transfer-Encoding: chunked") + chunks + b'ETag: "trailer"\r\nContent-Encoding: br\r\n\r\n')


@fault
def name_that_stands_twice(connection: Connection) -> None:
    connection.answer(connection.inventory()[:-1] + b', "provider_id": "' + connection.name.encode() + b'"}')


@fault
def text_alone(connection: Connection) -> None:
    connection.answer(b'"hello"')


@fault
def number_out_of_range(connection: Connection) -> None:
    connection.answer(connection.inventory(schema_version=17).replace(b"17", b"1e999"))


@fault
def many_bytes_that_are_not_utf_8(connection: Connection) -> None:
    connection.answer(connection.inventory()[:-1] + b', "new": "' + b"\xe9" * 800_000 + b'"}')


@fault
def large_members_that_nobody_knows(connection: Connection) -> None:
    connection.answer(b'{"more":[' + b",".join([b'{"id":"r","total":8}'] * 40_000) + b"]}")


@fault
def pieces_that_are_nothing(connection: Connection) -> None:
    nodes = b",".join([b"{}"] * 300_000)
    connection.answer(b'{"provider_id":"' + connection.name.encode() + b'","nodes":[' + nodes + b"]}")


@fault
def characters_that_act(connection: Connection) -> None:
    connection.answer(connection.inventory(nodes=[a_node("good\x1b[2J\u202e")]))


@fault
def labelled_as_latin_1(connection: Connection) -> None:
    body = connection.inventory(nodes=[a_node("good", labels={"Stadt": "Köln"})])
    connection.send(
        b"HTTP/1.1 200 OK\r\nContent-Type: application/json; charset=latin-1\r\nContent-Length: %d\r\n\r\n%s"
        % (len(body), body)
    )


# Over a connection that is kept


@fault
def resets_when_asked_again(connection: Connection) -> None:
    connection.answer(connection.inventory())
    connection.await_request()
    connection.reset()


@fault
def answers_once_more_unasked(connection: Connection) -> None:
    connection.answer(connection.inventory())
    connection.server.ended.wait(DRIP_S)
    connection.answer(connection.inventory(nodes=[a_node("evil")]))
    connection.server.said_more.release()
    connection.hold()
