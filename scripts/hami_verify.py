"""make hami-verify: what the lab's cluster says of each card against what the provider says, as a table.

python -m scripts.hami_verify [--all]

Reads nodes and pods with kubectl and adds HAMi's annotations up in its own simple way (release 2.10, whole NVIDIA cards),
then asks the provider. Ends with 0 where both agree, 1 where they do not, 2 where one of them can't be asked.
"""

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import click
import requests
from rich.table import Table

from scripts import lab, tools
from scripts.settings import Settings
from scripts.terminal import Failure, console, fail

REGISTER = "hami.io/node-nvidia-register"
ALLOCATED = "hami.io/vgpu-devices-allocated"
PLACE = "hami.io/vgpu-node"
NOT_ANSWERING_S = 15
CANNOT_ASK = 2

# How a device of the inventory spells what is compared.
FIELDS = (
    "memory_total_mib",
    "memory_available_mib",
    "compute_total_percent",
    "compute_available_percent",
    "slots_total",
    "slots_available",
)

type Amounts = dict[str, int | None]
type Cards = dict[tuple[str, str], Amounts]  # by node and uuid: the mock gives each node the same uuids


@dataclass(frozen=True)
class Row:
    """One number of one card, as each side has it; None where a side does not know the card, or the number."""

    node: str
    card: str
    field: str
    cluster: int | None
    provider: int | None

    @property
    def agrees(self) -> bool:
        """Whether both say the same."""
        return self.cluster == self.provider


@click.command(help=__doc__, context_settings={"max_content_width": 120})
@click.option(
    "--all", "everything", is_flag=True, help="Show what agrees too, not only the cards that something holds."
)
def main(everything: bool) -> None:
    """Runs the command."""
    try:
        tools.require("kubectl")
        rows = compare(_cluster_cards(), provider_cards(_inventory(lab.read())))
    except Failure as failure:
        fail(failure)
        sys.exit(CANNOT_ASK)
    show(rows, everything=everything)
    sys.exit(0 if rows and all(row.agrees for row in rows) else 1)


def cluster_cards(nodes: Sequence[Mapping[str, Any]], pods: Sequence[Mapping[str, Any]]) -> Cards:
    """What HAMi's annotations say is there and free."""
    cards: Cards = {}
    for node in nodes:
        for card in json.loads(_notes(node).get(REGISTER) or "[]"):
            totals = (card["devmem"], card["devcore"], card["count"])
            amounts = [amount for total in totals for amount in (total, total)]
            cards[node["metadata"]["name"], card["id"]] = dict(zip(FIELDS, amounts, strict=True))
    for pod in pods:
        notes = _notes(pod)
        if pod.get("status", {}).get("phase") not in ("Succeeded", "Failed"):
            for uuid, memory, cores in _held(notes.get(ALLOCATED) or ""):
                _take(cards.get((notes.get(PLACE) or "", uuid)), memory, cores)
    return cards


def provider_cards(inventory: Mapping[str, Any]) -> Cards:
    """The same of a provider's inventory."""
    return {
        (node["name"], device["id"]): {name: device.get(name) for name in FIELDS}
        for node in inventory["nodes"]
        for device in node["devices"]
    }


def compare(cluster: Cards, provider: Cards) -> list[Row]:
    """A row for each number of each card that either side knows."""
    return [
        Row(*key, field, cluster.get(key, {}).get(field), provider.get(key, {}).get(field))
        for key in sorted({*cluster, *provider})
        for field in FIELDS
    ]


def show(rows: Sequence[Row], *, everything: bool) -> None:
    """The table, and what it comes to."""
    held = {(row.node, row.card) for row in rows if row.field == "slots_available" and _is_held(row, rows)}
    table = Table("node", "card", "what", "cluster", "provider", "")
    for row in rows:
        if everything or not row.agrees or (row.node, row.card) in held:
            told = ("-" if number is None else str(number) for number in (row.cluster, row.provider))
            table.add_row(row.node, row.card, row.field, *told, "" if row.agrees else "[bold red]differs[/bold red]")
    console.print(table)
    cards, wrong = len({(row.node, row.card) for row in rows}), sum(not row.agrees for row in rows)
    console.print(f"{cards} cards, {len(rows)} numbers, {wrong} that differ.")
    if not rows:
        console.print("There is no card: has HAMi registered any? kubectl get nodes -o yaml shows its annotations.")


def _is_held(row: Row, rows: Sequence[Row]) -> bool:
    total = next(one for one in rows if (one.node, one.card, one.field) == (row.node, row.card, "slots_total"))
    return row.cluster != total.cluster


def _held(text: str) -> list[tuple[str, int, int]]:
    """uuid, MiB and percent of each device: `;` ends a container, `:` a device, whose fields are uuid,type,MiB,percent."""
    entries = [entry.split(",") for container in text.split(";") for entry in container.split(":") if entry]
    return [(entry[0], int(entry[2]), int(entry[3])) for entry in entries]


def _take(card: Amounts | None, memory: int, cores: int) -> None:
    if card is not None:
        for name, amount in (("memory", memory), ("compute", cores), ("slots", 1)):
            field = next(one for one in FIELDS if one.startswith(f"{name}_available"))
            card[field] = (card[field] or 0) - amount


def _notes(item: Mapping[str, Any]) -> Mapping[str, str]:
    return item["metadata"].get("annotations") or {}


def _cluster_cards() -> Cards:
    lists = []
    for kind in (("nodes",), ("pods", "--all-namespaces")):
        printed = tools.output("kubectl", "--context", lab.CONTEXT, "get", *kind, "-o", "json")
        lists.append(json.loads(printed)["items"])
    return cluster_cards(*lists)


def _inventory(configured: Settings) -> dict[str, Any]:
    address = f"{configured.url(lab.PROVIDER)}/api/v1/inventory"
    try:
        with requests.Session() as session:
            session.trust_env = False  # no proxy stands between two processes of one machine
            answer = session.get(address, timeout=NOT_ANSWERING_S)
    except requests.RequestException as error:
        raise Failure(f"No provider answers at {address}; run `make bootstrap` first.") from error
    if answer.status_code != 200:
        raise Failure(f"The provider answers {answer.status_code}: {answer.text[:500]}")
    inventory: dict[str, Any] = answer.json()
    return inventory


if __name__ == "__main__":
    main()
