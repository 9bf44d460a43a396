"""A picture of palette numbers to draw on, without matplotlib.

All pictures of a film share one palette of 255 colours: greys, which are also the field's, and each ink on its way to
what it lies on. Where an ink covers a pixel only in part, the number of the mixed colour is looked up in a table, so a
picture is never made of true colours and reduced afterwards. The last number is left free: in a file it means "as
before".
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from potentia.colours import rgb
from potentia.kernel.arrays import Floats, Ints
from potentia.web.films.lettering import Letters

Pixels = NDArray[np.uint8]
LEVELS = 16  # how much of a pixel an ink covers, in sixteenths
SAME = 255  # the number that no colour has
INK, PAPER = "#000000", "#ffffff"
_GREYS = np.concatenate([np.linspace(255, 110, 60), np.linspace(110, 0, 21)[1:]])  # finer where fields are
_UNDER = (255, 205, 150)  # greys that an ink is mixed with
_SHARES = (0.8, 0.6, 0.4, 0.2)
_FIELD = np.array([255, 116])  # of a field, from nothing to its largest: as dark as its worth


class Palette:
    """255 colours: greys, then ``ramps`` from one colour to another, then inks and their mixtures.

    Inks that do not fit with all their mixtures get fewer; each is there itself.
    """

    def __init__(self, inks: tuple[str, ...], ramps: tuple[tuple[str, str], ...] = ()) -> None:
        self.inks = {ink: which for which, ink in enumerate(dict.fromkeys((INK, PAPER, *inks)))}
        coloured = [np.array(rgb(ink), np.float64) for ink in self.inks if ink not in (INK, PAPER)]
        ends = [(np.array(rgb(low)), np.array(rgb(high))) for low, high in ramps]
        steps = np.linspace(0, 1, 48)[:, None]
        parts = [_GREYS[:, None] * np.ones(3), *((1 - steps) * low + steps * high for low, high in ends)]
        used = sum(map(len, parts))
        each = (SAME - used) // max(len(coloured), 1)
        parts += [_tints(colour)[:each] for colour in coloured]
        self.colours = np.zeros((256, 3), np.uint8)
        found = np.concatenate(parts).round().astype(np.uint8)[:SAME]
        self.colours[: len(found)] = found
        self.size = len(found)
        self.ramps = [
            np.arange(len(_GREYS) + 48 * k, len(_GREYS) + 48 * (k + 1), dtype=np.uint8) for k in range(len(ends))
        ]
        shades = np.interp(np.linspace(0, 1, 256), np.linspace(0, 1, len(_FIELD)), _FIELD)
        self.field = self.nearest(shades[:, None] * np.ones(3))
        self.mixed = np.stack([self._table(ink) for ink in self.inks])

    def nearest(self, colours: Any) -> Pixels:
        """The numbers of the colours that are nearest to these, (n, 3)."""
        own = self.colours[: self.size].astype(np.float32)
        given = np.asarray(colours, np.float32)
        return ((own**2).sum(axis=1) - 2 * given @ own.T).argmin(axis=1).astype(np.uint8)

    def number(self, colour: str) -> int:
        """The number of the colour that is nearest to this one."""
        return int(self.nearest([rgb(colour)])[0])

    def _table(self, ink: str) -> Pixels:
        """What an ink makes of each colour, (levels, 256)."""
        share = np.linspace(0, 1, LEVELS + 1)[:, None, None]
        mixed = self.nearest(((1 - share) * self.colours + share * np.array(rgb(ink))).reshape(-1, 3))
        mixed = mixed.reshape(LEVELS + 1, 256)
        mixed[0] = np.arange(256)
        return mixed


def _tints(colour: Floats) -> Floats:
    """A colour and its mixtures with the greys under it and with black, the more needed first."""
    mixtures = [share * colour + (1 - share) * under for share in _SHARES for under in _UNDER]
    return np.array([colour, 0.5 * colour, *mixtures, 0.75 * colour, 0.25 * colour])


@cache
def palette(inks: tuple[str, ...], ramps: tuple[tuple[str, str], ...] = ()) -> Palette:
    """The palette with these inks; its tables take a moment to compute."""
    return Palette(inks, ramps)


class Stamp:
    """A shape: the pixels of it, relative to its place, and how much of each it covers."""

    def __init__(self, share: Floats, left: int, top: int) -> None:
        level = (np.clip(share, 0, 1) * LEVELS).round().astype(np.uint8)
        y, x = np.nonzero(level)
        self.level = level[y, x]
        self.x, self.y = x + left, y + top
        self.box = (0, 0, -1, -1) if not len(x) else (*_ends(self.x), *_ends(self.y))

    def faded(self, share: float) -> Pixels:
        """Its levels, with that share of them left."""
        return (self.level * share).round().astype(np.uint8)


def _ends(values: Ints) -> tuple[int, int]:
    return int(values.min()), int(values.max())


class Canvas:
    """Pixels to draw on, or a part of another canvas."""

    def __init__(self, pixels: Pixels, colours: Palette) -> None:
        self.pixels, self.palette = pixels, colours

    def part(self, left: int, top: int, width: int, height: int) -> Canvas:
        """A part of it, on which nothing is drawn beyond its borders."""
        return Canvas(self.pixels[top : top + height, left : left + width], self.palette)

    def fill(self, left: int, top: int, width: int, height: int, number: int) -> None:
        """A rectangle of one colour."""
        self.pixels[max(top, 0) : max(top + height, 0), max(left, 0) : max(left + width, 0)] = number

    def frame(self, left: int, top: int, width: int, height: int, number: int) -> None:
        """The line around a rectangle, outside of it."""
        for x, y, w, h in (
            (-1, -1, width + 2, 1),
            (-1, height, width + 2, 1),
            (-1, 0, 1, height),
            (width, 0, 1, height),
        ):
            self.fill(left + x, top + y, w, h, number)

    def stamp(self, stamp: Stamp, x: int, y: int, ink: str, level: Pixels | None = None) -> None:
        """A shape at a place, in an ink; what is beyond the borders is left out."""
        height, width = self.pixels.shape
        low, high, top, bottom = stamp.box
        at_x, at_y, share = stamp.x + x, stamp.y + y, stamp.level if level is None else level
        if low + x < 0 or top + y < 0 or high + x >= width or bottom + y >= height:
            inside = (at_x >= 0) & (at_x < width) & (at_y >= 0) & (at_y < height)
            at_x, at_y, share = at_x[inside], at_y[inside], share[inside]
        under = self.pixels[at_y, at_x]
        self.pixels[at_y, at_x] = self.palette.mixed[self.palette.inks[ink]][share, under]

    def write(
        self,
        letters: Letters,
        text: str,
        x: float,
        y: float,
        ink: str = INK,
        across: float = 0.0,
        upright: bool = False,
    ) -> int:
        """A text whose letters stand on y; ``across`` of its width is left of x. Returns its width.

        ``upright`` turns it to be read from below; x is then what letters stand on.
        """
        share, rise = letters.shape_of(text)
        width = share.shape[1]
        if upright:
            stamp = Stamp(np.rot90(share), round(x) - rise, round(y - (1 - across) * width))
        else:
            stamp = Stamp(share, round(x - across * width), round(y) - rise)
        self.stamp(stamp, 0, 0, ink)
        return width
