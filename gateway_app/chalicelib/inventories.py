"""What a warm process knows: each provider's inventory with its entity tag, revalidated at every search.

It is never served unasked: without the provider's 304 it is not used.
"""

import threading
from collections import OrderedDict
from datetime import datetime, timedelta
from typing import NamedTuple

from msgspec import Struct, structs

from chalicelib.calls import ANSWERED, NOT_MODIFIED, OK, Call, Reply
from chalicelib.compared import Compared
from fedcompute.inventory import Inventory, Warning  # noqa: A004 (the contract's word)
from fedcompute.provider import ProviderRecord
from fedcompute.reading import UnreadableInventoryError, read_surveyed
from fedcompute.survey import Surveyed, share_texts

MOST_KEPT_BYTES = 192 << 20
NODE_BYTES, DEVICE_BYTES = 900, 340  # of what is kept as objects, about, as measured
MOST_COMPARED = 2  # requests, for each provider
MOST_SKEW = timedelta(seconds=60)


class ProviderEntry(Struct, kw_only=True):
    """How asking one provider ended, as in a search's answer."""

    id: str
    name: str
    outcome: str
    message: str | None = None
    took_ms: int = 0
    http_status: int | None = None
    retry_at: str | None = None
    nodes: int | None = None
    candidates: int | None = None
    warnings: list[Warning] = []


class Answered(NamedTuple):
    """One provider's part of an answer. `surveyed` is None unless the outcome is `ok` or `not_modified`."""

    record: ProviderRecord
    entry: ProviderEntry
    reply: Reply
    surveyed: Surveyed | None = None
    observed_at: datetime | None = None
    source: str = ""  # the inventory's
    known: "Known | None" = None  # where it was confirmed: what this process knows of it

    @property
    def inventory(self) -> Inventory | None:
        """What the provider has now; None where that is not known."""
        return None if self.surveyed is None else self.surveyed.inventory


class Known:
    """What a provider had when it was asked last: as it came, and once it is confirmed for the first time, as it is read.

    An inventory that changes from search to search is thus never kept as objects, which cost a sixth of such a search:
    memory that is let go at once is used again by the next reply.
    """

    __slots__ = ("_body", "_compared", "_surveyed", "base_url", "etag", "observed_at", "provider_id", "size")

    def __init__(self, provider_id: str, base_url: str, etag: str, body: bytes) -> None:
        self.provider_id = provider_id
        self.base_url = base_url
        self.etag = etag
        self.size = len(body)
        self.observed_at: datetime | None = None
        self._body = body
        self._surveyed: Surveyed | None = None
        self._compared: dict[str, Compared] = {}

    @property
    def inventory(self) -> Inventory:
        """What it had."""
        body, surveyed = self._body, self._surveyed  # in this order: another thread sets them in the other
        return (surveyed or read_surveyed(body, self.provider_id)).inventory

    @property
    def unread_bytes(self) -> int:
        """How much is still to be read when it is confirmed."""
        return len(self._body)

    def grown(self) -> int:
        """By how much it is larger now than it was counted; counted from then on."""
        surveyed = self._surveyed
        if surveyed is None:
            return 0
        size = sum(NODE_BYTES + DEVICE_BYTES * len(node.kinds) for node in surveyed.nodes)
        more, self.size = size - self.size, size
        return more

    def confirmed(self) -> Surveyed:
        """The same, ready to be matched, and kept so from now on."""
        body, surveyed = self._body, self._surveyed
        if surveyed is None:
            surveyed = read_surveyed(body, self.provider_id)
            share_texts(surveyed)
            self._surveyed = surveyed
            self._body = b""
        return surveyed

    def compared(self, asked: str) -> Compared | None:
        """What it came to when the same was asked before: who waits for a node asks again and again."""
        return self._compared.get(asked)

    def remember(self, asked: str, compared: Compared) -> None:
        """Keep what it comes to, for the few requests that were asked last."""
        others = [(text, one) for text, one in self._compared.items() if text != asked]
        self._compared = dict([*others[-(MOST_COMPARED - 1) :], (asked, compared)])


class Inventories:
    """Least recently used out; safe under threads."""

    def __init__(self, most_kept_bytes: int = MOST_KEPT_BYTES) -> None:
        self._most_kept_bytes = most_kept_bytes
        self._kept: OrderedDict[str, Known] = OrderedDict()
        self._size = 0
        self._lock = threading.Lock()

    def call_for(self, record: ProviderRecord, *, is_fresh: bool = False) -> tuple[Call, Known | None]:
        """How to ask a provider: for what has changed, or (`is_fresh`) for all that it has; and what it may confirm."""
        with self._lock:
            kept = None if is_fresh else self._kept.get(record.id)
        if kept is None or kept.base_url != record.base_url:
            return Call(record.id, record.base_url, record.timeout_ms), None
        return Call(record.id, record.base_url, record.timeout_ms, kept.etag, kept_bytes=kept.unread_bytes), kept

    def known(self) -> list[Known]:
        """The inventories that are kept, for whoever wants an overview: how old they are is told with them."""
        with self._lock:
            return list(self._kept.values())

    def judge(self, record: ProviderRecord, reply: Reply, now: datetime, asked: Known | None = None) -> Answered:
        """Read a reply, and keep what it brought. Never raises for anything that a provider sent.

        `asked`: what the call asked to confirm. A 304 is of that, whatever other searches have brought meanwhile.
        """
        known, surveyed = None, None
        if reply.outcome == OK:
            try:
                surveyed = read_surveyed(reply.body, record.id)
            except UnreadableInventoryError as error:
                reply = reply._replace(outcome=error.outcome, message=error.message)
            else:
                self._keep(record, reply)
        elif reply.outcome == NOT_MODIFIED:
            assert asked is not None, "nobody is told 304 who has not asked with an entity tag"
            known, reply = asked, reply._replace(etag=asked.etag)
            surveyed = self._confirmed(asked)
        entry = ProviderEntry(
            id=record.id,
            name=record.name,
            outcome=reply.outcome,
            message=reply.message,
            took_ms=reply.took_ms,
            http_status=reply.http_status,
            retry_at=reply.retry_at,
        )
        if surveyed is None:
            return Answered(record, entry, reply._replace(body=b""))
        inventory = surveyed.inventory
        observed_at = parsed_time(reply.observed_at or inventory.observed_at)
        self._observe(record.id, reply.etag, observed_at)
        entry.nodes = len(inventory.nodes)
        warnings = [*_skew(observed_at, now), *inventory.warnings]
        entry.warnings = [structs.replace(warning, provider_id=record.id) for warning in warnings]
        return Answered(record, entry, reply._replace(body=b""), surveyed, observed_at, inventory.source, known)

    def _keep(self, record: ProviderRecord, reply: Reply) -> None:
        with self._lock:
            self._drop(record.id)
            if reply.etag is None or len(reply.body) > self._most_kept_bytes:
                return
            self._kept[record.id] = Known(record.id, record.base_url, reply.etag, reply.body)
            self._size += len(reply.body)
            self._make_room()

    def _confirmed(self, known: Known) -> Surveyed:
        surveyed = known.confirmed()
        with self._lock:
            if self._kept.get(known.provider_id) is known:
                self._kept.move_to_end(known.provider_id)
                self._size += known.grown()
                self._make_room()
        return surveyed

    def _make_room(self) -> None:
        while self._size > self._most_kept_bytes:
            self._drop(next(iter(self._kept)))

    def _observe(self, provider_id: str, etag: str | None, observed_at: datetime | None) -> None:
        with self._lock:
            kept = self._kept.get(provider_id)
            if kept is not None and kept.etag == etag:
                kept.observed_at = observed_at

    def _drop(self, provider_id: str) -> None:
        gone = self._kept.pop(provider_id, None)
        self._size -= gone.size if gone is not None else 0


def is_answered(entry: ProviderEntry) -> bool:
    """Whether a provider's inventory takes part in the answer."""
    return entry.outcome in ANSWERED


def parsed_time(text: str | None) -> datetime | None:
    """An RFC 3339 time with its zone; None for anything else."""
    if not text:
        return None
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        return None
    zone = time.utcoffset()
    return time if zone is not None and not zone % timedelta(minutes=1) else None


def _skew(observed_at: datetime | None, now: datetime) -> list[Warning]:
    if observed_at is None or observed_at - now <= MOST_SKEW:
        return []
    ahead = round((observed_at - now).total_seconds())
    return [Warning(code="clock_skew", message=f"observed_at is {ahead} s in the future; one of the clocks is wrong")]
