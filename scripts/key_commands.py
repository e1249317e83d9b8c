"""The commands of scripts.keys. A key is printed once, when it is made; the table holds only its hash."""

import getpass
import json
import os
from dataclasses import asdict, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import click
from rich.table import Column, Table

from chalicelib.keys import PRINCIPAL, ROLES, Key, digest_of, new_id, new_secret, text_of
from chalicelib.master_key import MasterKey
from chalicelib.registry import Registry
from chalicelib.signing import Signing
from fedcompute.errors import Problem
from fedcompute.log import Log
from fedcompute.provider import ProviderRecord
from fedcompute.text import clean
from scripts.key_table import TARGETS, KeyTable, client_of
from scripts.terminal import Failure, console, errors

HIDDEN = ("digest",)


class Commands(click.Group):
    """A group whose failures are told in a line."""

    def invoke(self, ctx: click.Context) -> Any:
        """Runs a command; exit status 1 where it could not do its work."""
        try:
            return super().invoke(ctx)
        except (Failure, Problem) as failure:
            errors.print(failure.detail if isinstance(failure, Problem) else str(failure), markup=False)
            ctx.exit(1)


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "show_default": True})
@click.option("--target", type=click.Choice(list(TARGETS)), default="emulator", help="Where the table is.")
@click.option("--endpoint", help="The DynamoDB endpoint, in place of the target's own.")
@click.option("--table", envvar="REGISTRY_TABLE", default="fedcompute", help="The registry's table.")
@click.option("--region", help="On AWS: the region, in place of the environment's.")
@click.option("--output", type=click.Choice(["table", "json"]), default="table", help="For people or for programs.")
@click.pass_context
def keys(ctx: click.Context, *, target: str, endpoint: str | None, table: str, region: str | None, output: str) -> None:
    """Who may call the gateway, and which key each provider has."""
    client = client_of(target, endpoint, region)
    ctx.obj = {"keys": KeyTable(client, table), "registry": Registry(lambda: client, table), "output": output}


@keys.command()
@click.option("--principal", required=True, help="Whose key it is; owns the providers that it registers.")
@click.option("--role", "roles", type=click.Choice(ROLES), multiple=True, required=True, help="May be given again.")
@click.option("--days", type=click.IntRange(0), default=90, help="Until it expires; 0: never.")
@click.pass_obj
def create(obj: dict[str, Any], principal: str, roles: tuple[str, ...], days: int) -> None:
    """Make a key and print it, once."""
    if not PRINCIPAL.fullmatch(principal):
        raise click.BadParameter("must be 1 to 64 letters, digits or ._@-", param_hint="--principal")
    now, secret = datetime.now(UTC), new_secret()
    expires_at = _text(now + timedelta(days=days)) if days else None
    chosen = tuple(role for role in ROLES if role in roles)
    key = Key(new_id(), digest_of(secret), principal, chosen, created_at=_text(now), expires_at=expires_at)
    obj["keys"].add(key)
    _audit("create", key)
    _show_secret(obj, key, text_of(key.key_id, secret))


@keys.command("list")
@click.pass_obj
def list_(obj: dict[str, Any]) -> None:
    """Show every key, without its secret."""
    found = obj["keys"].all()
    rows = [_public(key) for key in found]
    if obj["output"] == "json":
        click.echo(json.dumps(rows, indent=2))
        return
    key_id = Column("key id", min_width=16, no_wrap=True)  # whole in any terminal: it is what one copies
    columns = Table(key_id, "principal", "roles", "state", "created", "expires", "rotated", box=None)
    for row in rows:
        times = [(row[name] or "-")[:10] for name in ("created_at", "expires_at", "rotated_at")]
        columns.add_row(row["key_id"], row["principal"], " ".join(row["roles"]), row["state"], *times)
    console.print(columns)


@keys.command()
@click.argument("key_id")
@click.pass_obj
def rotate(obj: dict[str, Any], key_id: str) -> None:
    """Replace a secret and print it, once.

    The old one stops within 30 s.
    """
    secret, now = new_secret(), _text(datetime.now(UTC))
    key = obj["keys"].change(key_id, lambda old: replace(old, digest=digest_of(secret), rotated_at=now))
    _audit("rotate", key)
    _show_secret(obj, key, text_of(key_id, secret))


@keys.command()
@click.argument("key_id")
@click.pass_obj
def revoke(obj: dict[str, Any], key_id: str) -> None:
    """End a key for good; it stops within 30 s."""
    now = _text(datetime.now(UTC))
    key = obj["keys"].change(key_id, lambda old: replace(old, disabled=True, revoked_at=now))
    _audit("revoke", key)
    _tell(obj, _public(key), f"The key {key_id} of {key.principal} is revoked.")


@keys.command("rotate-provider")
@click.argument("provider_id")
@click.option("--master-key", default=lambda: os.environ.get("MASTER_KEY", ""), help="As the gateway's MASTER_KEY.")
@click.option("--overlap-hours", type=click.IntRange(0, 24 * 30), default=24, help="How long the old key counts too.")
@click.pass_obj
def rotate_provider(obj: dict[str, Any], provider_id: str, master_key: str, overlap_hours: int) -> None:
    """Make a provider's next key and print it, once.

    It is for PROVIDER_KEY; the one before counts too until the overlap ends.
    """
    signing = Signing(MasterKey(master_key))
    signing.require_key()
    until = _text(datetime.now(UTC) + timedelta(hours=overlap_hours)) if overlap_hours else None

    def next_key(record: ProviderRecord) -> ProviderRecord:
        return record.model_copy(update={"key_version": record.key_version + 1, "old_key_until": until})

    record = obj["registry"].replace(provider_id, next_key)
    versions = {"version_from": record.version - 1, "version_to": record.version, "key_version": record.key_version}
    _write_audit("rotate-provider", provider_id=record.id, **versions, old_key_until=until)
    row = {"provider_id": record.id, "key_version": record.key_version, "old_key_until": until}
    told = f"The key of {record.id}, shown this once; the old one counts until {until or 'now'}:"
    _tell(obj, {**row, "key": signing.key_of(record)}, told, signing.key_of(record))


def _audit(action: str, key: Key) -> None:
    _write_audit(action, key_id=key.key_id, principal=key.principal, roles=key.roles, expires_at=key.expires_at)


def _write_audit(action: str, **what: Any) -> None:
    """A line like the gateway's own, on stderr: who changed what. No secret and no hash stands in it."""
    try:
        operator = clean(getpass.getuser(), 64)
    except (KeyError, OSError):  # a container's user may have no name
        operator = str(os.getuid())
    Log("keys").write("INFO", "audit", operator=operator, action=action, **what)


def _show_secret(obj: dict[str, Any], key: Key, text: str) -> None:
    told = f"The key {key.key_id} of {key.principal} ({' '.join(key.roles)}), shown this once:"
    _tell(obj, {**_public(key), "key": text}, told, text)


def _public(key: Key) -> dict[str, Any]:
    shown = {name: value for name, value in asdict(key).items() if name not in HIDDEN}
    return {**shown, "state": key.state(datetime.now(UTC))}


def _tell(obj: dict[str, Any], row: dict[str, Any], *lines: str) -> None:
    if obj["output"] == "json":
        click.echo(json.dumps(row, indent=2))
        return
    click.echo(lines[0], err=len(lines) > 1)  # the key alone is on stdout
    for line in lines[1:]:
        click.echo(line)


def _text(time: datetime) -> str:
    return time.isoformat(timespec="seconds").replace("+00:00", "Z")
