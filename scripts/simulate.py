"""What would a search cost? Time, GB-seconds and dollars, from constants measured on this code, against alternatives.

python -m scripts.simulate --providers 2000 --nodes 10 --rate 2 --memory 1769 [--latency 50] [--each 500] [--output json]
python -m scripts.simulate --calibrate   measures the constants anew on this machine (minutes) and keeps them

The constants stand in scripts/cost_constants.json: CPU of a search, of each provider and of each node, where nothing had
changed and the same was asked again (`repeated`) or something else (`revalidated`), where one node of each provider had
changed (`touched`), and where all was new (`changed`). docs/performance.md says what is measured and what is modelled.
"""

import json
from pathlib import Path

import click
from rich.table import Table

from scripts.bench import measure
from scripts.cost_model import PROVIDERS_EACH, Case, Constants, Cost, cost, fitted, parts_of
from scripts.terminal import console

CONSTANTS = Path(__file__).with_name("cost_constants.json")
SHAPES = ("3x4x8", "30x20x8", "100x20x8", "300x5x8")
ALTERNATIVE = 4  # parts, to compare with where a deployed gateway does not divide


@click.command(help=__doc__)
@click.option("--providers", default=100, show_default=True, type=click.IntRange(1))
@click.option("--nodes", default=20, show_default=True, type=click.IntRange(0), help="of each provider")
@click.option("--latency", default=50.0, show_default=True, help="ms until the slowest provider answers")
@click.option("--rate", default=1.0, show_default=True, help="searches a second")
@click.option("--memory", default=1769, show_default=True, type=click.IntRange(128, 10240), help="MB of the function")
@click.option("--each", default=PROVIDERS_EACH, show_default=True, type=click.IntRange(1), help="SEARCH_PART_PROVIDERS")
@click.option("--output", type=click.Choice(["table", "json"]), default="table", show_default=True)
@click.option("--calibrate", is_flag=True)
def main(*, calibrate: bool, output: str, rate: float, each: int, **asked: float) -> None:
    """Runs the command."""
    if calibrate:
        CONSTANTS.write_text(json.dumps(_calibrated(), indent=2) + "\n")
        console.print(f"Constants written to {CONSTANTS.name}.", markup=False)
        return
    case = Case(int(asked["providers"]), int(asked["nodes"]), asked["latency"], int(asked["memory"]))
    deployed = parts_of(case.providers, each)
    found = {}
    for way, constants in _constants().items():
        for parts in sorted({1, deployed if deployed > 1 else min(ALTERNATIVE, case.providers)}):
            name = f"{way}, {_described(parts)}"
            found[name] = cost(case._replace(parts=parts), constants)
    if output == "json":
        click.echo(json.dumps({name: one._asdict() for name, one in found.items()}, indent=2))
    else:
        console.print(_table(case, found, rate))
        divides = f"A gateway with SEARCH_PART_PROVIDERS={each} asks so many providers {_described(deployed)}."
        console.print(divides, markup=False)


def _described(parts: int) -> str:
    return "whole" if parts == 1 else f"in {parts} parts"


def _constants() -> dict[str, Constants]:
    return {way: Constants(**values) for way, values in json.loads(CONSTANTS.read_text()).items()}


def _calibrated() -> dict[str, dict[str, float]]:
    measured: dict[str, list[tuple[int, int, float]]] = {}
    for shape in SHAPES:
        providers, nodes, _ = map(int, shape.split("x"))
        for way, one in measure(shape, latency=0, rounds=7, n=5).items():
            console.print(f"  {shape} {way}: {one['cpu']:.2f} ms of CPU", markup=False)
            measured.setdefault(way, []).append((providers, nodes, one["cpu"]))
    return {way: fitted(rows)._asdict() for way, rows in measured.items()}


def _table(case: Case, found: dict[str, Cost], rate: float) -> Table:
    asked = f"{case.providers} providers of {case.nodes} nodes, {case.latency_ms:g} ms away"
    title = f"{asked}, {case.memory_mb} MB, {rate:g} searches a second"
    table = Table("inventories, search", "ms", "cpu ms", "GB-s", "$ per million", "$ a month", title=title, box=None)
    for name, one in found.items():
        amounts = (f"{one.wall_ms:.0f}", f"{one.cpu_ms:.1f}", f"{one.gb_seconds:.3f}")
        table.add_row(name, *amounts, f"{one.dollars:.2f}", f"{one.dollars_a_month(rate):.2f}")
    return table


if __name__ == "__main__":
    main()
