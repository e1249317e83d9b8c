"""Tables on a terminal: what a stranger wrote is cleaned, numbers stand right, and nothing is drawn into a pipe."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from rich import box
from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from fedcompute.text import clean

type Cells = Sequence[str | Text]

WIDE = 110  # columns from which on a table shows all that it has
BAR = 8
_BLOCKS = dict.fromkeys(map(ord, "█░"))


@dataclass(frozen=True)
class Column:
    """A column: words or numbers, shown always or only where there is room; a `firm` one breaks no line."""

    title: str
    is_words: bool = False
    is_wide: bool = False
    is_firm: bool = True


def is_wide(console: Console) -> bool:
    """Whether there is room for all columns."""
    return console.width >= WIDE


def draw(console: Console, columns: Sequence[Column], rows: Iterable[Cells]) -> None:
    """Prints a table with the columns that there is room for."""
    put(console, table(columns, rows, wide=is_wide(console), is_terminal=console.is_terminal))


def put(console: Console, part: RenderableType) -> None:
    """Prints a part; for a pipe without the spaces that fill its lines up."""
    if console.is_terminal:
        console.print(part)
        return
    with console.capture() as captured:
        console.print(part)
    for text in captured.get().splitlines():
        console.out(text.rstrip(), highlight=False)


def table(columns: Sequence[Column], rows: Iterable[Cells], *, wide: bool, is_terminal: bool) -> Table:
    """A table; for a pipe one of plain lines, each row on its own."""
    shown = [place for place, column in enumerate(columns) if wide or not column.is_wide]
    lines = box.SIMPLE_HEAD if is_terminal else None
    gap = 2 if not is_terminal else 1 if wide else 0  # on a terminal beside the space that the box has
    made = Table(box=lines, show_edge=False, padding=(0, gap, 0, 0), pad_edge=False, header_style="bold")
    for place in shown:
        one = columns[place]
        made.add_column(
            one.title if is_terminal else one.title.replace("\n", " "),
            justify="left" if one.is_words else "right",
            no_wrap=one.is_firm,
            overflow="fold",
            vertical="top",
        )
    for row in rows:
        made.add_row(*(_fit(cell(row[place]), is_terminal=is_terminal) for place in shown))
    return made


def _fit(text: Text, *, is_terminal: bool) -> Text:
    """Without the blocks of a bar where nobody looks at them."""
    return text if is_terminal else Text(text.plain.translate(_BLOCKS).strip())


def cell(value: str | Text) -> Text:
    """A stranger's text, fit for a terminal."""
    return value if isinstance(value, Text) else Text(clean(value))


def heading(console: Console, text: str) -> None:
    """The name of what follows."""
    console.print()
    console.print(Text(clean(text), style="bold"))


def line(console: Console, text: str, style: str = "") -> None:
    """One line of words, broken where the terminal ends."""
    console.print(Text(clean(text, len(text)), style=style))


def bar(free: int | None, total: int | None) -> Text:
    """How much is in use, as a bar and in percent; a - where that is unknown."""
    if free is None or not total:
        return Text("-")
    used = max(0.0, min(1.0, (total - free) / total))
    full = round(used * BAR)
    return (
        Text("█" * full + "░" * (BAR - full), style=("green", "yellow", "red")[min(2, int(used * 3))]) + f" {used:4.0%}"
    )


def known(value: object) -> str:
    """A value, or - for one that is unknown."""
    return "-" if value is None else str(value)


def of(free: int | None, total: int | None, unit: Callable[[int], str], *, wide: bool) -> str:
    """What is free in a unit, `wide` also of how much: 30.4 of 48.0."""
    if free is None and total is None:
        return "-"
    left = "?" if free is None else unit(free)
    return left if not wide or total is None else f"{left} of {unit(total)}"
