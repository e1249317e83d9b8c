"""Stand-ins for docker, git, helm, kind and kubectl: each writes down how it was called, and says what it is asked for."""

import os
from pathlib import Path

NAMES = ("docker", "git", "helm", "kind", "kubectl")

_SCRIPT = r"""#!/bin/sh
call="$(basename "$0") $*"
echo "$call" >> "$STATE/calls"
touch "$STATE/broken"
while read -r broken; do
  case "$call" in "$broken"*) echo "made to fail" >&2; exit 3;; esac
done < "$STATE/broken"
case "$call" in
  "docker version"*) echo "${DOCKER_VERSION:-27.0.1}";;
  "git --version") echo "git version 2.43.0";;
  "helm version"*) echo "v3.16.1+g5a8";;
  "kind version") echo "kind v0.31.0 go1.25.4 linux/amd64";;
  "kubectl version"*|"kubectl --context "*" version") echo "Client Version: v1.34.0";;
  "kind get clusters") cat "$STATE/clusters" 2>/dev/null || true;;
  "kind create cluster"*) echo fedcompute-lab > "$STATE/clusters";;
  "kind delete cluster"*) rm -f "$STATE/clusters";;
  "docker image inspect"*) test -e "$STATE/image";;
  "docker build"*) touch "$STATE/image";;
  "git init"*) mkdir -p .git;;
  *"config view"*) cat "$STATE/config.json";;
  *"create token"*) echo made-up-token;;
  *"get nodes -o json") cat "$STATE/nodes.json";;
  *"get pods --all-namespaces -o json") cat "$STATE/pods.json";;
  *"get pods --all-namespaces -o yaml") cat "$STATE/pods.yaml" 2>/dev/null || true;;
esac
"""


class Programs:
    """A folder for PATH, and what was called."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "bin"
        self.state = folder / "state"
        self.folder.mkdir()
        self.state.mkdir()
        for name in NAMES:
            (self.folder / name).write_text(_SCRIPT)
            (self.folder / name).chmod(0o755)

    def environment(self, **more: str) -> dict[str, str]:
        """A process's environment in which these programs come first; without proxies."""
        usual = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
        path = os.pathsep.join((str(self.folder), "/usr/bin", "/bin"))
        return {**usual, "PATH": path, "STATE": str(self.state), **more}

    def breaks(self, *calls: str) -> None:
        """Lets calls that start with one of these words fail."""
        (self.state / "broken").write_text("".join(f"{call}\n" for call in calls))

    def calls(self) -> list[str]:
        """Every call since the last time that this was asked."""
        file = self.state / "calls"
        lines = file.read_text().splitlines() if file.exists() else []
        file.unlink(missing_ok=True)
        return lines
