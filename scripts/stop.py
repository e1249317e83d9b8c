"""make stop: ends what make dev started in this checkout, and nothing else."""

from scripts import fleet, interrupts, processes, settings
from scripts.exclusive import alone
from scripts.terminal import Failure, console, fail


def main() -> int:
    """Runs the command. Returns its exit code."""
    run_dir = settings.run_dir()
    try:
        with interrupts.raised(), alone(run_dir, wait=True):
            running = processes.recorded(run_dir)
            with interrupts.held():
                fleet.down(run_dir, list(running.values()))
    except Failure as failure:
        fail(failure)
        return 1
    except interrupts.Interrupted as interrupted:
        return 128 + interrupted.number
    console.print(f"Stopped {', '.join(running)}." if running else "Nothing is running.")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
