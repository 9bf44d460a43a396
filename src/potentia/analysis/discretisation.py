"""How fast discrete score dynamics (Eq. 6) approach the continuous ones (Eq. 5) as their step shrinks.

The global error of Euler's method is of order 1: halving the step halves it, on a fixed stretch of time and as long
as the right-hand side is smooth. For the lagged choice of Eq. 9 the same holds. The rule ``score`` is played with
actions that are drawn, not with expected utilities; the law of large numbers makes its error one of order 1/2.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from potentia.analysis.dynamics import dynamics
from potentia.engine import begin
from potentia.errors import InvalidRun
from potentia.games import Game
from potentia.kernel.arrays import frozen
from potentia.kernel.numbers import as_float, is_real
from potentia.rules import rule


@dataclass(frozen=True, eq=False)
class Convergence:
    """Per step length the largest distance of a share from the accurate solution, and the slope in logarithms."""

    steps: NDArray[np.float64]
    errors: NDArray[np.float64]

    @property
    def order(self) -> float:
        """The least-squares slope of log error against log step."""
        return float(np.polyfit(np.log(self.steps), np.log(self.errors), 1)[0])


def convergence_order(
    game: Game,
    choice: Any = "gibbs",
    *,
    tau: float = 1.0,
    discount: float = 0.0,
    order: int = 1,
    start: Sequence[ArrayLike] | None = None,
    scores: Sequence[ArrayLike] | None = None,
    horizon: float = 5.0,
    steps: Sequence[float] = (0.02, 0.01, 0.005, 0.0025),
    lagged: bool = False,
) -> Convergence:
    """Euler's method against DOP853 at rtol = 1e-12, at every step up to the horizon, for several step lengths.

    Start where something happens: at a rest point both stand still and there is no error to measure.
    """
    lengths = _lengths(steps)
    same: dict[str, Any] = {
        "choice": choice,
        "tau": tau,
        "discount": discount,
        "order": order,
        "start": start,
        "scores": scores,
    }
    errors = []
    for length in lengths:
        most = math.floor(as_float(horizon) / length) + 2 if is_real(horizon) and math.isfinite(horizon) else 2
        rough = dynamics(game, **same, horizon=horizon, points=max(2, most), method="euler", step=length, lagged=lagged)
        exact = dynamics(game, **same, horizon=rough.times[-1], points=rough.times.size, rtol=1e-12, atol=1e-14)
        pairs = zip(rough.strategies, exact.strategies, strict=True)
        errors.append(max(float(np.abs(a - b).max()) for a, b in pairs))
    if min(errors) == 0.0:
        raise InvalidRun("start must not be a rest point: Euler's method stands still there, and so has no error")
    return Convergence(frozen(lengths, np.float64), frozen(errors, np.float64))


def played_order(
    game: Game,
    choice: Any = "gibbs",
    *,
    tau: float = 1.0,
    discount: float = 0.0,
    order: int = 1,
    horizon: float = 4.0,
    steps: Sequence[float] = (0.04, 0.01, 0.0025),
    seeds: int = 20,
    points: int = 9,
) -> Convergence:
    """The rule ``score`` with small constant steps against the continuous dynamics, from uniform strategies.

    Errors are root mean squares over seeds, points in time, players and actions.
    """
    lengths = _lengths(steps)
    same: dict[str, Any] = {"choice": choice, "tau": tau, "discount": discount, "order": order}
    exact = dynamics(game, **same, horizon=horizon, points=points, rtol=1e-10, atol=1e-12)
    errors = []
    for length in lengths:
        played = rule("score", mu=length, **same)
        squares = []
        for seed in range(seeds):
            run = begin(game, played, seed, record=())
            for k in range(1, points):
                run.advance(round(exact.times[k] / length) - run.step)
                pairs = zip(run.strategies, exact.strategies, strict=True)
                squares.append(np.mean([np.mean((x - path[k]) ** 2) for x, path in pairs]))
        errors.append(math.sqrt(float(np.mean(squares))))
    return Convergence(frozen(lengths, np.float64), frozen(errors, np.float64))


def _lengths(steps: Sequence[float]) -> list[float]:
    try:
        lengths = list(steps)
    except TypeError:
        lengths = []
    if len(lengths) < 2 or not all(is_real(s) and as_float(s) > 0.0 for s in lengths) or len(set(lengths)) < 2:
        raise InvalidRun(f"steps must be at least two different lengths > 0, got {steps!r}")
    return lengths
