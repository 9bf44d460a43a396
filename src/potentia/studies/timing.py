"""How things are timed, by ``potentia bench`` and by the benchmarks.

Machines are noisy: another program, a change of clock speed. So contenders take turns within each repetition (whatever
slows one then slows the others), their order alternates, and of each the best time counts: noise only ever adds.
Compilation and building a game happen before the clock starts.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from potentia.games import Game
    from potentia.rules import Rule

Contender = Callable[[], float]  # does its work once and returns the seconds it took

SEED = 1
WARM = 1_000  # steps; the first compile
NOISY = 0.3  # cores kept busy by other programs that are worth a word


def timed(work: Callable[[], object]) -> float:
    """The seconds that ``work`` takes."""
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def interleaved(contenders: Mapping[str, Contender], repetitions: int) -> dict[str, list[float]]:
    """The times of each contender; they take turns, forwards and backwards."""
    times: dict[str, list[float]] = {name: [] for name in contenders}
    for repetition in range(repetitions):
        for name in list(contenders)[:: -1 if repetition % 2 else 1]:
            times[name].append(contenders[name]())
    return times


def fastest(times: Mapping[str, list[float]]) -> dict[str, float]:
    """The best time of each contender."""
    return {name: min(seconds) for name, seconds in times.items()}


def advanced(game: Game, rule: Rule, steps: int) -> float:
    """Seconds that so many steps take with every recorder off, without the beginning of the run."""
    from potentia.engine import begin

    run = begin(game, rule, SEED, record=(), horizon=steps, compiled=True)
    return timed(lambda: run.advance(steps))


def playing(game: Game, rule: Rule, steps: int) -> Contender:
    """The same as a contender, compiled already."""
    advanced(game, rule, WARM)
    return lambda: advanced(game, rule, steps)


def steps_in(timed: Callable[[int], float], seconds: float) -> int:
    """How many steps take about so long."""
    timed(WARM)
    steps = WARM
    while (taken := min(timed(steps) for _ in range(3))) < seconds / 8:
        steps *= 4
    return max(1, int(steps * seconds / max(taken, 1e-9)))


class Bystanders:
    """Other programs: how many cores they have kept busy since this was made."""

    def __init__(self) -> None:
        self._started, self._used = time.perf_counter(), self._seconds()

    def cores(self) -> float:
        """Cores kept busy, on average."""
        return max(0.0, (self._seconds() - self._used) / (time.perf_counter() - self._started))

    @staticmethod
    def _seconds() -> float:
        """Of processors, by programs other than this one and its finished children."""
        import psutil

        total = psutil.cpu_times()
        return total.user + total.system + getattr(total, "nice", 0.0) - sum(os.times()[:4])
