"""An inventory that stands in a file: what a person wrote is what there is, as true now as ever."""

import threading
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from msgspec.structs import replace

from chalicelib.inventory_reply import EncodedInventory, Observation, encode
from fedcompute.errors import Problem, unavailable
from fedcompute.inventory import Inventory
from fedcompute.inventory import Warning as InventoryWarning
from fedcompute.inventory_file import Fault, InventoryFileError, load

MISTAKES_NAMED = 5

_STALE = InventoryWarning(code="stale", message="the inventory's file can't be used now; this is what it said before")

Stamp = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class _Version:
    """A sound content of the file."""

    inventory: Inventory
    encoded: EncodedInventory


@dataclass(frozen=True, slots=True)
class _Failure:
    """Why the file can't be used, and the first of its mistakes."""

    detail: str
    faults: tuple[Fault, ...] = ()

    def problem(self) -> Problem:
        errors = [{"pointer": place, "message": message} for place, message in self.faults]
        return unavailable("inventory_unavailable", self.detail, **({"errors": errors} if errors else {}))


class StaticInventory:
    """Reads its file on first use and whenever it has changed, so that an edit shows in the next answer.

    A file that turns bad is told as such until it is mended. Safe to share between threads.
    """

    def __init__(self, file: Path, provider_id: str) -> None:
        self._file = file
        self._provider_id = provider_id
        self._lock = threading.Lock()
        self._stamp: Stamp | None = None
        self._content: _Version | _Failure = _Failure("The inventory's file was not read.")
        self._last: tuple[_Version, datetime] | None = None  # what was sound last, and when it still was

    def observe(self, now: datetime, max_age_ms: int = 0) -> Observation:
        """The file's inventory, observed now; or the last sound one, where the caller takes one of that age."""
        with self._lock:
            content = self._refreshed()
            if isinstance(content, _Version):
                self._last = (content, now)
                return Observation(content.encoded, now)
            last = self._last
        if last is None or now - last[1] > timedelta(milliseconds=max_age_ms):
            raise content.problem()
        version, sound_at = last
        return Observation(encode(replace(version.inventory, warnings=[*version.inventory.warnings, _STALE])), sound_at)

    def _refreshed(self) -> _Version | _Failure:
        try:
            stamp = _stamp_of(self._file)
            # The stamp is older than the content: a change in between is seen the next time.
            if stamp != self._stamp:
                self._content = self._read(self._file.read_bytes())
            self._stamp = stamp
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            self._stamp, self._content = None, _Failure(f"{self._file.name} can't be read: {reason}.")
        return self._content

    def _read(self, document: bytes) -> _Version | _Failure:
        name = self._file.name
        try:
            inventory = load(document)
        except InventoryFileError as error:
            return _Failure(f"{name} has {_counted(error.faults)}.", tuple(error.faults[:MISTAKES_NAMED]))
        if inventory.provider_id != self._provider_id:
            return _Failure(
                f"{name} is of {inventory.provider_id}, but PROVIDER_ID is {self._provider_id}; make them the same."
            )
        inventory = replace(inventory, source="static", observed_at=None)
        return _Version(inventory, encode(inventory))


def _stamp_of(file: Path) -> Stamp:
    found = file.stat()
    return found.st_mtime_ns, found.st_size, found.st_ino


def _counted(faults: list[Fault]) -> str:
    place, message = faults[0]
    count = "one mistake" if len(faults) == 1 else f"{len(faults)} mistakes, the first"
    return f"{count}: {place}: {message}" if place else f"{count}: it {message}"
