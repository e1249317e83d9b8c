"""Providers' records as a table."""

from rich.console import Console

from fedcompute.commands.tables import Column, draw, line
from fedcompute.records import Record

_COLUMNS = (
    Column("id", is_words=True),
    Column("name", is_words=True, is_firm=False),
    Column("address", is_words=True, is_firm=False),
    Column("enabled", is_words=True),
    Column("timeout", is_wide=True),
    Column("labels", is_words=True, is_firm=False),
    Column("version", is_wide=True),
    Column("updated", is_words=True, is_wide=True),
)


def draw_records(console: Console, records: list[Record]) -> None:
    """Prints the records."""
    if not records:
        line(console, "No provider is registered. Add one with: fedcompute providers add ID URL")
        return
    draw(console, _COLUMNS, map(_row, records))


def _row(one: Record) -> tuple[str, ...]:
    return (
        one.id,
        one.name,
        one.base_url or "-",
        "yes" if one.enabled else "no",
        "-" if one.timeout_ms is None else f"{one.timeout_ms} ms",
        " ".join(f"{key}={value}" for key, value in one.labels.items()) or "-",
        str(one.version),
        (one.updated_at or "-")[:19].replace("T", " "),
    )
