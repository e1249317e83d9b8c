"""The options that most commands have: which gateway, and how the answer is written."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from fedcompute.commands import config

if TYPE_CHECKING:
    from fedcompute.client import Client

FORMATS = ("table", "json", "yaml", "csv", "name")

type Command = Callable[..., Any]


def gateway_option(command: Command) -> Command:
    """--gateway, a name or an address."""
    return click.option(
        "--gateway",
        "-g",
        metavar="NAME|URL",
        envvar="FEDCOMPUTE_URL",
        shell_complete=_gateways,
        help=f"Which gateway: its name in the configuration, or its URL.  [default: {config.LOCAL}]",
    )(command)


def output_option(command: Command) -> Command:
    """--output, one of FORMATS."""
    return click.option(
        "--output",
        "-o",
        type=click.Choice(FORMATS),
        default="table",
        show_default=True,
        envvar="FEDCOMPUTE_OUTPUT",
        help="json is the gateway's own answer, unchanged.",
    )(command)


def provider_argument(*, many: bool = False) -> Callable[[Command], Command]:
    """The ids of providers, completed from the registry."""
    return click.argument(
        "ids" if many else "provider_id",
        metavar="ID..." if many else "ID",
        nargs=-1 if many else 1,
        required=True,
        shell_complete=_provider_ids,
    )


def connect(gateway: str | None, *, at_most_s: float | None = None) -> "Client":
    """A client of the chosen gateway."""
    from fedcompute.client import DEFAULT_TIMEOUT_S, Client

    one = config.chosen(gateway, config.read())
    timeout = at_most_s or one.timeout_s or DEFAULT_TIMEOUT_S
    try:
        return Client(one.url, config.key_for(one), timeout=timeout)
    except ValueError as error:
        text = str(error)
        raise click.UsageError(f"{text[:1].upper()}{text[1:]}.") from error


def _gateways(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    try:
        return [name for name in config.read().gateways if name.startswith(incomplete)]
    except click.UsageError:
        return []


def _provider_ids(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """Nothing, rather than an error in the middle of a line that a person types."""
    from fedcompute.client_errors import GatewayError

    try:
        with connect(context.params.get("gateway"), at_most_s=1) as gateway:
            page = next(gateway.pages())
    except (GatewayError, click.UsageError):
        return []
    return [one.id for one in page.providers if one.id.startswith(incomplete)]
