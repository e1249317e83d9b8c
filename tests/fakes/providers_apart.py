"""Good and bad providers, each in a process of their own: this one's time and memory are the gateway's."""

import multiprocessing
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection

from fakes.bad_providers import BadProviders
from fakes.provider_fleet import ProviderFleet

UrlOf = Callable[[str], str]


@contextmanager
def providers_apart(*provider_ids: str) -> Iterator[tuple[UrlOf, UrlOf]]:
    """Where each of these good providers is, and where each fault is."""
    with _apart(_serve_good, provider_ids) as good, _apart(_serve_bad) as bad:
        yield (lambda provider_id: f"{good}{provider_id}"), (lambda fault: f"{bad}{fault}")


@contextmanager
def _apart(serve: Callable[..., None], *arguments: object) -> Iterator[str]:
    spawning = multiprocessing.get_context("spawn")
    ours, theirs = spawning.Pipe()
    process = spawning.Process(target=serve, args=(theirs, *arguments))
    process.start()
    try:
        yield ours.recv()
    finally:
        ours.send(None)
        process.join()


def _serve_good(pipe: Connection, provider_ids: tuple[str, ...]) -> None:
    with ProviderFleet() as fleet:
        for provider_id in provider_ids:
            fleet.add(provider_id)
        pipe.send(fleet.base_url(""))
        pipe.recv()


def _serve_bad(pipe: Connection) -> None:
    with BadProviders() as bad:
        pipe.send(bad.base_url(""))
        pipe.recv()
