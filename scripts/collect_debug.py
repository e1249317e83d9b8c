"""make collect-debug: what explains a lab that does not work, in artifacts/debug, with secrets taken out.

python -m scripts.collect_debug [--output FOLDER]

One file per question: versions, nodes, pods, events, HAMi's and the mock's logs, charts and values, the provider's
inventory, the logs of what runs on this machine. What can't be asked says so in its file; nothing is changed.
"""

import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import click
import requests

from scripts import lab, processes
from scripts.redact import redacted
from scripts.settings import ROOT, Settings
from scripts.terminal import Failure, console, fail, last_lines

EACH_S = 30
LOG_LINES = 2000
FOLDER = ROOT / "artifacts" / "debug"


@dataclass(frozen=True)
class Question:
    """A file's name, and the command whose output goes there."""

    file: str
    command: tuple[str, ...]


@click.command(help=__doc__, context_settings={"max_content_width": 120})
@click.option("--output", type=click.Path(file_okay=False, path_type=Path), default=FOLDER, show_default=False)
def main(output: Path) -> None:
    """Runs the command. Ends with 0 whatever was missing: a broken lab is what it is for."""
    try:
        configured = lab.read()
    except Failure as failure:
        fail(failure)
        sys.exit(1)
    folder = output / datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
    folder.mkdir(parents=True, exist_ok=True)
    missing = collect(configured, folder)
    console.print(f"Written to {folder}. Secrets were taken out; look through it before you pass it on.")
    if missing:
        console.print(f"Not answered: {', '.join(missing)}.")


def collect(configured: Settings, folder: Path) -> list[str]:
    """Writes all files; gives the names of those that have no answer."""
    missing = []
    for question in questions():
        text, is_answered = _asked(question.command)
        missing += [] if is_answered else [question.file]
        (folder / question.file).write_text(redacted(text))
    text, is_answered = _inventory(configured)
    missing += [] if is_answered else ["inventory.json"]
    (folder / "inventory.json").write_text(redacted(text))
    for name in processes.recorded(configured.run_dir):
        lines = last_lines(processes.log_path(configured.run_dir, name), LOG_LINES)
        (folder / f"{name}.log").write_text(redacted("\n".join(lines) + "\n"))
    return missing


def questions() -> Iterator[Question]:
    """What is asked: no Secret and no ConfigMap among it."""
    kubectl, helm = ("kubectl", "--context", lab.CONTEXT), ("helm", "--kube-context", lab.CONTEXT)
    yield Question("versions-python.txt", (sys.executable, "--version"))
    yield Question("versions-docker.txt", ("docker", "version"))
    yield Question("versions-kind.txt", ("kind", "version"))
    yield Question("versions-helm.txt", ("helm", "version"))
    yield Question("versions-kubectl.txt", (*kubectl, "version"))
    yield Question("clusters.txt", ("kind", "get", "clusters"))
    yield Question("nodes.yaml", (*kubectl, "get", "nodes", "-o", "yaml"))
    yield Question("pods.yaml", (*kubectl, "get", "pods", "--all-namespaces", "-o", "yaml"))
    yield Question("pods.txt", (*kubectl, "get", "pods", "--all-namespaces", "-o", "wide"))
    yield Question("daemonsets.yaml", (*kubectl, "get", "daemonsets,deployments", "--all-namespaces", "-o", "yaml"))
    yield Question("events.txt", (*kubectl, "get", "events", "--all-namespaces", "--sort-by=.lastTimestamp"))
    yield Question("resourceslices.yaml", (*kubectl, "get", "resourceslices,resourceclaims", "-A", "-o", "yaml"))
    yield Question(
        "may-i.txt", (*kubectl, "auth", "can-i", "--list", "--as=system:serviceaccount:fedcompute:fedcompute-reader")
    )
    yield Question("charts.txt", (*helm, "list", "--all-namespaces"))
    for release, namespace in (("hami", lab.HAMI_NAMESPACE), ("nvml-mock", lab.MOCK_NAMESPACE)):
        yield Question(f"values-{release}.yaml", (*helm, "get", "values", release, "--namespace", namespace, "--all"))
    logs = (*kubectl, "logs", "--all-containers", "--prefix", f"--tail={LOG_LINES}", "--ignore-errors")
    for name, component in (("scheduler", "hami-scheduler"), ("device-plugin", "hami-device-plugin")):
        selector = f"app.kubernetes.io/component={component}"
        yield Question(f"hami-{name}.log", (*logs, "-n", lab.HAMI_NAMESPACE, "-l", selector))
    yield Question("nvml-mock.log", (*logs, "-n", lab.MOCK_NAMESPACE, "-l", "app.kubernetes.io/name=nvml-mock"))


def _asked(command: tuple[str, ...]) -> tuple[str, bool]:
    shown = f"$ {' '.join(command)}\n"
    if shutil.which(command[0]) is None:
        return f"{shown}{command[0]} is not on PATH\n", False
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False, timeout=EACH_S)
    except subprocess.TimeoutExpired:
        return f"{shown}no answer within {EACH_S} s\n", False
    return f"{shown}{done.stdout}{done.stderr}", done.returncode == 0


def _inventory(configured: Settings) -> tuple[str, bool]:
    address = f"{configured.url(lab.PROVIDER)}/api/v1/inventory"
    try:
        with requests.Session() as session:
            session.trust_env = False
            answer = session.get(address, timeout=EACH_S)
    except requests.RequestException as error:
        return f"{address}: {error}\n", False
    return answer.text, answer.ok


if __name__ == "__main__":
    main()
