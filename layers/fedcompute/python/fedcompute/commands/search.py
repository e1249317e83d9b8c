"""fedcompute search: where can this job run now?"""

from typing import TYPE_CHECKING, Any

import click

from fedcompute.answer import Candidate, SearchAnswer
from fedcompute.client_errors import IncompleteError
from fedcompute.commands.failures import FOUND, GATEWAY, NONE, Failure
from fedcompute.commands.options import connect, gateway_option, output_option
from fedcompute.commands.output import View, note, show
from fedcompute.commands.wanted import request_from, request_options

if TYPE_CHECKING:
    from fedcompute.client import Client

_COLUMNS = (
    *("rank", "score", "provider_id", "node", "vendor", "model", "devices", "copies"),
    *("available_millicores", "total_millicores", "available_bytes", "total_bytes"),
    *("memory_available_mib", "memory_total_mib", "compute_available_percent", "age_ms"),
)


@click.command()
@request_options
@click.option("--no-explain", is_flag=True, help="Leave out the nearest nodes that do not fit.")
@click.option(
    "--hint",
    type=click.IntRange(min=1),
    is_flag=False,
    flag_value=1,
    metavar="[RANK]",
    help="Print only what to paste for one candidate, the first or that of a rank: a manifest for kubectl.",
)
@gateway_option
@output_option
@click.pass_context
def search(
    context: click.Context, /, gateway: str | None, output: str, hint: int | None, *, no_explain: bool, **flags: Any
) -> None:
    """Where can this job run now? Nodes that fit, the best first.

    \b
    fedcompute search --gpu 1 --gpu-memory 30GiB --gpu-compute 50
    fedcompute search --cpu 4 --memory 16GiB --provider lab-a
    fedcompute search --gpu 1 --gpu-memory 30GiB --hint | kubectl create -f -

    Exit status: 0 with candidates, 1 with none, 2 for wrong usage, 3 when the gateway can't answer.
    """
    body = request_from(flags, **({"explain": False} if no_explain else {}))
    with connect(gateway) as client:
        answer, missing = _found(client, body)
    if hint is None:
        show(_view(answer), output)
    elif missing is None:
        _print_hint(answer, hint)
    if missing is not None:
        Failure(missing).show()
        context.exit(GATEWAY)
    context.exit(FOUND if answer.candidates else NONE)


def _found(client: "Client", body: dict[str, Any]) -> tuple[SearchAnswer, IncompleteError | None]:
    """The answer; and the error where it is not the whole one that was required."""
    try:
        return client.search(body), None
    except IncompleteError as error:
        return error.answer, error


def _view(answer: SearchAnswer) -> View:
    from fedcompute.commands.candidates import draw_answer

    names = [f"{one.provenance.provider_id}/{one.node.name}" for one in answer.candidates]
    return View(
        answer.raw, _COLUMNS, list(map(_row, answer.candidates)), names, lambda screen: draw_answer(screen, answer)
    )


def _row(one: Candidate) -> tuple[object, ...]:
    node, devices = one.node, one.devices
    first = devices[0] if devices else None
    return (
        *(one.rank, one.score, one.provenance.provider_id, node.name),
        *((first.vendor, first.model) if first else (None, None)),
        *(" ".join(device.id for device in devices), one.copies),
        *(node.cpu.available_millicores, node.cpu.total_millicores),
        *(node.memory.available_bytes, node.memory.total_bytes),
        *((first.memory_available_mib, first.memory_total_mib) if first else (None, None)),
        first.compute_available_percent if first else None,
        one.provenance.age_ms,
    )


def _print_hint(answer: SearchAnswer, rank: int) -> None:
    one = next((one for one in answer.candidates if one.rank == rank), None)
    if one is None:
        note(f"There is no candidate {rank}; {answer.total_candidates} were found.")
        raise SystemExit(NONE)
    if one.hint is None or one.hint.kind == "contact":
        whom = one.provenance.provider_name if one.hint is None else one.hint.text
        note(f"{one.node.name} is in no cluster that takes a manifest; ask {whom}.")
        raise SystemExit(NONE)
    click.echo(one.hint.text, nl=False)
