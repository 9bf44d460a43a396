"""What robots believe of a worth field, beside the true one."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from potentia.beliefs import Believing, View
from potentia.colours import robot_colour
from potentia.errors import InvalidRun
from potentia.figures import maps, style
from potentia.figures.configuration import MOST_NUMBERED
from potentia.games import Coverage
from potentia.games.roster import Roster
from potentia.kernel.arrays import Floats

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_DRAWN = 11  # robots with a mind of their own


@style.in_words
def belief_figure(
    game: Coverage,
    views: View | Sequence[View],
    *,
    profile: Any = None,
    title: str = "",
    step: int | None = None,
    there: ArrayLike | None = None,
) -> Figure:
    """The true field, and beside it what robots believe: one panel for all, or one for each (of eleven at most).

    Cells that were not seen are hatched: there the colour is a prediction. Ellipses are the mixture's components, with
    their weights. Colours are on the scale of the true field.

    Parameters
    ----------
    game : Coverage
        What was played.
    views : View or sequence of View
        ``trace.beliefs``, or ``run.beliefs``.
    profile : array_like of int, optional
        Where the robots are, (N,); left out, they are not drawn.
    title : str
        What stands above the figure.
    step : int, optional
        When, for a world that changes: the true field is that of then.
    there : array_like of bool, optional
        Which robots are there, a mask (N,); left out, those that the game's events leave. Others that have come by then
        have failed: they are crosses.

    Returns
    -------
    matplotlib.figure.Figure
        The figure, to be saved or shown.

    Examples
    --------
    >>> game = pt.games.Coverage(pt.games.World([[0, 1, 0], [2, 0, 3]]), robots=2, delta=1.0)
    >>> trace = pt.run(game, pt.rule("blll", tau=0.05), 20, seed=1, belief=pt.belief("constant", share=0.5))
    >>> figure = pt.figures.belief_figure(game, trace.beliefs, profile=trace.final)
    >>> print(figure.axes[0].get_title())
    The true field
    6.000 in all
    """
    here, lost = _attendance(game, step, there)
    game, minds = _checked_views(game, views, step)
    world = game.world
    where = None if profile is None else maps.centres(game, game.check_profile(profile, "profile"))
    drawn = minds[:MOST_DRAWN]
    figure, panels, inches = maps.sheet(world, len(drawn) + 1, 4.6 if len(drawn) == 1 else 3.8)
    worths = [None, *(view.worth for view in drawn)]
    maps.draw_fields(panels, world, style.FIELD, inches, worths, _beyond(world.worth, drawn))
    legend: dict[str, Artist] = {}
    for axes, view in zip(panels, [None, *drawn], strict=True):
        handles = [maps.draw_blocked(axes, world)]
        handles.append(maps.draw_targets(axes, world, 13))
        if view is not None:
            handles += _draw_view(axes, game, view)
        if where is not None:
            robots = [robot for robot in (range(len(where)) if view is None else view.robots) if here[robot]]
            handles += [_draw_robots(axes, where, robots)] if robots else []
            gone = np.flatnonzero(lost).tolist()
            handles += maps.draw_lost(axes, where, [one for one in gone if view is None or one in view.robots])
        axes.set_title(_told(game, view), fontsize=style.TITLE)
        legend |= style.by_label(handles)
    style.legend_below(figure, list(legend.values()))
    left_out = f"; robots 0 to {MOST_DRAWN - 1} of {len(minds)}" if len(minds) > MOST_DRAWN else ""
    style.entitle(figure, (title or f"World: {world.name}, and what robots believe of it") + left_out)
    return figure


def _attendance(game: Any, step: int | None, there: ArrayLike | None) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Which robots are there, and which have failed."""
    game = game.game if isinstance(game, Believing) else game
    if not isinstance(getattr(game, "roster", None), Roster):
        here = np.ones(getattr(game, "num_players", 0), np.bool_)
        return here, ~here
    time = max(game.happenings.times, default=0) if step is None else step
    here = game.there_at(time) if there is None else np.asarray(there, np.bool_)
    if here.shape != (game.num_players,):
        raise InvalidRun(f"must be a mask of {game.num_players} robots, got shape {here.shape}", "there", there)
    return here, ~here & (game.roster.since <= time)


def _checked_views(game: Any, views: Any, step: int | None) -> tuple[Coverage, list[View]]:
    """The game that is believed in, and at least one view of its field."""
    game = game.game if isinstance(game, Believing) else game
    if not isinstance(game, Coverage):
        raise InvalidRun(f"must be a Coverage game, got {type(game).__name__}", "game", type(game).__name__)
    game = maps.at_step(game, step, "belief_figure")
    none = "must hold at least one belief, got none: play with one about a worth field, such as SplitMerge()"
    minds = checked_parts([views] if isinstance(views, View) else views, View, "views", "beliefs", none)
    wanted = game.world.worth.shape
    for k, got in enumerate(view.worth.shape for view in minds):
        if got != wanted:
            raise InvalidRun(f"must have the shape of the worth, {wanted}, got {got} at {k}", "views", got)
    return game, minds


def checked_parts(given: Iterable[Any], kind: type, parameter: str, part: str, none: str) -> list[Any]:
    """At least one of what a trace has as this part of it; ``none`` is what to say where there is none."""
    found = list(given)
    if not found:
        raise InvalidRun(none, parameter, given)
    for k, one in enumerate(found):
        if not isinstance(one, kind):
            raise InvalidRun(f"must be those of a trace, trace.{part}, got {one!r:.60} as number {k}", parameter, one)
    return found


def _beyond(worth: Floats, views: Sequence[View]) -> str:
    """On which sides beliefs leave the scale of the true field."""
    slack = 1e-9 * float(worth.max())
    above = any(float(view.worth.max()) > worth.max() + slack for view in views)
    below = any(float(view.worth.min()) < -slack for view in views)
    return {(False, False): "neither", (True, False): "max", (False, True): "min"}.get((above, below), "both")


def _told(game: Coverage, view: View | None) -> str:
    """The title of a panel."""
    world = game.world
    if view is None:
        known = f", {world.mixture.num_components} components" if world.mixture is not None else ""
        free = float(world.worth[~world.blocked].sum())
        cells = "on free cells" if world.blocked.any() else "in all"
        return f"The true field\n{maps.number(free)} {cells}{known}"
    everybody = len(view.robots) == game.num_players
    who = "What all robots believe" if everybody and game.num_players > 1 else f"What robot {view.robots[0]} believes"
    parts = [f"{int(view.seen.sum()):,} of {view.seen.size:,} cells seen"]
    if view.num_components:
        parts.append(f"{view.num_components} component{'s' * (view.num_components > 1)}")
    if view.background:
        parts.append(f"background {maps.number(view.background)}")
    if world.total > 0:
        parts.append(f"relative error {_percent(view.error(world.worth))}")
    return f"{who}\n{parts[0]}" + (f"\n{', '.join(parts[1:])}" if len(parts) > 1 else "")


def _percent(share: float) -> str:
    return f"{100 * share:,.3g} %" if share < 10 else f"{100 * share:,.0f} %"


def _draw_view(axes: Axes, game: Coverage, view: View) -> list[Artist | None]:
    """Cells not seen, and the components with their weights."""
    from matplotlib.patches import Patch, PathPatch

    handles: list[Artist | None] = []
    if not view.seen.all():
        look: dict[str, Any] = {"hatch": "...", "edgecolor": (style.PAPER, 0.4), "linewidth": 0.0}
        axes.add_patch(PathPatch(maps.squares(~view.seen), facecolor="none", zorder=0.7, gid="unseen", **look))
        handles.append(Patch(facecolor=style.UNSEEN, label="not seen: the colour is a prediction", **look))
    if view.num_components:
        handles.append(maps.draw_components(axes, view.means, view.covariances))
        _draw_weights(axes, game, view)
    return handles


def _draw_weights(axes: Axes, game: Coverage, view: View) -> None:
    """Each component's weight on its outer ellipse, where that is farthest from everything else that is marked."""
    turns = np.linspace(0, 2 * math.pi, 24, endpoint=False)
    circle = 2 * np.stack([np.sin(turns), np.cos(turns)])
    edges = view.means[:, None] + (np.linalg.cholesky(view.covariances) @ circle).transpose(0, 2, 1)
    corner = np.array(game.world.size, np.float64)
    marked = np.concatenate([view.means, game.world.targets + 0.5])
    for k, (weight, edge) in enumerate(zip(view.weights, edges, strict=True)):
        others = np.concatenate([marked, *edges[:k], *edges[k + 1 :]])
        room = np.hypot(*np.moveaxis(edge[:, None] - others[None], -1, 0)).min(axis=1)
        inside = np.minimum(edge, corner - edge).min(axis=1)
        place = edge[np.argmax(np.where(inside > 0.03 * corner.max(), room, inside - corner.max()))]
        place = np.clip(place, 0.0, corner)
        marked = np.concatenate([marked, place[None]])
        look: dict[str, Any] = {"fontsize": style.SMALL, "bbox": style.box(alpha=0.85), "zorder": 3.5}
        axes.annotate(f"{weight:.2f}", place, ha="center", va="center", gid="weight", **look)


def _draw_robots(axes: Axes, where: Floats, robots: Sequence[int]) -> Artist:
    """Markers with numbers, of the robots that a panel is about."""
    numbered = len(where) <= MOST_NUMBERED
    look: dict[str, Any] = {"linestyle": "none", "markersize": 8.0 if numbered else 3.0, **maps.ROBOT}
    for robot in robots:
        colour = robot_colour(robot)
        axes.plot(*where[robot], color=colour, zorder=4, gid=f"robot {robot}", **look)
        if numbered:
            style.draw_number(axes, tuple(where[robot]), str(robot), colour, 8.0)
    return style.in_key("robot", color=style.DARK, **look)
