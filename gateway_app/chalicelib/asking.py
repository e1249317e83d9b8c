"""Asks providers and reads what they answer, each as soon as it is there."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta

from chalicelib.calls import Call, Reply
from chalicelib.circuit import Circuits, Skipped
from chalicelib.fanout import Fanout
from chalicelib.inventories import Answered, Inventories, Known
from chalicelib.signing import Signing
from fedcompute.base_url import host_and_port
from fedcompute.provider import ProviderRecord

# Called in a thread of the fan-out for each provider that answered, while others are still being asked.
Consider = Callable[[Answered], None]


class Asking:
    """The fan-out together with what a warm process knows."""

    def __init__(
        self,
        fanout: Fanout,
        inventories: Inventories,
        signing: Signing | None = None,
        circuits: Circuits | None = None,
    ) -> None:
        self._fanout = fanout
        self.inventories = inventories
        self._signing = signing
        self.circuits = circuits or Circuits()

    def ask(
        self,
        records: Sequence[ProviderRecord],
        deadline: float,
        consider: Consider | None = None,
        *,
        is_fresh: bool = False,
    ) -> list[Answered]:
        """One answer per provider, in the order of the records, by `deadline` (monotonic seconds).

        With `consider` the answers come without the inventories that it was given: they are not held on to.
        `is_fresh`: ask for all that they have, also those that keep failing.
        Raises: 503 `not_ready` where calls are signed and there is no key to sign with.
        """
        by_id = {record.id: record for record in records}
        turns = {record.id: self.circuits.begin(record, is_forced=is_fresh) for record in records}
        answers: dict[str, Answered] = {}

        def deliver(call: Call, reply: Reply) -> int:
            record = by_id[call.provider_id]
            if self._signing is not None:
                reply = self._signing.checked(call, reply, record)
            answered = self.inventories.judge(record, reply, datetime.now(UTC), asked.pop(record.id, None))
            self.circuits.end(record, turns[record.id], answered.entry.outcome)
            if consider is not None and answered.surveyed is not None:
                consider(answered)
                answered.let_go()
            answers[call.provider_id] = answered
            return answered.read_bytes

        calls = []
        asked: dict[str, Known] = {}  # what each is asked to confirm; held no longer than that
        for record in records:
            turn = turns[record.id]
            if turn.skipped is not None:
                answers[record.id] = self.inventories.judge(record, _not_asked(turn.skipped), datetime.now(UTC))
            else:
                owner = record.owner or host_and_port(record.base_url)[0]
                call, known = self.inventories.call_for(record, owner, is_failing=turn.is_failing, is_fresh=is_fresh)
                calls.append(call if self._signing is None else self._signing.signed(call, record))
                if known is not None:
                    asked[record.id] = known
        self._fanout.ask(calls, deadline, deliver)
        return [answers[record.id] for record in records]


def _not_asked(skipped: Skipped) -> Reply:
    retry_at = datetime.now(UTC) + timedelta(seconds=skipped.retry_in_s)
    message = (
        f"not asked: {skipped.failures} calls in a row failed, the last with {skipped.last_outcome}; "
        "this process of the gateway tries it again at retry_at, and a check asks it at once"
    )
    text = retry_at.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return Reply("circuit_open", message, retry_at=text)
