"""A search's answer, shown as `fedcompute search` shows it."""

from typing import Any

import msgspec

from fedcompute.answer import SearchAnswer
from fedcompute.commands.candidates import draw_answer
from fedcompute.commands.output import console
from scripts.terminal import heading


def show(answer: dict[str, Any]) -> None:
    """Prints the candidates of a search and what is to be said of the rest."""
    heading("Sample search")
    draw_answer(console(), msgspec.convert(answer, SearchAnswer))
