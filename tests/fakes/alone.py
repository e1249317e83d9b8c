"""Runs a program in a network of its own, in which every address there is leads to the program itself.

Whoever connects to anything there reaches it: what a program connects to is observed, not assumed.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).resolve().parent.parent / "faults"
ROOT = FOLDER.parent.parent
_PATH = [str(ROOT / part) for part in ("tests", "gateway_app", "layers/fedcompute/python")]
_NETWORK = (
    "ip link set lo up && ip route add local 0.0.0.0/0 dev lo && { ip -6 route add local ::/0 dev lo || true; } && "
    'mount --bind "$HOSTS" /etc/hosts && mount --bind "$RESOLV" /etc/resolv.conf && exec "$@"'
)


def run_alone(program: str, folder: Path, *, resolv: str = "", **environment: str) -> Any:
    """What a program of tests/faults prints as JSON; skips the test where there can be no network of its own."""
    if shutil.which("unshare") is None or shutil.which("ip") is None:
        pytest.skip("needs unshare (util-linux) and ip (iproute2)")
    for name, text in (("hosts", ""), ("resolv.conf", resolv)):
        (folder / name).write_text(text)
    outer = ["unshare", "--net", "--mount", "sh", "-c", _NETWORK, "sh"]
    files = {"HOSTS": str(folder / "hosts"), "RESOLV": str(folder / "resolv.conf")}
    probe = subprocess.run([*outer, "true"], env={**os.environ, **files}, capture_output=True, text=True, check=False)
    if probe.returncode:
        pytest.skip(f"needs to be allowed a network of its own (unshare as root): {probe.stderr.strip()[-200:]}")
    done = subprocess.run(
        [*outer, sys.executable, str(FOLDER / program)],
        env={**os.environ, **files, "PYTHONPATH": os.pathsep.join(_PATH), **environment},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return json.loads(done.stdout.splitlines()[-1])
