"""make mutation: whether the tests notice small mistakes in what decides: matching, ranking, fan-out, addresses, registry.

python -m scripts.mutation [NAME ...]    only these groups; MUTANTS (40) bounds how many of each module are tried, by a
                                         fixed choice, 0 tries all; MUTATION_MINUTES (40) ends it in time

Each mutant runs in a fork of a process that has the libraries loaded and none of the modules. Ends with 1 below 85 %.
"""

import os
import random
import signal
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field

from scripts.mutants import Mutant, mutants_of
from scripts.mutation_child import load_libraries, run_tests
from scripts.mutation_groups import EQUIVALENT, GROUPS, Group
from scripts.settings import ROOT
from scripts.terminal import console

LEAST_PERCENT = 85.0
MOST = int(os.environ.get("MUTANTS", "40"))
MINUTES = float(os.environ.get("MUTATION_MINUTES", "40"))
AT_ONCE = 2
_BLINK_S = 0.02


@dataclass
class Score:
    """What became of the mutants so far."""

    killed: int = 0
    survivors: list[str] = field(default_factory=list)
    skipped: int = 0

    @property
    def percent(self) -> float:
        """How many of those that ran were noticed."""
        tried = self.killed + len(self.survivors)
        return 100.0 * self.killed / tried if tried else 100.0


def main(names: list[str]) -> int:
    """Runs the groups of these names, or all. Returns an exit code."""
    chosen = [group for group in GROUPS if not names or group.name in names]
    if not chosen:
        console.print(f"There is no such group; there are {', '.join(group.name for group in GROUPS)}.")
        return 2
    load_libraries()
    end = time.monotonic() + MINUTES * 60
    whole = Score()
    for group in chosen:
        score = _run(group, end)
        whole.killed += score.killed
        whole.skipped += score.skipped
        whole.survivors += score.survivors
    console.print(f"{whole.percent:.1f} % of {whole.killed + len(whole.survivors)} mutants noticed; ", end="")
    console.print(f"{len(whole.survivors)} were not, {whole.skipped} were not tried for want of time.")
    return int(whole.percent < LEAST_PERCENT)


def _run(group: Group, end: float) -> Score:
    started = time.monotonic()
    running = _Fork(group, None, 600.0)
    while running.outcome() is None:
        time.sleep(_BLINK_S)
    if running.outcome() != "passed":
        raise SystemExit(f"{group.name}: its tests fail as they are")
    patience_s = AT_ONCE * (time.monotonic() - started) + 10
    score = Score()
    waiting = list(_chosen(group))[::-1]
    tried = len(waiting)
    forks: list[_Fork] = []
    while waiting or forks:
        while waiting and len(forks) < AT_ONCE and time.monotonic() < end:
            forks.append(_Fork(group, waiting.pop(), patience_s))
        if not forks:
            score.skipped = len(waiting)
            break
        time.sleep(_BLINK_S)
        for fork in [fork for fork in forks if fork.outcome() is not None]:
            forks.remove(fork)
            _count(score, fork)
    console.print(f"{group.name}: {score.percent:.1f} % of {tried}, {time.monotonic() - started:.0f} s")
    return score


def _count(score: Score, fork: "_Fork") -> None:
    if fork.outcome() != "passed":
        score.killed += 1
        return
    assert fork.work is not None
    module, mutant = fork.work
    score.survivors.append(f"{module}:{mutant.line}: {mutant.what}")
    console.print(f"  not noticed  {score.survivors[-1]}", markup=False, soft_wrap=True)


def _chosen(group: Group) -> Iterator[tuple[str, Mutant]]:
    for module, path in group.modules.items():
        found = [one for one in mutants_of((ROOT / path).read_text()) if (module, one.what) not in EQUIVALENT]
        if MOST and len(found) > MOST:
            found = random.Random(module).sample(found, MOST)  # noqa: S311 (the same ones every time)
        yield from ((module, one) for one in sorted(found, key=lambda one: one.line))


class _Fork:
    """A group's tests, of one mutant, in a process of their own."""

    def __init__(self, group: Group, work: tuple[str, Mutant] | None, patience_s: float) -> None:
        self.work = work
        self._end = time.monotonic() + patience_s
        self._outcome: str | None = None
        self._child = os.fork()
        if not self._child:
            os.setsid()
            run_tests(group.tests, None if work is None else (work[0], work[1].source))

    def outcome(self) -> str | None:
        """`passed`, `failed` or `hung`; None while it runs."""
        if self._outcome is None:
            ended, status = os.waitpid(self._child, os.WNOHANG)
            if ended:
                self._outcome = "passed" if status == 0 else "failed"
            elif time.monotonic() > self._end:
                os.killpg(self._child, signal.SIGKILL)
                os.waitpid(self._child, 0)
                self._outcome = "hung"
        return self._outcome


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
