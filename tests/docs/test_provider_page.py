"""docs/providers.md: its program is a provider, with signatures and without, and what it serves is an inventory."""

import base64
import os
import re
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import requests

from fedcompute.reading import read
from fedcompute.signatures import check_reply, sign_request, signed_of
from scripts.ports import free_ports

from .test_api_page import ROOT

PAGE = (ROOT / "docs" / "providers.md").read_text()
KEY = base64.b64encode(b"k" * 32).decode()
NODE = shutil.which("node")
PATIENCE_S = 30

pytestmark = pytest.mark.skipif(NODE is None, reason="node is not installed")


class Served:
    def __init__(self, folder: Path, key: str) -> None:
        (program,) = re.findall(r"<!-- program: provider.mjs -->\n```js\n(.*?)```", PAGE, re.DOTALL)
        (folder / "provider.mjs").write_text(program)
        (port,) = free_ports(1)
        self.address = f"http://127.0.0.1:{port}"
        own = {"PATH": os.environ["PATH"], "PROVIDER_ID": "my-lab", "PORT": str(port), "PROVIDER_KEY": key}
        self.process = subprocess.Popen([str(NODE), str(folder / "provider.mjs")], env=own)

    def get(self, path: str = "/api/v1/inventory", **headers: str) -> requests.Response:
        with requests.Session() as session:
            return session.get(self.address + path, headers=headers, timeout=10)

    def await_health(self) -> None:
        end = time.monotonic() + PATIENCE_S
        while True:
            try:
                self.get("/health")
            except requests.ConnectionError:
                assert time.monotonic() < end
                time.sleep(0.05)
            else:
                return


@pytest.fixture
def served(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Served]:
    made = Served(tmp_path, request.param)
    try:
        made.await_health()
        yield made
    finally:
        made.process.terminate()
        made.process.wait(PATIENCE_S)


@pytest.mark.parametrize("served", [""], indirect=True, ids=["open"])
def test_it_serves_an_inventory_and_revalidates_it(served: Served) -> None:
    answer = served.get()
    again = served.get(**{"If-None-Match": answer.headers["ETag"]})

    inventory = read(answer.content, "my-lab")
    assert [len(node.devices) for node in inventory.nodes] == [1]
    assert not inventory.warnings
    assert (again.status_code, again.content) == (304, b"")
    assert again.headers["X-Observed-At"] >= answer.headers["X-Observed-At"]


@pytest.mark.parametrize("served", [KEY], indirect=True, ids=["signed"])
def test_with_a_key_it_answers_signed_calls_once_and_signs(served: Served) -> None:
    now = int(time.time())
    call = sign_request([KEY], "call-1", now, "my-lab").headers

    answer = served.get(**call)

    assert answer.status_code == 200
    told = {name.lower(): value for name, value in answer.headers.items()}
    check_reply(
        signed_of(told),
        [KEY],
        now,
        request_id="call-1",
        provider_id="my-lab",
        status=200,
        etag=answer.headers["ETag"],
        body=answer.content,
    )
    assert served.get(**call).status_code == 401  # a second time
    assert served.get().status_code == 401
    assert served.get(**sign_request([KEY], "call-2", now - 400, "my-lab").headers).status_code == 401
    assert served.get(**sign_request([KEY], "call-3", now, "another").headers).status_code == 401
