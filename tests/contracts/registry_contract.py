"""What the registry promises on every backend. A subclass brings the fixtures `dynamodb` and `table`."""

import json
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from itertools import repeat
from typing import Any

import pytest
from fakes.registry_table import a_provider, a_record, fill
from fakes.scripted_client import ScriptedClient, after, hides_the_item, loses_its_answer, passes, then, times_out

from chalicelib import providers
from chalicelib.registry import Registry
from fedcompute.errors import Problem
from fedcompute.provider import ProviderRecord


def code_of(act: Callable[[], Any]) -> str:
    """What became of a call: "ok", or its problem's code."""
    try:
        act()
    except Problem as problem:
        return problem.code
    return "ok"


def together(*acts: Callable[[], Any]) -> list[str]:
    with ThreadPoolExecutor(len(acts)) as threads:
        return list(threads.map(code_of, acts))


def patched(registry: Registry, patch: dict[str, Any], headers: Mapping[str, str] | None = None) -> ProviderRecord:
    return providers.patch(registry, "provider-a", json.dumps(patch).encode(), headers or {}, lambda _: None)


def renamed(registry: Registry, name: str, if_match: str | None = None) -> ProviderRecord:
    headers = {} if if_match is None else {"if-match": if_match}
    return patched(registry, {"name": name}, headers)


def scripted_registry(dynamodb: Any, table: str, **scripts: Any) -> Registry:
    """A registry of its own, whose dynamodb's calls go as scripted."""
    scripted = ScriptedClient(dynamodb, **scripts)
    return Registry(lambda: scripted, table)


class RegistryContract:
    @pytest.fixture
    def registry(self, dynamodb: Any, table: str) -> Registry:
        return Registry(lambda: dynamodb, table)

    @pytest.fixture
    def shortest(self) -> str:
        """The shortest text that the table takes for a label."""
        return ""

    def test_created_record_is_read_back_as_it_was_answered(self, registry, shortest):
        new = a_provider(labels={"region": "eu", "tier": shortest}, enabled=False, timeout_ms=20000)

        created = registry.create(new, owner="alice")

        assert registry.get("provider-a") == created
        assert (created.version, created.owner, created.key_version, created.verified_at) == (1, "alice", 1, None)
        assert created.created_at == created.updated_at
        assert created.labels == {"region": "eu", "tier": shortest}

    def test_second_create_of_an_id_is_refused_and_changes_nothing(self, registry):
        created = registry.create(a_provider())

        with pytest.raises(Problem) as refusal:
            registry.create(a_provider(name="Other"))

        assert refusal.value.code == "provider_exists"
        assert registry.get("provider-a") == created

    def test_change_goes_up_by_one_version_and_keeps_the_rest(self, registry):
        created = registry.create(a_provider(labels={"region": "eu"}), owner="alice")

        changed = renamed(registry, "Lab B")

        assert registry.get("provider-a") == changed
        assert changed.version == 2
        assert changed.created_at == created.created_at
        assert changed.model_copy(update={"name": "Lab A", "version": 1, "updated_at": created.updated_at}) == created

    def test_change_that_changes_nothing_writes_nothing(self, dynamodb, table):
        scripted = ScriptedClient(dynamodb)
        registry = Registry(lambda: scripted, table)
        created = registry.create(a_provider())
        scripted.calls.clear()

        same = renamed(registry, "Lab A")

        assert same == created
        assert "transact_write_items" not in scripted.calls

    @pytest.mark.parametrize("call", ["get", "remove"])
    def test_unknown_id_is_not_found(self, registry, call):
        with pytest.raises(Problem) as refusal:
            getattr(registry, call)("nobody")

        assert refusal.value.code == "provider_not_found"

    def test_removed_id_is_free_again_and_begins_at_version_1(self, registry):
        registry.create(a_provider())
        renamed(registry, "Lab B")

        registry.remove("provider-a")

        assert code_of(lambda: registry.get("provider-a")) == "provider_not_found"
        assert registry.create(a_provider()).version == 1

    def test_pages_come_by_id_and_end(self, registry, dynamodb, table):
        fill(dynamodb, table, [a_record(f"provider-{n:02}") for n in range(7)])

        seen, after_id = [], None
        while True:
            records, after_id = registry.page(3, after_id)
            seen.append([record.id for record in records])
            if after_id is None:
                break

        assert seen == [
            ["provider-00", "provider-01", "provider-02"],
            ["provider-03", "provider-04", "provider-05"],
            ["provider-06"],
        ]

    def test_page_that_holds_the_last_record_says_so(self, registry, dynamodb, table):
        fill(dynamodb, table, [a_record("a"), a_record("b")])

        records, after_id = registry.page(2)

        assert [record.id for record in records] == ["a", "b"]
        assert after_id is None

    def test_list_has_what_another_registry_wrote_a_moment_ago(self, registry, dynamodb, table):
        other = Registry(lambda: dynamodb, table)
        registry.create(a_provider("a"))

        before = registry.all()
        other.create(a_provider("b"))
        created = registry.all()
        other.replace("a", lambda record: record.model_copy(update={"enabled": False}))
        changed = registry.all()
        other.remove("a")
        removed = registry.all()

        assert [record.id for record in before] == ["a"]
        assert [record.id for record in created] == ["a", "b"]
        assert [record.enabled for record in changed] == [False, True]
        assert [record.id for record in removed] == ["b"]

    def test_list_costs_one_small_read_while_nothing_changes(self, dynamodb, table):
        scripted = ScriptedClient(dynamodb)
        registry = Registry(lambda: scripted, table)
        registry.create(a_provider())
        first = registry.all()
        scripted.calls.clear()

        second = registry.all()

        assert second is first
        assert scripted.calls == ["get_item"]

    def test_write_while_the_list_is_read_is_in_the_next_list(self, dynamodb, table):
        other = Registry(lambda: dynamodb, table)
        other.create(a_provider("a"))
        registry = scripted_registry(dynamodb, table, query=[then(lambda: other.create(a_provider("b")))])

        registry.all()

        assert [record.id for record in registry.all()] == ["a", "b"]

    def test_who_registers_many_has_the_list_read_once(self, dynamodb, table):
        scripted = ScriptedClient(dynamodb)
        registry = Registry(lambda: scripted, table)
        registry.all()
        scripted.calls.clear()

        for name in ("c", "a", "b"):
            registry.create(a_provider(name), "owner", 7)
            registry.all()

        assert scripted.calls.count("query") == 1  # the first: there was no version before it
        assert registry.all() == Registry(lambda: dynamodb, table).all()

    def test_write_of_another_beside_an_own_registration_is_in_the_next_list(self, dynamodb, table):
        registry, other = Registry(lambda: dynamodb, table), Registry(lambda: dynamodb, table)
        registry.create(a_provider("a"))
        registry.all()

        other.create(a_provider("b"))
        registry.create(a_provider("c"))

        assert [record.id for record in registry.all()] == ["a", "b", "c"]

    def test_own_registration_that_was_removed_since_is_not_in_the_next_list(self, dynamodb, table):
        registry, other = Registry(lambda: dynamodb, table), Registry(lambda: dynamodb, table)
        registry.create(a_provider("a"))
        registry.all()

        registry.create(a_provider("b"))
        other.remove("b")

        assert [record.id for record in registry.all()] == ["a"]

    def test_list_after_the_table_was_made_anew_is_the_new_tables(self, registry, dynamodb, table):
        registry.create(a_provider("a"))
        registry.all()
        dynamodb.delete_item(TableName=table, Key={"pk": {"S": "provider"}, "sk": {"S": "a"}})
        dynamodb.delete_item(TableName=table, Key={"pk": {"S": "registry"}, "sk": {"S": "version"}})

        Registry(lambda: dynamodb, table).create(a_provider("b"))

        assert [record.id for record in registry.all()] == ["b"]

    def test_many_threads_get_one_list_that_was_read_once(self, dynamodb, table):
        scripted = ScriptedClient(dynamodb)
        registry = Registry(lambda: scripted, table)
        registry.create(a_provider())

        with ThreadPoolExecutor(8) as threads:
            lists = list(threads.map(lambda _: registry.all(), range(16)))

        assert all(one is lists[0] for one in lists)
        assert scripted.calls.count("query") == 1

    def test_of_two_writers_who_saw_one_version_exactly_one_wins(self, dynamodb, table):
        Registry(lambda: dynamodb, table).create(a_provider())
        both_have_read = threading.Barrier(2, timeout=5)
        one, two = (scripted_registry(dynamodb, table, get_item=[then(both_have_read.wait)]) for _ in range(2))

        outcomes = together(lambda: renamed(one, "One", '"1"'), lambda: renamed(two, "Two", '"1"'))

        assert sorted(outcomes) == ["ok", "version_conflict"]
        record = one.get("provider-a")
        assert record.version == 2
        assert record.name == ("One" if outcomes[0] == "ok" else "Two")

    def test_of_two_writers_without_a_precondition_neither_change_is_lost(self, dynamodb, table):
        Registry(lambda: dynamodb, table).create(a_provider())
        both_have_read = threading.Barrier(2, timeout=5)

        def label(name: str) -> Callable[[], ProviderRecord]:
            registry = scripted_registry(dynamodb, table, get_item=[then(both_have_read.wait)])
            return lambda: patched(registry, {"labels": {name: "x"}})

        outcomes = together(label("one"), label("two"))

        assert outcomes == ["ok", "ok"]
        record = Registry(lambda: dynamodb, table).get("provider-a")
        assert record.labels == {"one": "x", "two": "x"}
        assert record.version == 3

    def test_of_two_creators_exactly_one_wins(self, dynamodb, table):
        both_are_ready = threading.Barrier(2, timeout=5)
        one, two = (
            scripted_registry(dynamodb, table, transact_write_items=[after(both_are_ready.wait)]) for _ in range(2)
        )

        outcomes = together(lambda: one.create(a_provider(name="One")), lambda: two.create(a_provider(name="Two")))

        assert sorted(outcomes) == ["ok", "provider_exists"]
        assert one.get("provider-a").name == ("One" if outcomes[0] == "ok" else "Two")

    def test_writer_who_would_change_a_record_made_anew_reads_it_again(self, dynamodb, table):
        other = Registry(lambda: dynamodb, table)
        other.create(a_provider(), owner="alice")

        def make_anew() -> None:
            other.remove("provider-a")
            other.create(a_provider(), owner="bob")

        registry = scripted_registry(dynamodb, table, transact_write_items=[after(make_anew)])

        changed = renamed(registry, "Mine")

        assert (changed.owner, changed.version) == ("bob", 2)

    @pytest.fixture(params=["with the item", "without the item"])
    def losing(self, request, dynamodb: Any, table: str) -> Callable[..., Registry]:
        """A registry whose write goes as scripted, on a backend that tells the item of a failed condition, or doesn't."""

        def make(*steps: Any) -> Registry:
            hiding = repeat(hides_the_item if request.param == "without the item" else passes)
            told = ScriptedClient(dynamodb, transact_write_items=hiding)
            return scripted_registry(told, table, transact_write_items=steps)

        return make

    @pytest.mark.parametrize("losses", [1, 2])
    def test_create_whose_answer_was_lost_is_created(self, losing, losses):
        registry = losing(loses_its_answer, *[times_out] * (losses - 1))

        created = registry.create(a_provider())

        assert registry.get("provider-a") == created

    def test_replacement_whose_answer_was_lost_is_made_once(self, losing):
        losing().create(a_provider())
        registry = losing(loses_its_answer)

        changed = renamed(registry, "Lab B", '"1"')

        assert changed.version == 2
        assert registry.get("provider-a") == changed

    def test_removal_whose_answer_was_lost_is_done(self, losing):
        losing().create(a_provider())
        registry = losing(loses_its_answer)

        registry.remove("provider-a")

        assert code_of(lambda: registry.get("provider-a")) == "provider_not_found"

    def test_create_that_may_have_been_applied_and_was_not_is_still_a_conflict(self, losing):
        losing().create(a_provider(name="First"))
        registry = losing(times_out)

        outcome = code_of(lambda: registry.create(a_provider(name="Second")))

        assert outcome == "provider_exists"
        assert registry.get("provider-a").name == "First"

    def test_replacement_that_was_not_applied_and_came_late_is_still_a_conflict(self, losing):
        losing().create(a_provider())
        registry = losing(times_out, after(lambda: renamed(losing(), "Other")))

        outcome = code_of(lambda: renamed(registry, "Mine", '"1"'))

        assert outcome == "version_conflict"
        assert registry.get("provider-a").name == "Other"

    def test_record_that_was_edited_by_hand_is_left_out_and_named(self, dynamodb, table):
        named: list[str] = []
        registry = Registry(lambda: dynamodb, table, on_unreadable=named.append)
        fill(dynamodb, table, [a_record("a"), a_record("b"), a_record("c")])
        dynamodb.put_item(
            TableName=table, Item={"pk": {"S": "provider"}, "sk": {"S": "b"}, "base_url": {"S": "file:///etc/passwd"}}
        )

        listed = [record.id for record in registry.all()]
        page, after_id = registry.page(2)

        assert listed == ["a", "c"]
        assert ([record.id for record in page], after_id) == (["a", "c"], None)
        assert set(named) == {"b"}
        with pytest.raises(Problem, match="base_url") as refusal:
            registry.get("b")
        assert refusal.value.code == "registry_unavailable"
        assert "passwd" not in refusal.value.detail

    def test_table_that_answers_is_ready(self, dynamodb, table):
        scripted = ScriptedClient(dynamodb)

        Registry(lambda: scripted, table).ping()

        assert scripted.calls == ["get_item"]
