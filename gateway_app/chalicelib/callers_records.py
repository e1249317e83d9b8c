"""The registry as one caller may change it: his own records, each change in the log, addresses confirmed under keys."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any

from chalicelib.callers import Caller
from chalicelib.calls import ANSWERED
from chalicelib.registry import Registry
from chalicelib.signing import Signing
from fedcompute.errors import Problem
from fedcompute.log import Log
from fedcompute.provider import NewProvider, ProviderRecord

MOST_PROVIDERS = 5000  # of all owners; about: two who register the last one at once both may


class CallersRecords:
    """What the provider routes change. Raises, beside what the registry raises: 403 `forbidden`.

    With `signing`, which is there under AUTH=keys, no search asks a provider before a check of its address has passed.
    `most_owned` providers are the most that one owner may have there, so that none can fill the registry for all others;
    about: requests that are made at once may each have one more.
    """

    def __init__(
        self,
        registry: Registry,
        caller: Caller,
        signing: Signing | None,
        log: Log,
        request_id: str,
        *,
        most_owned: int,
    ) -> None:
        self._registry = registry
        self._caller = caller
        self._log = log
        self._request_id = request_id
        self._signing = signing
        self._most_owned = most_owned

    def create(self, new: NewProvider, owner: str | None = None) -> ProviderRecord:
        """Registers a provider of this caller's. Raises: 409 `owner_full` and `registry_full`."""
        key_version = 1
        if self._signing is not None:
            self._signing.require_key()
            new = new.model_copy(update={"enabled": False})
            # Not 1: who had this id before, and was removed, would have the key of who has it now.
            key_version = int(datetime.now(UTC).timestamp())
        record = self._registry.create(new, owner or self._caller.principal, key_version, admit=self._admit)
        self._audit("register", record.id, None, record.version)
        return record

    def get(self, provider_id: str) -> ProviderRecord:
        """A record that is this caller's."""
        return self._permitted(self._registry.get(provider_id))

    def replace(
        self, provider_id: str, change: Callable[[ProviderRecord], ProviderRecord], *, action: str = "change"
    ) -> ProviderRecord:
        """A record of this caller's, changed."""
        seen: list[ProviderRecord] = []

        def permitted(record: ProviderRecord) -> ProviderRecord:
            seen.append(self._permitted(record))
            wanted = change(record)
            return self._unconfirmed(record, wanted) if self._signing is not None else wanted

        record = self._registry.replace(provider_id, permitted)
        if record is not seen[-1]:
            self._audit(action, provider_id, seen[-1].version, record.version)
        return record

    def remove(self, provider_id: str, check: Callable[[ProviderRecord], None] = lambda _: None) -> None:
        """A record of this caller's, removed."""
        seen: list[ProviderRecord] = []

        def permitted(record: ProviderRecord) -> None:
            seen.append(self._permitted(record))
            check(record)

        self._registry.remove(provider_id, permitted)
        self._audit("remove", provider_id, seen[-1].version, None)

    def confirm(self, checked: ProviderRecord, outcome: str) -> None:
        """After a check: a provider that answered as itself, and had not before, takes part in searches from now on."""
        if self._signing is None or outcome not in ANSWERED or checked.verified_at is not None:
            return
        now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")

        def confirmed(record: ProviderRecord) -> ProviderRecord:
            is_as_checked = (record.base_url, record.created_at) == (checked.base_url, checked.created_at)
            if not is_as_checked or record.verified_at is not None:
                return record  # changed while it was checked: what passed is not what is there
            return record.model_copy(update={"verified_at": now, "enabled": True})

        self.replace(checked.id, confirmed, action="confirm")

    def _admit(self, records: Sequence[ProviderRecord]) -> None:
        """Returns where there is room for one more, and under keys for one more of this caller's; admins register for all."""
        if len(records) >= MOST_PROVIDERS:
            raise Problem(
                "registry_full", f"There are {MOST_PROVIDERS} providers already; remove one that is not used."
            )
        owned = sum(record.owner == self._caller.principal for record in records)
        if self._signing is not None and owned >= self._most_owned and not self._caller.may("admin"):
            detail = f"{self._caller.principal} has {owned} providers, and {self._most_owned} are the most of one owner"
            raise Problem("owner_full", f"{detail} here (OWNER_PROVIDERS); remove one that is not used.")

    def _permitted(self, record: ProviderRecord) -> ProviderRecord:
        if not self._caller.owns(record):
            raise Problem("forbidden", f"The provider {record.id} is another owner's.")
        return record

    def _unconfirmed(self, record: ProviderRecord, wanted: ProviderRecord) -> ProviderRecord:
        """What is wanted, less what only a check can give: a new address is not confirmed, and until then not asked."""
        if wanted.base_url != record.base_url:
            wanted = wanted.model_copy(update={"verified_at": None})
        return wanted if wanted.verified_at is not None else wanted.model_copy(update={"enabled": False})

    def _audit(self, action: str, provider_id: str, before: int | None, after: int | None) -> None:
        who: dict[str, Any] = {"principal": self._caller.principal, "key_id": self._caller.key_id}
        what = {"action": action, "provider_id": provider_id, "version_from": before, "version_to": after}
        self._log.write("INFO", "audit", request_id=self._request_id, **who, **what)
