"""Figure of a coverage world (paper, Fig. 2): the area with its targets, and the worth field."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from potentia.figures import maps, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from potentia.games import World

_DENSEST_GRID = 60  # cells along a side


@style.in_words
def field_figure(world: World, *, title: str = "") -> Figure:
    """The area with its targets and blocked cells, and beside it what each cell is worth.

    Ellipses are the mixture's components, if the world has them, at one and two standard deviations.

    Parameters
    ----------
    world : World
        The map.
    title : str
        What stands above the figure.

    Returns
    -------
    matplotlib.figure.Figure
        The figure, to be saved or shown.

    Examples
    --------
    >>> figure = pt.figures.field_figure(pt.games.World([[0, 1, 0], [2, 0, 3]]))
    >>> [axes.get_title() for axes in figure.axes[:2]]
    ['Area: 3×2 cells', 'Worth field: 6.000 on all cells']
    """
    figure, (area, field), inches = maps.sheet(world, 2, 4.6)
    _draw_grid(area, world)
    maps.draw_fields([field], world, style.FIELD, inches)
    handles = [maps.draw_blocked(area, world), maps.draw_targets(area, world, 12)]
    maps.draw_blocked(field, world)
    _name_targets(area, world)
    if world.mixture is not None:
        handles.append(maps.draw_components(field, world.mixture.means, world.mixture.covariances))
    else:
        handles.append(maps.draw_targets(field, world, 12))
    across, down = world.size
    targets = f", {len(world.targets)} target{'s' * (len(world.targets) > 1)}" if len(world.targets) else ""
    free, cells = float(world.worth[~world.blocked].sum()), "free cells" if world.blocked.any() else "all cells"
    side, unit = world.length
    size = f" ({across * side:g} × {down * side:g} {unit})" if unit != "cells" else ""
    area.set_title(f"Area: {across}×{down} cells{size}{targets}", fontsize=style.TITLE)
    field.set_title(f"Worth field: {maps.number(free)} on {cells}", fontsize=style.TITLE)
    style.legend_below(figure, list(style.by_label(handles).values()))
    style.entitle(figure, title or f"World: {world.name}")
    return figure


def _draw_grid(axes: Axes, world: World) -> None:
    columns, rows = world.size
    if max(columns, rows) <= _DENSEST_GRID:
        axes.vlines(np.arange(1, columns), 0, rows, color=style.FAINT, linewidth=0.5, zorder=0)
        axes.hlines(np.arange(1, rows), 0, columns, color=style.FAINT, linewidth=0.5, zorder=0)


def _name_targets(axes: Axes, world: World) -> None:
    columns, rows = world.size
    if not 0 < len(world.targets) <= 12:
        return
    for x, y in world.targets.tolist():
        left, low = x > 0.75 * columns, y < 0.15 * rows if world.origin == "upper" else y > 0.85 * rows
        offset = (-8 if left else 8, -4 if low else 4)
        side: dict[str, Any] = {"ha": "right" if left else "left", "va": "top" if low else "bottom"}
        look: dict[str, Any] = {"fontsize": style.WORDS, "bbox": style.box(alpha=0.8)}
        axes.annotate(f"({x}, {y})", (x + 0.5, y + 0.5), offset, textcoords="offset points", **side, **look)
