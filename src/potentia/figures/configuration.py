"""Figure of final configurations (paper, Fig. 6): where robots end, what they cover, their ways and flags."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from potentia.colours import robot_colour
from potentia.errors import InvalidRun
from potentia.figures import maps, style
from potentia.figures.crowds import crowd_figure
from potentia.figures.labels import apart
from potentia.kernel.arrays import Floats, Ints

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from potentia.games import Coverage

MOST_CIRCLED = 200  # robots with a circle; of more, densities are drawn
MOST_NUMBERED = 60  # robots with a number and a path in a panel; beyond, neither can be told apart


@style.in_words
def configuration_figure(
    game: Coverage,
    panels: Mapping[str, Any],
    *,
    paths: bool | None = None,
    title: str = "",
    there: Mapping[str, Any] | None = None,
    step: int | None = None,
) -> Figure:
    """Where the robots of each named run are at its end, how they came there and the flags they left.

    Flags are those of the rows given, so all of them only if every step was recorded; the legend says if not. Robots
    that have failed are crosses. Of more than 200 robots there are what they cover and their density instead of
    circles.

    Parameters
    ----------
    game : Coverage
        What was played.
    panels : dict
        A name for each run, and its profiles over time, (T, N): a trace, ``trace.profiles``, or ``dataset.profile`` of
        one seed.
    paths : bool, optional
        Whether ways and flags are drawn; left out, they are for up to 60 robots.
    title : str
        What stands above the figure.
    there : dict, optional
        By name, which robots of a run are there at its end, a mask (N,); left out, those that the game's events leave.
    step : int, optional
        That of the last rows, for a world that changes: its field then is drawn; left out, that of the traces.

    Returns
    -------
    matplotlib.figure.Figure
        The figure, to be saved or shown.

    Examples
    --------
    >>> game = pt.games.Coverage(pt.games.World([[0, 1, 0], [2, 0, 3]]), robots=2, delta=1.0)
    >>> trace = pt.run(game, pt.rule("blll", tau=0.05), 20, seed=1)
    >>> figure = pt.figures.configuration_figure(game, {"BLLL": trace})
    >>> print(figure.axes[0].get_title())
    BLLL
    worth 12.00 (sum), 6.000 (union)
    """
    if not panels:
        raise InvalidRun("must name at least one run, got none", "panels", panels)
    if step is None and len(ends := {getattr(run, "steps", None) for run in panels.values()}) == 1:
        step = ends.pop()
    by_events = game.there_at(max(game.happenings.times, default=0) if step is None else step)
    game = maps.at_step(game, step, "configuration_figure")
    runs = {name: maps.checked_profiles(game, given, f"profiles of {name!r}") for name, given in panels.items()}
    left = {name: np.asarray((there or {}).get(name, by_events), np.bool_) for name in runs}
    stand = {name: (_of(game, left[name]), profiles[-1][left[name]]) for name, profiles in runs.items()}
    titles = {name: f"{name}\n{_told(*end)}" for name, end in stand.items()}
    if game.num_players > MOST_CIRCLED:
        return crowd_figure(stand, titles, title)
    with_paths = game.num_players <= MOST_NUMBERED if paths is None else paths
    with_paths = with_paths and any(len(profiles) > 1 for profiles in runs.values())
    margin = maps.margin_of(game)
    longest, extra = 4.6 if len(runs) < 3 else 4.0, 1.2 if title else 0.8
    figure, maps_drawn, inches = maps.sheet(game.world, len(runs), longest, margin, extra)
    maps.draw_fields(maps_drawn, game.world, style.pale(), inches)
    cell = 72 * inches[0] / (game.world.size[0] + 2 * margin)
    legend: dict[str, Artist] = {}
    gaps = any(maps.has_gaps(game, profiles) for profiles in runs.values())
    for axes, (name, profiles) in zip(maps_drawn, runs.items(), strict=True):
        legend |= _draw_run(axes, game, profiles, left[name], cell, with_paths, gaps)
        axes.set_title(titles[name], fontsize=style.TITLE)
    style.legend_below(figure, list(legend.values()))
    style.entitle(figure, title)
    return figure


def _of(game: Coverage, there: NDArray[np.bool_]) -> Coverage:
    """The game of these robots alone; that of all where there are none."""
    return game.at(0, there) if there.any() else game


def _told(game: Coverage, profile: Ints) -> str:
    """What a configuration is worth."""
    if not profile.size:
        return "no robot is left"
    text = f"worth {maps.number(game.worth_sum(profile))} (sum), {maps.number(game.worth_union(profile))} (union)"
    targets = game.world.targets
    if len(targets):
        found = int((game.cover_counts(profile)[targets[:, 1], targets[:, 0]] > 0).sum())
        text += f"\n{found} of {len(targets)} targets covered"
    return text


def _draw_run(
    axes: Axes,
    game: Coverage,
    profiles: Ints,
    there: NDArray[np.bool_],
    points: float,
    with_paths: bool,
    gaps: bool,
) -> dict[str, Artist]:
    """All of one panel but the field; returns what the legend shows, by label. ``points`` is the width of a cell."""
    from matplotlib.collections import LineCollection

    handles = [maps.draw_blocked(axes, game.world)]
    if with_paths:
        if game.flags:
            handles.append(_draw_flags(axes, game, profiles, points, gaps))
        handles += _draw_paths(axes, game, profiles)
    counts = _of(game, there).cover_counts(profiles[-1][there]) if there.any() else np.zeros(game.world.worth.shape)
    covered = list(maps.outline(counts > 0))
    look: dict[str, Any] = {"colors": style.INK, "linewidths": 1.0, "zorder": 2.2}
    outlined = LineCollection(covered, label="covered cells", gid="covered", **look)
    handles.append(axes.add_collection(outlined, autolim=False))
    handles += maps.draw_lost(axes, maps.centres(game, profiles[-1]), np.flatnonzero(~there).tolist())
    handles += _draw_robots(axes, game, profiles[-1], there, points)
    # under the robots, and large enough to be seen around them
    size, _ = _marker(game, maps.centres(game, profiles[-1]), points)
    handles.append(maps.draw_targets(axes, game.world, max(11.0, 1.55 * size)))
    order = ("robot", "range", "failed", "covered", "start", "path", "flag", "target", "blocked")
    known = style.by_label(handles)
    return {label: known[label] for word in order for label in known if label.startswith(word)}


def _draw_flags(axes: Axes, game: Coverage, profiles: Ints, points: float, gaps: bool) -> Artist:
    """A dot on every cell with a flag, in the colour of its robot; black where several robots left one."""
    owner = maps.flags_left(game, profiles)
    size = max(1.0, min(3.2, 0.3 * points))
    look: dict[str, Any] = {"linestyle": "none", "marker": "s", "markersize": size, "markeredgewidth": 0}
    for who in np.unique(owner[owner != 0]).tolist():
        y, x = np.nonzero(owner == who)
        colour = style.INK if who == maps.SHARED else robot_colour(who - 1)
        axes.plot(x + 0.5, y + 0.5, color=colour, zorder=1.2, rasterized=True, gid=f"flags {who}", **look)
    label = "flags at recorded steps" if gaps else "flag (black: several robots')"
    return style.in_key(label, color=style.DARK, **{**look, "markersize": 4.0})


def _draw_paths(axes: Axes, game: Coverage, profiles: Ints) -> list[Artist]:
    start: dict[str, Any] = {"marker": "o", "markersize": 5, "markerfacecolor": style.PAPER, "markeredgewidth": 1.2}
    for robot in range(game.num_players):
        colour = robot_colour(robot)
        mine = profiles[:, robot]
        way = maps.centres(game, mine[np.append(True, np.diff(mine) != 0)])
        axes.plot(*way.T, color=colour, linewidth=0.8, alpha=0.75, zorder=1.5, gid=f"path {robot}")
        axes.plot(*way[0], color=colour, linestyle="none", zorder=1.8, gid=f"start {robot}", **start)
    return [
        style.in_key("start", color=style.DARK, linestyle="none", **start),
        style.in_key("path", color=style.DARK, linewidth=1.0),
    ]


def _marker(game: Coverage, where: Floats, points: float) -> tuple[float, bool]:
    """The size of a robot's marker, and whether its number has room inside: within ranges, clear of the others."""
    if game.num_players > MOST_NUMBERED:
        return max(1.5, min(4.0, points)), False
    distinct = np.unique(where, axis=0)
    gaps = [np.hypot(*(distinct[k + 1 :] - distinct[k]).T).min() for k in range(len(distinct) - 1)]
    size = 12.0 if game.num_players <= 10 else 10.0
    inside = points * min([2 * float(game.delta.max()), *gaps]) >= size
    return (size, True) if inside else (max(2.5, min(5.0, points)), False)


def _draw_robots(axes: Axes, game: Coverage, profile: Ints, there: NDArray[np.bool_], points: float) -> list[Artist]:
    """Ranges as circles of radius δ, and a marker with its number on each robot's cell; beside it where it is tight."""
    from matplotlib.collections import EllipseCollection

    where = maps.centres(game, profile)
    size, inside = _marker(game, where, points)
    numbered = game.num_players <= MOST_NUMBERED
    robots = np.flatnonzero(there).tolist()
    colours = [robot_colour(robot) for robot in robots]
    wide, where = 2 * game.delta[there], where[there]
    place: dict[str, Any] = {"units": "xy", "offsets": where, "offset_transform": axes.transData, "zorder": 2.4}
    look: dict[str, Any] = {"facecolors": "none", "edgecolors": colours, "linewidths": 1.4 if numbered else 0.7}
    ranges = EllipseCollection(wide, wide, np.zeros(len(wide)), gid="ranges", **place, **look)
    axes.add_collection(ranges, autolim=False)
    edge: dict[str, Any] = {"edgecolors": style.INK, "linewidths": 0.6 if numbered else 0.3}
    x, y = where.T
    axes.scatter(x, y, s=size**2, c=colours, zorder=4, gid="robots", **edge)
    if numbered:
        _draw_numbers(axes, game, where, robots, points, inside, size)
    circle: dict[str, Any] = {"marker": "o", "markersize": 11, "markerfacecolor": "none", "markeredgewidth": 1.4}
    name = "robot and its number" if numbered else "robot"
    return [
        style.in_key(name, color=style.DARK, linestyle="none", **maps.ROBOT),
        style.in_key(f"range δ = {_said(game)}", color=style.DARK, linestyle="none", **circle),
    ]


def _said(game: Coverage) -> str:
    def told(delta: Floats) -> str:
        return f"{delta[0]:g}" if np.ptp(delta) == 0 else f"{delta.min():g} to {delta.max():g}"

    side, unit = game.world.length
    return f"{told(game.delta)} cells" + (f" = {told(side * game.delta)} {unit}" if unit != "cells" else "")


def _draw_numbers(
    axes: Axes, game: Coverage, where: Floats, numbers: list[int], points: float, inside: bool, size: float
) -> None:
    """One label per occupied cell: robots on the same cell share it."""
    together: dict[tuple[float, float], list[int]] = {}
    for robot, (x, y) in zip(numbers, where.tolist(), strict=True):
        together.setdefault((x, y), []).append(robot)
    if not together:
        return
    texts = [",".join(map(str, robots)) for robots in together.values()]
    colours = [robot_colour(robots[-1]) for robots in together.values()]
    if inside and max(map(len, texts)) <= 2:
        for place, text, colour in zip(together, texts, colours, strict=True):
            style.draw_number(axes, place, text, colour, size)
        return
    up = -1.0 if game.world.origin == "upper" else 1.0
    columns, rows = game.world.size
    anchors = np.array(list(together)) * points * [1.0, up]
    corners = np.array([[0, 0], [columns, rows]]) * points * [1.0, up]
    offsets = apart(anchors, texts, corners, style.SMALL)
    for place, text, colour, offset in zip(together, texts, colours, offsets, strict=True):
        pointer = {"arrowstyle": "-", "color": colour, "linewidth": 0.8, "shrinkA": 0, "shrinkB": 1}
        look: dict[str, Any] = {
            "fontsize": style.SMALL,
            "bbox": style.box(colour, linewidth=0.8),
            "arrowprops": pointer,
        }
        put: dict[str, Any] = {"textcoords": "offset points", "ha": "center", "va": "center", "zorder": 5}
        axes.annotate(text, place, tuple(offset), **put, **look)
