"""Final configurations of more robots than circles can show: what they cover, and how many of them are where."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from potentia.figures import maps, style
from potentia.kernel.arrays import Ints

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from potentia.games import Coverage

_BLOCKS = 60  # along the longer side of a map of densities
COVERED, CROWD = "Blues", "Oranges"


def crowd_figure(ends: Mapping[str, tuple[Coverage, Ints]], titles: Mapping[str, str], title: str) -> Figure:
    """For the end of each run the cells that are covered, bluish, and beside it the density of robots."""
    from matplotlib.patches import Patch

    world = next(iter(ends.values()))[0].world
    figure, panels, inches = maps.sheet(world, 2 * len(ends), 4.6, 0.0, 1.2 if title else 0.8, pairs=True)
    handles: list[Artist | None] = []
    for k, (name, (game, profile)) in enumerate(ends.items()):
        covered, density = panels[2 * k : 2 * k + 2]
        maps.add_bar(covered, maps.draw_field(covered, world, style.pale()), inches)
        _draw_covered(covered, game, profile)
        covered.set_title(titles[name], fontsize=style.TITLE)
        _draw_density(density, game, profile, inches)
        density.set_title(f"{profile.size:,} robots: how many are where", fontsize=style.TITLE)
        handles += [maps.draw_blocked(axes, world) for axes in (covered, density)]
        handles.append(maps.draw_targets(covered, world))
    colour = style.pale(COVERED, 1.0)(0.6)
    handles.append(Patch(facecolor=colour, label="covered, the darker the more worth; in grey what is not"))
    style.legend_below(figure, list(style.by_label(handles).values()))
    style.entitle(figure, title)
    return figure


def _draw_covered(axes: Axes, game: Coverage, profile: Ints) -> None:
    worth = game.world.worth
    shade = 0.3 + 0.7 * worth / (float(worth.max()) or 1.0)
    pixels = style.pale(COVERED, 1.0)(shade)
    pixels[..., 3] = game.cover_counts(profile) > 0
    _image(axes, game, pixels, 1, gid="covered")


def _draw_density(axes: Axes, game: Coverage, profile: Ints, inches: tuple[float, float]) -> None:
    side = max(1, math.ceil(max(game.world.size) / _BLOCKS))
    counts = np.zeros(game.world.worth.shape)
    x, y = game.positions(profile).T
    np.add.at(counts, (y, x), 1.0)
    image = _image(axes, game, maps.folded(counts, side), side, cmap=style.pale(CROWD, 1.0), vmin=0.0, gid="density")
    squares = "cell" if side == 1 else f"{side}×{side} cells"
    maps.add_bar(axes, image, inches, label=f"robots per {squares}")


def _image(axes: Axes, game: Coverage, pixels: Any, side: int, **options: Any) -> Any:
    rows, columns = pixels.shape[:2]
    place = (0, side * columns, 0, side * rows)
    look: dict[str, Any] = {"interpolation": "nearest", "zorder": 0.3, **options}
    return axes.imshow(pixels, origin="lower", extent=place, aspect=axes.get_aspect(), **look)
