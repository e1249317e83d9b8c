"""make bootstrap: a kind cluster with made-up GPUs that HAMi shares, and a provider on this machine that reads it.

python -m scripts.bootstrap            makes what is missing; what is there already stays
python -m scripts.bootstrap --delete   ends the provider, takes its record out of the registry, deletes the cluster

Steps: the cluster (kind), the mock of NVIDIA's driver (built from a pinned commit), HAMi (a pinned chart), pods that hold
parts of the GPUs, a read-only account with its kubeconfig, the provider, its record at the gateway of `make dev`.
The first run builds an image and pulls some: tens of minutes and several GB. docs/lab.md has more.
"""

import sys
from pathlib import Path

import click
import requests

from scripts import fleet, gateway, interrupts, lab, processes, tools
from scripts.exclusive import alone
from scripts.make_kubeconfig import make
from scripts.settings import Settings
from scripts.terminal import Failure, console, fail, heading, line

GATEWAY_ANSWERS_S = 5
RECORDS = gateway.RECORDS


@click.command(help=__doc__, context_settings={"max_content_width": 120})
@click.option("--delete", is_flag=True, help="Undo it.")
def main(delete: bool) -> None:
    """Runs the command."""
    try:
        with interrupts.raised():
            remove(lab.read()) if delete else bring_up(lab.read())
    except Failure as failure:
        fail(failure)
        sys.exit(1)
    except interrupts.Interrupted as interrupted:
        console.print("\nInterrupted. The same command again goes on from here.")
        sys.exit(128 + interrupted.number)


def bring_up(configured: Settings) -> None:
    """Every step, the checks first. Raises Failure; what was done until then stays, and is found by the next run."""
    tools.require("docker", "git", "helm", "kind", "kubectl")
    _require_gateway(configured)
    heading("Cluster")
    create_cluster()
    heading("Made-up GPUs")
    install_mock(configured.run_dir / "lab" / "k8s-test-infra")
    heading("HAMi")
    install_hami()
    heading("Sample pods")
    start_samples()
    heading("Provider")
    make(lab.CONTEXT, lab.kubeconfig(configured))
    start_provider(configured)
    line(f"{lab.PROVIDER} {register(configured)}")
    line("make hami-verify compares what the cluster says with what the provider says.")


def create_cluster() -> None:
    """The kind cluster, if there is none of its name."""
    if lab.CLUSTER in tools.output("kind", "get", "clusters").split():
        line(f"{lab.CLUSTER} is there already")
        return
    tools.run("kind", "create", "cluster", "--config", str(lab.FILES / "cluster.yaml"), "--wait", "5m")


def install_mock(checkout: Path) -> None:
    """The mock's image, built once per commit and loaded into the nodes, and its chart of the same commit."""
    if not (checkout / ".git").exists():
        checkout.mkdir(parents=True, exist_ok=True)
        tools.run("git", "init", "--quiet", folder=checkout)
    tools.run("git", "fetch", "--quiet", "--depth", "1", lab.MOCK_SOURCE, lab.MOCK_COMMIT, folder=checkout)
    tools.run("git", "checkout", "--quiet", "--force", lab.MOCK_COMMIT, folder=checkout)
    if not tools.succeeds("docker", "image", "inspect", lab.MOCK_IMAGE):
        dockerfile = "deployments/nvml-mock/Dockerfile"
        tools.run("docker", "build", "--tag", lab.MOCK_IMAGE, "--file", dockerfile, ".", folder=checkout)
    tools.run("kind", "load", "docker-image", lab.MOCK_IMAGE, "--name", lab.CLUSTER)
    chart = checkout / "deployments" / "nvml-mock" / "helm" / "nvml-mock"
    _helm("nvml-mock", str(chart), lab.MOCK_NAMESPACE, "nvml-mock-values.yaml", "--wait")


def install_hami() -> None:
    """HAMi, and the wait for its first register. Its monitor crashes on the mock: its pods never become ready."""
    _helm(
        "hami", "hami", lab.HAMI_NAMESPACE, "hami-values.yaml", "--repo", lab.HAMI_CHARTS, "--version", lab.HAMI_VERSION
    )
    _kubectl("rollout", "status", "deployment/hami-scheduler", "-n", lab.HAMI_NAMESPACE, "--timeout=10m")
    registered = r"jsonpath={.metadata.annotations.hami\.io/node-nvidia-register}"
    _kubectl("wait", "node", "-l", "gpu=on", f"--for={registered}", "--timeout=10m")


def start_samples() -> None:
    """Pods that hold parts of GPUs, until they have their places."""
    _kubectl("apply", "-f", str(lab.FILES / "sample-pods.yaml"))
    _kubectl("wait", "pod", "--all", "-n", lab.SAMPLES, "--for=condition=PodScheduled", "--timeout=5m")


def start_provider(configured: Settings) -> None:
    """The provider, in the background, once it has read the cluster."""
    service = lab.provider(configured)

    def tell(_: object, running: processes.Running, is_new: bool) -> None:
        line(f"{lab.PROVIDER} {'started' if is_new else 'runs'} on port {running.port} (process {running.pid})")

    with alone(configured.run_dir), fleet.up(configured, [service], tell):
        pass


def register(configured: Settings) -> str:
    """Puts the provider into the gateway's registry, or moves its record to the address that it has now."""
    address = f"http://127.0.0.1:{configured.ports[lab.PROVIDER]}"
    record = {"id": lab.PROVIDER, "name": "kind cluster of this machine", "base_url": address, "timeout_ms": 10000}
    records = configured.url("gateway") + RECORDS
    with _session() as session:
        answer = session.post(records, json=record, timeout=gateway.TIMEOUT_S)
        if answer.status_code == 409:
            answer = session.put(f"{records}/{lab.PROVIDER}", json=record, timeout=gateway.TIMEOUT_S)
        if answer.status_code not in (200, 201):
            raise Failure(f"The gateway answered {answer.status_code} to the registration: {answer.text[:500]}")
    return f"is registered at {address}"


def remove(configured: Settings) -> None:
    """Undoes all of it, whatever of it is there."""
    tools.require("kind")
    with alone(configured.run_dir, wait=True):
        running = processes.recorded(configured.run_dir)
        with interrupts.held():
            fleet.down(configured.run_dir, [one for name, one in running.items() if name == lab.PROVIDER])
    try:
        with _session() as session:
            session.delete(f"{configured.url('gateway')}{RECORDS}/{lab.PROVIDER}", timeout=GATEWAY_ANSWERS_S)
    except requests.RequestException:
        line(f"The gateway does not run; its record of {lab.PROVIDER} stays.")
    tools.run("kind", "delete", "cluster", "--name", lab.CLUSTER)
    lab.kubeconfig(configured).unlink(missing_ok=True)


def _require_gateway(configured: Settings) -> None:
    try:
        with _session() as session:
            answers = session.get(configured.url("gateway") + "/health", timeout=GATEWAY_ANSWERS_S).ok
    except requests.RequestException:
        answers = False
    if not answers:
        address = configured.url("gateway")
        raise Failure(f"No gateway at {address}; run `make dev` first, or set GATEWAY_PORT. Nothing was done.")


def _session() -> requests.Session:
    session = requests.Session()
    session.trust_env = False  # no proxy stands between two processes of one machine
    return session


def _helm(release: str, chart: str, namespace: str, values: str, *more: str) -> None:
    place = ("--kube-context", lab.CONTEXT, "--namespace", namespace, "--create-namespace")
    file = str(lab.FILES / values)
    tools.run("helm", "upgrade", "--install", release, chart, *place, "--values", file, "--timeout", "10m", *more)


def _kubectl(*arguments: str) -> None:
    tools.run("kubectl", "--context", lab.CONTEXT, *arguments)


if __name__ == "__main__":
    main()
