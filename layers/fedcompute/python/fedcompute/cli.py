"""The command line: `fedcompute`. Its commands are in fedcompute.commands."""

import sys

try:
    import click
except ImportError:  # pragma: no cover (installed without its extra)
    sys.exit("The command line needs click; install it with: pip install 'fedcompute[cli]'")

from fedcompute import __version__
from fedcompute.client_errors import GatewayError
from fedcompute.commands.failures import Misused, failure
from fedcompute.commands.lazy import LazyGroup

_HERE = "fedcompute.commands"


class Main(LazyGroup):
    """All commands; what goes wrong becomes a line and an exit status."""

    def invoke(self, ctx: click.Context) -> object:
        """Runs the command."""
        try:
            return super().invoke(ctx)
        except GatewayError as error:
            raise failure(error) from error
        except click.exceptions.NoArgsIsHelpError:
            raise
        except click.UsageError as error:
            raise Misused(error) from error


@click.group(
    cls=Main,
    lazily={
        "search": (f"{_HERE}.search:search", "Where can this job run now?"),
        "why": (f"{_HERE}.why:why", "Why does this node not take the job?"),
        "top": (f"{_HERE}.top:top", "What the federation has, and what of it is free."),
        "providers": (f"{_HERE}.providers:providers", "Who is asked: list, add, check, change, remove."),
        "inventory": (f"{_HERE}.inventory:inventory", "Check a file that a provider would serve."),
        "gateways": (f"{_HERE}.gateways:gateways", "The gateways of the configuration."),
        "completion": (f"{_HERE}.completion:completion", "Make the shell complete commands and ids."),
    },
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(__version__, message="%(prog)s %(version)s")
def main() -> None:
    """Where, among many compute owners, can this job run now?

    Exit status: 0 done, or candidates were found; 1 none was; 2 wrong usage; 3 the gateway can't answer.
    """
