"""A search's answer as a person reads it: what fits, who answered, and why the rest does not fit."""

from collections.abc import Iterable
from typing import Any

from rich import box
from rich.table import Table

from scripts.terminal import console, heading, line

CANDIDATE = ("#", "score", "provider", "node", "GPU", "free\nMiB", "\n%", "free\ncores", "free\nGiB", "copies")
OUTCOME = ("provider", "outcome", "nodes", "fit", "ms")
WORDS = ("provider", "node", "GPU", "outcome")  # columns of words; the others hold numbers


def show(answer: dict[str, Any]) -> None:
    """Prints the candidates, the providers' outcomes and the rejections of a search."""
    shown, total = len(answer["candidates"]), answer["total_candidates"]
    count = f"{total} candidates" if shown == total else f"the best {shown} of {total} candidates"
    heading(f"Sample search: {answer['feasibility']}, {count}, {answer['took_ms']} ms")
    if shown:
        _print(CANDIDATE, map(_candidate, answer["candidates"]))
    heading("Who answered")
    _print(OUTCOME, map(_outcome, answer["providers"]))
    heading(f"Why {answer['rejections']['nodes']} nodes do not fit (a node may have several reasons)")
    for reason, nodes in answer["rejections"]["by_reason"].items():
        line(f"{nodes:>5}  {reason}")
    for warning in answer["warnings"]:
        line(f"Warning from {_place(warning)}: {warning['message']}")


def _candidate(one: dict[str, Any]) -> tuple[str, ...]:
    node, devices = one["node"], one["devices"]
    device = devices[0] if devices else {}
    return (
        str(one["rank"]),
        f"{one['score']:.3f}",
        one["provenance"]["provider_id"],
        node["name"],
        _models(devices),
        _known(device.get("memory_available_mib")),
        _known(device.get("compute_available_percent")),
        _scaled(node["cpu"]["available_millicores"], 1000),
        _scaled(node["memory"]["available_bytes"], 1 << 30),
        str(one["copies"]),
    )


def _outcome(one: dict[str, Any]) -> tuple[str, ...]:
    outcome = one["outcome"] if not one["message"] else f"{one['outcome']}: {one['message']}"
    return one["id"], outcome, _known(one["nodes"]), _known(one["candidates"]), _known(one["took_ms"])


def _models(devices: list[dict[str, Any]]) -> str:
    """The model that all devices of a candidate share, without the vendor's name before it."""
    if not devices:
        return "-"
    model: str = devices[0]["model"].removeprefix(devices[0].get("vendor", "")).strip()
    return model if len(devices) == 1 else f"{len(devices)} x {model}"


def _place(warning: dict[str, Any]) -> str:
    return ", ".join(warning[part] for part in ("provider_id", "node") if warning.get(part)) or "the gateway"


def _scaled(amount: int | None, unit: int) -> str:
    return "-" if amount is None else f"{amount / unit:.0f}"


def _known(value: Any) -> str:
    return "-" if value is None else str(value)


def _print(columns: Iterable[str], rows: Iterable[tuple[str, ...]]) -> None:
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, padding=0, pad_edge=False)
    for column in columns:
        is_word = column in WORDS
        table.add_column(column, justify="left" if is_word else "right", vertical="bottom", no_wrap=column != "outcome")
    for row in rows:
        table.add_row(*row)
    console.print(table, soft_wrap=False)
