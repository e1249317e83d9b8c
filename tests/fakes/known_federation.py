"""Whole searches without a network: providers that answer at once with the nodes that a test gives them."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from chalicelib.asking import Asking, Consider
from chalicelib.calls import Reply
from chalicelib.division import Division, Invoke
from chalicelib.inventories import Answered, ProviderEntry
from chalicelib.registry import Registry
from chalicelib.search import search
from fedcompute.inventory import Inventory, Node
from fedcompute.provider import ProviderRecord
from fedcompute.request import SearchRequest
from fedcompute.survey import Surveyed, survey

type Having = Mapping[str, Sequence[Node]]


def a_search(
    wanted: SearchRequest,
    having: Having,
    invoke: Invoke | None = None,
    providers_each: int = 1000,
    on_error: Callable[[str, BaseException], None] = lambda *_: None,
) -> dict[str, Any]:
    """The answer; divided among invocations where `invoke` is given."""
    division = Division(an_asking(having), invoke, providers_each, on_error)
    return search(wanted, cast("Registry", _Registered(list(having))), division).answer


def an_asking(having: Having) -> Asking:
    """The fan-out to these providers."""
    return cast("Asking", _Having(having))


class _Registered:
    def __init__(self, provider_ids: Sequence[str]) -> None:
        self._provider_ids = provider_ids

    def all(self) -> list[ProviderRecord]:
        return [
            ProviderRecord(id=one, name=one, base_url="http://lab", version=1, created_at="", updated_at="")
            for one in self._provider_ids
        ]


class _Having:
    def __init__(self, nodes: Having) -> None:
        self._nodes = nodes

    def ask(self, records: Sequence[ProviderRecord], deadline: float, consider: Consider) -> list[Answered]:
        answers = []
        for record in records:
            inventory = Inventory(provider_id=record.id, nodes=list(self._nodes[record.id]))
            entry = ProviderEntry(id=record.id, name=record.name, outcome="ok", nodes=len(inventory.nodes))
            surveyed = Surveyed(inventory, [survey(node) for node in inventory.nodes])
            answers.append(Answered(record, entry, Reply("ok"), surveyed, source=inventory.source))
            consider(answers[-1])
        return answers
