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
from numpy.typing import ArrayLike, NDArray

from potentia.analysis.tables import payoff_table
from potentia.errors import InvalidInput, InvalidRule, InvalidRun, NotConverged, did_you_mean
from potentia.games import Game
from potentia.kernel import memory
from potentia.kernel.arrays import frozen
from potentia.kernel.checks import Flag
from potentia.kernel.numbers import as_float, in_words, is_integer, is_real
from potentia.kernel.reprs import brief
from potentia.rules.penalties import Penalty, penalty_from
from potentia.rules.score_rule import ORDER

if TYPE_CHECKING:
    import xarray

METHODS = ("DOP853", "euler")
SUM = 1e-9  # how far from 1 the probabilities of a strategy may sum
MOST_STEPS = 1_000_000
_MOST_POINTS = MOST_STEPS + 1
_MOST_CALLS = 300_000  # of the right-hand side, about half a minute
_MOST_FORGOTTEN = 1e4  # discount times horizon

Strategies = list[NDArray[np.float64]]


class Flow:
    """The game's expected payoffs, the choice map and the dynamics, as functions of plain arrays."""

    def __init__(self, game: Game, choice: Any, tau: Any, discount: Any, order: Any) -> None:
        self.penalty: Penalty = penalty_from(choice)
        self.tau = positive(tau, "tau", InvalidRule)
        if not is_real(discount) or not 0.0 <= as_float(discount) < math.inf:
            raise InvalidRule(f"must be finite and at least 0, got {told(discount)}", "discount", told(discount))
        self.discount, self.order, self.game = as_float(discount), ORDER.of(order, "order", InvalidRule), game
        table = payoff_table(game)
        self.sizes = game.num_actions
        self.edges = [0, *np.cumsum(self.sizes).tolist()]
        shaped = table.reshape(game.num_players, *self.sizes)
        # own actions first, then those of the others in order
        self.payoffs = [np.ascontiguousarray(np.moveaxis(shaped[i], i, 0)) for i in range(game.num_players)]

    def split(self, flat: NDArray[np.float64]) -> Strategies:
        """Views of each player's part of the last axis."""
        return [flat[..., low:high] for low, high in zip(self.edges, self.edges[1:], strict=False)]

    def choose(self, scores: NDArray[np.float64]) -> Strategies:
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

    def derivative(self, state: NDArray[np.float64], strategies: Strategies | None = None) -> NDArray[np.float64]:
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


@dataclass(frozen=True, eq=False, repr=False)
class Trajectory:
    """Scores and strategies over time: per player an array (points, A_i), of the last stage.

    ``regrets`` is the most that any player would gain by deviating, at each time: 0 at a Nash equilibrium.
    """

    __repr__ = brief

    game: Game
    times: NDArray[np.float64]
    scores: Strategies
    strategies: Strategies
    regrets: NDArray[np.float64]
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

    ``choice`` is a penalty or what :func:`potentia.rules.penalty_from` reads. DOP853 (Runge-Kutta of order 8 with
    ``rtol`` and ``atol``) records ``points`` equally spaced times. ``method="euler"`` takes steps of length ``step``
    as long as they end by ``horizon``, and records them all, or ``points`` of them where there are more.
    """
    flow = Flow(game, choice, tau, discount, order)
    if not isinstance(method, str) or method not in METHODS:
        raise InvalidRun(
            f"must be one of {', '.join(METHODS)}, got {method!r}{did_you_mean(method, METHODS)}", "method", method
        )
    horizon = positive(horizon, "horizon", InvalidRun)
    check_points(flow, points)
    Flag().of(lagged, "lagged", InvalidRule)
    for name, value in (("rtol", rtol), ("atol", atol)):
        positive(value, name, InvalidRun)
    state = np.zeros((flow.order, flow.edges[-1]))
    state[-1] = first_scores(flow, start, scores)
    parameters = {
        "choice": flow.penalty.spec(),
        "tau": flow.tau,
        "discount": flow.discount,
        "order": flow.order,
        "horizon": horizon,
        "method": method,
    }
    if method == "euler":
        length = _step(step, flow.discount, horizon)
        times, found = _euler(flow, state, horizon, int(points), length, lagged)
        parameters |= {"step": length, "lagged": lagged}
    else:
        if step is not None or lagged:
            raise InvalidRun(
                f'step and lagged are for method="euler", got {method!r} with step={step}, lagged={lagged}'
            )
        times = np.linspace(0.0, horizon, int(points))
        found = solve(flow, state, times, rtol, atol)
    return _trajectory(flow, times, found, parameters)


def first_scores(flow: Flow, start: Any, scores: Any) -> NDArray[np.float64]:
    """The scores of the last stage at time 0, checked."""
    players = len(flow.sizes)
    if scores is None:
        strategies = [np.full(size, 1.0 / size) for size in flow.sizes] if start is None else start
        parts = _one_each(strategies, players, "start", "probability vector")
        out = []
        for player, (part, size) in enumerate(zip(parts, flow.sizes, strict=True)):
            name = f"start of player {player}"
            x = vector(part, size, name, "probabilities")
            if not (x > 0).all():
                raise InvalidRun(
                    f"must be inside the simplex, got {x.tolist()}: no finite scores choose a share of 0, "
                    "and the dynamics never reach one",
                    name,
                    x.tolist(),
                )
            if abs(float(x.sum()) - 1.0) > SUM:
                raise InvalidRun(f"must sum to 1, got {x.sum()}", name, x.sum())
            out.append(flow.penalty.scores(x / x.sum(), flow.tau))
        return np.concatenate(out)
    if start is not None:
        raise InvalidRun("give start= (strategies) or scores=, not both")
    parts = _one_each(scores, players, "scores", "vector")
    return np.concatenate([vector(p, flow.sizes[i], f"scores of player {i}", "scores") for i, p in enumerate(parts)])


def _one_each(given: Any, players: int, name: str, what: str) -> list[Any]:
    wanted = f"{name} must hold one {what} for each of {players} players"
    try:
        parts = list(given)
    except TypeError:
        raise InvalidRun(f"{wanted}, got {given!r}") from None
    if len(parts) != players:
        raise InvalidRun(f"{wanted}, got {len(parts)}")
    return parts


def vector(given: Any, size: int, name: str, what: str, error: type[InvalidInput] = InvalidRun) -> NDArray[np.float64]:
    """So many finite numbers."""
    try:
        array = np.asarray(given)
    except ValueError:  # ragged
        array = np.array(None)
    if array.shape != (size,) or array.dtype.kind not in "iuf":
        raise error(f"must be {size} {what}, got shape {array.shape} of {array.dtype}", name)
    if not np.isfinite(array).all():
        raise error(f"must be finite, got {array.tolist()}", name, array.tolist())
    return array.astype(np.float64)


def positive(value: Any, name: str, error: type[InvalidInput]) -> float:
    """A finite number above 0."""
    if not is_real(value) or not 0.0 < as_float(value) < math.inf:
        raise error(f"must be finite and > 0, got {told(value)}", name, told(value))
    return as_float(value)


def told(value: Any) -> str:
    """An argument in a message; Python writes no integer of very many digits."""
    return in_words(int(value)) if is_integer(value) and value >= 10**18 else f"{value!r:.60}"


def check_points(flow: Flow, points: Any) -> None:
    """Refuse what is no number of recorded times, or too many to hold."""
    if not is_integer(points) or not 2 <= points <= _MOST_POINTS:
        raise InvalidRun(f"must be an integer from 2 to {_MOST_POINTS:,}, got {told(points)}", "points", told(points))
    # scores of every stage from the solver, as an array, and what the trajectory keeps of them
    size = 8 * int(points) * flow.edges[-1] * (2 * flow.order + 4)
    memory.require(size, f"a trajectory of {int(points):,} points", "record fewer points")


def _step(step: Any, discount: float, horizon: float) -> float:
    if step is None:
        raise InvalidRun('method="euler" needs step=, the length of a step')
    length = positive(step, "step", InvalidRun)
    if length * discount > 1.0:
        raise InvalidRun(
            f"step times discount must be at most 1, got {length:g} · {discount:g}: a longer step overshoots; "
            f"use step={1.0 / discount:g} or less"
        )
    if length > horizon or horizon / length > MOST_STEPS:
        raise InvalidRun(
            f"must divide the horizon into 1 to {MOST_STEPS:,} steps, got {length:g} for a horizon of {horizon:g}",
            "step",
            length,
        )
    return length


def solve(
    flow: Flow, state: NDArray[np.float64], times: NDArray[np.float64], rtol: float, atol: float
) -> NDArray[np.float64]:
    """Scores (points, order, Σ A_i) at these increasing times from 0 on, by the solver with error control."""
    from scipy.integrate import solve_ivp  # half a second to import

    if flow.discount * times[-1] > _MOST_FORGOTTEN:
        raise InvalidRun(
            f"horizon times discount must be at most {_MOST_FORGOTTEN:g}, got {times[-1]:g} · {flow.discount:g}; "
            f"the past is forgotten within a time of {40.0 / flow.discount:g}: a few of those are enough"
        )
    calls = 0

    def right_hand_side(t: float, y: NDArray[np.float64]) -> NDArray[np.float64]:
        nonlocal calls
        calls += 1
        if calls > _MOST_CALLS:
            raise NotConverged(
                f"the solver got to time {t:.4g} of {times[-1]:g} in {_MOST_CALLS:,} evaluations and gave up: "
                "strategies change too fast for this horizon; use a shorter one, a larger tau or larger tolerances"
            )
        return flow.derivative(y.reshape(state.shape)).ravel()

    with np.errstate(all="ignore"):  # what overflows is not finite and found below
        solved = solve_ivp(
            right_hand_side,
            (0.0, times[-1]),
            state.ravel(),
            method="DOP853",
            t_eval=times,
            rtol=max(rtol, 1e-13),
            atol=atol,
        )
    if not solved.success or solved.y.shape[1] != times.size or not np.isfinite(solved.y).all():
        raise NotConverged(f"the solver gave up: {solved.message}; try a shorter horizon or a larger rtol or tau")
    return solved.y.T.reshape(times.size, *state.shape)


def _euler(
    flow: Flow, state: NDArray[np.float64], horizon: float, points: int, step: float, lagged: bool
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
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


def _trajectory(
    flow: Flow, times: NDArray[np.float64], found: NDArray[np.float64], parameters: dict[str, Any]
) -> Trajectory:
    strategies = flow.choose(found[:, -1])
    regrets = [flow.regret([x[k] for x in strategies]) for k in range(times.size)]
    return Trajectory(
        flow.game,
        frozen(times),
        [frozen(part) for part in flow.split(found[:, flow.order - 1])],
        [frozen(x) for x in strategies],
        frozen(regrets, np.float64),
        parameters,
    )
