"""fedcompute top: what the federation has, and what of it is free."""

import time
from typing import TYPE_CHECKING

import click

from fedcompute.client_errors import GatewayError
from fedcompute.commands.failures import lines
from fedcompute.commands.options import connect, gateway_option, output_option
from fedcompute.commands.output import View, console, show
from fedcompute.overview import Resources

if TYPE_CHECKING:
    from rich.console import RenderableType

    from fedcompute.client import Client

_COLUMNS = (
    *("provider_id", "nodes", "devices", "devices_healthy", "devices_unused", "slots_available", "slots_total"),
    *("memory_available_mib", "memory_total_mib", "available_millicores", "total_millicores"),
    *("available_bytes", "total_bytes"),
)


@click.command()
@click.option("--watch", "-w", is_flag=True, help="Keep it on the screen; end with Ctrl-C.")
@click.option(
    "--every", type=click.IntRange(1, 3600), default=5, show_default=True, metavar="SECONDS", help="With --watch."
)
@gateway_option
@output_option
def top(gateway: str | None, output: str, every: int, *, watch: bool) -> None:
    """What the federation has, and what of it is free: by provider and by model."""
    if watch and output != "table":
        raise click.UsageError("--watch is for tables; leave it out to write one answer.")
    with connect(gateway) as client:
        if watch:
            _watch(client, every)
        else:
            show(_view(client.resources()), output)


def _view(answer: Resources) -> View:
    from fedcompute.commands.overview import draw_overview

    rows = [
        (
            *(one.provider_id, one.nodes, one.devices.count, one.devices.healthy, one.devices.unused),
            *(one.devices.slots_available, one.devices.slots_total),
            *(one.devices.memory_available_mib, one.devices.memory_total_mib),
            *(one.cpu.available_millicores, one.cpu.total_millicores),
            *(one.memory.available_bytes, one.memory.total_bytes),
        )
        for one in answer.by_provider
    ]
    names = [one.provider_id for one in answer.by_provider]
    return View(answer.raw, _COLUMNS, rows, names, lambda screen: draw_overview(screen, answer))


def _watch(client: "Client", every: int) -> None:
    from rich.live import Live

    from fedcompute.commands.tables import is_wide

    screen = console()
    with Live(console=screen, screen=screen.is_terminal, auto_refresh=False) as live:
        try:
            while True:
                live.update(_frame(client, wide=is_wide(screen)), refresh=True)
                time.sleep(every)
        except KeyboardInterrupt:
            return


def _frame(client: "Client", *, wide: bool) -> "RenderableType":
    """What is on the screen now; a gateway that is away is told there, since it may come back."""
    from rich.console import Group
    from rich.text import Text

    from fedcompute.commands.overview import overview

    at = Text(f"{client.url}  {time.strftime('%H:%M:%S')}  Ctrl-C ends\n", style="dim")
    try:
        return Group(at, *overview(client.resources(), wide=wide, is_terminal=True))
    except GatewayError as error:
        return Group(at, *(Text(line, style="red") for line in lines(error)))
