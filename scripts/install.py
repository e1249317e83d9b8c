"""Makes an environment from a hash-locked list; runs on a bare Python, before anything is installed.

python scripts/install.py DIRECTORY REQUIREMENTS [EDITABLE]

The stamp DIRECTORY/.installed is written last. An installation that was cut short leaves .installing there and is made
anew, since pip may take a half-copied package for an installed one.
"""

import fcntl
import os
import shutil
import signal
import subprocess
import sys
import time
import venv
from collections.abc import Callable
from functools import partial
from pathlib import Path

LOG_LINES_SHOWN = 25


def main(directory: str, requirements: str, editable: str | None = None) -> int:
    """Brings one environment up to date. Returns an exit code."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.default_int_handler)  # so that pip is ended too
    target = Path(directory)
    logs = Path(os.environ.get("RUN_DIR", ".run")) / "log"
    logs.mkdir(parents=True, exist_ok=True)
    log = logs / f"install-{target.name.lstrip('.')}.log"
    with (logs / "install.lock").open("w") as lock:
        # Two makes at once: the second waits, then finds everything in place.
        fcntl.flock(lock, fcntl.LOCK_EX)
        return install(target, Path(requirements), editable, log)


def install(target: Path, requirements: Path, editable: str | None, log: Path) -> int:
    """Makes the environment if it is absent or unusable, then fills it from the lock."""
    unfinished = target / ".installing"
    (target / ".installed").unlink(missing_ok=True)
    log.write_text("")
    made = usable(target) and not unfinished.exists()
    if not made and not step(f"Making {target} with Python {sys.version.split()[0]}", lambda: make(target), log):
        return 1
    unfinished.touch()
    pip = [str(target / "bin" / "python"), "-m", "pip", "--disable-pip-version-check", "install", "--no-input"]
    jobs = [(f"Installing {requirements} into {target}", [*pip, "--require-hashes", "-r", str(requirements)])]
    if editable:
        jobs.append((f"Installing {editable} in place", [*pip, "--no-build-isolation", "--no-deps", "-e", editable]))
    for name, command in jobs:
        if not step(name, partial(run, command, log), log):
            return 1
    if editable:
        subprocess.run([sys.executable, str(Path(__file__).with_name("docs_viewer.py"))], check=False)
    unfinished.unlink()
    (target / ".installed").write_text(f"{sys.version}\n")
    return 0


def usable(target: Path) -> bool:
    """Whether the environment's own Python runs and is of this minor version."""
    try:
        asked = [str(target / "bin" / "python"), "-c", "import sys; print(*sys.version_info[:2])"]
        found = subprocess.run(asked, capture_output=True, text=True, check=False)
    except OSError:
        return False
    minor = sys.version_info[:2]
    packages = target / "lib" / f"python{minor[0]}.{minor[1]}" / "site-packages" / "pip"
    return found.stdout.split() == [str(part) for part in minor] and packages.is_dir()


def make(target: Path) -> bool:
    """An empty environment with pip in the place of whatever stood there."""
    shutil.rmtree(target, ignore_errors=True)
    venv.create(target, symlinks=True, with_pip=True)
    return True


def run(command: list[str], log: Path) -> bool:
    """Whether a command succeeded; all that it prints goes to the log."""
    with log.open("a") as output:
        return subprocess.run(command, stdout=output, stderr=subprocess.STDOUT, check=False).returncode == 0


def step(name: str, action: Callable[[], bool], log: Path) -> bool:
    """One line with the time taken, and the end of the log when the action fails."""
    print(f"  {name} ...", end="", flush=True)
    started = time.monotonic()
    try:
        done = action()
    except KeyboardInterrupt:
        print(" interrupted; the next make does it anew")
        raise
    print(f" {'done' if done else 'FAILED'} ({time.monotonic() - started:.0f} s)")
    if not done:
        lines = log.read_text(errors="replace").splitlines()[-LOG_LINES_SHOWN:]
        print("\n".join(f"    {line}" for line in lines), f"  The whole log: {log}", sep="\n", file=sys.stderr)
    return done


if __name__ == "__main__":
    try:
        raise SystemExit(main(*sys.argv[1:]))
    except KeyboardInterrupt:
        raise SystemExit(130) from None
