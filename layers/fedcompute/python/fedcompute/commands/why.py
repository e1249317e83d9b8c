"""fedcompute why: does a node take the job, and if not, what does it lack?"""

from typing import TYPE_CHECKING, Any

import click

from fedcompute.answer import Candidate, Nearest, SearchAnswer
from fedcompute.commands.failures import FOUND, NONE
from fedcompute.commands.options import connect, gateway_option, output_option
from fedcompute.commands.output import View, note, show
from fedcompute.commands.wanted import request_from, request_options
from fedcompute.commands.words import counted, in_words

if TYPE_CHECKING:
    from rich.console import Console

MOST = 100  # candidates that a gateway lists

_COLUMNS = ("provider_id", "node", "reason", "have", "need", "short_by", "devices")


@click.command()
@click.argument("node")
@request_options
@gateway_option
@output_option
@click.pass_context
def why(context: click.Context, /, node: str, gateway: str | None, output: str, **flags: Any) -> None:
    """Why does NODE not take the job that a search asks for? It takes the flags of `search`.

    \b
    fedcompute why gpu-02 --gpu 1 --gpu-memory 30GiB
    fedcompute why gpu-02 --provider lab-a --gpu 1 --gpu-memory 30GiB

    The gateway explains the nearest nodes that do not fit; --provider narrows the search to where NODE is.
    Exit status: 0 when it takes the job, 1 when not, 2 for wrong usage, 3 when the gateway can't answer.
    """
    body = request_from(flags, explain=True, limit=MOST)
    with connect(gateway) as client:
        answer = client.search(body)
    taken = [one for one in answer.candidates if one.node.name == node]
    lacking = [one for one in answer.rejections.nearest if one.node == node]
    if taken or lacking or output == "json":
        show(_view(answer, taken, lacking), output)
    if not taken and not lacking:
        note(_unexplained(node, answer, flags["provider"]))
    context.exit(FOUND if taken else NONE)


def _view(answer: SearchAnswer, taken: list[Candidate], lacking: list[Nearest]) -> View:
    rows = [
        (one.provider_id, one.node, reason.reason, reason.have, reason.need, reason.short_by, reason.devices)
        for one in lacking
        for reason in one.reasons
    ]
    names = [f"{one.provider_id}/{one.node}" for one in lacking]
    return View(answer.raw, _COLUMNS, rows, names, lambda screen: _draw(screen, taken, lacking, answer))


def _draw(screen: "Console", taken: list[Candidate], lacking: list[Nearest], answer: SearchAnswer) -> None:
    from fedcompute.commands.tables import line

    for one in taken:
        place = f"{one.node.name} of {one.provenance.provider_id}"
        line(screen, f"{place} takes it: candidate {one.rank} of {answer.total_candidates}.", "green")
    for other in lacking:
        line(screen, f"{other.node} of {other.provider_id} does not take it:", "bold")
        for reason in other.reasons:
            line(screen, f"  {in_words(reason)}")


def _unexplained(node: str, answer: SearchAnswer, asked: tuple[str, ...]) -> str:
    silent = [one.id for one in answer.providers if not one.is_answered]
    if silent:
        return f"{node} is in no answer, and not all answered: {', '.join(silent)}."
    if answer.total_candidates > len(answer.candidates):
        return f"{node} is not among the first {MOST} of {answer.total_candidates} candidates; narrow the search with --provider."
    if answer.rejections.nodes <= len(answer.rejections.nearest):
        return f"No provider that was asked has a node {node}; see the names with: fedcompute search --cpu 1m -o name"
    nearer = f"{counted(answer.rejections.nodes, 'node')} do not fit, and the gateway explains the {len(answer.rejections.nearest)} nearest; {node} is not one of them"
    if not asked:
        return f"{nearer}. Narrow the search to its provider with --provider."
    return f"{nearer}. Ask for less, one thing at a time, to see which it lacks."
