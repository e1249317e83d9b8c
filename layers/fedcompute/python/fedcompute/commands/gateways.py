"""fedcompute gateways: those of the configuration."""

import click

from fedcompute.commands import config
from fedcompute.commands.output import echo, note


@click.command()
def gateways() -> None:
    """The gateways of the configuration: name, address, and * for the default one."""
    held = config.read()
    if not held.gateways:
        note(f"{config.path()} names none; without it the gateway is {config.LOCAL}.")
    for name, one in held.gateways.items():
        echo(f"{'*' if name == held.default else ' '} {name}  {one.url}")
