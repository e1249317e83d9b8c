"""What sending a provider to another invocation costs: CPU of the order, of checking it, and of reading what came back.

python -m scripts.bench_parts [PROVIDERS]   prints microseconds of each provider, the least of 9 rounds (scripts/cost_model.py)
"""

import json
import sys
import time
from collections.abc import Sequence
from typing import Any

from scripts.settings import ROOT

sys.path[:0] = [str(ROOT / "gateway_app"), str(ROOT / "layers" / "fedcompute" / "python")]

from chalicelib.calls import Reply  # noqa: E402
from chalicelib.inventories import Answered, ProviderEntry  # noqa: E402
from chalicelib.orders import Orders, order_of, part_in  # noqa: E402
from fedcompute.log import Log  # noqa: E402
from fedcompute.provider import ProviderRecord  # noqa: E402
from fedcompute.request import parse_search  # noqa: E402

ROUNDS = 9


class _Silent:
    """Providers that answer nothing, at once: what is left is the way there and back."""

    def ask(self, records: Sequence[ProviderRecord], *_: Any) -> list[Answered]:
        entries = [ProviderEntry(id=one.id, name=one.name, outcome="timeout") for one in records]
        return [Answered(one, entry, Reply("timeout")) for one, entry in zip(records, entries, strict=True)]


def main() -> None:
    """Runs the command."""
    providers = int(sys.argv[1]) if len(sys.argv) > 1 else 500
    records = [_record(number) for number in range(providers)]
    silent: Any = _Silent()
    orders = Orders(silent, Log("bench", "ERROR"), lambda: 0.0)
    least = min(_round(records, orders) for _ in range(ROUNDS))
    sys.stdout.write(f"{providers} providers: {least / providers * 1e6:.1f} us of CPU for each\n")


def _round(records: Sequence[ProviderRecord], orders: Orders) -> float:
    wanted = parse_search(b'{"gpu": {}}', 8000)
    began = time.process_time()
    order = order_of(wanted, records, lambda _: True, 8000, "bench")
    answer = json.dumps(orders.done(json.loads(order))).encode()  # as Lambda's run time reads and writes
    part_in(answer, records)
    return time.process_time() - began


def _record(number: int) -> ProviderRecord:
    made = "2026-01-01T00:00:00Z"
    return ProviderRecord(
        id=f"provider-{number:04}",
        name=f"Research Lab {number}",
        base_url=f"https://lab-{number}.example.org/fedcompute",
        owner="lab-owner",
        verified_at=made,
        version=3,
        created_at=made,
        updated_at=made,
    )


if __name__ == "__main__":
    main()
