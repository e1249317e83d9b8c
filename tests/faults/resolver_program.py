"""Asks 20 providers whose names a resolver never answers for. To be run where all addresses lead here; see fakes/alone.py."""

import json
import os
import socket
import threading
import time
from pathlib import Path

from fakes.registry_table import a_record

from chalicelib.addresses import AddressPolicy, Reach
from chalicelib.asking import Asking
from chalicelib.fanout import Fanout
from chalicelib.inventories import Inventories

BUDGET_MS = 700
PATIENCE_S = 8.0


def threads() -> int:
    return len(list(Path("/proc/self/task").iterdir()))


silent = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
silent.bind(("127.0.0.53", 53))
queries: list[bytes] = []


def listen() -> None:
    while True:
        queries.append(silent.recv(2048))


threading.Thread(target=listen, daemon=True).start()
fanout = Fanout(AddressPolicy(Reach.ANY), threads=1, connections=64, most_body_bytes=1 << 20, on_error=print)
asking = Asking(fanout, Inventories())
asking.ask([a_record("a", base_url="http://127.0.0.1:1024", timeout_ms=100)], time.monotonic() + 1)
before = threads()
records = [a_record(f"p{n}", base_url=f"http://p{n}.example.org:8081", timeout_ms=BUDGET_MS) for n in range(20)]
started = time.monotonic()
answers = asking.ask(records, time.monotonic() + 5)
took_ms = round((time.monotonic() - started) * 1000)
give_up = time.monotonic() + PATIENCE_S
while threads() > before and time.monotonic() < give_up:
    time.sleep(0.1)
found = {
    "outcomes": [answered.entry.outcome for answered in answers],
    "took_ms": took_ms,
    "threads_left": max(0, threads() - before),
    "queries": len(queries),
}
print(json.dumps(found))
os._exit(0)
