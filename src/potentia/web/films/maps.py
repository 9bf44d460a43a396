"""The map of a film: worth, walls, targets, flags, tails, ranges and robots; beside it what robots believe."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from potentia.colours import WALL, rgb, robot_colour
from potentia.kernel.arrays import Floats, Ints
from potentia.web.films import shapes
from potentia.web.films.canvas import INK, PAPER, Canvas, Palette, Pixels, Stamp, palette
from potentia.web.films.lettering import letters
from potentia.web.recordings import SHARED, Believed, Recording

MOST_NUMBERED, MOST_CIRCLED = 60, 200  # robots, as in figures
COVERED = ("#d3e5f2", "#00507d")  # worth that a crowd covers, from nothing to the largest
CROWD = ("#E69F00", "#C24A00", "#3d1500")  # one robot on a cell, two or three, more
EDGE, DOTS = "#8c8c8c", "#808080"
LOST = "#6e6e6e"  # a robot that has failed
_MOST_OUTLINES = 2_000  # kept at a time
_OUTSIDE = 48  # pixels, at most, around a narrow area


class Moment(NamedTuple):
    """What a picture shows: a step, the profile then, and those of some steps before and of it, (k, N)."""

    step: int
    profile: Ints
    past: Ints


def is_crowd(recording: Recording) -> bool:
    """Whether robots are too many for circles."""
    return int(recording.header["game"]["players"]) > MOST_CIRCLED


def colours_of(recording: Recording) -> Palette:
    """The palette of a film."""
    told = recording.header["map"]
    walls = (WALL,) * bool(told.get("edits") or recording.walls(0).any())
    if is_crowd(recording):
        return palette((*CROWD, *walls), (COVERED,))
    players = int(recording.header["game"]["players"])
    robots = dict.fromkeys(robot_colour(robot) for robot in range(min(players, 12)))
    return palette((*robots, *walls, LOST) if "until" in recording.arrays else (*robots, *walls))


class Area:
    """Where the cells of a map are in a picture: ``scale`` pixels a side, or ``fold`` cells a pixel on a large map."""

    def __init__(self, recording: Recording, scale: int, fold: int = 1) -> None:
        told = recording.header["map"]
        self.columns, self.rows, self.scale, self.fold = int(told["columns"]), int(told["rows"]), scale, fold
        self.upper = told["origin"] == "upper"
        self.inner = (-(-self.columns * scale // fold), -(-self.rows * scale // fold))
        widest = scale / fold * float(recording.delta.max())  # ranges would mostly lie outside a narrow area
        narrow = min(self.inner) < 2 * widest and not is_crowd(recording)
        self.margin = min(math.ceil(widest) + 3, _OUTSIDE) if narrow else 0
        self.width, self.height = self.inner[0] + 2 * self.margin, self.inner[1] + 2 * self.margin
        self.fraction = 0.5 if scale % 2 else 0.0  # of a pixel, where the centre of a cell is

    def pixels(self, cells: Ints) -> Ints:
        """The pixels in which the centres of cells (..., 2) are."""
        across = cells[..., 0] * self.scale // self.fold
        down = (cells[..., 1] if self.upper else self.rows - 1 - cells[..., 1]) * self.scale // self.fold
        return np.stack([across, down], axis=-1) + self.scale // 2 + self.margin

    def point(self, place: Floats) -> tuple[int, int]:
        """The pixel of a point (x, y) in cells."""
        x, y = place * self.scale / self.fold
        return round(x) + self.margin, round(y if self.upper else self.inner[1] - y) + self.margin

    def enlarged(self, values: NDArray[Any]) -> NDArray[Any]:
        """Numbers of cells (rows, columns) as numbers of pixels, without the margin; of many cells the largest."""
        if self.fold > 1:
            values = np.maximum.reduceat(values, np.arange(0, self.rows, self.fold), axis=0)
            values = np.maximum.reduceat(values, np.arange(0, self.columns, self.fold), axis=1)
        values = values if self.upper else values[::-1]
        return values.repeat(self.scale, axis=0).repeat(self.scale, axis=1)

    def inside(self, pixels: Pixels) -> Pixels:
        """The part of a picture of the area that is no margin."""
        return pixels[self.margin : self.margin + self.inner[1], self.margin : self.margin + self.inner[0]]


class Panel:
    """What the picture of the true field and that of a believed one share."""

    def __init__(self, recording: Recording, area: Area, colours: Palette, top: float) -> None:
        self.recording, self.area, self.palette, self.top = recording, area, colours, top
        self.edits = recording.header["map"].get("edits", [])
        self.delta = recording.delta
        count = self.delta.size
        self.colours = [robot_colour(robot) for robot in range(min(count, 12))]
        cell = area.scale / area.fold
        if count <= MOST_NUMBERED:
            self.radius = min(max(7.5, 0.5 * cell), 11.0, max(6.5, 0.65 * cell * float(self.delta.min())))
        else:
            self.radius = min(max(2.5, 0.42 * cell), 6.5)
        self._ground: tuple[Any, Pixels] | None = None
        self._numbers: dict[int, Stamp] = {}
        self._outlines: dict[tuple[float, int], Stamp] = {}

    def ground(self, worth: Floats, key: Any, step: int) -> Pixels:
        """The field with walls and targets; the last one is kept, and drawn anew where the key is another."""
        key = (key, sum(when <= step for when in self.edits))
        if self._ground is None or self._ground[0] != key:
            pixels = np.zeros((self.area.height, self.area.width), np.uint8)
            canvas = Canvas(pixels, self.palette)
            self.area.inside(pixels)[:] = self.area.enlarged(self.field(worth))
            self._draw_walls(pixels, step)
            self._draw_over(canvas, step)
            if self.area.margin:
                canvas.frame(self.area.margin, self.area.margin, *self.area.inner, self.palette.number(EDGE))
            self._ground = key, pixels
        return self._ground[1]

    def levels(self, worth: Floats) -> Pixels:
        """Worths as numbers from 0 to 255."""
        return (np.clip(np.nan_to_num(worth) / self.top, 0, 1) * 255).round().astype(np.uint8)

    def field(self, worth: Floats) -> Pixels:
        """The colours of worths."""
        return self.palette.field[self.levels(worth)]

    def _draw_walls(self, pixels: Pixels, step: int) -> None:
        blocked = self.recording.walls(step)
        if not blocked.any():
            return
        inside = self.area.inside(pixels)
        inside[self.area.enlarged(blocked)] = self.palette.number(WALL)

    def _draw_over(self, canvas: Canvas, step: int) -> None:
        """What else belongs to the ground."""
        if not is_crowd(self.recording):
            self.draw_targets(canvas, step)

    def draw_targets(self, canvas: Canvas, step: int) -> None:
        """A star on each target."""
        radius = max(6.0, min(9.0, 0.6 * self.area.scale))
        for x, y in self.area.pixels(self.recording.targets(step)).tolist():
            canvas.stamp(shapes.star(radius + 2.0, self.area.fraction), x, y, INK)
            canvas.stamp(shapes.star(radius, self.area.fraction), x, y, PAPER)

    def draw_robots(self, canvas: Canvas, profile: Ints, robots: Iterable[int]) -> None:
        """Discs, with numbers where there is room for them."""
        places = self.area.pixels(self.recording.positions(profile)).tolist()
        edge, disc = (shapes.disc(self.radius - less, self.area.fraction) for less in (0.0, 1.1))
        for robot in robots:
            x, y = places[robot]
            canvas.stamp(edge, x, y, INK)
            canvas.stamp(disc, x, y, self.colours[robot % 12])
            if len(places) <= MOST_NUMBERED:
                canvas.stamp(self._number(robot), x, y, _ink_on(self.colours[robot % 12]))

    def draw_lost(self, canvas: Canvas, moment: Moment, robots: Iterable[int]) -> None:
        """A grey cross on a white one for each of these robots that has failed, and its number beside it."""
        lost, far = self.recording.lost(moment.step), max(3, round(0.7 * self.radius))
        places = self.area.pixels(self.recording.positions(moment.profile)).tolist()
        words = letters(11, True)
        for robot in (robot for robot in robots if lost[robot]):
            x, y = places[robot]
            for width, ink in ((5.0, PAPER), (2.6, LOST)):
                for dy in (far, -far):
                    canvas.stamp(shapes.line(2 * far, 2 * dy, width, self.area.fraction), x - far, y - dy, ink)
            if len(places) <= MOST_NUMBERED:
                canvas.fill(x + far + 3, y - 6, words.width(str(robot)) + 3, 12, 0)
                canvas.write(words, str(robot), x + far + 4, y + 4, INK)

    def _number(self, robot: int) -> Stamp:
        """The number of a robot, with its middle in that of the disc; made once."""
        if robot not in self._numbers:
            size = round((1.5 if robot < 10 else 1.2) * self.radius)
            share, _ = letters(size, True).shape_of(str(robot))
            y, x = np.nonzero(share > 0.3)
            left, top = (self.area.fraction - (ends.min() + ends.max() + 1) / 2 for ends in (x, y))
            self._numbers[robot] = Stamp(share, round(left), round(top))
        return self._numbers[robot]


class Truth(Panel):
    """The true field, and all that robots did."""

    def draw(self, canvas: Canvas, moment: Moment, worth: Floats, key: Any) -> None:
        """The map at a moment, whose field is ``worth`` and has a key."""
        ground = self.ground(worth, key, moment.step)
        if is_crowd(self.recording):
            self._draw_crowd(canvas, ground, moment, worth)
            return
        canvas.pixels[:] = ground
        if self.recording.header["map"]["flags"] is not None:
            self._draw_flags(canvas, moment.step)
        self._draw_tails(canvas, moment.past)
        places = self.area.pixels(self.recording.positions(moment.profile)).tolist()
        cell, width = self.area.scale / self.area.fold, 1.5 if len(places) <= MOST_NUMBERED else 1.0
        there = np.flatnonzero(self.recording.there(moment.step)).tolist()
        self.draw_lost(canvas, moment, range(len(places)))
        for robot in there:
            x, y = places[robot]
            radius = cell * float(self.delta[robot])
            if "sight_row" in self.recording.arrays:  # walls hide part of a circle
                canvas.stamp(self._outline(robot, int(moment.profile[robot])), 0, 0, self.colours[robot % 12])
                continue
            if radius < sum(canvas.pixels.shape):  # a larger circle is nowhere in the picture
                canvas.stamp(shapes.circle(radius, width, self.area.fraction), x, y, self.colours[robot % 12])
        self.draw_robots(canvas, moment.profile, there)

    def _outline(self, robot: int, action: int) -> Stamp:
        """The line around the cells that a robot covers from there, at their place in the picture."""
        key = float(self.delta[robot]), action
        if key not in self._outlines:
            counts = self.recording.covering(np.array([robot]), np.array([action]))
            padded = np.pad(self.area.enlarged(counts > 0), 1)
            middle = padded[1:-1, 1:-1]
            within = padded[:-2, 1:-1] & padded[2:, 1:-1] & padded[1:-1, :-2] & padded[1:-1, 2:]
            if len(self._outlines) > _MOST_OUTLINES:
                self._outlines.clear()
            self._outlines[key] = Stamp((middle & ~within).astype(np.float64), self.area.margin, self.area.margin)
        return self._outlines[key]

    def _draw_flags(self, canvas: Canvas, step: int) -> None:
        flags = self.recording.flags(step)
        y, x = np.nonzero(flags)
        owner = flags[y, x]
        numbers = np.array([self.palette.number(colour) for colour in self.colours], np.uint8)
        number = np.where(owner == SHARED, self.palette.number(INK), numbers[(owner - 1) % len(numbers)])
        if self.delta.size > MOST_NUMBERED:  # paler, or nothing else could be seen
            inks = np.where(owner == SHARED, 0, 2 + (owner - 1) % len(self.colours))
            places = self.area.pixels(np.stack([x, y], axis=1))
            number = self.palette.mixed[inks, 7, canvas.pixels[places[:, 1], places[:, 0]]]
        self._draw_squares(canvas, np.stack([x, y], axis=1), number, max(1, min(round(0.3 * self.area.scale), 7)))

    def _draw_squares(self, canvas: Canvas, cells: Ints, number: Pixels, side: int) -> None:
        across, down = (self.area.pixels(cells) - side // 2).T
        height, width = canvas.pixels.shape
        for extra in np.ndindex(side, side):
            y, x = np.clip(down + extra[0], 0, height - 1), np.clip(across + extra[1], 0, width - 1)
            canvas.pixels[y, x] = number

    def _draw_tails(self, canvas: Canvas, past: Ints) -> None:
        """The ways robots came, the older the paler; where two cross, the newer is seen."""
        places = self.area.pixels(self.recording.positions(past))
        age, robot = np.nonzero((places[1:] != places[:-1]).any(axis=-1))
        if not len(age):
            return
        begin, way = places[age, robot], places[age + 1, robot] - places[age, robot]
        share, ink = 0.85 * (age + 1) / (len(past) - 1), 2 + robot % len(self.colours)
        x, y, level, inks = [], [], [], []
        kinds, which = np.unique(way, axis=0, return_inverse=True)
        for kind, (dx, dy) in enumerate(kinds.tolist()):
            mine = np.flatnonzero(which.reshape(-1) == kind)
            stamp = shapes.line(dx, dy, 2.0, self.area.fraction)
            x.append((begin[mine, :1] + stamp.x).reshape(-1))
            y.append((begin[mine, 1:] + stamp.y).reshape(-1))
            level.append((share[mine, None] * stamp.level).round().astype(np.uint8).reshape(-1))
            inks.append(ink[mine].repeat(len(stamp.x)))
        at_x, at_y, how, whose = (np.concatenate(parts) for parts in (x, y, level, inks))
        order = np.argsort(how, kind="stable")
        height, width = canvas.pixels.shape
        order = order[((at_x >= 0) & (at_x < width) & (at_y >= 0) & (at_y < height))[order]]
        spots, how, whose = (at_y * width + at_x)[order], how[order], whose[order]
        most, by = np.zeros(height * width, np.uint8), np.zeros(height * width, np.uint8)
        most[spots], by[spots] = how, whose  # of several the last holds, which covers most
        y_found, x_found = np.divmod(np.flatnonzero(most), width)
        flat = y_found * width + x_found
        under = canvas.pixels[y_found, x_found]
        canvas.pixels[y_found, x_found] = self.palette.mixed[by[flat], most[flat], under]

    def _draw_crowd(self, canvas: Canvas, ground: Pixels, moment: Moment, worth: Floats) -> None:
        """What is covered in another colour, and how many robots are where."""
        area, ramp = self.area, self.palette.ramps[0]
        covered = area.enlarged(self.recording.counts(moment.profile, moment.step) > 0)
        shown = area.enlarged(ramp[self.levels(worth).astype(np.int64) * (len(ramp) - 1) // 255])
        free = covered & ~area.enlarged(self.recording.walls(moment.step))
        canvas.pixels[:] = ground
        np.copyto(area.inside(canvas.pixels), shown, where=free)
        actions, count = np.unique(moment.profile[self.recording.there(moment.step)], return_counts=True)
        cells = self.recording.positions(actions)
        numbers = np.array([self.palette.number(colour) for colour in CROWD], np.uint8)
        number = numbers[np.searchsorted([2, 4], count, "right")]
        sparse = 200 * len(cells) < area.width * area.height  # then a robot may be larger than its cell
        side = max(3 if sparse else 1, area.scale - 1 if area.scale < 6 else round(0.6 * area.scale))
        self._draw_squares(canvas, cells, number, side)
        self.draw_targets(canvas, moment.step)


class Beliefs(Panel):
    """What one robot, or all of them, believe."""

    view: Believed | None = None

    def draw(self, canvas: Canvas, moment: Moment, view: Believed | None, key: Any) -> None:
        """The believed field, on the scale of the true one; nothing where nobody was asked yet."""
        self.view = view
        worth = view.worth if view is not None else np.zeros((self.area.rows, self.area.columns))
        canvas.pixels[:] = self.ground(worth.astype(np.float64), key, moment.step)
        if view is not None and not is_crowd(self.recording):
            there = self.recording.there(moment.step)
            self.draw_lost(canvas, moment, view.robots)
            self.draw_robots(canvas, moment.profile, [robot for robot in view.robots if there[robot]])

    def _draw_over(self, canvas: Canvas, step: int) -> None:
        inside = self.area.inside(canvas.pixels)
        unseen = np.ones((self.area.rows, self.area.columns), bool) if self.view is None else ~self.view.seen
        down, across = np.arange(inside.shape[0])[:, None], np.arange(inside.shape[1])
        dots = (down % 4 == 1) & ((across + 2 * (down // 4 % 2)) % 4 == 1)
        inside[dots & self.area.enlarged(unseen)] = self.palette.number(DOTS)
        super()._draw_over(canvas, step)
        turn = 1.0 if self.area.upper else -1.0
        cell = self.area.scale / self.area.fold
        for _, x, y, xx, xy, yy in self.view.components.tolist() if self.view is not None else ():
            covariance = np.array([[xx, turn * xy], [turn * xy, yy]]) * cell**2
            if not (np.isfinite(covariance).all() and np.linalg.eigvalsh(covariance)[0] > 1e-6):
                continue
            place = self.area.point(np.array([x, y]))
            for deviations, dashed in ((1.0, False), (2.0, True)):
                limit = 2 * max(self.area.width, self.area.height)
                canvas.stamp(shapes.ellipse(covariance, deviations, 1.2, dashed, limit), *place, INK)
            for dx, dy in ((6, 0), (0, 6)):
                canvas.stamp(shapes.line(dx, dy, 1.0, 0.5), place[0] - dx // 2, place[1] - dy // 2, INK)


def _ink_on(colour: str) -> str:
    """Black or white, whichever is read better on a colour."""
    red, green, blue = ((part / 255) ** 2.2 for part in rgb(colour))
    return PAPER if 0.2126 * red + 0.7152 * green + 0.0722 * blue < 0.22 else INK
