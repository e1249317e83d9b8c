"""Many clients that change few records at once, some of which never hear what became of a call, and some of which die."""

import random
import threading
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

from botocore.exceptions import ReadTimeoutError
from fakes.linearizability import Call
from fakes.registry_table import a_provider

from chalicelib.attempts import Pacing
from chalicelib.registry import Registry
from fedcompute.errors import Problem
from fedcompute.provider import ProviderRecord

IDS = ("a", "b", "c", "d")
_RESULTS = {"provider_exists": "exists", "provider_not_found": "absent", "version_conflict": "conflict"}


class Killed(BaseException):
    """What a client's end looks like from inside it."""


class Unreliable:
    """A DynamoDB client whose writes are now and then lost on the way there or back, or are the last that it does."""

    def __init__(self, client: Any, chance: random.Random) -> None:
        self._client = client
        self._chance = chance
        self.is_unsure = False  # an answer was lost since this was last set to false

    def __getattr__(self, operation: str) -> Callable[..., Any]:
        def call(**arguments: Any) -> Any:
            is_write = operation == "transact_write_items"
            fate = self._chance.random() if is_write else 1.0
            try:
                return self._call(operation, arguments, fate)
            except ReadTimeoutError:  # of the emulator's own, too
                self.is_unsure = self.is_unsure or is_write
                raise

        return call

    def _call(self, operation: str, arguments: dict[str, Any], fate: float) -> Any:
        if fate < 0.01:
            raise Killed
        if fate < 0.03:
            raise ReadTimeoutError(endpoint_url="https://dynamodb.test")
        answer = getattr(self._client, operation)(**arguments)
        if fate < 0.04:
            raise Killed
        if fate < 0.08:
            raise ReadTimeoutError(endpoint_url="https://dynamodb.test")
        return answer


class Contention:
    """Clients that act at once, and what each of them saw."""

    def __init__(self, client: Any, table: str, seed: int) -> None:
        self._client = client
        self._table = table
        self._seed = seed
        self._lock = threading.Lock()
        self.histories: dict[str, list[Call]] = {provider_id: [] for provider_id in IDS}

    def run(self, clients: int, calls: int) -> None:
        """Every client's calls. What it raises is a fault of the registry's."""
        failures: list[BaseException] = []

        def act(number: int) -> None:
            try:
                self._act(random.Random(self._seed * 1000 + number), calls)
            except BaseException as error:  # noqa: BLE001 (the thread's edge)
                failures.append(error)

        threads = [threading.Thread(target=act, args=(number,)) for number in range(clients)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if failures:
            raise failures[0]

    def told(self) -> Counter[str]:
        """How many calls ended how; `?`: without an answer."""
        return Counter(
            call.result if call.result and not call.result.isdigit() else "read" if call.result else "?"
            for history in self.histories.values()
            for call in history
        )

    def _act(self, chance: random.Random, calls: int) -> None:
        unreliable, registry = self._new(chance)
        known: dict[str, int] = {}
        for number in range(calls):
            provider_id = chance.choice(IDS)
            kind = chance.choice(["create", "change", "change", "change", "remove", "read", "read"])
            expected = known.get(provider_id) if kind in ("change", "remove") and chance.random() < 0.7 else None
            unreliable.is_unsure = False
            began = time.monotonic()
            try:
                result = self._do(registry, kind, provider_id, expected, f"{chance.random()} {number}")
            except Killed:
                result = None
            call = Call(kind, began, time.monotonic(), result, expected, unreliable.is_unsure)
            if result is None:
                unreliable, registry = self._new(chance)
            if kind == "read" and result is not None and result.isdigit():
                known[provider_id] = int(result)
            with self._lock:
                self.histories[provider_id].append(call)

    def _new(self, chance: random.Random) -> tuple[Unreliable, Registry]:
        unreliable = Unreliable(self._client, chance)
        return unreliable, Registry(lambda: unreliable, self._table, pacing=Pacing(random=chance.random))

    def _do(self, registry: Registry, kind: str, provider_id: str, expected: int | None, name: str) -> str | None:
        def check(record: ProviderRecord) -> None:
            if expected is not None and record.version != expected:
                raise Problem("version_conflict", "another version")

        def change(record: ProviderRecord) -> ProviderRecord:
            check(record)
            return record.model_copy(update={"name": name})

        try:
            if kind == "read":
                return str(registry.get(provider_id).version)
            if kind == "create":
                registry.create(a_provider(provider_id))
            elif kind == "change":
                registry.replace(provider_id, change)
            else:
                registry.remove(provider_id, check)
        except Problem as problem:
            return _RESULTS.get(problem.code)  # else there was no answer
        return "ok"
