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
from numpy.typing import ArrayLike

from potentia.analysis.score_dynamics import MOST_STEPS, POSITIVE, Flow, Strategies, checked_step, dynamics
from potentia.engine import begin
from potentia.errors import InvalidRun
from potentia.games import Game
from potentia.kernel.arrays import Floats, Ints, frozen
from potentia.kernel.checks import Integer
from potentia.rules import rule

_MOST_SEEDS = 100_000


@dataclass(frozen=True, eq=False)
class Convergence:
    """Per step length the largest distance of a share from the accurate solution, and the slope in logarithms.

    Attributes
    ----------
    steps : array
        The step lengths.
    errors : array
        The distance at each.

    Examples
    --------
    >>> found = pt.analysis.Convergence(np.array([0.1, 0.05]), np.array([0.02, 0.01]))
    >>> round(found.order, 3)
    1.0
    """

    steps: Floats
    errors: Floats

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

    Parameters
    ----------
    game : Game
        What is played.
    choice : str, dict or Penalty
        The choice map, by its penalty; as :func:`potentia.rules.penalty_from` reads it.
    tau : float
        The temperature.
    discount : float
        T, how fast scores fade.
    order : int
        How often utilities are aggregated.
    start : sequence of array_like, optional
        The strategies at first; uniform where left out.
    scores : sequence of array_like, optional
        The scores at first, in the place of strategies.
    horizon : float
        The time at the end.
    steps : sequence of float
        The step lengths.
    lagged : bool
        Whether a step answers the strategies before it, as players do.

    Returns
    -------
    Convergence
        Errors and their order.

    Examples
    --------
    >>> first = [[0.3, 0.7], [0.4, 0.6]]
    >>> found = pt.analysis.convergence_order(pt.game("stag-hunt"), start=first, horizon=1.0, steps=(0.1, 0.05))
    >>> round(found.order, 1)
    1.0
    """
    horizon = POSITIVE.of(horizon, "horizon", InvalidRun)
    lengths = _lengths(steps, horizon)
    given: dict[str, Any] = {"choice": choice, "tau": tau, "discount": discount, "order": order}
    given |= {"start": start, "scores": scores}
    errors = []
    for length in lengths:
        most = min(math.floor(horizon / length) + 2, MOST_STEPS + 1)
        rough = dynamics(game, **given, horizon=horizon, points=most, method="euler", step=length, lagged=lagged)
        exact = dynamics(game, **given, horizon=rough.times[-1], points=rough.times.size, rtol=1e-12, atol=1e-14)
        pairs = zip(rough.strategies, exact.strategies, strict=True)
        errors.append(max(float(np.abs(a - b).max()) for a, b in pairs))
    if min(errors) == 0.0:
        said = "Euler's method stands still there, and so has no error"
        raise InvalidRun(f"must not be a rest point: {said}", "start", start)
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

    Parameters
    ----------
    game : Game
        What is played.
    choice : str, dict or Penalty
        The choice map, by its penalty; as :func:`potentia.rules.penalty_from` reads it.
    tau : float
        The temperature.
    discount : float
        T, how fast scores fade.
    order : int
        How often utilities are aggregated.
    horizon : float
        The time at the end.
    steps : sequence of float
        The step lengths.
    seeds : int
        How many runs at each.
    points : int
        How many points in time, with the first.

    Returns
    -------
    Convergence
        Errors and their order.

    Examples
    --------
    >>> found = pt.analysis.played_order(pt.game("stag-hunt"), horizon=1.0, steps=(0.25, 0.125), seeds=2, points=3)
    >>> found.errors.shape
    (2,)
    """
    flow = Flow(game, choice, tau, discount, order)
    horizon = POSITIVE.of(horizon, "horizon", InvalidRun)
    lengths = _lengths(steps, horizon, flow.discount)
    if max(lengths) > 1.0:
        said = "the rule score takes no longer ones"
        raise InvalidRun(f"must be at most 1, got {max(lengths):g}: {said}", "steps", steps)
    points = flow.checked_points(points)
    Integer(1, _MOST_SEEDS).of(seeds, "seeds", InvalidRun)
    errors = []
    for length in lengths:
        counts = multiples(horizon, points, length)
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


def multiples(horizon: float, points: int, length: float) -> Ints:
    """The numbers of steps of this length, from 1 on, that end nearest to equally spaced times up to the horizon."""
    times = np.linspace(0.0, horizon, points)[1:]
    return np.unique(np.maximum(np.rint(times / length).astype(np.int64), 1))


def continuous(flow: Flow, times: Floats) -> Strategies:
    """Strategies of the continuous dynamics at these times, from uniform ones, (times, A_i) each."""
    return flow.choose(flow.solve(flow.first_state(), np.concatenate([[0.0], times]), 1e-10, 1e-12)[1:, -1])


def _lengths(steps: Sequence[float], horizon: float, discount: float = 0.0) -> list[float]:
    try:
        lengths = [checked_step(step, "steps", horizon, discount) for step in steps]
    except TypeError:  # no sequence
        lengths = []
    if len(set(lengths)) < 2:
        raise InvalidRun(f"must be at least two different lengths, got {steps!r:.60}", "steps", steps)
    return lengths
