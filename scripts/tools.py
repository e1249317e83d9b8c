"""The programs that the lab works with: whether they are there, and running them."""

import re
import shutil
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from scripts.terminal import Failure

NOT_ANSWERING_S = 20


@dataclass(frozen=True)
class Tool:
    """A program, how it tells its version, the oldest that will do, and where to get it."""

    name: str
    version_command: tuple[str, ...]
    oldest: tuple[int, int]
    where: str


TOOLS = {
    tool.name: tool
    for tool in (
        Tool(
            "docker",
            ("docker", "version", "--format", "{{.Server.Version}}"),
            (24, 0),
            "docs.docker.com/engine/install",
        ),
        Tool("git", ("git", "--version"), (2, 30), "git-scm.com/downloads"),
        Tool("helm", ("helm", "version", "--short"), (3, 14), "helm.sh/docs/intro/install"),
        Tool("kind", ("kind", "version"), (0, 31), "kind.sigs.k8s.io/docs/user/quick-start"),
        Tool("kubectl", ("kubectl", "version", "--client"), (1, 31), "kubernetes.io/docs/tasks/tools"),
    )
}


def require(*names: str) -> None:
    """Checks that all of these are there and new enough. Raises Failure that lists everything that is missing."""
    missing = [reason for name in names if (reason := _missing(TOOLS[name]))]
    if missing:
        raise Failure("\n".join(["This needs programs that are not here:", *missing, "Nothing was done."]))


def run(*command: str, folder: Path | None = None) -> None:
    """Runs a program whose output the person sees. Raises Failure."""
    done = subprocess.run(command, cwd=folder, check=False)
    if done.returncode:
        raise Failure(f"`{_shown(command)}` failed with {done.returncode}.")


def output(*command: str, text: str | None = None) -> str:
    """What a program prints, given `text` on its standard input. Raises Failure with what it said on stderr."""
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Failure(f"`{_shown(command)}` failed with {done.returncode}: {done.stderr.strip()[:500]}")
    return done.stdout


def succeeds(*command: str) -> bool:
    """Whether a program ends with 0; what it says is not shown."""
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def version_in(text: str) -> tuple[int, int] | None:
    """The first version in a text, such as (1, 32) of "Client Version: v1.32.4"."""
    found = re.search(r"(\d+)\.(\d+)", text)
    return (int(found[1]), int(found[2])) if found else None


def _missing(tool: Tool) -> str | None:
    if shutil.which(tool.name) is None:
        return f"  {tool.name}: not on PATH; get it at https://{tool.where}"
    try:
        done = subprocess.run(
            tool.version_command, capture_output=True, text=True, check=False, timeout=NOT_ANSWERING_S
        )
    except (OSError, subprocess.TimeoutExpired):
        return f"  {tool.name}: does not answer to `{_shown(tool.version_command)}`"
    if done.returncode:
        return f"  {tool.name}: `{_shown(tool.version_command)}` fails: {done.stderr.strip()[:200]}"
    version = version_in(done.stdout)
    if version is None or version < tool.oldest:
        have = ".".join(map(str, version)) if version else "a version that is not told"
        return f"  {tool.name}: {have} is here, {'.'.join(map(str, tool.oldest))} is needed; https://{tool.where}"
    return None


def _shown(command: Iterable[str]) -> str:
    return " ".join(command)
