"""What went wrong, in one line that says what to do next, and the exit status that goes with it."""

import re
from collections.abc import Mapping

import click

from fedcompute.client_errors import UNEXPECTED, UNREACHABLE, GatewayError

FOUND, NONE, USAGE, GATEWAY = 0, 1, 2, 3

# The flag that fills a place of the search request.
FLAGS: Mapping[str, str] = {
    "/gpu/count": "--gpu",
    "/gpu/minimum_memory_mib": "--gpu-memory",
    "/gpu/minimum_compute_percent": "--gpu-compute",
    "/gpu/vendor": "--vendor",
    "/gpu/model": "--model",
    "/gpu/sharing": "--sharing",
    "/cpu/minimum_millicores": "--cpu",
    "/memory/minimum_bytes": "--memory",
    "/strategy": "--strategy",
    "/limit": "--limit",
    "/deadline_ms": "--deadline",
}
_NEXT: Mapping[str, str] = {
    UNREACHABLE: "Start one with `make dev`, or name yours with --gateway or FEDCOMPUTE_URL.",
    UNEXPECTED: "Is the address a gateway's? Name it with --gateway or FEDCOMPUTE_URL.",
    "unauthenticated": "Set FEDCOMPUTE_KEY, or name a key_file for this gateway in the configuration.",
    "forbidden": "Use a key that has the role for this.",
    "provider_exists": "Change it with: fedcompute providers edit ID",
    "provider_not_found": "See which there are with: fedcompute providers list",
    "version_conflict": "Somebody else changed it meanwhile; look at it and try again.",
    "registry_unavailable": "Try again in a moment.",
    "rate_limited": "Try again in a moment.",
    "incomplete": "Leave --require-all out to see what the others have.",
}


class Failure(click.ClickException):
    """The gateway can't answer, or will not."""

    exit_code = GATEWAY

    def __init__(self, error: GatewayError) -> None:
        super().__init__(error.detail)
        self.error = error

    def show(self, file: object = None) -> None:
        """Prints it on the standard error."""
        for line in lines(self.error):
            click.echo(f"fedcompute: {line}", err=True)


class Mistaken(Failure):
    """The gateway finds what was asked wrong."""

    exit_code = USAGE


class Misused(click.ClickException):
    """A command that can't be understood; told in a line, where click would tell it in four."""

    exit_code = USAGE

    def __init__(self, error: click.UsageError) -> None:
        super().__init__(error.format_message())
        self.command = error.ctx.command_path if error.ctx is not None else "fedcompute"

    def show(self, file: object = None) -> None:
        """Prints it on the standard error."""
        message = re.sub(r"^Invalid value for '(.*?)':", r"\1:", self.message)
        end = "" if message.endswith((".", "?")) else "."
        click.echo(f"fedcompute: {message}{end} See: {self.command} --help", err=True)


def failure(error: GatewayError) -> Failure:
    """An error of the gateway's as the command line's."""
    return (Mistaken if error.status in (400, 413, 415, 422) else Failure)(error)


def lines(error: GatewayError) -> list[str]:
    """One line, or one for each mistake in what was sent."""
    if error.errors:
        return [_mistake(one.get("pointer", ""), one.get("message", "")) for one in error.errors]
    found = f"{error.detail} {_NEXT.get(error.code, '')}".rstrip()
    if error.status == 500 and error.request_id:
        found += f" Its log names this request {error.request_id}."
    return [found]


def _mistake(pointer: str, message: str) -> str:
    place = FLAGS.get(pointer, pointer)
    return f"{place}: {message}." if place else f"{message[:1].upper()}{message[1:]}."
