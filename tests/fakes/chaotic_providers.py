"""Providers that answer well, or misbehave in any way, by chance at each call. They live in a process of their own.

What the nth call of a provider meets is the seed's, however threads run. What each call met is kept, so that a test can
compare it with what the gateway says.
"""

import multiprocessing
import random
import socket
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from multiprocessing.connection import Connection as Pipe
from typing import NamedTuple

from fakes.bad_providers import FAULTS, BadProviders, Connection
from fakes.inventories import a_node, an_inventory

WELL, CONFIRMED = "well", "confirmed"
REVISIONS = 3  # of an inventory, one of which a call that meets nothing bad gets


def node_of(provider_id: str) -> str:
    """The name of the node that a provider has when it answers well."""
    return f"node-of-{provider_id}"


class ChaoticProvider(BadProviders):
    """A share of calls, `faulty` in [0, 1], meets one of all faults."""

    def __init__(self, provider_id: str, seed: str, faulty: float) -> None:
        self.met: list[str] = []
        self._id = provider_id
        self._chance = random.Random(f"{seed} {provider_id}")
        self._faulty = faulty
        super().__init__()

    def _serve(self, accepted: socket.socket) -> None:
        with accepted, suppress(OSError):
            request = b""
            while b"\r\n\r\n" not in request:
                request += accepted.recv(65536) or b"\r\n\r\n"
            connection = Connection(accepted, self, self._id)
            with self._lock:
                fate = self._chance.choice(sorted(FAULTS)) if self._chance.random() < self._faulty else WELL
                etag = f'"{self._chance.randrange(REVISIONS)}"'
                if fate == WELL and f"If-None-Match: {etag}\r\n".encode() in request:
                    fate = CONFIRMED
                self.met.append(fate)
            if fate == CONFIRMED:
                connection.send(f"HTTP/1.1 304 Not Modified\r\nETag: {etag}\r\n\r\n".encode())
            elif fate == WELL:
                body = connection.inventory(**an_inventory(self._id, a_node(node_of(self._id))))
                connection.answer(body, f"ETag: {etag}")
            else:
                FAULTS[fate](connection)
        with self._lock:
            self._open.discard(accepted)


class Chaos(NamedTuple):
    """Where each provider is, and the way to ask what its calls met."""

    urls: Mapping[str, str]
    pipe: Pipe

    def met(self) -> dict[str, list[str]]:
        """What each provider's calls met since this was last asked."""
        self.pipe.send("met")
        met: dict[str, list[str]] = self.pipe.recv()
        return met


@contextmanager
def chaotic_providers(provider_ids: Sequence[str], seed: str, faulty: float) -> Iterator[Chaos]:
    """All of them, for the block."""
    spawning = multiprocessing.get_context("spawn")
    ours, theirs = spawning.Pipe()
    process = spawning.Process(target=_serve, args=(theirs, provider_ids, seed, faulty))
    process.start()
    try:
        yield Chaos(ours.recv(), ours)
    finally:
        ours.send(None)
        process.join()


def _serve(pipe: Pipe, provider_ids: Sequence[str], seed: str, faulty: float) -> None:
    with ExitStack() as stack:
        providers = {one: stack.enter_context(ChaoticProvider(one, seed, faulty)) for one in provider_ids}
        pipe.send({one: provider.base_url(one) for one, provider in providers.items()})
        while pipe.recv() is not None:
            met = {}
            for one, provider in providers.items():
                with provider._lock:
                    met[one], provider.met = provider.met, []
            pipe.send(met)
