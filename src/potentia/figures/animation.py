"""A run as an animated GIF: robots on the worth field with ranges and tails, and the covered worth so far."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from potentia.errors import InvalidRun
from potentia.figures import maps, style
from potentia.figures.configuration import MOST_NUMBERED
from potentia.games.drift import require_still
from potentia.kernel.arrays import Floats, Ints
from potentia.kernel.checks import Integer
from potentia.kernel.files import whole_file
from potentia.kernel.numbers import as_float, is_real

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.collections import LineCollection
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D
    from matplotlib.patches import Circle
    from matplotlib.text import Text

    from potentia.games import Coverage

_HOLD = 2.0  # seconds for the last picture, before the film begins again
_GREYS = 75  # of a GIF's 256 colours
_TAIL = 6  # pictures that a tail lasts
_MOST_TOLD = 1000  # points of the curve


def animate(
    game: Coverage,
    profiles: Any,
    path: str | os.PathLike[str],
    *,
    worth: ArrayLike | None = None,
    label: str = "covered worth",
    every: int = 1,
    frames: int = 100,
    fps: float = 12.0,
    dpi: int = 80,
    title: str = "",
    progress: Callable[[int, int], None] | None = None,
) -> Path:
    """Write the run with these profiles, (T, N), as an animated GIF, whole or not at all.

    ``worth``
        what was recorded at each row, (T,), for the curve under the map; left out, the worth covered at least
        once in each picture.
    ``every``
        steps between two rows.
    ``frames``
        the most pictures; of a longer run, evenly spaced rows with the first and the last.
    ``progress``
        is told pictures done and pictures in all.
    """
    require_still(game, "animate")
    goal = _checked_path(path)
    rows = maps.checked_profiles(game, profiles)
    for name, value in (("frames", frames), ("every", every), ("dpi", dpi)):
        Integer(least=1).of(value, name, InvalidRun)
    if not is_real(fps) or not 0 < as_float(fps) <= 50:
        raise InvalidRun(f"must be above 0 and at most 50, which is what a GIF can hold, got {fps!r}", "fps", fps)
    shown = np.unique(np.linspace(0, len(rows) - 1, min(frames, len(rows))).round().astype(np.int64))
    if frames == 1:
        shown = np.array([len(rows) - 1])
    times, values = _curve(game, rows, shown, worth, every)
    film = _Film(game, rows, every, times, values, label if worth is not None else f"{label} (union)", title, dpi)
    try:
        with whole_file(goal) as temporary:
            _write(film, shown.tolist(), temporary, float(fps), progress)
    except OSError as error:
        raise InvalidRun(f"cannot write {goal}: {error.strerror or error}") from error
    return goal


def _checked_path(path: str | os.PathLike[str]) -> Path:
    goal = Path(path)
    if goal.suffix.lower() != ".gif":
        raise InvalidRun(f"must end in .gif, got {goal.name!r}", "path", goal.name)
    try:
        from PIL import Image
    except ImportError as error:
        raise InvalidRun(f"an animation needs Pillow, which cannot be loaded: {error}; pip install pillow") from error
    Image.init()
    if "GIF" not in Image.SAVE_ALL:
        raise InvalidRun(
            "this Pillow cannot write animated GIFs; reinstall it with pip install --force-reinstall pillow"
        )
    return goal


def _curve(game: Coverage, rows: Ints, shown: Ints, worth: ArrayLike | None, every: int) -> tuple[Floats, Floats]:
    """Times and worths of the curve."""
    if worth is None:
        return every * shown.astype(np.float64), np.array([game.worth_union(rows[row]) for row in shown])
    values = np.asarray(worth, np.float64)
    if values.ndim != 1 or len(values) < len(rows):
        raise InvalidRun(
            f"must hold one number for each of {len(rows)} profiles, got shape {values.shape}", "worth", worth
        )
    told = np.union1d(np.arange(0, len(rows), max(1, len(rows) // _MOST_TOLD)), shown)  # more cannot be seen
    return every * told.astype(np.float64), values[told]


class _Film:
    """One figure whose robots, tails and curve are moved from picture to picture."""

    def __init__(
        self,
        game: Coverage,
        rows: Ints,
        every: int,
        times: Floats,
        values: Floats,
        label: str,
        title: str,
        dpi: int,
    ) -> None:
        self.game, self.rows, self.every, self.times, self.values = game, rows, every, times, values
        self.title = title or f"{game.num_players} robot{'s' * (game.num_players > 1)} on {game.world.name}"
        margin = maps.margin_of(game)
        inches = maps.map_inches(game.world, 4.2, margin)
        whole = (max(inches[0], 3.4) + 1.7, inches[1] + 2.4)
        self.figure, ((area,), (below,)) = style.panels(whole, 2, framed=True, height_ratios=[inches[1] + 0.8, 1.4])
        self.figure.set_dpi(dpi)
        maps.frame_axes(area, game.world, margin)
        maps.draw_fields([area], game.world, style.pale(), inches)
        points = 72 * inches[0] / (game.world.size[0] + 2 * margin)
        maps.draw_blocked(area, game.world)
        size = max(3.0, min(11.0, 2.4 * points * max(0.5, float(game.delta.max()))))
        maps.draw_targets(area, game.world, max(11.0, 1.55 * size))
        self.heading = area.set_title("\n", fontsize=style.TITLE)
        self._add_robots(area, size)
        self._add_curve(below, label)
        style.as_words(self.figure)
        self.canvas = _canvas(self.figure)
        for _ in range(3):  # a map of fixed shape finds its place only after some rounds
            self.figure.draw_without_rendering()
        self.figure.set_layout_engine("none")
        moving = [*self.tails, *self.circles, *self.robots, *self.numbers, self.line, self.tip, self.heading]
        self.moving: list[Artist] = sorted(moving, key=lambda artist: artist.get_zorder())
        for artist in self.moving:
            artist.set_animated(True)
        self.canvas.draw()
        self.still = self.canvas.copy_from_bbox(self.figure.bbox)  # what stands still is drawn once

    def _add_robots(self, axes: Axes, size: float) -> None:
        from matplotlib.collections import LineCollection
        from matplotlib.patches import Circle

        count = self.game.num_players
        self.colours = [style.robot_colour(robot) for robot in range(count)]
        self.circles: list[Circle] = []
        self.robots: list[Line2D] = []
        self.numbers: list[Text] = []
        self.tails: list[LineCollection] = []
        for robot, colour in enumerate(self.colours):
            self.tails.append(LineCollection([], colors=colour, linewidths=2.0, zorder=1.5))
            axes.add_collection(self.tails[-1], autolim=False)
            radius = float(self.game.delta[robot])
            self.circles.append(Circle((0, 0), radius, fill=False, edgecolor=colour, linewidth=1.6, zorder=2.4))
            axes.add_patch(self.circles[-1])
            self.robots += axes.plot([], [], color=colour, markersize=size, zorder=4, **maps.ROBOT)
            if size >= 9 and count <= MOST_NUMBERED:
                self.numbers.append(style.draw_number(axes, (0, 0), str(robot), colour, size))

    def _add_curve(self, axes: Axes, label: str) -> None:
        last = self.every * (len(self.rows) - 1)
        low, high = float(np.nanmin(self.values)), float(np.nanmax(self.values))
        room = 0.08 * (high - low) or 0.1 * abs(high) or 1.0
        axes.set(xlim=(0, max(last, 1)), ylim=(low - room, high + room), xlabel="step", ylabel=label)
        style.despine(axes)
        (self.line,) = axes.plot([], [], color=style.INK, linewidth=1.4)
        (self.tip,) = axes.plot([], [], "o", color=style.INK, markersize=5, clip_on=False)

    def show(self, row: int, tail: int) -> None:
        """The picture of a row; tails reach back by ``tail`` rows."""
        where = maps.centres(self.game, self.rows[row])
        past = maps.centres(self.game, self.rows[max(0, row - tail) : row + 1])
        for robot, (x, y) in enumerate(where.tolist()):
            self.circles[robot].set_center((x, y))
            self.robots[robot].set_data([x], [y])
            if self.numbers:
                self.numbers[robot].set_position((x, y))
            self._fade(robot, past[:, robot], tail)
        now = self.every * row
        told = int(np.searchsorted(self.times, now, "right"))
        self.line.set_data(self.times[:told], self.values[:told])
        self.tip.set_data(self.times[told - 1 : told], self.values[told - 1 : told])
        covered = maps.number(float(self.values[told - 1]))
        self.heading.set_text(style.shown(f"{self.title}\nstep {now:,}: worth {covered}"))
        self.canvas.restore_region(self.still)
        for artist in self.moving:
            artist.draw(self.canvas.get_renderer())

    def _fade(self, robot: int, past: Floats, tail: int) -> None:
        from matplotlib.colors import to_rgba

        moved = np.flatnonzero((past[1:] != past[:-1]).any(axis=1))
        age = len(past) - 2 - moved
        colour = [to_rgba(self.colours[robot], 0.9 * (1.0 - float(rows) / max(tail, 1))) for rows in age]
        self.tails[robot].set_segments(list(np.stack([past[moved], past[moved + 1]], axis=1)))
        self.tails[robot].set_color(colour)


def _canvas(figure: Figure) -> Any:
    """Whose methods have no types."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    return FigureCanvasAgg(figure)


def _palette(colours: list[str]) -> Any:
    """Greys for field and words, and each colour on its way to white: robots keep their colours in every picture."""
    from matplotlib.colors import to_rgb
    from PIL import Image

    distinct = list(dict.fromkeys(colours))
    greys = np.linspace(0, 255, _GREYS)[:, None] * np.ones(3)
    mix = np.linspace(1, 0, (255 - _GREYS) // len(distinct), endpoint=False)[:, None]
    tints = [255 * (1 - mix * (1 - np.array(to_rgb(colour)))) for colour in distinct]
    image = Image.new("P", (1, 1))
    image.putpalette(np.concatenate([greys, *tints]).round().astype(np.uint8).tobytes())
    return image


def _write(film: _Film, shown: list[int], path: Path, fps: float, progress: Callable[[int, int], None] | None) -> None:
    """With one palette for all pictures, and a pause at the end."""
    from PIL import Image

    palette, pictures = _palette(film.colours), []
    spacing = (shown[-1] - shown[0]) // max(len(shown) - 1, 1)
    for done, row in enumerate(shown, start=1):
        film.show(row, max(10, _TAIL * spacing))
        picture = Image.fromarray(np.asarray(film.canvas.buffer_rgba())[..., :3])
        pictures.append(picture.quantize(palette=palette, dither=Image.Dither.NONE))
        if progress is not None:
            progress(done, len(shown))
    duration = [1000 / fps] * (len(pictures) - 1) + [1000 * _HOLD]
    pictures[0].save(path, format="GIF", save_all=True, append_images=pictures[1:], duration=duration, loop=0)
