"""What a warm process knows: each provider's inventory with its entity tag, revalidated at every search.

It is never served unasked: what is kept is used where the provider confirms it, or sends it again, in the same search.
"""

import threading
from collections import OrderedDict
from datetime import datetime, timedelta
from functools import lru_cache
from typing import NamedTuple

from msgspec import Struct, structs

from chalicelib.calls import ANSWERED, NOT_MODIFIED, OK, Call, Reply
from chalicelib.compared import Compared, Question
from fedcompute.inventory import Inventory, Warning  # noqa: A004 (the contract's word)
from fedcompute.provider import ProviderRecord
from fedcompute.reading import UnreadableInventoryError, read_surveyed
from fedcompute.rereading import NOTHING, Reread, read_again
from fedcompute.survey import Surveyed

MOST_KEPT_BYTES = 192 << 20
NODE_BYTES, DEVICE_BYTES, LABEL_BYTES = 1500, 260, 170  # of what is kept as it is read, about, as measured
VOLATILE_FOR = 30  # replies, after which it is tried again whether a part of an inventory stays
MOST_COMPARED = 2  # requests, for each provider
MOST_TIMES = 2000  # that are remembered as they were read: an inventory that did not change has the same
LONGEST_TIME = 64  # characters of those
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


class Answered(Struct):
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

    def let_go(self) -> None:
        """Hold on to the inventory no longer: the answer needs only what was taken from it."""
        self.surveyed = self.known = None


class Known:
    """What a provider had when it was asked last: as it is read, or, where most of it is new each time, as it came.

    What is not going to be of use is not kept as it is read: that cost a sixth of such a search, since memory that is let go
    at once is used again by the next reply. Once it is confirmed after all, it is read for good.
    """

    __slots__ = (
        "_body",
        "_compared",
        "_fingerprint",
        "_read",
        "_volatile_for",
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
        self._read: Reread | None = None
        self._volatile_for = 0  # more replies
        self._compared: dict[Question, Compared] = {}

    @property
    def inventory(self) -> Inventory | None:
        """What it had; None where that can't be read here: how deep a text may be nested depends on who calls."""
        body, read = self._body, self._read  # in this order: another thread sets them in the other
        try:
            return (read_surveyed(body, self.provider_id) if read is None else read.surveyed).inventory
        except UnreadableInventoryError:
            return None

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
        body, read = self._body, self._read
        if read is None:
            read = read_again(body, self.provider_id)
            self._hold(read, len(body), hash(body) if by_body else None)
        return read.surveyed

    def followed_by(self, reply: Reply) -> tuple["Known", "_Taken"]:
        """What is known from a reply on that brings something else, and that. Raises UnreadableInventoryError."""
        body = reply.body
        new = Known(self.provider_id, self.base_url, reply.etag, body)
        if self._volatile_for:
            new._volatile_for = self._volatile_for - 1
            return new, _Taken(read_surveyed(body, self.provider_id), new, len(body))
        before = NOTHING if self._read is None else self._read
        read = read_again(body, self.provider_id, before)
        nodes = len(read.surveyed.nodes)
        if 2 * read.recognized < min(len(before.familiar), nodes) or (nodes and not read.familiar):
            new._volatile_for = VOLATILE_FOR
        else:
            new._hold(read, len(body), None if self._has_other_tag(reply) else hash(body))
        return new, _Taken(read.surveyed, new, read.new_bytes)

    def compared(self, question: Question) -> Compared | None:
        """What it came to when the same was asked before: who waits for a node asks again and again."""
        return self._compared.get(question)

    def remember(self, question: Question, compared: Compared) -> None:
        """Keep what it comes to, for the few questions that were asked last."""
        if self._compared.get(question) is compared and next(reversed(self._compared)) == question:
            return
        others = [(other, one) for other, one in self._compared.items() if other != question]
        self._compared = dict([*others[-(MOST_COMPARED - 1) :], (question, compared)])

    def _has_other_tag(self, reply: Reply) -> bool:
        return reply.etag is not None and reply.etag != self.etag

    def _hold(self, read: Reread, body_bytes: int, fingerprint: int | None) -> None:
        nodes = [(one.node, len(one.kinds)) for one in read.surveyed.nodes]
        texts = sum(len(node.labels) + len(node.taints) + len(node.warnings) for node, _ in nodes)
        devices = sum(devices for _, devices in nodes)
        self.size = max(body_bytes, NODE_BYTES * len(nodes) + DEVICE_BYTES * devices + LABEL_BYTES * texts)
        self._fingerprint = fingerprint
        self._read = read
        self._body = b""  # last: another thread looks whether there is one first
        self._volatile_for = 0


class _Taken(NamedTuple):
    """What a reply brings, what is known from it on, and how much of it was read."""

    surveyed: Surveyed
    known: Known
    read_bytes: int
    is_news: bool = True


class Inventories:
    """Least recently used out; safe under threads."""

    def __init__(self, most_kept_bytes: int = MOST_KEPT_BYTES) -> None:
        self._most_kept_bytes = most_kept_bytes
        self._kept: OrderedDict[str, Known] = OrderedDict()
        self._size = 0
        self._lock = threading.Lock()

    def call_for(
        self, record: ProviderRecord, owner: str = "", *, is_failing: bool = False, is_fresh: bool = False
    ) -> tuple[Call, Known | None]:
        """How to ask a provider: for what has changed, or (`is_fresh`) for all that it has; and what it may confirm."""
        with self._lock:
            kept = None if is_fresh else self._kept.get(record.id)
        if kept is not None and kept.base_url != record.base_url:
            kept = None
        etag, kept_bytes = (None, 0) if kept is None else (kept.etag, kept.unread_bytes)
        return Call(record.id, record.base_url, record.timeout_ms, etag, None, owner, is_failing, kept_bytes), kept

    def known(self) -> list[Known]:
        """The inventories that are kept, for whoever wants an overview: how old they are is told with them."""
        with self._lock:
            return list(self._kept.values())

    def judge(self, record: ProviderRecord, reply: Reply, now: datetime, asked: Known | None = None) -> Answered:
        """Read a reply, and keep what it brought: its body is taken from it. Never raises for anything that a provider sent.

        `asked`: what the call asked to confirm. A 304 is of that, whatever other searches have brought meanwhile.
        """
        taken = None
        try:
            if reply.outcome == OK:
                taken = self._taken(record, reply)
            elif reply.outcome == NOT_MODIFIED:
                assert asked is not None, "nobody is told 304 who has not asked with an entity tag"
                reply.etag = asked.etag
                taken = self._confirmed(asked)
        except UnreadableInventoryError as error:
            reply.outcome, reply.message = error.outcome, error.message
        entry = ProviderEntry(
            id=record.id,
            name=record.name,
            outcome=reply.outcome,
            message=reply.message,
            took_ms=reply.took_ms,
            http_status=reply.http_status,
            retry_at=reply.retry_at,
        )
        body_bytes, reply.body = len(reply.body), b""  # what is kept of it is elsewhere
        if taken is None:
            return Answered(record, entry, reply, read_bytes=body_bytes)
        inventory = taken.surveyed.inventory
        observed_at = parsed_time(reply.observed_at or inventory.observed_at)
        taken.known.observed_at = observed_at
        entry.nodes = len(inventory.nodes)
        warnings = [*_skew(observed_at, now), *inventory.warnings]
        entry.warnings = [structs.replace(warning, provider_id=record.id) for warning in warnings]
        known = None if taken.is_news else taken.known
        return Answered(
            record, entry, reply, taken.surveyed, observed_at, inventory.source, known, read_bytes=taken.read_bytes
        )

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
        return _Taken(surveyed, known, unread_bytes, is_news=False)

    def _make_room(self) -> None:
        while self._size > self._most_kept_bytes:
            self._drop(next(iter(self._kept)))

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
    return (_remembered_time if len(text) <= LONGEST_TIME else _parsed_time)(text)


def _parsed_time(text: str) -> datetime | None:
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        return None
    zone = time.utcoffset()
    return time if zone is not None and not zone % timedelta(minutes=1) else None


_remembered_time = lru_cache(maxsize=MOST_TIMES)(_parsed_time)


def _skew(observed_at: datetime | None, now: datetime) -> list[Warning]:
    if observed_at is None or observed_at - now <= MOST_SKEW:
        return []
    ahead = round((observed_at - now).total_seconds())
    return [Warning(code="clock_skew", message=f"observed_at is {ahead} s in the future; one of the clocks is wrong")]
