"""make lock: renews every lock from its requirements.in, the ones that ship first, for all supported Pythons at once."""

import os
import subprocess
import sys
from pathlib import Path

from scripts.settings import ROOT
from scripts.terminal import console

FOLDERS = (
    "gateway_app",
    "provider_app",
    ".",
    "infra/emulator",
    "infra/lint/cfn-lint",
    "infra/lint/checkov",
    "infra/bench",
    "infra/schemathesis",
)
OPTIONS = ("--universal", "--python-version", "3.12", "--generate-hashes", "--no-header", "--no-annotate", "--quiet")


def main() -> int:
    """Runs the command. Returns its exit code."""
    uv = str(Path(sys.executable).with_name("uv"))
    newest = ("--upgrade",) if os.environ.get("UPGRADE") == "1" else ()
    for folder in FOLDERS:
        output = Path(folder) / "requirements.txt"
        command = [
            uv,
            "pip",
            "compile",
            *OPTIONS,
            *newest,
            str(output.with_suffix(".in")),
            "--output-file",
            str(output),
        ]
        done = subprocess.run(command, cwd=ROOT, check=False, stdout=subprocess.DEVNULL)
        if done.returncode:
            return done.returncode
        console.print(f"  {output}")
    console.print("Look at the difference with git diff; make installs it on its next run.")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
