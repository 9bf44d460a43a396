"""Figures of score dynamics: paths in the triangle of three actions, phase portraits, scores and shares over time."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from potentia.colours import PALETTE
from potentia.errors import InvalidInput
from potentia.figures import style
from potentia.games.names import action_name, player_name
from potentia.kernel.arrays import Floats
from potentia.kernel.numbers import is_integer

if TYPE_CHECKING:
    import xarray
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from potentia.analysis import RestPoint, Trajectory
    from potentia.analysis.portraits import Field

_CORNERS = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, np.sqrt(0.75)]])
_HOLLOW: dict[str, Any] = {"linestyle": "none", "markerfacecolor": "none", "markeredgewidth": 1.6, "color": PALETTE[1]}
_MARKS: dict[str, dict[str, Any]] = {
    "start": {"linestyle": "none", "marker": "o", "markersize": 5, "markerfacecolor": style.PAPER},
    "end": {"linestyle": "none", "marker": "s", "markersize": 5},
    "pure Nash": {"marker": "*", "markersize": 15, **_HOLLOW},
    "mixed Nash": {"marker": "D", "markersize": 8, **_HOLLOW},
    "rest point": {"linestyle": "none", "marker": "o", "markersize": 8, "color": style.INK},
    "unstable rest point": {
        **{"linestyle": "none", "marker": "o", "markersize": 8, "color": style.INK},
        **{"markerfacecolor": style.PAPER, "markeredgewidth": 1.8},
    },
    "degenerate rest point": {"linestyle": "none", "marker": "X", "markersize": 8, "color": style.INK},
}
_RESTS = {True: "rest point", False: "unstable rest point", None: "degenerate rest point"}
_MOST_PANELS = 6  # players
_MOST_LINES = 12  # actions in a panel


@style.in_words
def simplex_figure(
    trajectories: Trajectory | Sequence[Trajectory],
    player: int | Sequence[int] = 0,
    labels: Sequence[str] | None = None,
    title: str = "",
) -> Figure:
    """The strategies of a player with three actions, in the triangle whose corners play one action each.

    Several players have a triangle each. Circles are starts, squares are ends; a colour is a trajectory.

    Parameters
    ----------
    trajectories : Trajectory or sequence of Trajectory
        What ``analysis.dynamics`` returns.
    player : int or sequence of int
        Whose strategies.
    labels : sequence of str, optional
        What the three actions are called.
    title : str
        What stands above the figure.

    Returns
    -------
    matplotlib.figure.Figure
        The figure, to be saved or shown.

    Examples
    --------
    >>> wins = np.array([[0, -1, 1], [1, 0, -1], [-1, 1, 0]])
    >>> path = pt.analysis.dynamics(pt.games.NormalForm([wins, wins.T]), horizon=5.0)
    >>> figure = pt.figures.simplex_figure(path, player=[0, 1], labels=["rock", "paper", "scissors"])
    >>> [axes.get_title() for axes in figure.axes]
    ['player 0', 'player 1']
    """
    paths = _several(trajectories)
    _names(labels, 3)
    players: list[Any] = [player] if is_integer(player) else list(player)  # type: ignore[arg-type]
    sizes = [x.shape[1] for x in paths[0].strategies]
    for one in players:
        if not is_integer(one) or not 0 <= one < len(sizes) or sizes[one] != 3:
            said = f"must be one with three actions, got {one!r} of players with {sizes} actions"
            raise InvalidInput(said, "player", one)
    figure, grid = style.panels((5.2 * len(players), 4.8), 1, len(players))
    for axes, one in zip(grid.flat, players, strict=True):
        _triangle(axes, _names(labels, 3, _game(paths), one))
        for path, colour in zip(paths, itertools.cycle(PALETTE), strict=False):
            _draw_path(axes, path.strategies[one] @ _CORNERS, colour, 1.4)
        axes.set_title(player_name(_game(paths), one), fontsize=style.TITLE)
    _legend(figure.axes[0], ("start", "end"), loc="upper left")
    style.entitle(figure, title)
    return figure


def _draw_path(axes: Axes, place: Floats, colour: str, width: float) -> None:
    """A path with its arrow, its start and its end."""
    axes.plot(*place.T, color=colour, linewidth=width, zorder=1)
    _arrow(axes, place, colour)
    for where, mark in ((place[0], "start"), (place[-1], "end")):
        axes.plot(*where, color=colour, zorder=3, clip_on=False, **_MARKS[mark])


def _triangle(axes: Axes, names: Sequence[str]) -> None:
    ring = _CORNERS[[0, 1, 2, 0]]
    for share in (0.25, 0.5, 0.75):
        for k in range(3):
            ends = np.array([share * _CORNERS[k] + (1 - share) * _CORNERS[j] for j in range(3) if j != k])
            axes.plot(*ends.T, color=style.FAINT, linewidth=0.8, zorder=0)
    axes.plot(*ring.T, color=style.DARK, linewidth=1.0, zorder=1)
    for corner, name, offset, side in zip(
        _CORNERS, names, [(-4, -8), (4, -8), (0, 8)], ["right", "left", "center"], strict=True
    ):
        vertical = "bottom" if offset[1] > 0 else "top"
        axes.annotate(name, corner, offset, textcoords="offset points", ha=side, va=vertical, fontsize=style.TITLE)
    axes.set(aspect="equal", xlim=(-0.16, 1.16), ylim=(-0.1, 0.98))
    axes.axis("off")


def _arrow(axes: Axes, place: Floats, colour: str) -> None:
    """An arrowhead half-way along a path, by length; none on a path that hardly moves."""
    gone = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(place, axis=0).T))])
    if gone[-1] < 0.05:
        return
    middle = min(gone[-1] / 2, 0.8)  # a path that goes round has its arrow in the first turn
    after = [float(np.interp(middle + d, gone, place[:, k])) for d in (-0.012, 0.012) for k in range(2)]
    look = {"arrowstyle": "-|>", "color": colour, "lw": 1.2, "mutation_scale": 11}
    axes.annotate("", (after[2], after[3]), (after[0], after[1]), arrowprops=look)


@style.in_words
def portrait_figure(
    trajectories: Trajectory | Sequence[Trajectory],
    field: Field | None = None,
    equilibria: ArrayLike = (),
    rests: Sequence[RestPoint] = (),
    title: str = "",
    labels: Sequence[str] | None = None,
) -> Figure:
    """The phase portrait of a 2×2 game: the shares of both players' first actions, one against the other.

    ``portrait`` computes all that is drawn: ``portrait_figure(*portrait(game))``.

    Parameters
    ----------
    trajectories : Trajectory or sequence of Trajectory
        Paths, from ``analysis.dynamics``.
    field : Field, optional
        From ``analysis.direction_field``: grey arrows of equal length.
    equilibria : array_like
        Nash equilibria by the shares of both first actions, (k, 2): stars where pure, diamonds where mixed.
    rests : sequence of RestPoint
        From ``analysis.rest_points``: dots, hollow where a disturbance grows and crosses where the linear flow does not
        tell.
    title : str
        What stands above the figure.
    labels : sequence of str, optional
        What the two axes are called.

    Returns
    -------
    matplotlib.figure.Figure
        The figure, to be saved or shown.

    Examples
    --------
    >>> figure = pt.figures.portrait_figure(*pt.analysis.portrait(pt.game("stag-hunt"), grid=2, horizon=2.0))
    >>> figure.axes[0].get_xlabel()
    "share of player 0's action 0"
    """
    paths = _several(trajectories)
    if isinstance(rests, str) or not all(hasattr(point, "strategies") for point in rests):
        raise InvalidInput(f"must be what analysis.rest_points(...) returns, got {rests!r:.60}", "rests", rests)
    for sizes in ([x.shape[1] for x in one.strategies] for one in paths):
        if sizes != [2, 2]:
            raise InvalidInput(f"a phase portrait is of two players with two actions each, got {sizes} actions")
    marks = np.asarray(equilibria, np.float64).reshape(-1, 2)
    names = _names(labels, 2) if labels is not None else [_first_share(_game(paths), i) for i in range(2)]
    figure, ((axes,),) = style.panels((6.0, 6.3))
    style.despine(axes, grid=None)
    if field is not None:
        speed = np.hypot(field.dx, field.dy)
        length = np.where(speed > 1e-12 * max(float(speed.max()), 1e-300), speed, np.inf)
        arrows: dict[str, Any] = {"angles": "xy", "scale": 30, "width": 0.003, "pivot": "mid", "color": style.LIGHT}
        axes.quiver(field.x, field.y, field.dx / length, field.dy / length, zorder=0, **arrows)
    places = [np.stack([one.strategies[0][:, 0], one.strategies[1][:, 0]], axis=1) for one in paths]
    crowded = sum(float(np.hypot(*np.diff(place, axis=0).T).sum()) for place in places) > 40  # sides of the square
    for place in places:
        _draw_path(axes, place, PALETTE[0], 0.4 if crowded else 1.1)
    pure = np.isin(marks, (0.0, 1.0)).all(axis=1)
    shown = ["start", "end"]
    for which, name in ((pure, "pure Nash"), (~pure, "mixed Nash")):
        if which.any():
            axes.plot(*marks[which].T, zorder=5, clip_on=False, **_MARKS[name])
            shown.append(name)
    for point in rests:
        name = _RESTS[point.stable]
        axes.plot(*[x[0] for x in point.strategies], zorder=4.5, clip_on=False, **_MARKS[name])
        if name not in shown:
            shown.append(name)
    axes.set(aspect="equal", xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), xlabel=names[0], ylabel=names[1])
    _legend(axes, shown, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=4 if len(shown) < 5 else 3)
    style.entitle(figure, title or "Phase portrait")
    return figure


@style.in_words
def scores_figure(data: Trajectory | xarray.Dataset, title: str = "", labels: Sequence[str] | None = None) -> Figure:
    """Shares (above) and scores (below) over time, one column per player, at most six players and twelve actions.

    Parameters
    ----------
    data : Trajectory or xarray.Dataset
        What ``analysis.dynamics`` returns, or its ``dataset()``.
    title : str
        What stands above the figure.
    labels : sequence of str, optional
        What the actions are called.

    Returns
    -------
    matplotlib.figure.Figure
        The figure, to be saved or shown.

    Examples
    --------
    >>> figure = pt.figures.scores_figure(pt.analysis.dynamics(pt.game("stag-hunt"), horizon=2.0))
    >>> [axes.get_title() for axes in figure.axes[:2]]
    ['player 0', 'player 1']
    """
    whole: Any = data if hasattr(data, "data_vars") else _dataset(data)
    players = sum(str(name).startswith("strategies_") for name in whole.data_vars)
    if players == 0:
        raise InvalidInput("expected a trajectory or its dataset(), got a dataset without strategies_0")
    shown = min(players, _MOST_PANELS)
    figure, grid = style.panels((max(4.2 * shown, 5.2), 5.6), 2, shown, sharex=True)
    for player in range(shown):
        shares, scores = whole[f"strategies_{player}"].values, whole[f"scores_{player}"].values
        actions = shares.shape[1]
        names = _names(labels, actions, getattr(data, "game", None), player)
        for axes, values in zip(grid[:, player], (shares, scores), strict=True):
            for a, look in enumerate(style.looks(map(str, range(min(actions, _MOST_LINES)))).values()):
                label = style.in_legend(names[a])
                axes.plot(whole.time, values[:, a], look.style, color=look.colour, label=label, linewidth=1.7)
            axes.set_xlim(0, float(whole.time[-1]))
        more = f" (first {_MOST_LINES} of {actions} actions)" if actions > _MOST_LINES else ""
        grid[0, player].set_title(f"{player_name(getattr(data, 'game', None), player)}{more}", fontsize=style.TITLE)
        grid[0, player].set_ylim(-0.02, 1.02)
        style.legend(grid[0, player], fontsize=style.SMALL, ncols=1 if actions <= 4 else 2)
        grid[1, player].set_xlabel("time t")
    grid[0, 0].set_ylabel("share x")
    grid[1, 0].set_ylabel("score p")
    few = f" (players 0 to {shown - 1} of {players})" if shown < players else ""
    style.entitle(figure, title + few)
    return figure


def _dataset(trajectory: Any) -> Any:
    if not hasattr(trajectory, "dataset"):
        raise InvalidInput(f"expected a trajectory from analysis.dynamics(...), got {trajectory!r:.60}")
    return trajectory.dataset()


def _several(trajectories: Any) -> list[Any]:
    paths = [trajectories] if hasattr(trajectories, "strategies") else list(trajectories)
    if not paths:
        raise InvalidInput("a figure needs at least one trajectory, got none")
    for one in paths:
        if not hasattr(one, "strategies"):
            raise InvalidInput(f"expected trajectories from analysis.dynamics(...), got {one!r:.60}")
    return paths


def _first_share(game: Any, player: int) -> str:
    return f"share of {player_name(game, player)}'s {action_name(game, player, 0, 'action ')}"


def _game(paths: list[Any]) -> Any:
    """Whose names are shown."""
    return getattr(paths[0], "game", None)


def _names(labels: Sequence[str] | None, count: int, game: Any = None, player: int = 0) -> list[str]:
    own = (action_name(game, player, k, "action ") for k in range(count))
    names = list(own) if labels is None else [str(name) for name in labels]
    if len(names) != count:
        raise InvalidInput(f"must be {count} names, got {len(names)}", "labels", len(names))
    return names


def _legend(axes: Axes, shown: Sequence[str], **place: Any) -> None:
    handles = [style.in_key(name, **{"color": style.DARK, **_MARKS[name]}) for name in shown]
    style.legend(axes, handles, **place)
