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
from fedcompute.rereading import Familiar, Reread, read_again
from fedcompute.survey import Surveyed

MOST_KEPT_BYTES = 192 << 20
NODE_BYTES, DEVICE_BYTES = 1500, 260  # of what is kept as it is read, about, as measured
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
    known: "Known | None" = None  # where it brought nothing new: what this process knows of it
    read_bytes: int = 0  # of the reply, or of what it confirmed

    @property
    def inventory(self) -> Inventory | None:
        """What the provider has now; None where that is not known."""
        return None if self.surveyed is None else self.surveyed.inventory


class Known:
    """What a provider had when it was asked last: as it is read, or, where most of it is new each time, as it came.

    What is not going to be of use is not kept as it is read: that cost a sixth of such a search, since memory that is let go
    at once is used again by the next reply. Once it is confirmed after all, it is read for good.
    """

    __slots__ = (
        "_body",
        "_compared",
        "_familiar",
        "_fingerprint",
        "_is_volatile",
        "_surveyed",
        "base_url",
        "counted",
        "etag",
        "observed_at",
        "provider_id",
        "size",
    )

    def __init__(self, provider_id: str, base_url: str, etag: str | None, body: bytes) -> None:
        self.provider_id = provider_id
        self.base_url = base_url
        self.etag = etag
        self.size = self.counted = len(body)  # in bytes; and that as whoever keeps it has counted it
        self.observed_at: datetime | None = None
        self._body = body
        self._fingerprint: int | None = None  # of the body, where that is no longer held and may come again
        self._surveyed: Surveyed | None = None
        self._familiar: Familiar = {}
        self._is_volatile = False
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

    def is_same(self, reply: Reply) -> bool:
        """Whether a reply brings nothing new, as those of providers do that don't confirm what they are asked to confirm."""
        if self._has_other_tag(reply):
            return False
        held = self._body
        return held == reply.body if held else self._fingerprint == hash(reply.body)

    def confirmed(self, *, by_body: bool = False) -> Surveyed:
        """The same, ready to be matched, and kept so from now on. `by_body`: it came again as a whole, and may once more."""
        body, surveyed = self._body, self._surveyed
        if surveyed is None:
            surveyed = self._hold(read_again(body, self.provider_id, {}), hash(body) if by_body else None)
        return surveyed

    def followed_by(self, reply: Reply) -> tuple["Known", "_Taken"]:
        """What is known from a reply on that brings something else, and that. Raises UnreadableInventoryError."""
        new = Known(self.provider_id, self.base_url, reply.etag, reply.body)
        if self._is_volatile:
            new._is_volatile = True
            return new, _Taken(read_surveyed(reply.body, self.provider_id), None, len(reply.body))
        reread = read_again(reply.body, self.provider_id, self._familiar)
        if not reread.familiar or 2 * reread.recognized < len(self._familiar):
            new._is_volatile = True
        else:
            new._hold(reread, None if self._has_other_tag(reply) else hash(reply.body))
        return new, _Taken(reread.surveyed, None, 0 if reread.recognized else len(reply.body))

    def compared(self, asked: str) -> Compared | None:
        """What it came to when the same was asked before: who waits for a node asks again and again."""
        return self._compared.get(asked)

    def remember(self, asked: str, compared: Compared) -> None:
        """Keep what it comes to, for the few requests that were asked last."""
        others = [(text, one) for text, one in self._compared.items() if text != asked]
        self._compared = dict([*others[-(MOST_COMPARED - 1) :], (asked, compared)])

    def _has_other_tag(self, reply: Reply) -> bool:
        return reply.etag is not None and reply.etag != self.etag

    def _hold(self, reread: Reread, fingerprint: int | None) -> Surveyed:
        self._familiar, self._fingerprint = reread.familiar, fingerprint
        self.size = sum(NODE_BYTES + DEVICE_BYTES * len(node.kinds) for node in reread.surveyed.nodes)
        self._surveyed = reread.surveyed
        self._body = b""  # last: another thread looks whether there is one first
        self._is_volatile = False
        return reread.surveyed


class _Taken(NamedTuple):
    """What a reply brings; what was known of it, where that is nothing new; and how much was read to see it."""

    surveyed: Surveyed
    known: Known | None
    read_bytes: int


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
        surveyed, known, read_bytes = None, None, len(reply.body)
        if reply.outcome == OK:
            try:
                surveyed, known, read_bytes = self._taken(record, reply)
            except UnreadableInventoryError as error:
                reply = reply._replace(outcome=error.outcome, message=error.message)
        elif reply.outcome == NOT_MODIFIED:
            assert asked is not None, "nobody is told 304 who has not asked with an entity tag"
            reply = reply._replace(etag=asked.etag)
            surveyed, known, read_bytes = self._confirmed(asked)
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
            return Answered(record, entry, reply._replace(body=b""), read_bytes=read_bytes)
        inventory = surveyed.inventory
        observed_at = parsed_time(reply.observed_at or inventory.observed_at)
        self._observe(record.id, reply.etag, observed_at)
        entry.nodes = len(inventory.nodes)
        warnings = [*_skew(observed_at, now), *inventory.warnings]
        entry.warnings = [structs.replace(warning, provider_id=record.id) for warning in warnings]
        reply = reply._replace(body=b"")
        return Answered(record, entry, reply, surveyed, observed_at, inventory.source, known, read_bytes)

    def _taken(self, record: ProviderRecord, reply: Reply) -> _Taken:
        with self._lock:
            before = self._kept.get(record.id)
        if before is None or before.base_url != record.base_url:
            before = Known(record.id, record.base_url, None, b"")
        elif before.is_same(reply):
            return self._confirmed(before, by_body=True)
        new, taken = before.followed_by(reply)
        self._keep(new)
        return taken

    def _keep(self, new: Known) -> None:
        with self._lock:
            self._drop(new.provider_id)
            if new.size > self._most_kept_bytes:
                return
            self._kept[new.provider_id] = new
            new.counted = new.size
            self._size += new.counted
            self._make_room()

    def _confirmed(self, known: Known, *, by_body: bool = False) -> _Taken:
        unread_bytes = known.unread_bytes
        surveyed = known.confirmed(by_body=by_body)
        with self._lock:
            if self._kept.get(known.provider_id) is known:
                self._kept.move_to_end(known.provider_id)
                self._size += known.size - known.counted
                known.counted = known.size
                self._make_room()
        return _Taken(surveyed, known, unread_bytes)

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
        self._size -= gone.counted if gone is not None else 0


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
