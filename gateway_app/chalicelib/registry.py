"""The registry: who the providers are. One DynamoDB table, and every change to a record is all or nothing.

A record that is edited in the table by hand is seen by reads of that record at once, and by searches after the next
change that a gateway makes, where that is no registration of this process: only such a change makes it read the list anew.
"""

from __future__ import annotations

import uuid
from datetime import UTC, datetime
from itertools import islice
from typing import TYPE_CHECKING

from chalicelib.attempts import Pacing, out_of_reach
from chalicelib.items import Stored, UnreadableItemError, id_of, key_of, stored_of
from chalicelib.snapshot import Snapshot
from chalicelib.table import Table
from chalicelib.writes import creation, removal, replacement
from fedcompute.errors import Problem
from fedcompute.provider import NewProvider, ProviderRecord, is_provider_id
from fedcompute.text import clean

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from mypy_boto3_dynamodb.client import DynamoDBClient

    from chalicelib.attempts import Attempts

type Admit = Callable[[Sequence[ProviderRecord]], None]  # is told of all records, and raises where one more is too many

_REAL = Pacing()
_LOST_RACES = "Others keep changing this record; try again."


class Registry:
    """The providers' records. Threads may share it; every call ends within 5 s.

    `now` tells the time in UTC. `on_unreadable` is called with the id of each item that a list leaves out because it
    is no record (somebody edited it by hand).

    Every method raises 503 `registry_unavailable` when DynamoDB does not do its part.
    """

    def __init__(
        self,
        client_factory: Callable[[], DynamoDBClient],
        table: str,
        *,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        pacing: Pacing = _REAL,
        on_unreadable: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._table = Table(client_factory, table, pacing)
        self._snapshot = Snapshot(self._table, lambda attempts: tuple(self._records(attempts, None)))
        self._now = now
        self._on_unreadable = on_unreadable

    @property
    def table(self) -> Table:
        """The table, which holds the callers' keys too."""
        return self._table

    def create(
        self, new: NewProvider, owner: str | None = None, key_version: int = 1, *, admit: Admit | None = None
    ) -> ProviderRecord:
        """Registers a provider, at version 1. Raises: 409 `provider_exists`, and what `admit` raises."""
        attempts = self._table.attempts()
        if admit is not None:
            admit(self._snapshot.records(attempts))
        now, write_id = self._timestamp(), str(uuid.uuid4())
        record = ProviderRecord(
            **new.model_dump(), owner=owner, key_version=key_version, version=1, created_at=now, updated_at=now
        )
        change = creation(self._table.name, record, write_id)
        if not self._table.write(attempts, change, key_of(new.id), write_id):
            raise Problem("provider_exists", f"A provider has the id {new.id} already; choose another, or replace it.")
        self._snapshot.created(record, write_id)
        return record

    def get(self, provider_id: str) -> ProviderRecord:
        """One record as it is now. Raises: 404 `provider_not_found`."""
        return self._stored(self._table.attempts(), provider_id).record

    def page(self, limit: int, after_id: str | None = None) -> tuple[tuple[ProviderRecord, ...], str | None]:
        """At most `limit` records by id, from the first above `after_id`; and the id after which the next page begins."""
        found = tuple(islice(self._records(self._table.attempts(), after_id, page_size=limit + 1), limit + 1))
        return found[:limit], found[limit - 1].id if len(found) > limit else None

    def all(self) -> tuple[ProviderRecord, ...]:
        """Every record by id, with all that was written before this call; the same tuple while nothing changes."""
        return self._snapshot.records(self._table.attempts())

    def replace(self, provider_id: str, change: Callable[[ProviderRecord], ProviderRecord]) -> ProviderRecord:
        """Writes what `change` makes of the record, one version up; where it makes no difference, nothing is written.

        `change` is called again with a newer record when another writer was faster; what it raises ends the call.
        Raises: 404 `provider_not_found`.
        """
        attempts = self._table.attempts()
        for seen in self._until_first(attempts, provider_id):
            wanted = change(seen.record)
            if wanted == seen.record:
                return seen.record
            news = {"version": seen.record.version + 1, "updated_at": self._timestamp()}
            record, write_id = wanted.model_copy(update=news), str(uuid.uuid4())
            write = replacement(self._table.name, record, write_id, seen)
            if self._table.write(attempts, write, key_of(provider_id), write_id):
                return record
        raise AssertionError("races end with a result or a problem")

    def remove(self, provider_id: str, check: Callable[[ProviderRecord], None] = lambda _: None) -> None:
        """Removes a record that `check` lets go; it is called again, and raises, as `change` in `replace`.

        Raises: 404 `provider_not_found`.
        """
        attempts = self._table.attempts()
        for seen in self._until_first(attempts, provider_id):
            check(seen.record)
            write = removal(self._table.name, seen)
            if self._table.write(attempts, write, key_of(provider_id), str(uuid.uuid4())):
                return

    def ping(self) -> None:
        """Returns when the table answers; else the problem says what is wrong with it."""
        self._table.version_tag(self._table.attempts())

    def _until_first(self, attempts: Attempts, provider_id: str) -> Iterator[Stored]:
        """The record, again and again while other writers are faster, and until there is no time for more."""
        tries = 0
        while True:
            yield self._stored(attempts, provider_id)
            tries += 1
            attempts.pause(tries, _LOST_RACES)

    def _stored(self, attempts: Attempts, provider_id: str) -> Stored:
        item = self._table.get(attempts, key_of(provider_id)) if is_provider_id(provider_id) else None
        if item is None:
            raise Problem("provider_not_found", f"No provider has the id {clean(provider_id)}.")
        try:
            return stored_of(item)
        except UnreadableItemError as error:
            detail = f"The record {provider_id} can't be read; correct it in the table {self._table.name}: {error}."
            raise out_of_reach(detail) from error

    def _records(
        self, attempts: Attempts, after_id: str | None, page_size: int | None = None
    ) -> Iterator[ProviderRecord]:
        for item in self._table.providers(attempts, after_id, page_size):
            try:
                yield stored_of(item).record
            except UnreadableItemError:
                self._on_unreadable(clean(id_of(item)))

    def _timestamp(self) -> str:
        return self._now().isoformat(timespec="milliseconds").replace("+00:00", "Z")
