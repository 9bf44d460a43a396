"""Continuous score dynamics: what reinforcement learning does on average (Eq. 4-7, 9).

Each player keeps a score p_β^i per action, driven by what the action would pay on average against the others'
mixed strategies, and plays the smoothed best response to its scores:

    p' = u^i(β, x^{-i}) - T p,    x^i = SBR(p^i) = argmax_x <x, p^i> - τ h(x)

T = log(1/λ) ≥ 0 is the rate at which the past is forgotten (``discount``). The n-th order dynamics pass the payoffs
through n stages, p_1' = u - T p_1 and p_k' = p_{k-1} - T p_k, and choose by the last; with T = 0 this is
p^{(n)} = u. The first n - 1 stages start at 0.

Euler's method is P(n+1) = P(n) + μ [u(X(n)) - T P(n)] (Eq. 6), each stage with the stage before it as it was at
time n, and X(n) = SBR(P(n)); ``lagged`` takes X(n+1) = SBR(P(n)) as Eq. 9 prints it.

Players choose among all of their actions: where a game constrains moves or prices them, this is ignored.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from potentia.analysis.arrays import one_each, probabilities, vector
from potentia.analysis.tables import payoff_table
from potentia.errors import InvalidRule, InvalidRun, NotConverged
from potentia.games import Game
from potentia.kernel import memory
from potentia.kernel.arrays import Floats, frozen
from potentia.kernel.checks import Flag, Integer, OneOf, Real
from potentia.kernel.reprs import brief
from potentia.rules.penalties import Penalty, penalty_from
from potentia.rules.score_rule import ORDER

if TYPE_CHECKING:
    import xarray

METHODS = ("DOP853", "euler")
MOST_STEPS = 1_000_000
_MOST_CALLS = 300_000  # of the right-hand side, about half a minute
_MOST_FORGOTTEN = 1e4  # discount times horizon

POSITIVE = Real(above=0.0)
Strategies = list[Floats]


class Flow:
    """The game's expected payoffs, the choice map and the dynamics, as functions of plain arrays."""

    def __init__(self, game: Game, choice: Any, tau: Any, discount: Any, order: Any) -> None:
        self.penalty: Penalty = penalty_from(choice)
        self.tau: float = POSITIVE.of(tau, "tau", InvalidRule)
        self.discount: float = Real(least=0.0).of(discount, "discount", InvalidRule)
        self.order, self.game = ORDER.of(order, "order", InvalidRule), game
        table = payoff_table(game)
        self.sizes = game.num_actions
        self.edges = [0, *np.cumsum(self.sizes).tolist()]
        self.parts = [slice(low, high) for low, high in zip(self.edges, self.edges[1:], strict=False)]
        shaped = table.reshape(game.num_players, *self.sizes)
        # own actions first, then those of the others in order
        self.payoffs = [np.ascontiguousarray(np.moveaxis(shaped[i], i, 0)) for i in range(game.num_players)]

    def split(self, flat: Floats) -> Strategies:
        """Views of each player's part of the last axis."""
        return [flat[..., part] for part in self.parts]

    def choose(self, scores: Floats) -> Strategies:
        """x^i = SBR(p^i) for each player."""
        return [self.penalty.choose_checked(part, self.tau) for part in self.split(scores)]

    def utilities(self, strategies: Strategies) -> Strategies:
        """u^i(β, x^{-i}) of each player's actions."""
        out = []
        for player, values in enumerate(self.payoffs):
            for strategy in (*strategies[:player], *strategies[player + 1 :])[::-1]:
                values = values @ strategy  # noqa: PLW2901
            out.append(values)
        return out

    def derivative(self, state: Floats, strategies: Strategies | None = None) -> Floats:
        """Of (order, Σ A_i) scores, stage by stage; ``strategies`` where they are not the choice now."""
        played = self.choose(state[-1]) if strategies is None else strategies
        change = -self.discount * state
        change[0] += np.concatenate(self.utilities(played))
        change[1:] += state[:-1]
        return change

    def regret(self, strategies: Strategies) -> float:
        """The most that any player gains by deviating."""
        values = self.utilities(strategies)
        return max(max(0.0, float(u.max() - u @ x)) for u, x in zip(values, strategies, strict=True))

    def first_state(self, start: Any = None, scores: Any = None) -> Floats:
        """Scores (order, Σ A_i) at time 0: of the last stage as given, or of strategies, uniform where left out."""
        players = len(self.sizes)
        if scores is not None:
            if start is not None:
                raise InvalidRun("give start= (strategies) or scores=, not both")
            made, parts = _scores, one_each(scores, players, "scores", "vector", InvalidRun)
        else:
            given = [np.full(size, 1.0 / size) for size in self.sizes] if start is None else start
            made, parts = _scores_of, one_each(given, players, "start", "probability vector", InvalidRun)
        out = np.zeros((self.order, self.edges[-1]))
        out[-1] = np.concatenate([made(self, part, player) for player, part in enumerate(parts)])
        return out

    def checked_points(self, points: Any) -> int:
        """A number of recorded times that can be held."""
        count = Integer(2, MOST_STEPS + 1).of(points, "points", InvalidRun)
        # scores of every stage from the solver, as an array, and what the trajectory keeps of them
        size = 8 * count * self.edges[-1] * (2 * self.order + 4)
        memory.require(size, f"a trajectory of {count:,} points", "record fewer points")
        return count

    def solve(self, state: Floats, times: Floats, rtol: float, atol: float) -> Floats:
        """Scores (points, order, Σ A_i) at these increasing times from 0 on, by the solver with error control."""
        from scipy.integrate import solve_ivp  # half a second to import

        if self.discount * times[-1] > _MOST_FORGOTTEN:
            raise InvalidRun(
                f"times discount must be at most {_MOST_FORGOTTEN:g}, got {times[-1]:g} · {self.discount:g}; "
                f"the past is forgotten within a time of {40.0 / self.discount:g}: a few of those are enough",
                "horizon",
            )
        calls = 0

        def right_hand_side(t: float, y: Floats) -> Floats:
            nonlocal calls
            calls += 1
            if calls > _MOST_CALLS:
                raise NotConverged(
                    f"the solver got to time {t:.4g} of {times[-1]:g} in {_MOST_CALLS:,} evaluations and gave up: "
                    "strategies change too fast for this horizon; use a shorter one, a larger tau or larger tolerances"
                )
            return self.derivative(y.reshape(state.shape)).ravel()

        with np.errstate(all="ignore"):  # what overflows is not finite and found below
            options = {"method": "DOP853", "t_eval": times, "rtol": max(rtol, 1e-13), "atol": atol}
            solved = solve_ivp(right_hand_side, (0.0, times[-1]), state.ravel(), **options)
        if not solved.success or solved.y.shape[1] != times.size or not np.isfinite(solved.y).all():
            raise NotConverged(f"the solver gave up: {solved.message}; try a shorter horizon or a larger rtol or tau")
        return solved.y.T.reshape(times.size, *state.shape)


@dataclass(frozen=True, eq=False, repr=False)
class Trajectory:
    """Scores and strategies over time: per player an array (points, A_i), of the last stage.

    Attributes
    ----------
    game : Game
        What is played.
    times : array
        (points,).
    scores : list of arrays
        Per player.
    strategies : list of arrays
        Per player.
    regrets : array
        The most that any player would gain by deviating, at each time: 0 at a Nash equilibrium.
    parameters : dict
        What was solved.

    Examples
    --------
    >>> trajectory = pt.analysis.dynamics(pt.game("prisoners-dilemma"), horizon=10.0, points=3)
    >>> trajectory.strategies[0].round(3).tolist(), round(trajectory.nash_distance, 3)
    ([[0.5, 0.5], [0.004, 0.996], [0.0, 1.0]], 0.0)
    """

    __repr__ = brief

    game: Game
    times: Floats
    scores: Strategies
    strategies: Strategies
    regrets: Floats
    parameters: dict[str, Any]

    @property
    def nash_distance(self) -> float:
        """The regret at the end."""
        return float(self.regrets[-1])

    @property
    def final(self) -> Strategies:
        """Each player's strategy at the end."""
        return [x[-1] for x in self.strategies]

    def dataset(self) -> xarray.Dataset:
        """Over ``time``: ``regret`` and for each player i ``scores_i`` and ``strategies_i`` by ``action_i``."""
        import xarray

        data: dict[str, Any] = {"regret": ("time", self.regrets)}
        for i, (scores, strategies) in enumerate(zip(self.scores, self.strategies, strict=True)):
            data[f"scores_{i}"] = (("time", f"action_{i}"), scores)
            data[f"strategies_{i}"] = (("time", f"action_{i}"), strategies)
        plain = {k: v for k, v in self.parameters.items() if v is not None and not isinstance(v, bool)}
        return xarray.Dataset(data, {"time": self.times}, {**plain, "choice": str(plain["choice"])})


def dynamics(
    game: Game,
    *,
    choice: Any = "gibbs",
    tau: float = 1.0,
    discount: float = 0.0,
    order: int = 1,
    start: Sequence[ArrayLike] | None = None,
    scores: Sequence[ArrayLike] | None = None,
    horizon: float = 50.0,
    points: int = 501,
    method: str = "DOP853",
    step: float | None = None,
    lagged: bool = False,
    rtol: float = 1e-9,
    atol: float = 1e-12,
) -> Trajectory:
    """Solve the score dynamics from strategies (``start``; uniform where left out) or from ``scores``.

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
    points : int
        How many equally spaced times are recorded; of Euler's, at most so many.
    method : {"DOP853", "euler"}
        Runge-Kutta of order 8 with ``rtol`` and ``atol``, or steps of length ``step`` as long as they end by
        ``horizon``.
    step : float, optional
        The step length of Euler's.
    lagged : bool
        Whether a step answers the strategies before it, as players do.
    rtol : float
        The relative tolerance of DOP853.
    atol : float
        The absolute tolerance of DOP853.

    Returns
    -------
    Trajectory
        Scores and strategies over time.

    Examples
    --------
    >>> first = [[0.9, 0.1], [0.2, 0.8]]
    >>> trajectory = pt.analysis.dynamics(pt.game("stag-hunt"), start=first, horizon=10.0, points=3)
    >>> [strategy[-1].round(2).tolist() for strategy in trajectory.strategies]
    [[0.0, 1.0], [0.0, 1.0]]
    """
    flow = Flow(game, choice, tau, discount, order)
    OneOf(*METHODS).of(method, "method", InvalidRun)
    horizon = POSITIVE.of(horizon, "horizon", InvalidRun)
    points = flow.checked_points(points)
    Flag().of(lagged, "lagged", InvalidRule)
    for name, value in (("rtol", rtol), ("atol", atol)):
        POSITIVE.of(value, name, InvalidRun)
    state = flow.first_state(start, scores)
    parameters = {
        "choice": flow.penalty.spec(),
        "tau": flow.tau,
        "discount": flow.discount,
        "order": flow.order,
        "horizon": horizon,
        "method": method,
    }
    if method == "euler":
        if step is None:
            raise InvalidRun('is needed for method="euler": the length of a step', "step")
        length = checked_step(step, "step", horizon, flow.discount)
        times, found = _euler(flow, state, horizon, points, length, lagged)
        parameters |= {"step": length, "lagged": lagged}
    else:
        if step is not None or lagged:
            said = f"got {method!r} with step={step}, lagged={lagged}"
            raise InvalidRun(f'step and lagged are for method="euler", {said}')
        times = np.linspace(0.0, horizon, points)
        found = flow.solve(state, times, rtol, atol)
    strategies = flow.choose(found[:, -1])
    regrets = [flow.regret([x[k] for x in strategies]) for k in range(times.size)]
    kept = [frozen(part) for part in flow.split(found[:, flow.order - 1])], [frozen(x) for x in strategies]
    return Trajectory(game, frozen(times), *kept, frozen(regrets, np.float64), parameters)


def _scores(flow: Flow, given: Any, player: int) -> Floats:
    size = flow.sizes[player]
    return vector(given, size, f"scores of player {player}", f"{size} scores", InvalidRun)


def _scores_of(flow: Flow, given: Any, player: int) -> Floats:
    name = f"start of player {player}"
    x = probabilities(given, flow.sizes[player], name, InvalidRun)
    if not x.all():
        said = "no finite scores choose a share of 0, and the dynamics never reach one"
        raise InvalidRun(f"must be inside the simplex, got {x.tolist()}: {said}", name, given)
    return flow.penalty.scores(x / x.sum(), flow.tau)


def checked_step(step: Any, name: str, horizon: float, discount: float = 0.0) -> float:
    """The length of steps that do not overshoot, and that are not too many."""
    length: float = POSITIVE.of(step, name, InvalidRun)
    if length * discount > 1.0:
        said = f"a longer step overshoots; use {1.0 / discount:g} or less"
        raise InvalidRun(f"times discount must be at most 1, got {length:g} · {discount:g}: {said}", name, step)
    if length > horizon or horizon / length > MOST_STEPS:
        wanted = f"must divide the horizon into 1 to {MOST_STEPS:,} steps"
        raise InvalidRun(f"{wanted}, got {length:g} for a horizon of {horizon:g}", name, step)
    return length


def _euler(flow: Flow, state: Floats, horizon: float, points: int, step: float, lagged: bool) -> tuple[Floats, Floats]:
    """Times, and scores (points, order + 1, Σ A_i): the last row is what the strategies are chosen by."""
    count = math.floor(horizon / step * (1 + 1e-12))
    kept = np.arange(count + 1) if count < points else np.unique(np.linspace(0, count, points).round().astype(int))
    out = np.empty((kept.size, flow.order + 1, state.shape[1]))
    by, place = state[-1], 0
    for n in range(count + 1):
        if n == kept[place]:
            out[place, :-1], out[place, -1] = state, by
            place += 1
        after = state + step * flow.derivative(state, flow.choose(by))
        by, state = (state if lagged else after)[-1], after
    return kept.astype(np.float64) * step, out
