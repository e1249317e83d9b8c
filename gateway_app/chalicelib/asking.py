"""Asks providers and reads what they answer, each as soon as it is there."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime

from chalicelib.calls import Call, Reply
from chalicelib.fanout import Fanout
from chalicelib.inventories import Answered, Inventories
from fedcompute.provider import ProviderRecord

# Called in a thread of the fan-out for each provider that answered, while others are still being asked.
Consider = Callable[[Answered], None]


class Asking:
    """The fan-out together with what a warm process knows."""

    def __init__(self, fanout: Fanout, inventories: Inventories) -> None:
        self._fanout = fanout
        self._inventories = inventories

    def ask(
        self,
        records: Sequence[ProviderRecord],
        deadline: float,
        consider: Consider = lambda _: None,
        *,
        is_fresh: bool = False,
    ) -> list[Answered]:
        """One answer per provider, in the order of the records, by `deadline` (monotonic seconds)."""
        by_id = {record.id: record for record in records}
        answers: dict[str, Answered] = {}

        def deliver(call: Call, reply: Reply) -> None:
            answered = self._inventories.judge(by_id[call.provider_id], reply, datetime.now(UTC))
            if answered.inventory is not None:
                consider(answered)
            answers[call.provider_id] = answered

        calls = [self._inventories.call_for(record, is_fresh=is_fresh) for record in records]
        self._fanout.ask(calls, deadline, deliver)
        return [answers[record.id] for record in records]
