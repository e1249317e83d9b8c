"""One answer, written as a table for people or as JSON, YAML, CSV or names for programs."""

import csv
import io
import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from fedcompute.text import clean

if TYPE_CHECKING:
    from rich.console import Console

type Row = Sequence[object]

ANY_WIDTH = 10_000  # a table that goes into a file or a program breaks no line


@dataclass(frozen=True)
class View:
    """What there is to write: the gateway's own bytes, rows with their columns, names, and how a table is drawn."""

    raw: bytes
    columns: Sequence[str]
    rows: Sequence[Row]
    names: Sequence[str]
    draw: Callable[["Console"], None]


def show(view: View, output: str) -> None:
    """Writes a view to the standard output."""
    _WRITERS[output](view)


def echo(text: str) -> None:
    """One line on the standard output."""
    click.echo(clean(text, len(text)))


def note(text: str) -> None:
    """One line on the standard error: about the answer, and no part of it."""
    click.echo(f"fedcompute: {clean(text, len(text))}", err=True)


def console() -> "Console":
    """A terminal as it is; for a pipe or a file plain text of any width."""
    from rich.console import Console

    if sys.stdout.isatty():
        return Console(highlight=False, markup=False, emoji=False)
    return Console(highlight=False, markup=False, emoji=False, width=ANY_WIDTH, color_system=None, file=sys.stdout)


def _table(view: View) -> None:
    view.draw(console())


def _json(view: View) -> None:
    """The bytes as they came; a terminal gets the line break that they lack."""
    sys.stdout.buffer.write(view.raw + (b"\n" if sys.stdout.isatty() else b""))


def _yaml(view: View) -> None:
    import yaml

    value = json.loads(view.raw)
    click.echo(yaml.safe_dump(value, sort_keys=False, allow_unicode=True, width=ANY_WIDTH), nl=False)


def _csv(view: View) -> None:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(view.columns)
    writer.writerows([clean(cell, len(cell)) if isinstance(cell, str) else cell for cell in row] for row in view.rows)
    click.echo(text.getvalue(), nl=False)


def _name(view: View) -> None:
    for name in view.names:
        echo(name)


_WRITERS: dict[str, Callable[[View], None]] = {
    "table": _table,
    "json": _json,
    "yaml": _yaml,
    "csv": _csv,
    "name": _name,
}
