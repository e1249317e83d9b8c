"""Searches of providers that fail by chance, while some come and go: each search is compared with what each call met.

Ends with 1, the seed and the search at the first answer in which a registered provider is not exactly once, has an
outcome that does not follow from what its call met, or has candidates that it should not have; and at the first exception.
"""

import io
import os
import random
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stderr
from typing import Any

import pytest
from fakes.chaotic_providers import CONFIRMED, WELL, Chaos, chaotic_providers, node_of
from fakes.fault_outcomes import OUTCOME_OF
from fakes.gateway import PROVIDERS, Gateway
from fakes.registry_table import a_table
from moto import mock_aws

from chalicelib.dynamodb import make_client
from chalicelib.registry import Registry

SEED = os.environ.get("CHAOS_SEED", "1")
SEARCHES = int(os.environ.get("CHAOS_SEARCHES", "1000"))
COUNT = int(os.environ.get("CHAOS_PROVIDERS", "20"))
FAULTY = float(os.environ.get("CHAOS_FAULTY", "0.3"))  # the share of calls that meet a fault
IDS = [f"p{number:02}" for number in range(COUNT)]
TIMEOUT_MS = 400
DEADLINES_MS = (300, 2000, 2000, 2000)  # the first is before the providers' own timeout
MOVING = 0.05  # the share of searches before which a provider is removed or comes back
LATE = ("timeout", "deadline_exceeded")
RIGHT: Mapping[str, tuple[str, ...]] = {
    **{fault: (outcome,) for fault, outcome in OUTCOME_OF.items()},
    "status-304-unasked": ("http_status", "not_modified"),  # the second where it was asked with an entity tag
    WELL: ("ok",),
    CONFIRMED: ("not_modified",),
}
LEAST_WELL_IN_TIME_PERCENT = 95.0  # all, on a machine that has nothing else to do


class WrongError(Exception):
    """An answer that breaks a rule."""


def main() -> int:
    """Prints the figures. Returns an exit code."""
    os.environ |= {"AWS_ACCESS_KEY_ID": "none", "AWS_SECRET_ACCESS_KEY": "none", "AWS_DEFAULT_REGION": "us-east-1"}
    chance = random.Random(SEED)
    outcomes, met_all, late = Counter[str](), Counter[str](), Counter[str]()
    fates: dict[str, list[str]] = {}
    slowest_ms, started = 0.0, time.monotonic()
    print(
        f"seed {SEED}: {SEARCHES} searches of {COUNT} providers; {FAULTY:.0%} of their calls meet a fault", flush=True
    )
    with chaotic_providers(IDS, SEED, FAULTY) as chaos, _gateway() as gateway, redirect_stderr(io.StringIO()) as said:
        registered = set(IDS)
        for one in IDS:
            gateway.register(one, chaos.urls[one], timeout_ms=TIMEOUT_MS)
        for number in range(SEARCHES):
            if chance.random() < MOVING:
                _move(gateway, chaos, registered, chance.choice(IDS))
            deadline_ms, partial = chance.choice(DEADLINES_MS), chance.choice(["allow", "require_all"])
            began = time.monotonic()
            answer = gateway.search(deadline_ms=deadline_ms, partial=partial, limit=100)
            slowest_ms = max(slowest_ms, (time.monotonic() - began) * 1000 - deadline_ms)
            met = chaos.met()
            # A connection may be kept, and the next call meets what is left of the last one's fate.
            fates = {one: calls or fates.get(one, []) for one, calls in met.items()}
            try:
                _check_log(said.getvalue())
                _check_whole(answer.status, answer.json, registered, partial)
                for entry in answer.json["providers"]:
                    _check_entry(entry, fates[entry["id"]], late)
                    _check_candidates(entry, answer.json["candidates"])
            except WrongError as wrong:
                print(f"seed {SEED}, search {number}: {wrong}\n{said.getvalue()}")
                return 1
            said.truncate(said.seek(0))
            outcomes.update(entry["outcome"] for entry in answer.json["providers"])
            met_all.update(one for calls in met.values() for one in calls)
    well = met_all[WELL] + met_all[CONFIRMED]
    in_time = 100 - 100 * late[WELL] / well
    faults = met_all.total() - well
    print(f"  every provider exactly once in each of {SEARCHES} answers; {outcomes.total()} outcomes:")
    print(f"  {dict(outcomes.most_common())}")
    print(f"  {met_all.total()} calls: {well} met nothing bad, {faults} one of {len(met_all) - 2} faults")
    print(
        f"  {in_time:.2f} % of the former were answered in time; the latest search ended {slowest_ms:.0f} ms past its"
    )
    print(f"  deadline; {time.monotonic() - started:.0f} s in all")
    return int(in_time < LEAST_WELL_IN_TIME_PERCENT)


def _check_log(said: str) -> None:
    if "traceback" in said.lower():
        raise WrongError("something was raised that nobody handles")


def _check_whole(status: int, body: dict[str, Any], registered: set[str], partial: str) -> None:
    ids = [entry["id"] for entry in body["providers"]]
    if ids != sorted(registered):
        raise WrongError(f"registered are {sorted(registered)}; the answer has {ids}")
    answered = [entry["outcome"] in ("ok", "not_modified") for entry in body["providers"]]
    if body["partial"] is all(answered):
        raise WrongError(f"partial is {body['partial']}, and {answered.count(False)} did not answer")
    if status != (503 if partial == "require_all" and body["partial"] else 200):
        raise WrongError(f"status {status} with partial={partial}")
    if body["total_candidates"] != len(body["candidates"]):
        raise WrongError(f"{body['total_candidates']} candidates, and {len(body['candidates'])} are shown")


def _check_entry(entry: dict[str, Any], met: Sequence[str], late: Counter[str]) -> None:
    """That an outcome follows from what the call met. A call that was given up late may be among the next search's."""
    outcome = entry["outcome"]
    if outcome == "circuit_open" and entry["took_ms"] == 0:
        return
    if outcome in LATE:
        late.update(WELL if one in (WELL, CONFIRMED) else one for one in met[-1:])
        return
    if not any(outcome in RIGHT[one] for one in met):
        raise WrongError(f"{entry['id']} has {outcome}, and its calls met {list(met)}")


def _check_candidates(entry: dict[str, Any], candidates: Sequence[dict[str, Any]]) -> None:
    its = [one["node"]["name"] for one in candidates if one["provenance"]["provider_id"] == entry["id"]]
    has_answered = entry["outcome"] in ("ok", "not_modified")
    if len(its) != (entry["candidates"] or 0) or (its and not has_answered):
        raise WrongError(f"{entry['id']} has {entry['outcome']}, {entry['candidates']} candidates, and shown are {its}")
    if entry["outcome"] == "not_modified" and its != [node_of(entry["id"])]:
        raise WrongError(f"{entry['id']} has confirmed its inventory, and shown are {its}")


def _move(gateway: Gateway, chaos: Chaos, registered: set[str], provider_id: str) -> None:
    if provider_id in registered:
        registered.remove(provider_id)
        assert gateway.call("DELETE", f"{PROVIDERS}/{provider_id}").status == 204
    else:
        registered.add(provider_id)
        gateway.register(provider_id, chaos.urls[provider_id], timeout_ms=TIMEOUT_MS)


@contextmanager
def _gateway() -> Iterator[Gateway]:
    with mock_aws(), pytest.MonkeyPatch.context() as patch:
        client = make_client()
        with a_table(client) as table:
            gateway = Gateway(patch, REGISTRY_TABLE=table, LOG_LEVEL="ERROR", MAX_INVENTORY_BYTES=str(4 << 20))
            gateway.module.gateway.registry = Registry(lambda: client, table)
            yield gateway


if __name__ == "__main__":
    sys.exit(main())
