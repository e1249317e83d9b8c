"""Good and bad providers in a process of their own, so that the memory and time of this one are the gateway's."""

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
    spawning = multiprocessing.get_context("spawn")
    ours, theirs = spawning.Pipe()
    process = spawning.Process(target=_serve, args=(theirs, provider_ids))
    process.start()
    try:
        good, bad = ours.recv()
        yield (lambda provider_id: f"{good}{provider_id}"), (lambda fault: f"{bad}{fault}")
    finally:
        ours.send(None)
        process.join()


def _serve(pipe: Connection, provider_ids: tuple[str, ...]) -> None:
    with BadProviders() as bad, ProviderFleet() as fleet:
        for provider_id in provider_ids:
            fleet.add(provider_id)
        pipe.send((fleet.base_url(""), bad.base_url("")))
        pipe.recv()
