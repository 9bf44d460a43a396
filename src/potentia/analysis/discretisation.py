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

from potentia.analysis.score_dynamics import (
    MOST_STEPS,
    Flow,
    Strategies,
    check_points,
    dynamics,
    first_scores,
    positive,
    solve,
    told,
)
from potentia.engine import begin
from potentia.errors import InvalidRun
from potentia.games import Game
from potentia.kernel.arrays import frozen
from potentia.kernel.numbers import as_float, is_integer, is_real
from potentia.rules import rule

_MOST_SEEDS = 100_000


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
    horizon = positive(horizon, "horizon", InvalidRun)
    lengths = _lengths(steps, horizon)
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
        most = min(math.floor(horizon / length) + 2, MOST_STEPS + 1)
        rough = dynamics(game, **same, horizon=horizon, points=most, method="euler", step=length, lagged=lagged)
        exact = dynamics(game, **same, horizon=rough.times[-1], points=rough.times.size, rtol=1e-12, atol=1e-14)
        pairs = zip(rough.strategies, exact.strategies, strict=True)
        errors.append(max(float(np.abs(a - b).max()) for a, b in pairs))
    if min(errors) == 0.0:
        raise InvalidRun(
            "must not be a rest point: Euler's method stands still there, and so has no error", "start", start
        )
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

    Errors are root mean squares over seeds, points in time, players and actions. The points are ``points`` equally
    spaced times without the first, each moved to the nearest multiple of the step length, where there is a strategy
    of the rule; the continuous solution is taken at that multiple.
    """
    flow = Flow(game, choice, tau, discount, order)
    horizon = positive(horizon, "horizon", InvalidRun)
    lengths = _lengths(steps, horizon)
    if max(lengths) > 1.0:
        raise InvalidRun(
            f"must be at most 1, got {max(lengths):g}: the rule score takes no longer ones", "steps", max(lengths)
        )
    if max(lengths) * flow.discount > 1.0:
        raise InvalidRun(
            f"steps times discount must be at most 1, got {max(lengths):g} · {flow.discount:g}: a longer step "
            f"overshoots; use steps of {1.0 / flow.discount:g} or less"
        )
    check_points(flow, points)
    if not is_integer(seeds) or not 1 <= seeds <= _MOST_SEEDS:
        raise InvalidRun(f"must be an integer from 1 to {_MOST_SEEDS:,}, got {told(seeds)}", "seeds", told(seeds))
    errors = []
    for length in lengths:
        counts = multiples(horizon, int(points), length)
        exact = continuous(flow, np.multiply(counts, length, dtype=np.float64))
        played = rule("score", mu=length, choice=choice, tau=tau, discount=discount, order=order)
        squares = []
        for seed in range(seeds):
            run = begin(game, played, seed, record=())
            for k, count in enumerate(counts.tolist()):
                run.advance(count - run.step)
                pairs = zip(run.strategies, exact, strict=True)
                squares.append(np.mean([np.mean((x - path[k]) ** 2) for x, path in pairs]))
        errors.append(math.sqrt(float(np.mean(squares))))
    return Convergence(frozen(lengths, np.float64), frozen(errors, np.float64))


def multiples(horizon: float, points: int, length: float) -> NDArray[np.int64]:
    """The numbers of steps of this length, from 1 on, that end nearest to equally spaced times up to the horizon."""
    times = np.linspace(0.0, horizon, points)[1:]
    return np.unique(np.maximum(np.rint(times / length).astype(np.int64), 1))


def continuous(flow: Flow, times: NDArray[np.float64]) -> Strategies:
    """Strategies of the continuous dynamics at these times, from uniform ones, (times, A_i) each."""
    state = np.zeros((flow.order, flow.edges[-1]))
    state[-1] = first_scores(flow, None, None)
    return flow.choose(solve(flow, state, np.concatenate([[0.0], times]), 1e-10, 1e-12)[1:, -1])


def _lengths(steps: Sequence[float], horizon: float) -> list[float]:
    try:
        lengths = list(steps)
    except TypeError:
        lengths = []
    good = all(is_real(s) and 0.0 < as_float(s) < math.inf for s in lengths)
    if not good or len({as_float(s) for s in lengths}) < 2:
        raise InvalidRun(f"must be at least two different finite lengths > 0, got {steps!r:.60}", "steps", steps)
    lengths = [as_float(s) for s in lengths]
    if max(lengths) > horizon or horizon / min(lengths) > MOST_STEPS:
        raise InvalidRun(
            f"must divide the horizon into 1 to {MOST_STEPS:,} steps, got lengths from {min(lengths):g} to "
            f"{max(lengths):g} for a horizon of {horizon:g}",
            "steps",
            steps,
        )
    return lengths
