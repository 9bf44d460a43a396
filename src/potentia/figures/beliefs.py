"""What robots believe of a worth field, beside the true one."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from potentia.beliefs import Believing, View
from potentia.errors import InvalidRun
from potentia.figures import maps
from potentia.figures.configuration import MOST_NUMBERED
from potentia.figures.style import in_words
from potentia.games import Coverage
from potentia.games.drift import require_still

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_DRAWN = 11  # robots with a mind of their own


@in_words
def belief_figure(game: Coverage, views: View | Sequence[View], *, profile: Any = None, title: str = "") -> Figure:
    """The true field, and beside it what robots believe: one panel for all, or one for each (of eleven at most).

    ``views`` are ``trace.beliefs``, or ``run.beliefs``. Cells that were not seen are hatched: there the colour is a
    prediction. Ellipses are the mixture's components, with their weights. Colours are on the scale of the true field.
    ``profile``
        where the robots are, (N,); left out, they are not drawn.
    """
    from matplotlib.figure import Figure

    game, minds = _checked_views(game, views)
    world = game.world
    where = None if profile is None else maps.centres(game, game.check_profile(profile, "profile"))
    drawn = minds[:MOST_DRAWN]
    inches = maps.map_inches(world, 4.6 if len(drawn) == 1 else 3.8)
    panels = len(drawn) + 1
    columns = 1 if inches[0] > 2.5 * inches[1] else min(panels, 2 if panels == 4 else 3 if panels < 7 else 4)
    rows = math.ceil(panels / columns)
    size = maps.figure_inches(inches, rows, columns, 0.6 + (0.45 * rows if columns == 1 else 0.0))
    figure = Figure(figsize=size, layout=maps.figure_layout(inches))
    grid = figure.subplots(rows, columns, squeeze=False).reshape(-1).tolist()
    legend: dict[str, Artist] = {}
    extend = _beyond(world.worth, drawn)
    for k, (axes, view) in enumerate(zip(grid, [None, *drawn], strict=False)):
        maps.frame_axes(axes, world)
        image = maps.draw_field(axes, world, "viridis", None if view is None else view.worth)
        if k % columns == columns - 1 or k == panels - 1:
            maps.add_bar(figure, axes, image, inches, extend)
        handles = [maps.draw_blocked(axes, world, None if view is None else view.worth)]
        handles.append(maps.draw_targets(axes, world, 13))
        if view is not None:
            handles += _draw_view(axes, game, view)
        if where is not None:
            handles.append(_draw_robots(axes, where, range(len(where)) if view is None else view.robots))
        axes.set_title(_told(game, view), fontsize=10)
        legend |= {str(handle.get_label()): handle for handle in handles if handle is not None}
    for axes in grid[panels:]:
        axes.remove()
    _add_legend(figure, legend, size)
    left_out = f"; robots 0 to {MOST_DRAWN - 1} of {len(minds)}" if len(minds) > MOST_DRAWN else ""
    figure.suptitle((title or f"World: {world.name}, and what robots believe of it") + left_out, fontsize=11)
    return figure


def _checked_views(game: Any, views: Any) -> tuple[Coverage, list[View]]:
    """The game that is believed in, and at least one view of its field."""
    game = game.game if isinstance(game, Believing) else game
    if not isinstance(game, Coverage):
        raise InvalidRun(f"must be a Coverage game, got {type(game).__name__}", "game", type(game).__name__)
    require_still(game, "belief_figure")
    minds = [views] if isinstance(views, View) else list(views)
    if not minds:
        raise InvalidRun(
            "must hold at least one belief, got none: play with one about a worth field, such as SplitMerge()",
            "views",
            views,
        )
    for k, view in enumerate(minds):
        if not isinstance(view, View):
            raise InvalidRun(f"must be those of a trace, trace.beliefs, got {view!r:.60} as number {k}", "views", view)
        if view.worth.shape != game.world.worth.shape:
            raise InvalidRun(
                f"must have the shape of the worth, {game.world.worth.shape}, got {view.worth.shape} at {k}",
                "views",
                view.worth.shape,
            )
    return game, minds


def _beyond(worth: NDArray[np.float64], views: Sequence[View]) -> str:
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
        return f"The true field\n{maps.number(world.total)} in all{known}"
    everybody = len(view.robots) == game.num_players
    who = "What all robots believe" if everybody and game.num_players > 1 else f"What robot {view.robots[0]} believes"
    parts = [f"{int(view.seen.sum()):,} of {view.seen.size:,} cells seen"]
    if view.num_components:
        parts.append(f"{view.num_components} component{'s' * (view.num_components > 1)}")
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
        look: dict[str, Any] = {"hatch": "...", "edgecolor": (1.0, 1.0, 1.0, 0.4), "linewidth": 0.0}
        axes.add_patch(PathPatch(maps.squares(~view.seen), facecolor="none", zorder=0.7, gid="unseen", **look))
        handles.append(Patch(facecolor="#3b528b", label="not seen: the colour is a prediction", **look))
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
        box = {"boxstyle": "round,pad=0.12", "facecolor": "white", "edgecolor": "none", "alpha": 0.85}
        axes.annotate(f"{weight:.2f}", place, ha="center", va="center", fontsize=8, zorder=3.5, bbox=box, gid="weight")


def _draw_robots(axes: Axes, where: NDArray[np.float64], robots: Sequence[int]) -> Artist:
    """Markers with numbers, of the robots that a panel is about."""
    from matplotlib.lines import Line2D

    numbered = len(where) <= MOST_NUMBERED
    size = 8.0 if numbered else 3.0
    edge: dict[str, Any] = {"marker": "o", "linestyle": "none", "markeredgecolor": "black", "markeredgewidth": 0.6}
    for robot in robots:
        colour = maps.robot_colour(robot)
        axes.plot(*where[robot], color=colour, markersize=size, zorder=4, gid=f"robot {robot}", **edge)
        if numbered:
            words: dict[str, Any] = {"fontsize": 5.5, "fontweight": "bold", "color": maps.ink_on(colour)}
            axes.annotate(str(robot), where[robot], ha="center", va="center_baseline", zorder=5, **words)
    return Line2D([], [], color="0.4", label="robot", markersize=size, **edge)


def _add_legend(figure: Figure, legend: Mapping[str, Artist], size: tuple[float, float]) -> None:
    """Below, in as many lines as it takes; the maps keep their size."""
    if not legend:
        return
    entries = max(1, min(len(legend), int(size[0] / (0.5 + 0.068 * max(map(len, legend))))))
    lines = math.ceil(len(legend) / entries)
    figure.set_size_inches(size[0], size[1] + 0.24 * (lines - 1) + 0.2)
    figure.legend(handles=list(legend.values()), loc="outside lower center", ncols=entries, frameon=False, fontsize=9)
