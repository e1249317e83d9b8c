"""fedcompute providers add, edit, enable, disable, remove: what changes the registry."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from fedcompute.commands.amounts import Milliseconds
from fedcompute.commands.failures import NONE
from fedcompute.commands.options import Command, connect, gateway_option, output_option, provider_argument
from fedcompute.commands.output import note, show
from fedcompute.commands.providers import checked, for_each, record_view
from fedcompute.commands.wanted import labels

if TYPE_CHECKING:
    from fedcompute.client import Client
    from fedcompute.records import Record

EDITABLE = ("name", "base_url", "enabled", "timeout_ms", "labels")


def _field_options(command: Command) -> Command:
    for option in (
        click.option("--label", multiple=True, metavar="KEY=VALUE", help="A label; may be repeated."),
        click.option("--timeout", type=Milliseconds(), help="The most that one call may take: 1500ms, 2s."),
        click.option("--name", help="For people."),
    ):
        command = option(command)
    return command


@click.command()
@click.argument("provider_id", metavar="ID")
@click.argument("url")
@_field_options
@click.option("--disabled", is_flag=True, help="Register it without letting searches ask it.")
@click.option("--no-check", is_flag=True, help="Do not ask it at once.")
@gateway_option
@output_option
def add(provider_id: str, url: str, gateway: str | None, output: str, *, no_check: bool, **flags: Any) -> None:
    """Register a provider: its inventory is at URL plus /api/v1/inventory. It is asked at once, to see that it answers."""
    body = {"id": provider_id, "base_url": url, "enabled": not flags["disabled"], "labels": labels(flags["label"])}
    body |= {"name": flags["name"] or provider_id}
    if flags["timeout"] is not None:
        body["timeout_ms"] = flags["timeout"]
    with connect(gateway) as client:
        record = client.register(body)
        show(record_view(record), output)
        if record.key is not None:
            _tell_key(record, output)
        elif not no_check:
            _tell_check(client, provider_id)


@click.command()
@provider_argument()
@_field_options
@click.option("--url", help="Its address.")
@click.option("--remove-label", multiple=True, metavar="KEY", help="Take a label away; may be repeated.")
@gateway_option
@output_option
@click.pass_context
def edit(context: click.Context, /, provider_id: str, gateway: str | None, output: str, **flags: Any) -> None:
    """Change a record by flags; without any, in your editor. What somebody else changed meanwhile is not overwritten."""
    changes = {name: flags[flag] for name, flag in _FLAG_OF.items() if flags[flag] is not None}
    moved = labels(flags["label"]) | dict.fromkeys(flags["remove_label"])
    if moved:
        changes["labels"] = moved
    with connect(gateway) as client:
        record = client.get(provider_id)
        if changes:
            show(record_view(client.patch(provider_id, changes, record.version)), output)
            return
        wanted = _edited(record)
        if wanted is None:
            note("Nothing was changed.")
            context.exit(NONE)
        show(record_view(client.replace(provider_id, wanted, record.version)), output)


@click.command()
@provider_argument(many=True)
@gateway_option
def enable(ids: Sequence[str], gateway: str | None) -> None:
    """Let searches ask these providers. Where providers have keys, one must have passed a check before."""
    with connect(gateway) as client:
        for_each(ids, lambda one: _enabled(client.patch(one, {"enabled": True})))


@click.command()
@provider_argument(many=True)
@gateway_option
def disable(ids: Sequence[str], gateway: str | None) -> None:
    """Keep searches from asking these providers; their records stay."""
    with connect(gateway) as client:
        for_each(ids, lambda one: f"{client.patch(one, {'enabled': False}).id} is disabled")


@click.command()
@provider_argument(many=True)
@click.option("--yes", "-y", is_flag=True, help="Do not ask whether you are sure.")
@gateway_option
def remove(ids: Sequence[str], gateway: str | None, *, yes: bool) -> None:
    """Take providers out of the registry. To keep the record, disable them instead."""
    if not yes:
        click.confirm(f"Remove {', '.join(ids)}?", abort=True, err=True)

    def removed(one: str) -> str:
        client.remove(one)
        return f"{one} is removed"

    with connect(gateway) as client:
        for_each(ids, removed)


_FLAG_OF = {"name": "name", "base_url": "url", "timeout_ms": "timeout"}


def _tell_key(record: "Record", output: str) -> None:
    """What comes between registering a provider that has a key and asking it."""
    shown = f" It is {record.key}." if output in ("csv", "name") else ""
    note(
        f"The provider's key is shown this once.{shown} Give it to the provider as PROVIDER_KEY; "
        f"searches ask it once it has passed: fedcompute providers check {record.id}"
    )


def _enabled(record: "Record") -> str:
    """Whether searches ask it now; to ask for that is not enough where a check has to pass first."""
    if record.enabled:
        return f"{record.id} is enabled"
    return f"{record.id} stays disabled until it has passed: fedcompute providers check {record.id}"


def _tell_check(client: "Client", provider_id: str) -> None:
    answer = client.check(provider_id)
    if answer.provider.is_answered:
        note(checked(answer))
    else:
        note(
            f"Registered, but it does not answer well: {checked(answer)}. Mend it and see: fedcompute providers check {provider_id}"
        )


def _edited(record: "Record") -> dict[str, Any] | None:
    """What a person's editor made of the record; None where that is the same."""
    import yaml

    held = {name: getattr(record, name) for name in EDITABLE}
    text = click.edit(yaml.safe_dump(held, sort_keys=False, allow_unicode=True), extension=".yaml")
    try:
        wanted = None if text is None else yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise click.UsageError(f"That is no YAML; nothing was changed. {error}") from error
    if wanted is not None and not isinstance(wanted, dict):
        raise click.UsageError("A record is a list of names and values; nothing was changed.")
    return None if wanted == held else wanted
