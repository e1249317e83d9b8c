"""Brings the fleet up: what runs stays, what is missing is started, and a failure leaves nothing that was begun here."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import requests

from scripts import ports, processes, settings
from scripts.interrupts import held
from scripts.processes import Running
from scripts.services import Service
from scripts.settings import Settings
from scripts.terminal import Failure, line

START_S = 60.0
POLL_S = 0.05

type Started = Mapping[str, Running]
type WhenReady = Callable[[Service, Running, bool], None]


@contextmanager
def up(configured: Settings, services: Sequence[Service], when_ready: WhenReady) -> Iterator[list[Running]]:
    """The fleet, running and ready, for the block; gives the processes that were started for it.

    `when_ready` is called once for each service that answers: with its process, and whether that was started here.
    If the start or the block fails or is interrupted, what was started here is ended again; what ran before stays.
    """
    records = processes.recorded(configured.run_dir)
    missing = _missing(services, records)
    _check_ports(one for one in missing if one.name not in records or not records[one.name].has_members)
    down(configured.run_dir, [records[one.name] for one in missing if one.name in records])
    started: dict[str, Running] = {}
    try:
        for service in missing:
            with held():  # a process without its place in the list would be an orphan
                started[service.name] = processes.start(service, configured.run_dir)
        _await_all(configured, services, records | started, started, when_ready)
        yield list(started.values())
    except BaseException:
        with held():
            down(configured.run_dir, list(started.values()))
        raise


def down(run_dir: Path, running: Sequence[Running]) -> None:
    """Ends processes; the emulator last, so that it saves what the others still wrote."""
    forced = processes.stop(run_dir, [one for one in running if one.name != "emulator"])
    forced += processes.stop(run_dir, [one for one in running if one.name == "emulator"])
    for one in forced:
        line(f"{one.name} (process {one.pid}) did not end when asked and was ended by force.")


def _missing(services: Sequence[Service], records: Started) -> list[Service]:
    missing = [one for one in services if one.name not in records or not records[one.name].is_alive]
    for service in services:
        if service not in missing and records[service.name].port != service.port:
            variable = settings.port_variable(service.name)
            raise Failure(
                f"{service.name} runs on port {records[service.name].port}; run `make stop` before you set {variable}."
            )
    if any(one.name == "emulator" for one in missing):
        # The gateway keeps a copy of the registry; one that the emulator lost must not live on there.
        missing += [one for one in services if one.name == "gateway" and one not in missing]
    return missing


def _check_ports(services: Iterable[Service]) -> None:
    lines = [
        f"Port {one.port} for {one.name} is taken by {ports.holder(one.port)}.\n"
        f"  End that, or choose another port: make dev {settings.port_variable(one.name)}=NUMBER"
        for one in services
        if ports.is_taken(one.port)
    ]
    if lines:
        raise Failure("\n".join([*lines, "Nothing was started."]))


def _await_all(
    configured: Settings, services: Sequence[Service], processes_of: Started, started: Started, when_ready: WhenReady
) -> None:
    deadline = time.monotonic() + START_S
    pending = list(services)
    with requests.Session() as session:
        session.trust_env = False
        while pending:
            waits_for_emulator = any(one.name == "emulator" for one in pending)
            for service in list(pending):
                if service.name == "gateway" and waits_for_emulator:
                    continue  # asking it for the registry before there is one only fills its log
                if _is_ready(session, service):
                    pending.remove(service)
                    when_ready(service, processes_of[service.name], service.name in started)
                else:
                    _check_alive(configured, processes_of[service.name], late=time.monotonic() > deadline)
            time.sleep(POLL_S)


def _is_ready(session: requests.Session, service: Service) -> bool:
    try:
        urls = [f"http://127.0.0.1:{service.port}{path}" for path in service.ready_paths]
        return all(session.get(url, timeout=5).status_code == 200 for url in urls)
    except requests.RequestException:
        return False


def _check_alive(configured: Settings, running: Running, *, late: bool) -> None:
    log = processes.log_path(configured.run_dir, running.name)
    if not running.is_alive:
        raise Failure(f"{running.name} ended instead of starting.", log)
    if late:
        raise Failure(
            f"{running.name} (process {running.pid}) did not get ready within {START_S:.0f} s; try `make stop`, then `make dev`.",
            log,
        )
