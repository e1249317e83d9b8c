"""kubectl takes what a hint says."""

import shutil
import subprocess
from pathlib import Path

import pytest
from factories import device, node, request, shared
from fakes.discovery import discovery

from fedcompute.hints import hint
from fedcompute.inventory import Device, Taint

KUBECTL = shutil.which("kubectl")
CASES = {
    "hami": shared("GPU-1"),
    "kubernetes": device(),
    "dra": device("GPU-5", resource="gpu.nvidia.com"),
}


@pytest.mark.skipif(KUBECTL is None, reason="kubectl is not installed")
@pytest.mark.parametrize("kind", CASES)
def test_kubectl_reads_the_manifest(kind: str, tmp_path: Path) -> None:
    found = a_hint(CASES[kind])

    with discovery() as address:
        created = subprocess.run(
            [
                str(KUBECTL),
                *("--server", address, "--cache-dir", str(tmp_path)),
                *("create", "--dry-run=client", "--validate=false", "-f", "-"),
            ],
            input=found,
            capture_output=True,
            text=True,
            env={"HOME": str(tmp_path), "PATH": "/usr/bin:/bin"},
            timeout=30,
            check=False,
        )

    assert created.stderr == ""
    assert created.returncode == 0
    claimed = ["resourceclaim.resource.k8s.io/my-job"] if kind == "dra" else []
    assert created.stdout.splitlines() == [f"{made} created (dry run)" for made in [*claimed, "pod/my-job"]]


def a_hint(chosen: Device) -> str:
    gpu = {"count": 1, "minimum_memory_mib": 30000, "minimum_compute_percent": 50}
    wanted = request(gpu=gpu, cpu=4000, memory=16 << 30, tolerations=[{"key": "team", "operator": "Exists"}])
    on = node(chosen, taints=[Taint(key="nvidia.com/gpu", effect="NoSchedule")])
    return hint(wanted, on, [chosen], source="hami", name="Lab A", base_url=None).text
