"""Every provider's record, kept in memory for as long as the version item says that it still holds."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from chalicelib.attempts import out_of_reach

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from chalicelib.attempts import Attempts
    from chalicelib.table import Table, VersionTag
    from fedcompute.provider import ProviderRecord


class _Kept(NamedTuple):
    tag: VersionTag
    records: tuple[ProviderRecord, ...]


class _Own(NamedTuple):
    """What this process has registered last."""

    write_id: str
    record: ProviderRecord


class Snapshot:
    """Shared by all threads; one of them reads the list anew, the others wait for it, within their own bounds."""

    def __init__(self, table: Table, read_all: Callable[[Attempts], tuple[ProviderRecord, ...]]) -> None:
        self._table = table
        self._read_all = read_all
        self._kept: _Kept | None = None
        self._own: _Own | None = None
        self._refreshing = threading.Lock()

    def records(self, attempts: Attempts) -> tuple[ProviderRecord, ...]:
        """Every record by id, with all that was written before this call; the same tuple while nothing is written.

        Raises: 503 `registry_unavailable`.
        """
        kept, tag = self._kept, self._table.version_tag(attempts)
        if kept is not None and kept.tag == tag:
            return kept.records
        with self._one_at_a_time(attempts):
            if self._kept is not None and self._kept is not kept:  # another thread read the list meanwhile
                tag = tag if self._kept.tag == tag else self._table.version_tag(attempts)
                if self._kept.tag == tag:
                    return self._kept.records
            records = self._with_own(tag)
            if tag is not None and records is not None:
                self._kept = _Kept(tag, records)
                return records
            # The tag is older than the list: a write in between makes the next call read again, and never hides.
            records = self._read_all(attempts)
            self._kept = None if tag is None else _Kept(tag, records)
            return records

    def created(self, record: ProviderRecord, write_id: str) -> None:
        """A record that this process has registered. Who registers many, one after another, has the list read once."""
        self._own = _Own(write_id, record)

    def _with_own(self, tag: VersionTag | None) -> tuple[ProviderRecord, ...] | None:
        """The list that is kept and our own record, where the tag says that nobody else has written anything since."""
        kept, own = self._kept, self._own
        if kept is None or own is None or tag is None or tag[1] != own.write_id:
            return None
        before, after = kept.tag[0], tag[0]
        if before is None or after is None or int(after) != int(before) + 1:
            return None
        others = [record for record in kept.records if record.id != own.record.id]
        return tuple(sorted([*others, own.record], key=lambda record: record.id))

    @contextmanager
    def _one_at_a_time(self, attempts: Attempts) -> Iterator[None]:
        if not self._refreshing.acquire(timeout=attempts.left_s()):
            raise out_of_reach("The list of providers is still being read; try again.")
        try:
            yield
        finally:
            self._refreshing.release()
