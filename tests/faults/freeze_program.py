"""A gateway that is stopped between searches, as Lambda does, while its providers and DynamoDB close what is idle.

Ends with 1 if a search after a pause lacks anybody, or if a thread works on after a search.
"""

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from fakes.provider_fleet import ProviderFleet
from fakes.registry_endpoint import registry_endpoint
from fakes.registry_table import a_record

CYCLES = int(os.environ.get("FREEZE_CYCLES", "100"))
PAUSE_S = float(os.environ.get("FREEZE_S", "10"))
COUNT = int(os.environ.get("FREEZE_PROVIDERS", "20"))
WELL = ("ok", "not_modified")
NO_ACCOUNT = {"AWS_ACCESS_KEY_ID": "none", "AWS_SECRET_ACCESS_KEY": "none", "AWS_DEFAULT_REGION": "us-east-1"}


class Frozen:
    """A process that can be stopped."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self._pid = process.pid
        self._in: IO[str] = process.stdin
        self._out: IO[str] = process.stdout

    def search(self) -> tuple[dict[str, Any], float]:
        """What a search came to, and its milliseconds."""
        started = time.monotonic()
        self._in.write("search\n")
        self._in.flush()
        said: dict[str, Any] = json.loads(self._out.readline())
        return said, (time.monotonic() - started) * 1000

    def stop(self) -> None:
        """Returns when it stands still."""
        self._signal(signal.SIGSTOP, os.WUNTRACED, os.WIFSTOPPED)

    def go_on(self) -> None:
        """Returns when it runs."""
        self._signal(signal.SIGCONT, os.WCONTINUED, os.WIFCONTINUED)

    def _signal(self, number: int, wanted: int, has_happened: Any) -> None:
        os.kill(self._pid, number)
        _, status = os.waitpid(self._pid, wanted)
        assert has_happened(status), status


def main() -> int:
    """Prints the figures. Returns an exit code."""
    print(f"{CYCLES} pauses of {PAUSE_S:g} s between searches of {COUNT} providers", flush=True)
    ids = [f"p{number:02}" for number in range(COUNT)]
    bad, first_ms, again_ms, outcomes = 0, list[float](), list[float](), Counter[str]()
    with ProviderFleet() as fleet:
        records = [a_record(one, base_url=fleet.base_url(one), timeout_ms=5000) for one in ids]
        for one in ids:
            fleet.add(one)
        with registry_endpoint(records) as registry, _process(registry.url) as frozen:
            before, _ = frozen.search()
            for cycle in range(CYCLES):
                frozen.stop()
                fleet.drop_connections()
                fleet.wait_until(lambda fleet: fleet.open == 0)
                registry.drop_connections()
                time.sleep(PAUSE_S)  # the pause itself
                frozen.go_on()
                said, took_ms = frozen.search()
                first_ms.append(took_ms)
                again_ms.append(frozen.search()[1])
                wrong = {one: said["outcomes"].get(one) for one in ids if said["outcomes"].get(one) not in WELL}
                is_busy = said["tasks"] != said["threads"] or said["threads"] > before["threads"]
                outcomes.update(said["outcomes"].values())
                if said["status"] != 200 or wrong or is_busy:
                    bad += 1
                    print(
                        f"  after pause {cycle}: {said['status']}, {wrong}, {said['threads']} of {said['tasks']} threads"
                    )
    first_ms.sort()
    again_ms.sort()
    print(f"  {bad} of {CYCLES} first searches after a pause went wrong; {dict(outcomes)}")
    print(f"  p50 {first_ms[len(first_ms) // 2]:.1f} ms, at most {first_ms[-1]:.1f} ms; without a pause p50", end=" ")
    print(f"{again_ms[len(again_ms) // 2]:.1f} ms; threads {before['threads']} -> {said['threads']}")
    return 1 if bad else 0


@contextmanager
def _process(endpoint: str) -> Iterator[Frozen]:
    program = str(Path(__file__).with_name("frozen_program.py"))
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(
        [sys.executable, program, endpoint], env=os.environ | NO_ACCOUNT, text=True, **pipes
    ) as process:
        try:
            yield Frozen(process)
        finally:
            process.kill()


if __name__ == "__main__":
    sys.exit(main())
