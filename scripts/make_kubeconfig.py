"""Makes the kubeconfig of a provider that runs outside its cluster: its own account, read-only, with a token that ends.

python -m scripts.make_kubeconfig [--context NAME] [--output FILE] [--duration 24h]

Applies infra/kubernetes/reader.yaml (an account, and a role that lists nodes, pods and claims of devices), asks for a
token (TokenRequest, nothing is stored in the cluster) and writes the file with mode 0600. Run it again to renew the
token: the provider takes the new one without a restart. KUBECONFIG and the context are those that kubectl uses.
"""

import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

import click

from scripts import tools
from scripts.settings import ROOT
from scripts.terminal import Failure, fail, line

MANIFEST = ROOT / "infra" / "kubernetes" / "reader.yaml"
NAMESPACE = "fedcompute"
ACCOUNT = "fedcompute-reader"


@click.command(help=__doc__, context_settings={"max_content_width": 120})
@click.option("--context", help="A context of your kubeconfig; the current one where it is not given.")
@click.option("--output", type=click.Path(dir_okay=False, path_type=Path), default=ROOT / ".run" / "kubeconfig")
@click.option("--duration", default="24h", show_default=True, help="How long the token is good; a cluster may cap it.")
def main(context: str | None, output: Path, duration: str) -> None:
    """Runs the command."""
    try:
        tools.require("kubectl")
        make(context, output, duration)
    except Failure as failure:
        fail(failure)
        sys.exit(1)
    line(f"{output} is written; start the provider with KUBECONFIG={output} and INVENTORY_MODE=kubernetes.")


def make(context: str | None, output: Path, duration: str = "24h") -> None:
    """Writes the kubeconfig. Raises Failure with kubectl's own words."""
    chosen = ("--context", context) if context else ()
    tools.run("kubectl", *chosen, "apply", "-f", str(MANIFEST))
    cluster = _cluster(
        tools.output("kubectl", *chosen, "config", "view", "--raw", "--minify", "--flatten", "-o", "json")
    )
    token = tools.output(
        "kubectl", *chosen, "create", "token", ACCOUNT, "-n", NAMESPACE, f"--duration={duration}"
    ).strip()
    _write(output, json.dumps(document(cluster, token), indent=2) + "\n")


def document(cluster: dict[str, Any], token: str) -> dict[str, Any]:
    """A kubeconfig with one cluster, one user and one context."""
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "provider",
        "clusters": [{"name": "provider", "cluster": cluster}],
        "users": [{"name": ACCOUNT, "user": {"token": token}}],
        "contexts": [{"name": "provider", "context": {"cluster": "provider", "user": ACCOUNT}}],
    }


def _cluster(text: str) -> dict[str, Any]:
    try:
        cluster: dict[str, Any] = json.loads(text)["clusters"][0]["cluster"]
    except (ValueError, LookupError, TypeError) as error:
        raise Failure(
            "kubectl names no cluster; is there a context? `kubectl config get-contexts` lists them."
        ) from error
    return cluster


def _write(output: Path, text: str) -> None:
    """Never readable by others, and never half written: in one step over what was there."""
    output.parent.mkdir(parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(dir=output.parent, prefix=f".{output.name}-")  # made with 0600
    try:
        with os.fdopen(descriptor, "w") as file:
            file.write(text)
        Path(name).replace(output)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


if __name__ == "__main__":
    main()
