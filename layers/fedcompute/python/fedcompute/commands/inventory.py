"""fedcompute inventory check: is a file what a provider may serve?"""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
import msgspec

from fedcompute import inventory_file
from fedcompute.commands.words import counted
from fedcompute.text import clean


@click.group()
def inventory() -> None:
    """What a provider says that it has."""


@inventory.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option(
    "--output",
    "-o",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="json: one object on stdout.",
)
def check(files: Sequence[str], output: str) -> None:
    """Tell every mistake of inventory FILEs, each with its JSON pointer. `-` is the standard input.

    Exit status: 0 when all is well, 1 when something is wrong with a file.
    """
    found = [_checked(name) for name in files]
    if output == "json":
        click.echo(msgspec.json.format(msgspec.json.encode({"files": found})))
    else:
        for one in found:
            _tell(one)
    sys.exit(0 if all(one["ok"] for one in found) else 1)


def _checked(name: str) -> dict[str, Any]:
    """One file's entry: file, ok, nodes, devices, errors; the numbers are null where the file is bad."""
    shown = clean("<stdin>" if name == "-" else name)
    try:
        held = inventory_file.load(_bytes_of(name))
    except OSError as error:
        reason = error.strerror or str(error)
        faults = [("", f"can't be read: {reason[:1].lower()}{reason[1:]}")]
    except inventory_file.InventoryFileError as error:
        faults = error.faults
    else:
        devices = sum(len(node.devices) for node in held.nodes)
        return {"file": shown, "ok": True, "nodes": len(held.nodes), "devices": devices, "errors": []}
    errors = [{"pointer": place, "message": message} for place, message in faults]
    return {"file": shown, "ok": False, "nodes": None, "devices": None, "errors": errors}


def _bytes_of(name: str) -> bytes:
    return sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()


def _tell(one: dict[str, Any]) -> None:
    if one["ok"]:
        click.echo(f"{one['file']}: ok ({counted(one['nodes'], 'node')}, {counted(one['devices'], 'device')})")
    for error in one["errors"]:
        place = f"{one['file']}:{error['pointer']}" if error["pointer"] else one["file"]
        click.echo(f"{place}: {error['message']}", err=True)
