"""Looks for secrets in the tree: python -m scripts.secret_scan [--history] [PATH ...]. Exit status 1 where it finds one.

It reads what git tracks and what it would; --history reads every line that was ever added instead. A line with the
words `secret-scan: allow` and a reason is let pass. What it finds is shown by its place and its kind, never in full.
"""

import re
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from scripts.settings import ROOT
from scripts.terminal import console, errors

LARGEST_BYTES = 4 << 20
ALLOWED = "secret-scan: allow"

# Shapes that hardly anything else has. Words such as "password" are not among them: they find tests and prose.
KINDS: Mapping[str, re.Pattern[str]] = {
    "key of a gateway": re.compile(r"\bfc_[a-z0-9]{16}_[A-Za-z0-9_-]{43}(?![A-Za-z0-9_-])"),
    "private key": re.compile(r"-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY-----(?:\s*$|(?:\\[nr])+[A-Za-z0-9+/]{40})"),
    "AWS access key": re.compile(r"\b(?:AKIA|ASIA)(?!ABCDEFGH|[A-Z2-7]{9}EXAMPLE)[A-Z2-7]{16}\b"),
    "AWS secret key": re.compile(r"(?i)aws_?secret_?access_?key\W{1,6}[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+=])"),
    "GitHub token": re.compile(r"\b(?:gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{60,})\b"),
    "GitLab token": re.compile(r"\bglpat-[A-Za-z0-9_-]{20,}\b"),
    "Google key": re.compile(r"\bAIza[A-Za-z0-9_-]{35}\b"),
    "Slack token": re.compile(r"\bxox[abprs]-[A-Za-z0-9-]{20,}\b"),
    "PyPI token": re.compile(r"\bpypi-AgEIcHlwaS5vcmc[A-Za-z0-9_-]{50,}"),
    "NVIDIA key": re.compile(r"\bnvapi-[A-Za-z0-9_-]{40,}"),
    "JSON web token": re.compile(r"\beyJ[A-Za-z0-9_-]{15,}\.eyJ[A-Za-z0-9_-]{15,}\.[A-Za-z0-9_-]{20,}"),
    "URL with a password": re.compile(
        r"\b[a-z][a-z0-9+.-]*://[^\s/:@'\"{}<>$]+:[^\s/:@'\"{}<>$]{8,}@[a-z0-9]", re.IGNORECASE
    ),
    "provider's key": re.compile(r"PROVIDER_KEY\W{1,4}[A-Za-z0-9+/]{43}="),
}


class Finding(NamedTuple):
    """Where a secret stands, and of what kind it is."""

    place: str
    kind: str


def main(arguments: Sequence[str]) -> int:
    """Runs the command. Returns its exit code."""
    paths = [argument for argument in arguments if argument != "--history"]
    found = list(in_history() if "--history" in arguments else in_files([Path(path) for path in paths] or listed()))
    for finding in found:
        errors.print(f"{finding.place}: looks like a {finding.kind}", markup=False)
    if found:
        errors.print(
            f"Remove them, and revoke those that are real; a false one gets `{ALLOWED}` and a reason on its line."
        )
        return 1
    console.print("No secrets found.")
    return 0


def in_files(paths: Iterable[Path]) -> Iterator[Finding]:
    """What stands in files; those that are no text, or too large for one, are left out."""
    for path in paths:
        try:
            if path.stat().st_size > LARGEST_BYTES:
                continue
            text = path.read_text()
        except (OSError, UnicodeDecodeError):
            continue
        shown = path.relative_to(ROOT) if path.is_relative_to(ROOT) else path
        for number, line in enumerate(text.splitlines(), 1):
            yield from (Finding(f"{shown}:{number}", kind) for kind in kinds_in(line))


def in_history() -> Iterator[Finding]:
    """What was ever added in any commit."""
    command = ["git", "log", "--all", "--patch", "--unified=0", "--no-color", "--no-ext-diff", "--format=commit %h"]
    log = subprocess.run(command, cwd=ROOT, capture_output=True, check=True).stdout.decode(errors="replace")
    commit = file = ""
    for line in log.splitlines():
        if line.startswith("commit "):
            commit = line.removeprefix("commit ")
        elif line.startswith("+++ "):
            file = line.removeprefix("+++ b/")
        elif line.startswith("+"):
            yield from (Finding(f"{commit} {file}", kind) for kind in kinds_in(line))


def kinds_in(line: str) -> list[str]:
    """The kinds of secrets that stand in a line."""
    return [] if ALLOWED in line else [kind for kind, shape in KINDS.items() if shape.search(line)]


def listed() -> list[Path]:
    """The files that git tracks, and those that it would."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    names = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\0")
    return [ROOT / name for name in names if name]


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
