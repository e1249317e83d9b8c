"""The lab's names, versions and files: a kind cluster with made-up GPUs that HAMi shares. Its steps are in bootstrap."""

import os
import sys
from dataclasses import replace
from pathlib import Path

from scripts import processes, settings
from scripts.services import NO_ACCOUNT, QUICK_RESOLVER, Service
from scripts.settings import ROOT, Settings
from scripts.terminal import Failure

CLUSTER = "fedcompute-lab"
CONTEXT = f"kind-{CLUSTER}"
FILES = ROOT / "infra" / "kind"
SAMPLES = "fedcompute-samples"  # the namespace of the sample pods

# The mock's chart and image are both made from this commit: neither its chart's default image nor that image's
# tags say what they were built from.
MOCK_SOURCE = "https://github.com/NVIDIA/k8s-test-infra.git"
MOCK_COMMIT = "3b2b865d91b1844baa9feeca2820d2fab65414c7"
MOCK_IMAGE = f"nvml-mock:{MOCK_COMMIT[:12]}"
MOCK_NAMESPACE = "nvml-mock"

HAMI_CHARTS = "https://project-hami.github.io/HAMi/"
HAMI_VERSION = "2.10.0"
HAMI_NAMESPACE = "kube-system"

PROVIDER = "kind-lab"
PROVIDER_PORT = 8084


def read() -> Settings:
    """The fleet's settings, with the lab's provider as one more service; KIND_LAB_PORT sets its port. Raises Failure."""
    remembered = {name: one.port for name, one in processes.recorded(settings.run_dir()).items()}
    usual = settings.read(remembered=remembered)
    variable = settings.port_variable(PROVIDER)
    text = os.environ.get(variable) or str(remembered.get(PROVIDER, PROVIDER_PORT))
    if not (text.isascii() and text.isdigit() and 1 <= int(text) <= 65535):
        raise Failure(f"{variable}={text} is no port; give a number from 1 to 65535.")
    return replace(usual, ports={**usual.ports, PROVIDER: int(text)})


def kubeconfig(configured: Settings) -> Path:
    """Where the provider's own kubeconfig stands."""
    return configured.run_dir / "lab" / "kubeconfig"


def provider(configured: Settings) -> Service:
    """The provider on this machine that reads the lab's cluster."""
    own = {
        "PROVIDER_ID": PROVIDER,
        "INVENTORY_MODE": "kubernetes",
        "KUBECONFIG": str(kubeconfig(configured)),
        **QUICK_RESOLVER,
        **NO_ACCOUNT,
    }
    port = configured.ports[PROVIDER]
    chalice = str(Path(sys.executable).with_name("chalice"))
    command = (sys.executable, chalice, "local", "--no-autoreload", "--host", "127.0.0.1", "--port", str(port))
    return Service(PROVIDER, port, command, ROOT / "provider_app", own, ("/health", "/api/v1/inventory"))
