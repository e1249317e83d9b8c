"""What the registry promises to many who change it at once."""

import os
import threading
import time
from typing import Any

from fakes.contention import IDS, Contention
from fakes.linearizability import is_linearizable
from fakes.registry_table import a_provider

from chalicelib.registry import Registry
from fedcompute.errors import Problem

CLIENTS = 8
CALLS = int(os.environ.get("CONTENTION_CALLS", "60"))  # of each client
SEED = int(os.environ.get("CONTENTION_SEED", "1"))


class ContentionContract:
    def test_what_clients_saw_could_have_happened_one_call_after_the_other(self, dynamodb: Any, table: str) -> None:
        contention = Contention(dynamodb, table, SEED)

        began = time.monotonic()
        contention.run(CLIENTS, CALLS)
        ran = time.monotonic()
        verdicts = {one: is_linearizable(history) for one, history in contention.histories.items()}

        told = contention.told()
        print(f"{CLIENTS} x {CALLS} calls on {len(IDS)} ids, seed {SEED}: {ran - began:.1f} s; {dict(told)}")
        print(f"  {told['?']} without an answer; checked in {time.monotonic() - ran:.1f} s: {verdicts}")
        assert told.total() == CLIENTS * CALLS
        assert verdicts == dict.fromkeys(IDS, True)

    def test_lists_during_constant_writes_hold_whole_records_and_no_ghosts(self, dynamodb: Any, table: str) -> None:
        lasting = [f"lasting-{number}" for number in range(5)]
        for provider_id in lasting:
            Registry(lambda: dynamodb, table).create(a_provider(provider_id))
        ended = threading.Event()
        removed: set[int] = set()

        def write() -> None:
            registry = Registry(lambda: dynamodb, table)
            for number in range(CALLS):
                registry.create(a_provider(f"passing-{number}", name=f"{number}", labels={"n": str(number)}))
                registry.remove(f"passing-{number}")
                removed.add(number)
                registry.replace(lasting[number % 5], lambda r: r.model_copy(update={"name": f"{r.version + 1}"}))
            ended.set()

        writer = threading.Thread(target=write)
        writer.start()
        reader = Registry(lambda: dynamodb, table)
        while not ended.is_set():
            gone = set(removed)
            records = reader.all()
            assert [one.id for one in records if one.id.startswith("lasting")] == lasting
            for one in records:
                if one.id.startswith("passing"):
                    number = int(one.id.partition("-")[2])
                    assert number not in gone
                    assert (one.name, one.labels) == (str(number), {"n": str(number)})
                elif one.version > 1:
                    assert one.name == str(one.version)
        writer.join()
        assert [one.id for one in reader.all()] == lasting

    def test_one_of_many_who_create_a_record_wins(self, dynamodb: Any, table: str) -> None:
        start, won = threading.Barrier(CLIENTS), []

        def create() -> None:
            start.wait()
            try:
                won.append(Registry(lambda: dynamodb, table).create(a_provider("one")))
            except Problem as problem:
                assert problem.code == "provider_exists"  # noqa: PT017 (the other outcome is a result)

        threads = [threading.Thread(target=create) for _ in range(CLIENTS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

        assert [record.version for record in won] == [1]
