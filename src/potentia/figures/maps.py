"""What figures of a coverage world share: the area, its field, walls and targets, and what a run left behind.

Cell (x, y) is the unit square from (x, y) to (x + 1, y + 1), so its centre is at (x + 0.5, y + 0.5). Row 0 is
drawn where ``World.origin`` says. Fields rise from light to dark (or dark to light) in one direction, which
everybody can read; robots have the colours of :data:`potentia.colours.PALETTE` and numbers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from potentia.colours import WALL
from potentia.errors import InvalidRun
from potentia.figures import style
from potentia.games.drift import require_still
from potentia.kernel.arrays import Floats, Ints
from potentia.kernel.checks import Integer

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.image import AxesImage
    from matplotlib.path import Path

    from potentia.games import Coverage, World

SHARED = -1  # a cell with flags of more than one robot
WORTH = "worth per cell"
_FINEST = 950  # cells of one pixel or more along the longer side of a large map
_CRISP = 400  # cells that have a pixel each in every picture
_LARGE, _LARGEST = 250, 1.5  # cells along a side above which maps are drawn larger, and how much at most
_MOST_LOST = 20  # failed robots with numbers
_SHORTEST = 0.2  # inches: the narrowest side of a map that can still be read
ROBOT: dict[str, Any] = {"marker": "o", "markeredgecolor": style.INK, "markeredgewidth": 0.6}


# Where things are -------------------------------------------------------------------------------------


def checked_profiles(game: Coverage, profiles: Any, name: str = "profiles") -> Ints:
    """Profiles over time, (T, N), of a trace, a dataset's variable or an array; rows a run did not reach are cut."""
    array = np.asarray(getattr(profiles, "profiles", profiles))
    if array.ndim != 2 or array.shape[1] != game.num_players or array.dtype.kind not in "iu":
        raise InvalidRun(
            f"must be whole numbers of shape (times, {game.num_players}), "
            f"one action per robot, got {array.dtype} of shape {array.shape}",
            name,
            array.dtype,
        )
    missing = (array < 0).any(axis=1)  # an interrupted batch holds -1
    array = array[: int(np.argmax(missing))] if missing.any() else array
    if len(array) == 0:
        raise InvalidRun("must hold at least one profile, got none", name)
    if array.max() >= game.world.num_free:
        raise InvalidRun(f"must be actions below {game.world.num_free}, got {array.max()}", name, array.max())
    return array.astype(np.int64)


def at_step(game: Coverage, step: int | None, what: str) -> Coverage:
    """The game of all robots in the world of the step that is drawn, which must be known where the world changes."""
    if step is None:
        require_still(game, f"{what} without a step")
        return game
    now = Integer().of(step, "step", InvalidRun)
    return game.at(now, np.ones(game.num_players, np.bool_)) if game.drifts else game


def centres(game: Coverage, profile: Ints) -> Floats:
    """The centres of the robots' cells, (..., N, 2)."""
    return game.positions(profile).astype(np.float64) + 0.5


def flags_left(game: Coverage, profiles: Ints) -> Ints:
    """Who has a flag on each cell after these profiles, (rows, columns).

    As the game keeps it: 0 for nobody, robot + 1, or :data:`SHARED`. Only a record of every step knows all flags.
    """
    out = np.zeros(game.world.worth.shape, np.int64)
    if not game.flags:
        return out
    for robot in range(game.num_players):
        visited = np.unique(profiles[:, robot])
        mine = np.zeros(out.shape, bool)
        if game.flag == "range":
            for action in visited.tolist():
                cells = game.covered(robot, action)
                mine[cells[:, 1], cells[:, 0]] = True
        else:
            cells = game.positions(visited)
            mine[cells[:, 1], cells[:, 0]] = True
        out = np.where(mine, np.where(out == 0, robot + 1, SHARED), out)
    return out


def has_gaps(game: Coverage, profiles: Ints) -> bool:
    """Whether a robot jumps further than it can move in a step: then steps between the rows were not recorded."""
    places = game.positions(profiles)
    jumps = np.hypot(*np.moveaxis(np.diff(places, axis=0), -1, 0))
    return bool(jumps.size and jumps.max() > game.longest_move * (1 + 1e-9))


def outline(mask: NDArray[np.bool_]) -> Floats:
    """The sides of cells between inside and outside, as segments (k, 2, 2)."""
    framed = np.pad(mask, 1)
    y, x = np.nonzero(framed[1:-1, 1:] != framed[1:-1, :-1])
    upright = np.stack([np.stack([x, y], 1), np.stack([x, y + 1], 1)], 1)
    y, x = np.nonzero(framed[1:, 1:-1] != framed[:-1, 1:-1])
    level = np.stack([np.stack([x, y], 1), np.stack([x + 1, y], 1)], 1)
    return np.concatenate([upright, level]).astype(np.float64)


# Drawing ----------------------------------------------------------------------------------------------


def margin_of(game: Coverage) -> float:
    """Room around a narrow area, where ranges would mostly lie outside the picture."""
    widest = float(game.delta.max())
    return widest + 0.5 if min(game.world.size) < 2 * widest else 0.0


def map_inches(world: World, longest: float, margin: float = 0.0) -> tuple[float, float]:
    """Width and height of a map whose longer side is so long."""
    columns, rows = (side + 2 * margin for side in world.size)
    scale = longest / max(columns, rows)
    return max(columns * scale, _SHORTEST), max(rows * scale, _SHORTEST)


def sheet(
    world: World, count: int, longest: float, margin: float = 0.0, extra: float = 0.8, pairs: bool = False
) -> tuple[Figure, list[Axes], tuple[float, float]]:
    """A figure with room for so many maps, their titles, a colour bar and a legend; its panels; the size of a map."""
    inches = map_inches(world, longest * min(max(max(world.size) / _LARGE, 1.0), _LARGEST), margin)
    most = 2 if pairs or count == 4 else 3 + (count > 6)
    rows, columns = style.arranged(count, 1 if inches[0] > 2.5 * inches[1] else most)
    wide, high = max(inches[0], 3.0) + 0.75, inches[1] + (1.5 if columns == 1 < count else 1.05)
    layout = "constrained" if inches[0] < 3.0 else "compressed"  # close together, unless narrower than their titles
    size = max(columns * wide + 0.9, 6.4), rows * high + extra
    figure, grid = style.panels(size, rows, columns, used=count, framed=True, layout=layout)
    found = grid.reshape(-1)[:count].tolist()
    for axes in found:
        frame_axes(axes, world, margin)
    return figure, found, inches


def frame_axes(axes: Axes, world: World, margin: float = 0.0) -> None:
    """Limits, direction and names of the axes; cells are square unless the area is too narrow for that."""
    from matplotlib.patches import Rectangle

    columns, rows = world.size
    across, up = world.axes_names(more=True)
    axes.set(xlim=(-margin, columns + margin), ylim=(-margin, rows + margin), xlabel=across, ylabel=up)
    if world.origin == "upper":
        axes.invert_yaxis()
    width, height = map_inches(world, 5.0, margin)
    axes.set_aspect((height / (rows + 2 * margin)) / (width / (columns + 2 * margin)))
    for which, (axis, cells, side) in enumerate(((axes.xaxis, columns, width), (axes.yaxis, rows, height))):
        inches = side * cells / (cells + 2 * margin)
        places, labels = _ticks(world, which, cells, few=2 if inches > 0.25 else 1, all_of_them=inches >= 1.5)
        axis.set_ticks(places, labels)
    if margin:
        style.despine(axes, "left", "bottom", grid=None)
        axes.add_patch(Rectangle((0, 0), columns, rows, fill=False, edgecolor=style.INK, linewidth=0.8, zorder=2.5))


def _ticks(world: World, which: int, cells: int, few: int, all_of_them: bool) -> tuple[list[float], list[str] | None]:
    """Where an axis has marks, in cells, and what stands there: round numbers of the world's coordinates, or cells."""
    from matplotlib.ticker import MaxNLocator

    outside = world.outside
    if outside is None:
        ticks = np.array(MaxNLocator(nbins=8, integer=True).tick_values(0, cells))
        return (ticks[(ticks >= 0) & (ticks <= cells)].tolist() if all_of_them else [0.0, float(cells)][:few]), None
    ends = outside.at([(0, 0), world.size])[:, which]
    ticks = np.array(MaxNLocator(nbins=5 if np.abs(ends).max() >= 1e4 else 8).tick_values(*sorted(ends)))
    ticks = ticks[(ticks >= ends.min()) & (ticks <= ends.max())]
    ticks = ticks if all_of_them and ticks.size else ends[:few]
    places = outside.back(np.stack([ticks, ticks], axis=1))[:, which]
    return places.tolist(), [f"{tick:,.10g}" for tick in ticks.tolist()]


def draw_field(axes: Axes, world: World, colours: Any, worth: Floats | None = None) -> AxesImage:
    """The worth of every cell as a colour; another ``worth`` on the scale of the world's own."""
    columns, rows = world.size
    return axes.imshow(
        world.worth if worth is None else worth,
        cmap=colours,
        vmin=0.0,
        vmax=float(world.worth.max()) or 1.0,
        origin="lower",  # data coordinates; the axis is turned where row 0 belongs on top
        extent=(0, columns, 0, rows),
        interpolation="nearest",
        aspect=axes.get_aspect(),
        zorder=0,
    )


def draw_fields(
    panels: Sequence[Axes],
    world: World,
    colours: Any,
    inches: tuple[float, float],
    worths: Sequence[Floats | None] | None = None,
    extend: str = "neither",
) -> None:
    """The worth, or another one, in each panel, with a colour bar at the end of each row."""
    for axes, worth in zip(panels, worths or [None] * len(panels), strict=True):
        image = draw_field(axes, world, colours, worth)
        place = axes.get_subplotspec()
        if axes is panels[-1] or (place is not None and place.is_last_col()):
            add_bar(axes, image, inches, extend)


def draw_blocked(axes: Axes, world: World) -> Artist | None:
    """Blocked cells in one colour, whatever they are worth. Returns what stands for them in a legend.

    Of a map with more cells than the picture has pixels, several make one: a wall of one cell stays, and what has a
    gap is paler.
    """
    from matplotlib.colors import to_rgb
    from matplotlib.patches import Patch

    if not world.blocked.any():
        return None
    fold = max(1, round(max(world.size) / _FINEST))
    share = folded(world.blocked.astype(np.float64), fold) / fold
    pixels = np.empty((*share.shape, 4))
    pixels[..., :3], pixels[..., 3] = to_rgb(WALL), np.minimum(share, 1.0)
    axes.imshow(
        pixels,
        origin="lower",
        extent=(0, fold * share.shape[1], 0, fold * share.shape[0]),
        interpolation="nearest" if max(share.shape) <= _CRISP else "auto",  # which leaves out no line
        aspect=axes.get_aspect(),
        zorder=0.6,
        gid="blocked",
    )
    return Patch(facecolor=WALL, linewidth=0.0, label="blocked: no robot can enter")


def folded(values: Floats, fold: int) -> Floats:
    """Sums over squares of so many cells a side; those at the ends may be smaller."""
    rows, columns = values.shape
    by_row = np.add.reduceat(values, np.arange(0, rows, fold), axis=0)
    return np.add.reduceat(by_row, np.arange(0, columns, fold), axis=1)


def squares(mask: NDArray[np.bool_]) -> Path:
    """One path around the cells of a mask, a rectangle for each run of cells in a row."""
    from matplotlib.path import Path

    padded = np.pad(mask.astype(np.int8), ((0, 0), (1, 1)))
    y, left = np.nonzero(np.diff(padded, axis=1) == 1)
    right = np.nonzero(np.diff(padded, axis=1) == -1)[1]
    corners = np.stack([(left, y), (right, y), (right, y + 1), (left, y + 1), (left, y)]).astype(np.float64)
    codes = np.array([Path.MOVETO, Path.LINETO, Path.LINETO, Path.LINETO, Path.CLOSEPOLY], np.uint8)
    return Path(corners.transpose(2, 0, 1).reshape(-1, 2), np.tile(codes, len(y)))


def draw_components(axes: Axes, means: Floats, covariances: Floats) -> Artist:
    """Ellipses at one and two standard deviations of a mixture's components; returns a line for a legend."""
    from matplotlib.patches import Ellipse

    look: dict[str, Any] = {"edgecolor": style.PAPER, "linewidth": 1.1, "fill": False}
    for mean, covariance in zip(means, covariances, strict=True):
        variances, turn = np.linalg.eigh(covariance)
        angle = math.degrees(math.atan2(turn[1, 1], turn[0, 1]))
        for deviations, dashes in ((1, "-"), (2, "--")):
            long, short = 2 * deviations * np.sqrt(variances[::-1])
            axes.add_patch(Ellipse(tuple(mean), long, short, angle=angle, linestyle=dashes, **look))
    axes.plot(*means.T, "+", color=style.INK, markersize=7, zorder=3)
    label = "components of the mixture: mean, 1 and (dashed) 2 standard deviations"
    return style.in_key(label, color=style.GREY, linewidth=1.1, marker="+", markeredgecolor=style.INK)


def draw_targets(axes: Axes, world: World, size: float = 11.0) -> Artist | None:
    """A star on each target; returns one for a legend."""
    if not len(world.targets):
        return None
    x, y = (world.targets + 0.5).T
    look: dict[str, Any] = {"linestyle": "none", "marker": "*", "color": style.PAPER, "markeredgecolor": style.INK}
    axes.plot(x, y, zorder=3, gid="targets", markersize=size, **look)
    return style.in_key("target", markersize=11.0, **look)


def add_bar(
    axes: Axes, image: AxesImage, inches: tuple[float, float], extend: str = "neither", label: str = WORTH
) -> None:
    """A colour bar as tall as the map beside it, or of a legible height beside a flat one."""
    width, height = inches
    tall = max(1.0, 1.1 / height)
    bar = axes.inset_axes((1 + 0.12 / width, 0.5 - tall / 2, 0.18 / width, tall))
    axes.figure.colorbar(image, cax=bar, label=label, extend=extend)


def number(value: float) -> str:
    """Four digits, so that worths can be compared."""
    return f"{value:,.0f}" if abs(value) >= 1e4 else f"{value:#.4g}".rstrip(".")


def draw_lost(axes: Axes, where: Floats, lost: Sequence[int]) -> list[Artist]:
    """A grey cross for each robot that has failed, with its number beside it unless there are too many for that."""
    if not len(lost):
        return []
    where = where[lost]
    cross: dict[str, Any] = {"linestyle": "none", "marker": "X", "markersize": 8, "markeredgecolor": style.PAPER}
    axes.plot(*where.T, color=style.DARK, zorder=3.5, gid="lost", **cross)
    for robot, place in zip(lost, where.tolist(), strict=True) if len(lost) <= _MOST_LOST else ():
        put: dict[str, Any] = {"xytext": (9, 0), "textcoords": "offset points", "ha": "left", "va": "center"}
        axes.annotate(str(robot), place, fontsize=style.SMALL, bbox=style.box(), zorder=3.6, gid="number", **put)
    return [style.in_key("failed robot", color=style.DARK, **cross)]
