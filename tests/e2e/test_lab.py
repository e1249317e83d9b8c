"""The lab's commands one after the other, as make runs them, with a real provider and stand-ins for what needs Docker."""

import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from fakes.lab import Lab, a_lab

from scripts import lab as names
from scripts import ports
from scripts.cluster_server import PODS

pytestmark = pytest.mark.e2e

ROOT = Path(__file__).parents[2]


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[Lab]:
    with a_lab(tmp_path) as made:
        yield made
        run(made, "bootstrap", "--delete")


def run(lab: Lab, script: str, *arguments: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", f"scripts.{script}", *arguments]
    return subprocess.run(
        command, cwd=ROOT, env=lab.environment, capture_output=True, text=True, check=False, timeout=120
    )


def test_lab_comes_up_twice_alike_agrees_with_its_provider_and_goes_away(lab: Lab) -> None:
    first = run(lab, "bootstrap")
    calls = lab.programs.calls()
    second = run(lab, "bootstrap")
    again = lab.programs.calls()
    verified = run(lab, "hami_verify")
    kubeconfig = lab.run_dir / "lab" / "kubeconfig"
    mode = stat.S_IMODE(kubeconfig.stat().st_mode)
    registered = dict(lab.records)
    pods = [item for item, _ in lab.cluster.lists[PODS]]
    lab.cluster.put(PODS, [])
    lab.tell_kubectl()
    lab.cluster.put(PODS, pods)
    differing = run(lab, "hami_verify")
    deleted = [run(lab, "bootstrap", "--delete") for _ in range(2)]

    assert (first.returncode, second.returncode) == (0, 0), first.stderr + second.stderr
    assert sum(call.startswith("kind create") for call in calls) == 1
    assert sum(call.startswith("docker build") for call in calls) == 1
    assert not [call for call in again if call.startswith(("kind create", "docker build", "git init"))]
    assert registered[names.PROVIDER]["base_url"] == f"http://127.0.0.1:{lab.port}"
    assert mode == 0o600
    assert verified.returncode == 0, verified.stdout + verified.stderr
    assert "16 cards, 96 numbers, 0 that differ." in verified.stdout
    assert differing.returncode == 1
    assert "differs" in differing.stdout
    assert [done.returncode for done in deleted] == [0, 0], deleted[0].stderr
    assert lab.records == {}
    assert not ports.is_taken(lab.port)
    assert not kubeconfig.exists()
