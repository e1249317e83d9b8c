"""Asks providers and reads what they answer, each as soon as it is there."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime

from chalicelib.calls import Call, Reply
from chalicelib.fanout import Fanout
from chalicelib.inventories import Answered, Inventories
from chalicelib.signing import Signing
from fedcompute.provider import ProviderRecord

# Called in a thread of the fan-out for each provider that answered, while others are still being asked.
Consider = Callable[[Answered], None]


class Asking:
    """The fan-out together with what a warm process knows."""

    def __init__(self, fanout: Fanout, inventories: Inventories, signing: Signing | None = None) -> None:
        self._fanout = fanout
        self._inventories = inventories
        self._signing = signing

    def ask(
        self,
        records: Sequence[ProviderRecord],
        deadline: float,
        consider: Consider = lambda _: None,
        *,
        is_fresh: bool = False,
    ) -> list[Answered]:
        """One answer per provider, in the order of the records, by `deadline` (monotonic seconds).

        Raises: 503 `not_ready` where calls are signed and there is no key to sign with.
        """
        by_id = {record.id: record for record in records}
        answers: dict[str, Answered] = {}

        def deliver(call: Call, reply: Reply) -> None:
            record = by_id[call.provider_id]
            if self._signing is not None:
                reply = self._signing.checked(call, reply, record)
            answered = self._inventories.judge(record, reply, datetime.now(UTC))
            if answered.inventory is not None:
                consider(answered)
            answers[call.provider_id] = answered

        calls = [self._call_for(record, is_fresh=is_fresh) for record in records]
        self._fanout.ask(calls, deadline, deliver)
        return [answers[record.id] for record in records]

    def _call_for(self, record: ProviderRecord, *, is_fresh: bool) -> Call:
        call = self._inventories.call_for(record, is_fresh=is_fresh)
        return call if self._signing is None else self._signing.signed(call, record)
