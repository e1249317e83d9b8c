"""Measures a read of a large cluster against the same read through the Kubernetes client's typed models.

python -m scripts.bench_cluster_read [--nodes 5000] [--pods 20000] [--rounds 3]

A made-up cluster is served on loopback by a process of its own. Each read is a process of its own too, and the kinds take
turns: CPU and wall time of the read alone, and the peak of resident memory above what the imports took. What is
compared: this provider's read (lists decoded to what is needed), the same with the inventory that is made and encoded
from it, the typed client's lists as its examples show them, and those in pages of 500 of which nothing is kept.
"""

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from statistics import median
from typing import Any

import click

from scripts.settings import ROOT
from scripts.terminal import console

KINDS = ("read", "inventory", "typed", "typed-pages")
PAGE = 500
LONGEST_READ_S = 120
_MAKING = ("cluster_source", "cluster_inventory", "inventory_reply")
CPU_GOAL, MEMORY_GOAL = 0.5, 0.25  # of what the typed client takes

type Measured = dict[str, float]


@click.command(help=__doc__)
@click.option("--nodes", default=5000, show_default=True)
@click.option("--pods", default=20000, show_default=True)
@click.option("--rounds", default=3, show_default=True)
def main(nodes: int, pods: int, rounds: int) -> None:
    """Runs the command; ends with 1 where a goal is missed."""
    with tempfile.TemporaryDirectory(prefix="fedcompute-bench-") as folder:
        file = Path(folder) / "kubeconfig"
        server = _start("serve", str(file), str(nodes), str(pods), stdout=subprocess.PIPE)
        try:
            assert server.stdout is not None
            console.print(server.stdout.readline().decode().strip())
            found = _rounds(file, rounds)
        finally:
            server.terminate()
            server.wait()
    sys.exit(0 if _tell(found) else 1)


def _rounds(file: Path, rounds: int) -> dict[str, list[Measured]]:
    _run("read", file)  # the server compresses each page on its first way out
    found: dict[str, list[Measured]] = {kind: [] for kind in KINDS}
    for _ in range(rounds):
        for kind in KINDS:
            found[kind].append(_run(kind, file))
    return found


def _run(kind: str, file: Path) -> Measured:
    done = _start(kind, str(file), stdout=subprocess.PIPE)
    printed, _ = done.communicate()
    if done.returncode:
        raise click.ClickException(f"the process that measures {kind} ended with {done.returncode}")
    measured: Measured = json.loads(printed)
    return measured


def _tell(found: dict[str, list[Measured]]) -> bool:
    middle = {kind: {name: median(one[name] for one in runs) for name in runs[0]} for kind, runs in found.items()}
    console.print(f"{'':<12}{'CPU s':>8}{'wall s':>8}{'MiB':>8}   of typed: CPU, memory")
    typed = middle["typed"]
    for kind, one in middle.items():
        cpu, memory = one["cpu_s"] / typed["cpu_s"], one["peak_mib"] / typed["peak_mib"]
        times = f"{one['cpu_s']:>8.2f}{one['wall_s']:>8.2f}{one['peak_mib']:>8.0f}"
        console.print(f"{kind:<12}{times}   {cpu:6.0%} {memory:6.0%}")
    ours = middle["inventory"]
    return ours["cpu_s"] <= CPU_GOAL * typed["cpu_s"] and ours["peak_mib"] <= MEMORY_GOAL * typed["peak_mib"]


def _start(*arguments: str, stdout: int) -> "subprocess.Popen[bytes]":
    folders = [str(ROOT), str(ROOT / "provider_app"), str(ROOT / "layers" / "fedcompute" / "python")]
    environment = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
    environment["PYTHONPATH"] = os.pathsep.join(folders)
    return subprocess.Popen([sys.executable, "-m", __spec__.name, *arguments], stdout=stdout, env=environment)


def _serve(file: Path, nodes: int, pods: int) -> None:
    from scripts import cluster_server, generate_cluster  # noqa: PLC0415 (only the server needs them)

    cluster = cluster_server.Cluster()
    for path, items in zip(
        (cluster_server.NODES, cluster_server.PODS), generate_cluster.generate(nodes, pods), strict=True
    ):
        cluster.put(path, items)
    sizes = {path: sum(len(entry[1]) for entry in entries) for path, entries in cluster.lists.items()}
    with cluster_server.serving(cluster, cluster_server.Remembering) as url:
        file.write_text(cluster_server.kubeconfig(url))
        told = ", ".join(f"{len(cluster.lists[path])} of {path} ({size / 1e6:.1f} MB)" for path, size in sizes.items())
        print(f"Serving {told}", flush=True)
        time.sleep(3600)


def _measured(work: Callable[[], object]) -> Measured:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    cpu, wall = time.process_time(), time.perf_counter()
    kept = work()
    taken = {"cpu_s": time.process_time() - cpu, "wall_s": time.perf_counter() - wall}
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    del kept
    unit = 2**20 if sys.platform == "darwin" else 2**10
    return {**taken, "peak_mib": (after - before) / unit}


def _typed(file: Path, *, pages: bool) -> Callable[[], object]:
    from kubernetes import client, config  # noqa: PLC0415 (each kind imports what it measures)

    made = client.Configuration()
    config.load_kube_config(str(file), client_configuration=made)  # type: ignore[no-untyped-call]
    api = client.CoreV1Api(client.ApiClient(made))
    lists: list[Callable[..., Any]] = [api.list_node, api.list_pod_for_all_namespaces]
    return lambda: [_in_pages(one) for one in lists] if pages else [one() for one in lists]


def _in_pages(listed: Callable[..., Any]) -> int:
    """The best that can be made of it: a page at a time, of which nothing is kept."""
    page, count = listed(limit=PAGE), 0
    while True:
        count += len(page.items)
        if not page.metadata._continue:
            return count
        page = listed(limit=PAGE, _continue=page.metadata._continue)


def _ours(file: Path, *, inventory: bool) -> Callable[[], object]:
    for name in ("kubernetes.client", "kubernetes.config"):
        import_module(name)  # the reader loads them on its first use
    # By name: mypy looks at each app on its own.
    access, calls, reading = (import_module(f"chalicelib.cluster_{name}") for name in ("access", "calls", "reader"))
    source, made, reply = (import_module(f"chalicelib.{name}") for name in _MAKING)
    reader = reading.ClusterReader(lambda: calls.Api(access.configure(str(file), "")), timeout_s=LONGEST_READ_S)
    now = datetime.now(UTC)
    if inventory:
        return lambda: reply.encode(made.inventory_of(source.cluster_of(reader.read(), "bench"), now))
    read: Callable[[], object] = reader.read
    return read


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["serve", file, nodes, pods]:
            _serve(Path(file), int(nodes), int(pods))
        case ["read" | "inventory" as kind, file]:
            print(json.dumps(_measured(_ours(Path(file), inventory=kind == "inventory"))))
        case ["typed" | "typed-pages" as kind, file]:
            print(json.dumps(_measured(_typed(Path(file), pages=kind == "typed-pages"))))
        case _:
            main()
