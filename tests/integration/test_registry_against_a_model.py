"""Any sequence of calls leaves the registry as it would leave a dict."""

import json
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

import pytest
from fakes.registry_table import a_provider, a_table
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from chalicelib import providers
from chalicelib.registry import Registry
from fedcompute.errors import Problem
from fedcompute.provider import ProviderRecord

IDS = st.sampled_from(["a", "b", "c-1"])
NAMES = st.sampled_from(["Lab A", "Lab B"])
LABELS = st.dictionaries(st.sampled_from(["region", "tier"]), st.sampled_from(["", "eu"]))
# 0 stands for the current version, other numbers for that many versions ago.
PRECONDITIONS = st.one_of(st.none(), st.just("*"), st.sampled_from([0, 0, 1]))


def approve(_: Any) -> None:
    """Any address will do."""


class RegistryMachine(RuleBasedStateMachine):
    make_client: Callable[[], Any]

    def __init__(self) -> None:
        super().__init__()
        self.dynamodb = self.make_client()
        self.after = ExitStack()
        self.table = self.after.enter_context(a_table(self.dynamodb))
        self.registry = Registry(lambda: self.dynamodb, self.table)
        self.model: dict[str, dict[str, Any]] = {}

    def teardown(self) -> None:
        self.after.close()

    @rule(provider_id=IDS, name=NAMES, labels=LABELS)
    def create(self, provider_id: str, name: str, labels: dict[str, str]) -> None:
        new = a_provider(provider_id, name=name, labels=labels)

        outcome = self.outcome(lambda: self.registry.create(new))

        assert outcome == ("provider_exists" if provider_id in self.model else "ok")
        self.model.setdefault(provider_id, {"version": 1, "name": name, "labels": labels})

    @rule(provider_id=IDS, name=NAMES, labels=LABELS, precondition=PRECONDITIONS)
    def replace(self, provider_id: str, name: str, labels: dict[str, str], precondition: Any) -> None:
        body = json.dumps({"name": name, "base_url": "http://lab-a.test", "labels": labels}).encode()

        outcome = self.outcome(
            lambda: providers.replace(
                self.registry, provider_id, body, self.headers(provider_id, precondition), approve
            )
        )

        assert outcome == self.expected(provider_id, precondition)
        if outcome == "ok":
            self.change(provider_id, name=name, labels=labels)

    @rule(
        provider_id=IDS,
        label=st.sampled_from(["region", "tier"]),
        text=st.none() | st.just("us"),
        precondition=PRECONDITIONS,
    )
    def patch(self, provider_id: str, label: str, text: str | None, precondition: Any) -> None:
        body = json.dumps({"labels": {label: text}}).encode()

        outcome = self.outcome(
            lambda: providers.patch(self.registry, provider_id, body, self.headers(provider_id, precondition), approve)
        )

        assert outcome == self.expected(provider_id, precondition)
        if outcome == "ok":
            labels = self.model[provider_id]["labels"] | {label: text}
            self.change(provider_id, labels={name: kept for name, kept in labels.items() if kept is not None})

    @rule(provider_id=IDS, precondition=PRECONDITIONS)
    def remove(self, provider_id: str, precondition: Any) -> None:
        headers = self.headers(provider_id, precondition)

        outcome = self.outcome(lambda: providers.remove(self.registry, provider_id, headers))

        assert outcome == self.expected(provider_id, precondition)
        if outcome == "ok":
            del self.model[provider_id]

    @invariant()
    def lists_and_reads_are_as_the_model(self) -> None:
        page, after_id = self.registry.page(100)

        assert after_id is None
        assert page == self.registry.all()
        assert [self.seen(record) for record in page] == sorted(self.model.items())
        assert all(self.registry.get(record.id) == record for record in page)

    def change(self, provider_id: str, **fields: Any) -> None:
        old = self.model[provider_id]
        new = old | fields
        self.model[provider_id] = new if new == old else new | {"version": old["version"] + 1}

    def headers(self, provider_id: str, precondition: Any) -> dict[str, str]:
        if isinstance(precondition, int):
            version = self.model.get(provider_id, {"version": 1})["version"] - precondition
            return {"if-match": f'"{version}"'}
        return {} if precondition is None else {"if-match": precondition}

    def expected(self, provider_id: str, precondition: Any) -> str:
        if provider_id not in self.model:
            return "provider_not_found"
        return "version_conflict" if precondition == 1 else "ok"

    @staticmethod
    def seen(record: ProviderRecord) -> tuple[str, dict[str, Any]]:
        return record.id, {"version": record.version, "name": record.name, "labels": record.labels}

    @staticmethod
    def outcome(act: Callable[[], Any]) -> str:
        try:
            act()
        except Problem as problem:
            return problem.code
        return "ok"


@pytest.fixture
def machine(dynamodb: Any) -> type[RegistryMachine]:
    return type("Machine", (RegistryMachine,), {"make_client": staticmethod(lambda: dynamodb)})


def test_any_sequence_of_calls_leaves_what_it_would_leave_in_a_dict(machine):
    run_state_machine_as_test(machine, settings=settings(max_examples=8, stateful_step_count=12, deadline=None))
