"""What the emulator adds to a warm search: through its API Gateway and Lambda, beside the same handler called directly.

After `make deploy`. Both ask the same deployed providers and the same table; they take turns, and medians are shown.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from typing import Any

import requests

from scripts import deploy, deployment, events, gateway, services, targets, urls
from scripts.settings import ROOT
from scripts.terminal import Failure, console, fail

# Answers one event a line, with the milliseconds that the handler took.
DIRECT = """
import json, sys, time
sys.path.insert(0, ".")
answers, sys.stdout = sys.stdout, sys.stderr
from app import app
for line in sys.stdin:
    event = json.loads(line)
    began = time.perf_counter()
    status = app(event, None)["statusCode"]
    print(json.dumps([(time.perf_counter() - began) * 1000, status]), file=answers, flush=True)
"""
WARM_UP = 5


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command. Returns its exit code."""
    parser = argparse.ArgumentParser(prog="python -m scripts.bench_overhead", description=__doc__)
    parser.add_argument("--rounds", type=int, default=50)
    given = parser.parse_args(arguments)
    try:
        through, direct = measure(given.rounds)
    except Failure as failure:
        fail(failure)
        return 1
    for name, taken in (("through the emulator", through), ("the handler directly", direct)):
        console.print(f"{name:<22} {statistics.median(taken):7.1f} ms, median of {len(taken)}", markup=False)
    console.print(
        f"{'the difference':<22} {statistics.median(through) - statistics.median(direct):7.1f} ms", markup=False
    )
    return 0


def measure(rounds: int) -> tuple[list[float], list[float]]:
    """Milliseconds of each search, through the emulator and directly. Raises Failure."""
    address = urls.deployed_urls()["gateway"]
    through: list[float] = []
    direct: list[float] = []
    event = json.dumps(events.api_event([gateway.SEARCH], "POST", gateway.SEARCH, json.dumps(gateway.SAMPLE)))
    with _handler() as process, requests.Session() as session:
        session.trust_env = False
        for number in range(rounds + WARM_UP):
            began = time.perf_counter()
            status = session.post(address + gateway.SEARCH, json=gateway.SAMPLE, timeout=30).status_code
            took = (time.perf_counter() - began) * 1000
            took_directly, status_directly = _ask(process, event)
            if (status, status_directly) != (200, 200):
                raise Failure(f"A search was answered with {status}, directly with {status_directly}.")
            if number >= WARM_UP:
                through.append(took)
                direct.append(took_directly)
        assert process.stdin is not None
        process.stdin.close()
    return through, direct


def _handler() -> "subprocess.Popen[str]":
    """The deployed gateway's code in a process of its own, with the deployed table."""
    target = targets.find(deploy.running_fleet())
    table = target.stacks().outputs(deployment.names(target).base)["RegistryTable"]
    settings = {
        "REGISTRY_TABLE": table,
        "AUTH": "open",
        "PROVIDER_ADDRESSES": "any",
        "AWS_ENDPOINT_URL": target.endpoint,
    }
    return subprocess.Popen(
        [sys.executable, "-c", DIRECT],
        cwd=ROOT / "gateway_app",
        env={**os.environ, **services.NO_ACCOUNT, **services.QUICK_RESOLVER, **settings},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )


def _ask(process: "subprocess.Popen[str]", event: str) -> Any:
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(event + "\n")
    process.stdin.flush()
    line = process.stdout.readline()
    if not line:
        raise Failure("The handler ended.")
    return json.loads(line)


if __name__ == "__main__":
    raise SystemExit(main())
