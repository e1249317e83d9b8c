"""Two clients of a registry that may do anything, with answers lost and each other in between; a dict says what is right.

After every step both see in every list, page and record what the dict has. While no record is there, one is made next.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from fakes.fake_time import FakeTime
from fakes.registry_table import a_provider, a_table
from fakes.scripted_client import ScriptedClient, Step, after, loses_its_answer, passes, times_out
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from chalicelib import providers
from chalicelib.registry import Registry
from fedcompute.errors import Problem
from fedcompute.provider import ProviderRecord

CLIENTS = st.sampled_from([0, 1])
IDS = st.sampled_from(["a", "b-1"])
NAMES = st.sampled_from(["Lab A", "Lab B"])
OWNERS = st.sampled_from([None, "alice", "bob"])
LABELS = st.dictionaries(st.sampled_from(["region", "tier"]), st.sampled_from(["eu", "us"]))
# A number stands for the version that many below the current one.
PRECONDITIONS = st.sampled_from([None, "*", 0, 0, 1, 1])
# What becomes of a client's write.
FATES = st.sampled_from(
    [
        *["answered"] * 4,
        "answer lost",
        "request lost",
        "overtaken",
        "answer lost, then overtaken",
        "request lost, then overtaken",
    ]
)

# What the other client does to the same record where a write is overtaken; it makes one that is not there.
MEANWHILE = st.sampled_from(["changes it", "changes it", "removes it", "makes it anew"])

type Fields = dict[str, Any]  # a record's, as far as the model knows it


class Told(NamedTuple):
    """What a client is told: a problem's code or `ok`, and the record where one comes with it."""

    outcome: str
    record: Fields | None = None


@dataclass
class Ran:
    """What a run of the model did."""

    steps: Counter[str] = field(default_factory=Counter)
    fates: Counter[str] = field(default_factory=Counter)
    states: set[str] = field(default_factory=set)


class Client:
    """A registry of its own. `fate` has what becomes of its next writes; later ones are answered."""

    def __init__(self, dynamodb: Any, table: str) -> None:
        self.fate: list[Step] = []
        scripted = ScriptedClient(dynamodb, transact_write_items=self._fates())
        self.registry = Registry(lambda: scripted, table, pacing=FakeTime().pacing)

    def _fates(self) -> Iterator[Step]:
        while True:
            yield self.fate.pop(0) if self.fate else passes


class RegistryMachine(RuleBasedStateMachine):
    make_client: Callable[[], Any]
    ran: Ran

    def __init__(self) -> None:
        super().__init__()
        dynamodb = self.make_client()
        self.after = ExitStack()
        table = self.after.enter_context(a_table(dynamodb))
        self.clients = [Client(dynamodb, table) for _ in range(2)]
        self.model: dict[str, Fields] = {}

    def teardown(self) -> None:
        self.after.close()

    @initialize(present=st.sets(IDS))
    def begin(self, present: set[str]) -> None:
        for provider_id in sorted(present):
            self.overtake(self.clients[0].registry, provider_id, "makes it anew")

    @rule(client=CLIENTS, provider_id=IDS, name=NAMES, labels=LABELS, owner=OWNERS, fate=FATES, meanwhile=MEANWHILE)
    def create(
        self,
        client: int,
        provider_id: str,
        name: str,
        labels: dict[str, str],
        owner: str | None,
        fate: str,
        meanwhile: str,
    ) -> None:
        new = a_provider(provider_id, name=name, labels=labels)

        def rightly(_: bool) -> Told:
            if provider_id in self.model:
                return Told("provider_exists")
            self.model[provider_id] = {"version": 1, "name": name, "labels": labels, "owner": owner}
            return Told("ok", self.model[provider_id])

        self.act(client, provider_id, fate, meanwhile, lambda registry: registry.create(new, owner), rightly)

    @precondition(lambda self: self.model)
    @rule(
        client=CLIENTS,
        provider_id=IDS,
        name=NAMES,
        labels=LABELS,
        precondition=PRECONDITIONS,
        fate=FATES,
        meanwhile=MEANWHILE,
    )
    def replace(
        self,
        client: int,
        provider_id: str,
        name: str,
        labels: dict[str, str],
        precondition: Any,
        fate: str,
        meanwhile: str,
    ) -> None:
        body = json.dumps({"name": name, "base_url": "http://lab-a.test", "labels": labels}).encode()
        headers = self.headers(provider_id, precondition)

        def act(registry: Registry) -> ProviderRecord:
            return providers.replace(registry, provider_id, body, headers, approve)

        def rightly(_: bool) -> Told:
            return self.refusal(provider_id, headers) or self.changed(provider_id, name=name, labels=labels)

        self.act(client, provider_id, fate, meanwhile, act, rightly)

    @precondition(lambda self: self.model)
    @rule(
        client=CLIENTS,
        provider_id=IDS,
        label=st.sampled_from(["region", "tier"]),
        text=st.none() | st.just("asia"),
        precondition=PRECONDITIONS,
        fate=FATES,
        meanwhile=MEANWHILE,
    )
    def patch(
        self,
        client: int,
        provider_id: str,
        label: str,
        text: str | None,
        precondition: Any,
        fate: str,
        meanwhile: str,
    ) -> None:
        body = json.dumps({"labels": {label: text}}).encode()
        headers = self.headers(provider_id, precondition)

        def act(registry: Registry) -> ProviderRecord:
            return providers.patch(registry, provider_id, body, headers, approve)

        def rightly(_: bool) -> Told:
            refusal = self.refusal(provider_id, headers)
            if refusal is not None:
                return refusal
            labels = self.model[provider_id]["labels"] | {label: text}
            return self.changed(provider_id, labels={key: kept for key, kept in labels.items() if kept is not None})

        self.act(client, provider_id, fate, meanwhile, act, rightly)

    @precondition(lambda self: self.model)
    @rule(client=CLIENTS, provider_id=IDS, precondition=PRECONDITIONS, fate=FATES, meanwhile=MEANWHILE)
    def remove(self, client: int, provider_id: str, precondition: Any, fate: str, meanwhile: str) -> None:
        headers = self.headers(provider_id, precondition)

        def rightly(was_lost: bool) -> Told:
            if was_lost and provider_id not in self.model:
                return Told("ok")  # nobody can tell whether it was this removal or the other one
            refusal = self.refusal(provider_id, headers)
            if refusal is None:
                del self.model[provider_id]
            return refusal or Told("ok")

        def act(registry: Registry) -> None:
            providers.remove(registry, provider_id, headers)

        self.act(client, provider_id, fate, meanwhile, act, rightly)

    @invariant()
    def both_clients_see_what_the_model_has(self) -> None:
        self.ran.states.add(repr(sorted(self.model.items())))
        for client in self.clients:
            page, after_id = client.registry.page(100)
            assert after_id is None
            assert page == client.registry.all()
            assert [(record.id, seen(record)) for record in page] == sorted(self.model.items())
            assert all(client.registry.get(record.id) == record for record in page)

    def act(
        self,
        number: int,
        provider_id: str,
        fate: str,
        meanwhile: str,
        act: Callable[[Registry], Any],
        rightly: Callable[[bool], Told],
    ) -> None:
        """One client's call, and whether he is told what is right. `rightly` does the same to the model, when it happens."""
        client, other = self.clients[number], self.clients[1 - number]
        was_lost: list[bool] = []
        told: list[Told] = []

        def lost(step: Step) -> Step:
            return lambda call: (was_lost.append(True), step(call))[1]

        def happens() -> None:
            if not told:
                told.append(rightly(bool(was_lost)))

        def is_overtaken() -> None:
            self.overtake(other.registry, provider_id, meanwhile)

        steps: dict[str, list[Step]] = {
            "answered": [],
            "answer lost": [lost(loses_its_answer)],
            "request lost": [lost(times_out)],
            "overtaken": [after(is_overtaken)],
            "answer lost, then overtaken": [lost(loses_its_answer), after(lambda: (happens(), is_overtaken()))],
            "request lost, then overtaken": [lost(times_out), after(is_overtaken)],
        }
        client.fate[:] = steps[fate]
        outcome = told_of(lambda: act(client.registry))
        happens()
        self.ran.steps[outcome.outcome] += 1
        self.ran.fates[fate if len(client.fate) < len(steps[fate]) else "answered"] += 1
        client.fate.clear()
        assert outcome == told[0]

    def overtake(self, registry: Registry, provider_id: str, meanwhile: str) -> None:
        """What the other client does to the same record, and to the model."""
        if provider_id in self.model and meanwhile == "changes it":
            registry.replace(provider_id, lambda record: record.model_copy(update={"name": f"Other {record.version}"}))
            self.changed(provider_id, name=f"Other {self.model[provider_id]['version']}")
            return
        before = self.model.pop(provider_id, None)
        if before is not None:
            registry.remove(provider_id)
        if before is None or meanwhile == "makes it anew":
            owner = "carol" if before is not None and before["owner"] == "dave" else "dave"
            registry.create(a_provider(provider_id, name="Other"), owner)
            self.model[provider_id] = {"version": 1, "name": "Other", "labels": {}, "owner": owner}

    def changed(self, provider_id: str, **fields: Any) -> Told:
        old = self.model[provider_id]
        new = old | fields
        self.model[provider_id] = new if new == old else new | {"version": old["version"] + 1}
        return Told("ok", self.model[provider_id])

    def headers(self, provider_id: str, precondition: Any) -> dict[str, str]:
        if isinstance(precondition, int):
            version = self.model.get(provider_id, {"version": 1})["version"] - precondition
            return {"if-match": f'"{version}"'}
        return {} if precondition is None else {"if-match": precondition}

    def refusal(self, provider_id: str, headers: dict[str, str]) -> Told | None:
        if provider_id not in self.model:
            return Told("provider_not_found")
        if headers.get("if-match", "*") in ("*", f'"{self.model[provider_id]["version"]}"'):
            return None
        return Told("version_conflict")


def approve(_: Any) -> None:
    """Any address will do."""


def seen(record: ProviderRecord) -> Fields:
    return {"version": record.version, "name": record.name, "labels": record.labels, "owner": record.owner}


def told_of(act: Callable[[], Any]) -> Told:
    try:
        record = act()
    except Problem as problem:
        return Told(problem.code)
    return Told("ok", None if record is None else seen(record))
