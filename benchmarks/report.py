"""How long to measure, and what a line of the report holds."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


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


def rate(steps: int, times: list[float]) -> float:
    """Steps per second of the best repetition."""
    return steps / min(times)


def per_second(value: float) -> str:
    """A rate for people."""
    return f"{value / 1e6:.1f} M/s" if value >= 1e7 else f"{value / 1e6:.2f} M/s"
