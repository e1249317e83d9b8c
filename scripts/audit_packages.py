"""Asks for known vulnerabilities of every package in the locks: python -m scripts.audit_packages [--strict].

pip-audit does the asking, at PyPI's advisory database. Exit status 1 where it knows of one. Where it can't ask, this says so and
ends with 0, or with 3 under --strict: no answer is no clean bill.
"""

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from scripts.settings import ROOT
from scripts.terminal import console, errors

PIP_AUDIT = "pip-audit==2.10.1"
LOCKS = ("gateway_app/requirements.txt", "provider_app/requirements.txt", "requirements.txt")
PATIENCE_S = 600


def main(arguments: Sequence[str]) -> int:
    """Runs the command. Returns its exit code."""
    try:
        found = [report for lock in LOCKS for report in audited(ROOT / lock)]
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        return _not_asked(f"pip-audit did not run ({type(error).__name__})", arguments)
    by_name = {(one["name"], one.get("version")): one for one in found}
    known = [one for one in by_name.values() if one.get("vulns")]
    for one in known:
        for flaw in one["vulns"]:
            mended = ", ".join(flaw.get("fix_versions") or ["no version yet"])
            errors.print(f"{one['name']} {one['version']}: {flaw['id']}; mended in {mended}", markup=False)
    skipped = [one for one in by_name.values() if "skip_reason" in one]
    if known:
        return 1
    if len(skipped) == len(by_name):
        return _not_asked("no advisory database knows any of the packages", arguments)
    console.print(f"{len(by_name) - len(skipped)} packages have no known vulnerability.")
    if skipped:
        return _not_asked(f"nothing is known of {', '.join(sorted(one['name'] for one in skipped))}", arguments)
    return 0


def audited(lock: Path) -> list[Mapping[str, Any]]:
    """What pip-audit says of each package of a lock. Raises ValueError where it gives no report."""
    uv = Path(sys.executable).with_name("uv")
    options = ("--require-hashes", "--disable-pip", "--progress-spinner", "off", "--format", "json")
    command = [str(uv), "tool", "run", "--from", PIP_AUDIT, "pip-audit", "--requirement", str(lock), *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE_S)
    report = json.loads(done.stdout)
    found: list[Mapping[str, Any]] = report["dependencies"]
    return found


def _not_asked(why: str, arguments: Sequence[str]) -> int:
    errors.print(f"Not audited: {why}. Run it where PyPI can be reached.", markup=False)
    return 3 if "--strict" in arguments else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
