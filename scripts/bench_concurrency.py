"""Searches at once in one process, against as many in a row: time of each, and whether the answers are the same.

python -m scripts.bench_concurrency [--shape 100x20x8] [--latency 50] [--rounds 9] [--at-once 8]
"""

from statistics import median

import click

from scripts.bench import ask, gateway


@click.command(help=__doc__)
@click.option("--shape", default="100x20x8", show_default=True, help="providers x nodes x devices")
@click.option("--latency", default=50, show_default=True, help="ms before a provider answers")
@click.option("--rounds", default=9, show_default=True)
@click.option("--at-once", default=8, show_default=True)
def main(shape: str, latency: int, rounds: int, at_once: int) -> None:
    """Runs the command."""
    row, together = [], []
    with gateway(shape, latency) as process:
        first = ask(process, at_once, at_once=at_once)["ranked"]  # warms up, and makes the connections
        for _ in range(rounds):
            row.append(sum(ask(process, at_once)["wall"]) / at_once)
            found = ask(process, at_once, at_once=at_once)
            together.append(found["wall"][0] / at_once)
            if any(ranked != first[0] for ranked in (*first, *found["ranked"])):
                raise click.ClickException("searches at once have found something else than a search alone")
    ratio = median(one / other for one, other in zip(together, row, strict=True))
    click.echo(f"{shape}, {latency} ms, {at_once} searches, medians of {rounds} rounds; all answers the same")
    click.echo(f"  in a row {median(row) * 1000:.1f} ms each, at once {median(together) * 1000:.1f}: {ratio:.2f}")


if __name__ == "__main__":
    main()
