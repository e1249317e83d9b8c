"""make dev: the emulator, three providers and the gateway in the background, registered, and one search."""

import json
import time

from scripts import fleet, gateway, interrupts, inventories, processes, report, services, settings, table
from scripts.exclusive import alone
from scripts.processes import Running
from scripts.services import Service
from scripts.settings import Settings
from scripts.terminal import Failure, console, fail, heading, line


def main() -> int:
    """Runs the command. Returns its exit code."""
    try:
        with interrupts.raised():
            bring_up()
    except Failure as failure:
        fail(failure)
        return 1
    except interrupts.Interrupted as interrupted:
        console.print("\nInterrupted: what this command had started was ended.")
        return 128 + interrupted.number
    return 0


def bring_up() -> None:
    """Everything from the checks to the last line; raises Failure with nothing left half started."""
    run_dir = settings.run_dir()
    with alone(run_dir):
        started = processes.recorded(run_dir)
        configured = settings.read(remembered={name: one.port for name, one in started.items()})
        heading("Inventories")
        inventories.check()
        with fleet.up(configured, services.fleet(configured), _Arrivals(configured)):
            heading("Registry")
            for name, told in gateway.register(configured).items():
                line(f"{name} {told}")
            report.show(gateway.search(configured))
    _tell_what_next(configured)


class _Arrivals:
    """Tells of each service that answers, and makes the table as soon as there is an emulator."""

    def __init__(self, configured: Settings) -> None:
        self.configured = configured
        self.began = time.monotonic()
        self.none_yet = True

    def __call__(self, service: Service, running: Running, is_new: bool) -> None:
        if self.none_yet:
            heading("Services")
            self.none_yet = False
        if service.name == "emulator":
            table.create(self.configured)
        how = f"started in {time.monotonic() - self.began:.1f} s" if is_new else "already runs"
        line(f"{service.name:<11} {self.configured.public_url(service.name)}  {how} (process {running.pid})")


def _tell_what_next(configured: Settings) -> None:
    address = configured.public_url("gateway")
    heading("Next")
    line(f"{address}         the gateway")
    line(f"{address}/docs    its API")
    line("make logs                     what the services print")
    line("make stop                     ends them; the records stay")
    line("make stop && make dev         after a change of code")
    body = json.dumps({"gpu": {"count": 2, "vendor": "NVIDIA"}, "strategy": "spread"})
    heading("Ask it yourself")
    for text in (
        f".venv/bin/fedcompute search --gpu 2 --vendor nvidia --strategy spread --gateway {address}",
        f"curl -s {address}{gateway.SEARCH} \\",
        "  -H 'Content-Type: application/json' \\",
        f"  -d '{body}'",
    ):
        console.print(text, markup=False)


if __name__ == "__main__":
    raise SystemExit(main())
