"""Every route while DynamoDB is in trouble, against the gateway's own handler: status and time of each.

Ends with 1 if a route that needs the registry takes more than 5 s, or says anything but 503 with Retry-After; and if one
that does not need it is harmed.
"""

import os
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, redirect_stderr
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import pytest
from botocore.exceptions import ReadTimeoutError
from chalice.local import LocalChalice
from fakes.bad_endpoints import answering_endpoint, closed_endpoint, error_body, halting_endpoint, silent_endpoint
from fakes.gateway import PROVIDERS, RESOURCES, SEARCH, Answer, Gateway
from fakes.keyed_gateway import KeyedGateway
from fakes.registry_table import a_record, a_table, fill
from fakes.scripted_client import OneCallAtATime
from moto import mock_aws
from rich.console import Console
from rich.table import Table

from chalicelib.attempts import LONGEST_CALL_S
from chalicelib.dynamodb import READ_TIMEOUT_S, make_client
from chalicelib.registry import Registry

CONSOLE = Console()
A_SEARCH = {"cpu": {"minimum_millicores": 1000}}
ONE = f"{PROVIDERS}/a"
NOBODY = "http://127.0.0.1:1024"
BODY = {"name": "Other", "base_url": NOBODY}
NEEDING: dict[str, tuple[str, str, object]] = {
    "search": ("POST", SEARCH, A_SEARCH),
    "resources": ("GET", RESOURCES, None),
    "register": ("POST", PROVIDERS, {"id": "b", **BODY}),
    "list": ("GET", PROVIDERS, None),
    "read": ("GET", ONE, None),
    "replace": ("PUT", ONE, BODY),
    "change": ("PATCH", ONE, BODY),
    "remove": ("DELETE", ONE, None),
    "check": ("POST", f"{ONE}/check", None),
    "metrics": ("GET", "/metrics", None),
    "ready": ("GET", "/ready", None),
}
ALONE: dict[str, tuple[str, str, object]] = {
    "health": ("GET", "/health", None),
    "page": ("GET", "/", None),
    "document": ("GET", "/openapi.json", None),
}
KEYED = "read, with a key"


class Seen(NamedTuple):
    """What a route said, and when."""

    status: int
    retry_after: str
    took_s: float


class HangsOften:
    """A table of which only every nth answer comes; botocore gives each of the others up."""

    def __init__(self, client: Any, nth: int) -> None:
        self._client = client
        self._nth = nth
        self._calls = 0

    def __getattr__(self, operation: str) -> Callable[..., Any]:
        def call(**arguments: Any) -> Any:
            self._calls += 1
            if self._calls % self._nth:
                time.sleep(READ_TIMEOUT_S)
                raise ReadTimeoutError(endpoint_url="https://dynamodb.test")
            return getattr(self._client, operation)(**arguments)

        return call


def main() -> int:
    """Prints the table. Returns an exit code."""
    os.environ |= {"AWS_ACCESS_KEY_ID": "none", "AWS_SECRET_ACCESS_KEY": "none", "AWS_DEFAULT_REGION": "us-east-1"}
    faults: dict[str, Callable[[], Any]] = {
        "throttled": lambda: _answering(400, "ProvisionedThroughputExceededException"),
        "fails, 500": lambda: _answering(500, "InternalServerError"),
        "busy, 503": lambda: _answering(503, "ServiceUnavailable"),
        "hangs": silent_endpoint,
        "halts in its answer": halting_endpoint,
        "not there": closed_endpoint,
    }
    found: dict[str, dict[str, Seen]] = {}
    for fault, endpoint in faults.items():
        with endpoint() as address:
            found[fault] = _at(address)
    bad = _show(found)
    for nth, word in ((2, "second"), (3, "third")):
        often = _hanging_often(nth)
        bad += sum(seen.took_s > LONGEST_CALL_S or seen.status == 500 for seen in often.values())
        CONSOLE.print(f"Every {word} call to DynamoDB is answered, the others hang: {_told(often)}")
    CONSOLE.print(f"{bad} wrong; at most {max(one.took_s for all_ in found.values() for one in all_.values()):.2f} s")
    return 1 if bad else 0


def _at(address: str) -> dict[str, Seen]:
    """Every route at once, of a gateway whose DynamoDB is there."""
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch, redirect_stderr(StringIO()):
        gateway = Gateway(patch, AWS_ENDPOINT_URL=address)
        gateway.app.__class__ = LocalChalice  # what `chalice local` does: each thread has its own request
        seen = _together({name: (gateway, call) for name, call in {**NEEDING, **ALONE}.items()})
        keyed = KeyedGateway(patch, None, "registry", Path(folder), AWS_ENDPOINT_URL=address)
        keyed.module.gateway.registry = Registry(lambda: make_client(address), "registry")
        key = f"Bearer fc_{'0' * 16}_{'a' * 43}"
        seen[KEYED] = _timed(lambda: keyed.call("GET", ONE, headers={"Authorization": key}))
        return seen


def _hanging_often(nth: int) -> dict[str, Seen]:
    """Every route of a process and a table of its own, so that each meets calls that hang before one that answers."""
    with ExitStack() as stack:
        stack.enter_context(mock_aws())
        patch = stack.enter_context(pytest.MonkeyPatch.context())
        stack.enter_context(redirect_stderr(StringIO()))
        client = OneCallAtATime(make_client())

        def a_gateway() -> Gateway:
            table = stack.enter_context(a_table(client))
            fill(client, table, [a_record("a", base_url=NOBODY, timeout_ms=100)])
            gateway = Gateway(patch, REGISTRY_TABLE=table)
            gateway.module.gateway.registry = Registry(lambda: HangsOften(client, nth), table)
            return gateway

        return _together({name: (a_gateway(), call) for name, call in NEEDING.items()})


def _together(calls: dict[str, tuple[Gateway, tuple[str, str, object]]]) -> dict[str, Seen]:
    with ThreadPoolExecutor(len(calls)) as pool:
        running = {
            name: pool.submit(_timed, lambda gateway=gateway, call=call: gateway.call(*call))
            for name, (gateway, call) in calls.items()
        }
        return {name: future.result() for name, future in running.items()}


def _timed(act: Callable[[], Answer]) -> Seen:
    started = time.monotonic()
    answer = act()
    return Seen(answer.status, answer.headers.get("retry-after", ""), time.monotonic() - started)


@contextmanager
def _answering(status: int, code: str) -> Iterator[str]:
    with answering_endpoint(status, error_body(code)) as (address, _):
        yield address


def _is_wrong(route: str, seen: Seen) -> bool:
    if route in ALONE:
        return seen.status != 200
    return seen.status != 503 or not seen.retry_after.isdigit() or seen.took_s > LONGEST_CALL_S


def _show(found: dict[str, dict[str, Seen]]) -> int:
    """The table; returns how many entries are wrong."""
    table = Table("route", *found, title="Seconds until each route answered 503 with Retry-After (others: the status)")
    wrong = 0
    for route in next(iter(found.values())):
        cells = []
        for seen in (found[fault][route] for fault in found):
            is_wrong = _is_wrong(route, seen)
            wrong += is_wrong
            status = "" if seen.status == 503 and seen.retry_after else f"{seen.status} "
            cells.append(f"{status}{seen.took_s:.2f}{' WRONG' if is_wrong else ''}")
        table.add_row(route, *cells)
    CONSOLE.print(table)
    return wrong


def _told(often: dict[str, Seen]) -> str:
    return ", ".join(f"{route} {seen.status} {seen.took_s:.1f} s" for route, seen in often.items())


if __name__ == "__main__":
    sys.exit(main())
