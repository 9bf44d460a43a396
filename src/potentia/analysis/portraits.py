"""Phase portraits of two players with two actions each: trajectories from a grid, the field, equilibria, rest points.

The state of the first-order dynamics is (x^0_0, x^1_0), the shares of both players' first actions: with g = 1/h'' and
p = τ h'(x) up to a constant, x' = (diag(g) - g gᵀ/Σg)(u - T p)/τ. Of order 2 and more the velocity depends on earlier
stages too, and strategies alone have no direction.
"""

from __future__ import annotations

import contextlib
import inspect
from typing import Any, NamedTuple

import numpy as np

from potentia.analysis.equilibria import is_nash, pure_nash
from potentia.analysis.resting import RestPoint, choice_response, rest_points
from potentia.analysis.score_dynamics import Flow, Trajectory, dynamics
from potentia.errors import InvalidGame, InvalidInput, NotConverged, did_you_mean
from potentia.games import Game
from potentia.kernel.arrays import Floats, frozen
from potentia.kernel.checks import Integer

_MOST = 100  # points of a grid on each side


class Field(NamedTuple):
    """Velocities (dx, dy) of the shares of both players' first actions at the points of a grid, (n, n) each."""

    x: Floats
    y: Floats
    dx: Floats
    dy: Floats


class Portrait(NamedTuple):
    """What a phase portrait shows; ``field`` is None for order 2 and more, ``equilibria`` is (k, 2).

    ``rests`` is empty without discounting, where scores never rest, and where none was found.
    """

    trajectories: list[Trajectory]
    field: Field | None
    equilibria: Floats
    rests: list[RestPoint]


def portrait(game: Game, *, grid: int = 5, **options: Any) -> Portrait:
    """Trajectories from a grid of starts, the field, the Nash equilibria and the rest points of a 2×2 game.

    Parameters
    ----------
    game : Game
        Two players with two actions each.
    grid : int
        How many starts across.
    **options : Any
        Those of :func:`~potentia.analysis.dynamics`, without starts.

    Returns
    -------
    Portrait
        What :func:`potentia.figures.portrait_figure` draws.

    Examples
    --------
    >>> portrait = pt.analysis.portrait(pt.game("prisoners-dilemma"), grid=2, horizon=2.0, points=3)
    >>> len(portrait.trajectories)
    4
    """
    equilibria = nash_shares(game)
    for name in ("start", "scores"):
        if name in options:
            raise InvalidInput("is for dynamics(...): a portrait starts from a grid", name, options[name])
    known = [name for name in inspect.signature(dynamics).parameters if name not in ("game", "start", "scores")]
    for name in options:
        if name not in known:
            hint = did_you_mean(name, ["grid", *known])
            wanted = f"must be those of dynamics(...), {', '.join(known)}"
            raise InvalidInput(f"{wanted}, got {name!r}{hint}", "options", name)
    Integer(1, _MOST).of(grid, "grid", InvalidInput)
    shares = (np.arange(grid) + 0.5) / grid
    starts = [[[x, 1 - x], [y, 1 - y]] for x in shares for y in shares]
    field, rests = None, []
    if options.get("discount"):
        kept = {name: options[name] for name in ("choice", "tau", "discount", "order") if name in options}
        with contextlib.suppress(NotConverged):
            rests = rest_points(game, **kept)
    if options.get("order", 1) == 1:
        kept = {name: options[name] for name in ("choice", "tau", "discount") if name in options}
        field = direction_field(game, **kept)
    return Portrait([dynamics(game, start=start, **options) for start in starts], field, equilibria, rests)


def direction_field(
    game: Game, choice: Any = "gibbs", tau: float = 1.0, discount: float = 0.0, *, grid: int = 16
) -> Field:
    """The velocity of the first-order dynamics at grid² interior strategies of a 2×2 game.

    Parameters
    ----------
    game : Game
        Two players with two actions each.
    choice : str, dict or Penalty
        The choice map, by its penalty.
    tau : float
        The temperature.
    discount : float
        T, how fast scores fade.
    grid : int
        How many points across.

    Returns
    -------
    Field
        Arrays x, y, dx and dy, (grid, grid).

    Examples
    --------
    >>> field = pt.analysis.direction_field(pt.game("prisoners-dilemma"), grid=3)
    >>> (field.dx < 0).all().item()  # cooperation is dominated
    True
    """
    _require_two_by_two(game)
    Integer(2, _MOST).of(grid, "grid", InvalidInput)
    flow = Flow(game, choice, tau, discount, 1)
    shares = (np.arange(grid) + 0.5) / grid
    x, y = np.meshgrid(shares, shares, indexing="ij")
    speed = np.empty((2, grid, grid))
    for place in np.ndindex(grid, grid):
        strategies = [np.array([s[place], 1 - s[place]]) for s in (x, y)]
        for player, (strategy, u) in enumerate(zip(strategies, flow.utilities(strategies), strict=True)):
            push = u - flow.discount * flow.penalty.scores(strategy, flow.tau)
            speed[(player, *place)] = (choice_response(flow, strategy) @ push)[0]
    return Field(frozen(x), frozen(y), frozen(speed[0]), frozen(speed[1]))


def nash_shares(game: Game) -> Floats:
    """The shares (x^0_0, x^1_0) of the pure equilibria and the fully mixed one of a 2×2 game, where it is alone."""
    _require_two_by_two(game)
    found = [(1.0 - a, 1.0 - b) for a, b in pure_nash(game).tolist()]
    flow = Flow(game, "gibbs", 1.0, 0.0, 1)
    mixed = []
    for payoffs in (flow.payoffs[1], flow.payoffs[0]):  # each makes the other indifferent
        gain = payoffs[0] - payoffs[1]  # of the first action, by the other's action
        mixed.append(gain[1] / (gain[1] - gain[0]) if gain[1] != gain[0] else np.nan)
    if all(0.0 < m < 1.0 for m in mixed) and is_nash(game, [[m, 1 - m] for m in mixed]):
        found.append((float(mixed[0]), float(mixed[1])))
    return frozen(np.array(found).reshape(-1, 2))


def _require_two_by_two(game: Any) -> None:
    if not isinstance(game, Game) or game.num_actions != (2, 2):
        shape = " × ".join(str(a) for a in game.num_actions) if isinstance(game, Game) else repr(game)[:60]
        raise InvalidGame(f"a phase portrait is of two players with two actions each, got {shape}")
