"""Registers and searches every address of the matrix under every policy, and prints who was connected to.

To be run where all addresses lead here; see fakes/alone.py.
"""

import json
import os
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from fakes.address_matrix import NAMES, ROWS
from fakes.registry_table import a_record

from chalicelib.addresses import AddressPolicy, Reach
from chalicelib.asking import Asking
from chalicelib.fanout import Fanout
from chalicelib.inventories import Inventories
from fedcompute.base_url import check_base_url

PORT = 8099
REDIRECTING = "8.8.4.4"  # a public address
TIMEOUT_MS = 1500


class Everybody:
    """Whoever is connected to: notes the address, and answers with an empty inventory or a redirect."""

    def __init__(self) -> None:
        self.called: list[str] = []
        self.location = ""
        self._listener = socket.create_server(("::", PORT), family=socket.AF_INET6, dualstack_ipv6=True, backlog=512)
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            accepted, _ = self._listener.accept()
            self.called.append(accepted.getsockname()[0].removeprefix("::ffff:"))
            threading.Thread(target=self._answer, args=(accepted,), daemon=True).start()

    def _answer(self, accepted: socket.socket) -> None:
        with accepted:
            accepted.settimeout(2)
            try:
                accepted.recv(65536)
                status = f"302 Found\r\nLocation: {self.location}" if self.location else "200 OK"
                accepted.sendall(f"HTTP/1.1 {status}\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{{}}".encode())
            except OSError:
                pass


@contextmanager
def names(**addresses: str) -> Iterator[None]:
    """What names lead to, for a while."""
    lines = [f"{address} {name}" for name, many in addresses.items() for address in many.split()]
    Path(os.environ["HOSTS"]).write_text("\n".join(lines) + "\n")
    yield


def called_by(everybody: Everybody, policy: AddressPolicy, base_url: str) -> tuple[str, list[str]]:
    """The outcome of a search by a process that never searched before, and who was connected to."""
    everybody.called.clear()
    fanout = Fanout(policy, threads=1, connections=8, most_body_bytes=1 << 20, on_error=lambda *_: None)
    # Past every rule of a record: as if somebody had written it in the table by hand.
    record = a_record("a", timeout_ms=TIMEOUT_MS).model_copy(update={"base_url": base_url})
    (answered,) = Asking(fanout, Inventories()).ask([record], time.monotonic() + 3)
    return answered.entry.outcome, sorted(set(everybody.called))


def registered(policy: AddressPolicy, base_url: str) -> str | None:
    """Why it may not be registered; None: it may."""
    try:
        return policy.refusal_of_url(check_base_url(base_url))
    except ValueError as error:
        return str(error)


def main() -> None:
    everybody = Everybody()
    found = []
    with names(**NAMES):
        for row in ROWS:
            for reach in Reach:
                policy = AddressPolicy(reach)
                scheme = "https" if reach is Reach.PUBLIC else "http"
                url = row.url(scheme, PORT)
                everybody.location = ""
                refusal = registered(policy, url)
                everybody.called.clear()
                outcome, called = called_by(everybody, policy, url)
                everybody.location = row.url("http", PORT)
                _, by_redirect = called_by(everybody, AddressPolicy(Reach.PRIVATE), f"http://{REDIRECTING}:{PORT}")
                found.append([row.host, reach, refusal, outcome, called, by_redirect])
    everybody.location = ""
    flips = []
    for before, after in (("8.8.8.8", "127.0.0.1"), ("8.8.8.8", "169.254.169.254"), ("10.0.0.7", "169.254.169.254")):
        policy, url = AddressPolicy(Reach.PRIVATE), f"http://flips.test:{PORT}"
        with names(**{"flips.test": before}):
            first = [registered(policy, url), *called_by(everybody, policy, url)]
        with names(**{"flips.test": after}):
            flips.append([before, after, *first, *called_by(everybody, policy, url)])
    print(json.dumps({"rows": found, "flips": flips}))


main()
os._exit(0)
