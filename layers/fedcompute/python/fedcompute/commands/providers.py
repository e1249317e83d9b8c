"""fedcompute providers: the registry."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import click
import msgspec

from fedcompute.client_errors import GatewayError
from fedcompute.commands.failures import FOUND, GATEWAY, NONE, lines
from fedcompute.commands.lazy import LazyGroup
from fedcompute.commands.options import connect, gateway_option, output_option, provider_argument
from fedcompute.commands.output import View, echo, note, show
from fedcompute.records import CheckAnswer, Record, RecordPage

if TYPE_CHECKING:
    from rich.console import Console

_HERE = "fedcompute.commands"
_COLUMNS = (
    "id",
    "name",
    "base_url",
    "enabled",
    "timeout_ms",
    "labels",
    "owner",
    "verified_at",
    "version",
    "updated_at",
)


@click.group(
    cls=LazyGroup,
    lazily={
        "list": (f"{_HERE}.providers:list_all", "All of them."),
        "show": (f"{_HERE}.providers:show_one", "One record."),
        "check": (f"{_HERE}.providers:check", "Ask providers now, and say how that went."),
        "add": (f"{_HERE}.provider_changes:add", "Register a provider."),
        "edit": (f"{_HERE}.provider_changes:edit", "Change a record, by flags or in your editor."),
        "enable": (f"{_HERE}.provider_changes:enable", "Let searches ask providers."),
        "disable": (f"{_HERE}.provider_changes:disable", "Keep searches from asking providers."),
        "remove": (f"{_HERE}.provider_changes:remove", "Take providers out of the registry."),
    },
)
def providers() -> None:
    """Who is asked: the gateway's registry of providers."""


@click.command("list")
@gateway_option
@output_option
def list_all(gateway: str | None, output: str) -> None:
    """All providers, by id."""
    with connect(gateway) as client:
        pages = list(client.pages())
    records = [record for page in pages for record in page.providers]
    show(_view(_in_one(pages), records), output)


@click.command("show")
@provider_argument()
@gateway_option
@output_option
def show_one(provider_id: str, gateway: str | None, output: str) -> None:
    """One record."""
    with connect(gateway) as client:
        show(record_view(client.get(provider_id)), output)


@click.command()
@provider_argument(many=True)
@gateway_option
@click.pass_context
def check(context: click.Context, /, ids: Sequence[str], gateway: str | None) -> None:
    """Ask providers now, enabled or not, and say how that went.

    Exit status: 0 when all answered well, 1 when one did not, 2 for wrong usage, 3 when the gateway can't answer.
    """
    with connect(gateway) as client:
        answers = [client.check(one) for one in ids]
    for answer in answers:
        echo(checked(answer))
    context.exit(FOUND if all(answer.provider.is_answered for answer in answers) else NONE)


def checked(answer: CheckAnswer) -> str:
    """A check in a line."""
    one, held = answer.provider, answer.inventory
    if held is None:
        return f"{one.id}: {one.outcome}, {one.message or 'no inventory came'} ({one.took_ms} ms)"
    return (
        f"{one.id}: {one.outcome}, {held.nodes} nodes, {held.devices} devices ({held.devices_unused} unused), "
        f"source {held.source or 'unknown'} ({one.took_ms} ms)"
    )


def record_view(record: Record) -> View:
    """One record to be written."""

    def draw(screen: "Console") -> None:
        members = msgspec.to_builtins(record)
        labels = ", ".join(f"{key}={value}" for key, value in record.labels.items())
        for name, value in (members | {"labels": labels}).items():
            if value not in (None, ""):
                echo(f"{name:<12} {'yes' if value is True else 'no' if value is False else value}")

    return View(record.raw, _COLUMNS, [_row(record)], [record.id], draw)


def for_each(ids: Sequence[str], action: Callable[[str], str]) -> None:
    """Does something to each provider and says so; one that fails keeps none of the others from its turn."""
    is_failed = False
    for one in ids:
        try:
            echo(action(one))
        except GatewayError as error:
            note(lines(error)[0])
            is_failed = True
    if is_failed:
        raise SystemExit(GATEWAY)


def _view(raw: bytes, records: list[Record]) -> View:
    def draw(screen: "Console") -> None:
        from fedcompute.commands.registry import draw_records

        draw_records(screen, records)

    return View(raw, _COLUMNS, list(map(_row, records)), [one.id for one in records], draw)


def _in_one(pages: Sequence[RecordPage]) -> bytes:
    """The gateway's own body; of several pages one body with the records of all, as they came."""
    if len(pages) == 1:
        return pages[0].raw
    parts = [one for page in pages for one in msgspec.json.decode(page.raw, type=_RawPage).providers]
    return msgspec.json.encode(_RawPage(parts))


class _RawPage(msgspec.Struct):
    providers: list[msgspec.Raw]
    next_token: str | None = None


def _row(one: Record) -> tuple[object, ...]:
    labels = " ".join(f"{key}={value}" for key, value in one.labels.items())
    return (
        *(one.id, one.name, one.base_url, str(one.enabled).lower(), one.timeout_ms, labels),
        *(one.owner, one.verified_at, one.version, one.updated_at),
    )
