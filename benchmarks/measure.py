"""How things are timed, and what a line of the report holds.

Machines are noisy: another process, a change of clock speed. So contenders take turns within each
repetition (whatever slows one then slows the others), their order alternates, and of each the best time
counts: noise only ever adds. Compilation and building a game happen before the clock starts.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from potentia.games import Game
    from potentia.rules import Rule

Contender = Callable[[], float]  # does its work once and returns the seconds it took

SEED = 1


@dataclass(frozen=True)
class Effort:
    """How long to measure."""

    repetitions: int = 7
    children: int = 5  # repetitions of what needs a fresh process each time
    steps: int = 5_000_000
    peer_steps: int = 100_000  # peers are slower; this takes them longer than ``steps`` takes the engine
    large_steps: int = 10_000_000
    batch_runs: int = 40
    batch_steps: int = 1_000_000  # about 30 ms


QUICK = Effort(repetitions=2, children=1, steps=1_000_000, peer_steps=20_000, large_steps=2_000_000, batch_runs=16)


@dataclass(frozen=True)
class Row:
    """One line of the report. ``met`` is None where there is no target."""

    what: str
    potentia: str
    contender: str
    ratio: str = "–"
    target: str = "–"
    met: bool | None = None
    numbers: dict[str, Any] = field(default_factory=dict)


@dataclass
class Report:
    """Lines, and remarks on what was left out and why."""

    rows: list[Row] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


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


def playing(game: Game, rule: Rule, steps: int) -> Contender:
    """The engine with every recorder off."""
    import potentia

    potentia.begin(game, rule, SEED, record=(), compiled=True).advance(1000)  # compiles

    def once() -> float:
        run = potentia.begin(game, rule, SEED, record=(), compiled=True)
        return timed(lambda: run.advance(steps))

    return once


def rate(steps: int, times: list[float]) -> float:
    """Steps per second of the best repetition."""
    return steps / min(times)


def per_second(value: float) -> str:
    """A rate for people."""
    return f"{value / 1e6:.1f} M/s" if value >= 1e7 else f"{value / 1e6:.2f} M/s"
