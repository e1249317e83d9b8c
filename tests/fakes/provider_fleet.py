"""Many providers behind one loopback port, each at /p/{id}: they answer, revalidate, or stop as a test says.

One thread serves them all, so that what it counts (connections open at once, requests) is exact.
"""

import asyncio
import gzip
import hashlib
import json
import ssl
import threading
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self

from fakes.inventories import OBSERVED_AT, JsonObject, an_inventory

ROUTE = "/api/v1/inventory"
PATIENCE_S = 10.0  # how long a test waits for something that it knows must happen
TURNS_TO_SERVE = 10  # of the loop, more than enough from the accepted socket to the task that serves it


@dataclass
class Lab:
    """One provider of the fleet; a test may change any of it between two searches."""

    id: str
    inventory: JsonObject
    observed_at: str | None = OBSERVED_AT  # of the header; None: it sends none
    status: int = 200
    body: bytes | None = None  # sent instead of the inventory
    headers: dict[str, str] = field(default_factory=dict)
    sends_etag: bool = True
    confirms: bool = True  # answers 304 where nothing has changed
    is_held: bool = False  # takes requests and answers none until it is released

    def etag(self) -> str:
        """The entity tag of the inventory without observed_at, quotes included."""
        kept = {name: value for name, value in self.inventory.items() if name != "observed_at"}
        return f'"{hashlib.sha256(json.dumps(kept, sort_keys=True).encode()).hexdigest()[:16]}"'


@dataclass(frozen=True)
class Seen:
    """One request that reached the fleet. `connection` numbers the connections from 1."""

    provider_id: str
    path: str
    headers: Mapping[str, str]
    connection: int


class ProviderFleet:
    """Serves until it is closed; `with ProviderFleet() as fleet`. With `tls` it speaks https."""

    def __init__(self, tls: ssl.SSLContext | None = None) -> None:
        self._scheme = "http" if tls is None else "https"
        self.labs: dict[str, Lab] = {}
        self.requests: list[Seen] = []
        self.accepted = 0
        self.open = 0
        self.most_open = 0
        self._changed = threading.Condition()
        self._writers: set[asyncio.StreamWriter] = set()
        self._others: list[asyncio.Server] = []
        self._loop = asyncio.new_event_loop()
        self._released = asyncio.Event()
        self._server = self._loop.run_until_complete(
            asyncio.start_server(self._serve, "127.0.0.1", 0, backlog=4096, start_serving=False, ssl=tls)
        )
        self.port: int = self._server.sockets[0].getsockname()[1]
        self._thread = threading.Thread(target=self._run, name="provider-fleet")
        self._thread.start()
        self._in_loop(self._server.start_serving())

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End every connection and the thread."""
        self._in_loop(self._stop())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def listen(self, host: str) -> None:
        """On another address of this machine too, on the same port."""
        self._in_loop(self._listen(host))

    def base_url(self, provider_id: str, host: str = "127.0.0.1") -> str:
        """What a provider of the fleet registers."""
        return f"{self._scheme}://{host}:{self.port}/p/{provider_id}"

    def add(self, provider_id: str, *nodes: JsonObject, **fields: Any) -> Lab:
        """A provider with these nodes, or with one default node; `fields` are a Lab's."""
        lab = Lab(provider_id, an_inventory(provider_id, *nodes), **fields)
        self.labs[provider_id] = lab
        return lab

    def release(self) -> None:
        """Let every provider that is held answer what it was asked."""
        for lab in self.labs.values():
            lab.is_held = False
        self._loop.call_soon_threadsafe(self._released.set)

    def drop_connections(self) -> None:
        """Close every connection, as a provider does that was started anew."""
        self._in_loop(self._drop())

    def wait_until(self, holds: Callable[["ProviderFleet"], bool]) -> None:
        """Wait for what requests and connections will bring about; AssertionError if they never do."""
        with self._changed:
            assert self._changed.wait_for(lambda: holds(self), PATIENCE_S), "the fleet never came to that"

    def requests_of(self, provider_id: str) -> list[Seen]:
        """What one provider was asked so far."""
        return [seen for seen in self.requests if seen.provider_id == provider_id]

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_forever()

    def _in_loop(self, work: Coroutine[Any, Any, None]) -> None:
        asyncio.run_coroutine_threadsafe(work, self._loop).result(PATIENCE_S)

    async def _listen(self, host: str) -> None:
        self._others.append(await asyncio.start_server(self._serve, host, self.port, backlog=4096))

    async def _stop(self) -> None:
        for server in (self._server, *self._others):
            server.close()
        for _ in range(TURNS_TO_SERVE):  # who was accepted a moment ago is not among the writers yet
            await self._drop()
            await asyncio.sleep(0)
        while self._writers:
            await asyncio.sleep(0)

    async def _drop(self) -> None:
        for writer in self._writers:
            writer.transport.abort()
        self._released.set()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.add(writer)
        with self._changed:
            self.accepted += 1
            self.open += 1
            self.most_open = max(self.most_open, self.open)
            number = self.accepted
            self._changed.notify_all()
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
                await self._answer(head, number, reader, writer)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.transport.abort()
            self._writers.discard(writer)
            with self._changed:
                self.open -= 1
                self._changed.notify_all()

    async def _answer(self, head: str, number: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        request, *lines = head.strip().split("\r\n")
        path = request.split(" ")[1]
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        provider_id = path.removeprefix("/p/").partition("/")[0]
        with self._changed:
            self.requests.append(Seen(provider_id, path, headers, number))
            self._changed.notify_all()
        lab = self.labs.get(provider_id)
        if lab is not None and lab.is_held:
            await self._until_released(reader)
        is_known = lab is not None and path == f"/p/{provider_id}{ROUTE}"
        writer.write(_reply(lab, headers) if lab is not None and is_known else _raw(404, b"", {}))
        await writer.drain()

    async def _until_released(self, reader: asyncio.StreamReader) -> None:
        """Until a test says so, or the caller has gone; a caller that waits sends nothing more."""
        self._released.clear()
        gone = asyncio.ensure_future(reader.read(1))
        released = asyncio.ensure_future(self._released.wait())
        await asyncio.wait({gone, released}, return_when=asyncio.FIRST_COMPLETED)
        released.cancel()
        if gone.done():
            raise ConnectionResetError
        gone.cancel()
        await asyncio.wait({gone})


def _reply(lab: Lab, asked: Mapping[str, str]) -> bytes:
    headers = dict(lab.headers)
    if lab.sends_etag:
        headers.setdefault("ETag", lab.etag())
    if lab.observed_at is not None:
        headers["X-Observed-At"] = lab.observed_at
    can_confirm = lab.confirms and lab.status == 200 and lab.body is None and lab.sends_etag
    if can_confirm and asked.get("if-none-match") == headers["ETag"]:
        return _raw(304, b"", headers)
    body = json.dumps(lab.inventory).encode() if lab.body is None else lab.body
    if "gzip" in asked.get("accept-encoding", ""):
        body = gzip.compress(body, 1)
        headers["Content-Encoding"] = "gzip"
    return _raw(lab.status, body, {"Content-Type": "application/json", **headers})


def _raw(status: int, body: bytes, headers: Mapping[str, str]) -> bytes:
    lines = [f"HTTP/1.1 {status} Said", *(f"{name}: {value}" for name, value in headers.items())]
    if status != 304:
        lines.append(f"Content-Length: {len(body)}")
    return "\r\n".join([*lines, "", ""]).encode() + body
