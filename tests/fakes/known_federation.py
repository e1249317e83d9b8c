"""Whole searches without a network: providers that answer at once with the nodes that a test gives them."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, cast

from chalicelib.asking import Asking, Consider
from chalicelib.calls import Reply
from chalicelib.division import Division, Invoke
from chalicelib.inventories import Answered, ProviderEntry
from chalicelib.part import Sees
from chalicelib.registry import Registry
from chalicelib.search import Found, search
from fedcompute.inventory import Inventory, Node, Warning  # noqa: A004
from fedcompute.provider import ProviderRecord
from fedcompute.request import SearchRequest
from fedcompute.survey import Surveyed, survey


class Lab(NamedTuple):
    """One provider: what it has, how asking it ends, and what its record says."""

    nodes: Sequence[Node] = ()
    outcome: str = "ok"
    warnings: int = 0
    enabled: bool = True
    labels: Mapping[str, str] = {}


type Having = Mapping[str, Lab | Sequence[Node]]


def a_search(
    wanted: SearchRequest,
    having: Having,
    invoke: Invoke | None = None,
    providers_each: int = 1000,
    on_lost: Callable[[BaseException, int], None] = lambda *_: None,
) -> dict[str, Any]:
    """The answer; divided among invocations where `invoke` is given."""
    return found(wanted, having, Division(an_asking(having), invoke, providers_each, on_lost)).answer


def found(wanted: SearchRequest, having: Having, division: Division, sees: Sees = lambda _: True) -> Found:
    """What a search of such a federation finds out."""
    return search(wanted, cast("Registry", _Registered(having)), division, sees)


def an_asking(having: Having) -> Asking:
    """The fan-out to these providers."""
    return cast("Asking", _Having(having))


class _Registered:
    def __init__(self, having: Having) -> None:
        self._having = having

    def all(self) -> list[ProviderRecord]:
        made = {"base_url": "http://lab", "version": 1, "created_at": "", "updated_at": ""}
        labs = {provider_id: _lab(one) for provider_id, one in self._having.items()}
        return [
            ProviderRecord(id=name, name=f"Lab {name}", enabled=lab.enabled, labels=dict(lab.labels), **made)
            for name, lab in labs.items()
        ]


class _Having:
    def __init__(self, having: Having) -> None:
        self._having = having

    def ask(self, records: Sequence[ProviderRecord], deadline: float, consider: Consider) -> list[Answered]:
        answers = [_answered(record, _lab(self._having[record.id])) for record in records]
        for answered in answers:
            if answered.surveyed is not None:
                consider(answered)
        return answers


def _lab(one: Lab | Sequence[Node]) -> Lab:
    return one if isinstance(one, Lab) else Lab(one)


def _answered(record: ProviderRecord, lab: Lab) -> Answered:
    entry = ProviderEntry(id=record.id, name=record.name, outcome=lab.outcome)
    if lab.outcome != "ok":
        return Answered(record, entry, Reply(lab.outcome))
    inventory = Inventory(provider_id=record.id, nodes=list(lab.nodes))
    entry.nodes = len(inventory.nodes)
    entry.warnings = [
        Warning(code="odd", message=f"number {number}", provider_id=record.id) for number in range(lab.warnings)
    ]
    surveyed = Surveyed(inventory, [survey(node) for node in inventory.nodes])
    return Answered(record, entry, Reply("ok"), surveyed, source=inventory.source)
