"""The pictures of a film: where the parts are, what stands still in them, and what is drawn at each moment."""

from __future__ import annotations

from typing import Any

import numpy as np

from potentia.kernel.arrays import Floats, Ints
from potentia.web.films.canvas import INK, Canvas, Pixels
from potentia.web.films.curves import SMALL, TALL, Curve, number, ticks
from potentia.web.films.lettering import letters
from potentia.web.films.maps import CROWD, Area, Beliefs, Moment, Truth, colours_of, is_crowd
from potentia.web.measures import axes_in, places_in
from potentia.web.recordings import Believed, Recording

LARGEST = 4096  # pixels of a map's longer side
_NARROWEST = 400  # pixels that words and the curve have
_EDGE, _GAP, _BAR, _SHORTEST_BAR, _LONGEST_BAR = 14, 34, 13, 64, 640
_TITLE, _WORDS = 14, 13
_NAME = 16  # pixels of the name of an axis
_KEPT = 20_000_000  # worths of drifting fields that are kept


def fitting(columns: int, rows: int, two: bool) -> tuple[int, int]:
    """Pixels a cell, or cells a pixel, of a map of a good size; one that is very flat may be longer."""
    longest, shortest = max(columns, rows), min(columns, rows)
    wanted = 420 if two else 520
    if longest > 4 * shortest:
        wanted = 420 if two and columns > rows else 760
    if longest > 2 * wanted:
        return 1, -(-longest // wanted)
    return min(max(1, round(wanted / longest)), 40), 1


class Sheet:
    """The picture of a recording with its parts; :meth:`picture` draws a moment."""

    def __init__(
        self, recording: Recording, size: tuple[int, int], shown: Ints, series: str | None, mind: int | None, title: str
    ) -> None:
        self.recording, self.mind = recording, mind
        self.palette = colours_of(recording)
        self.area = Area(recording, *size)
        self._fields: dict[int, Floats] = {}
        self.truth = Truth(recording, self.area, self.palette, self._largest(shown))
        self.beliefs = Beliefs(recording, self.area, self.palette, self.truth.top) if mind is not None else None
        self.curve = Curve(recording, series, self.palette) if series is not None else None
        players, told = recording.header["game"]["players"], recording.header
        self.title = title or told["title"] or f"{players:,} robot{'s' * (players > 1)} on {told['map']['name']}"
        self._lay_out()
        self._draw_still()

    # Fields -------------------------------------------------------------------------------------------

    def _since(self, step: int) -> int:
        """Since when the field of a step holds."""
        drift, edits = (self.recording.header["map"].get(name) for name in ("drift", "edits"))
        held = step // int(drift["every"]) * int(drift["every"]) if drift else 0
        return max([held, *(when for when in edits or () if when <= step)])

    def _worth(self, since: int) -> Floats:
        if since not in self._fields:
            if (len(self._fields) + 1) * self.area.columns * self.area.rows > _KEPT:
                self._fields.clear()
            self._fields[since] = self.recording.worth(since)
        return self._fields[since]

    def _largest(self, shown: Ints) -> float:
        """The largest worth of a cell in any picture."""
        return max(float(self._worth(since).max()) for since in sorted(set(map(self._since, shown.tolist())))) or 1.0

    # What stands still --------------------------------------------------------------------------------

    def _lay_out(self) -> None:
        area, maps = self.area, 2 if self.beliefs else 1
        self.names = axes_in(self.recording.header["map"])
        self.columns, self.rows = (_marks(self.recording, area, which) for which in range(2))
        beside = 8 + max(letters(SMALL).width(text) for _, text in self.rows) + (_NAME if self.names else 0)
        self.left = _EDGE + max(beside, self.curve.room if self.curve else 0)
        self.scale_room = 14 + _BAR * (1 + is_crowd(self.recording)) + 24 + letters(SMALL).width(number(self.truth.top))
        beneath = maps * area.width + (maps - 1) * (_GAP + beside)
        across = max(beneath + self.scale_room, _NARROWEST)
        self.width = self.left + across + _EDGE
        indent = self.left + (across - beneath - self.scale_room) // 2
        self.across = across - (self.scale_room if beneath >= 0.6 * across else 8)  # of the curve
        self.maps_left = [indent + k * (area.width + _GAP + beside) for k in range(maps)]
        self.titles = letters(_TITLE, True).wrapped(self.title, self.width - 2 * _EDGE, 2)
        self.head = _EDGE + 16 + 19 * (len(self.titles) - 1)
        self.maps_top = self.head + 22 + (40 if self.beliefs else 0) + 14
        bottom = self.maps_top + max(area.height, _SHORTEST_BAR) + 22 + (_NAME if self.names else 0)
        self.legend_line = bottom + 14
        bottom += 24 if is_crowd(self.recording) else 0
        self.curve_top = bottom + 26
        self.height = (self.curve_top + TALL + 36 if self.curve else bottom) + _EDGE - 6
        if area.height < _SHORTEST_BAR:
            self.maps_top += (_SHORTEST_BAR - area.height) // 2

    def _draw_still(self) -> None:
        self.still = Canvas(np.zeros((self.height, self.width), np.uint8), self.palette)
        for k, line in enumerate(self.titles):
            self.still.write(letters(_TITLE, True), line, _EDGE, _EDGE + 16 + 19 * k)
        for left in self.maps_left:
            self._draw_axes(left)
        if self.beliefs:
            self.still.write(letters(_WORDS), "The true field", self.maps_left[0], self.maps_top - 28)
        self._draw_scale(self.maps_left[-1] + self.area.width + 14)
        if is_crowd(self.recording):
            self._draw_legend()
        if self.curve:
            self.curve.draw_axes(self.still, self.left, self.curve_top, self.across)

    def _draw_axes(self, left: int) -> None:
        """A frame, and numbers of cells, or of places with the names of these."""
        area, grey, words = self.area, self.palette.number("#8c8c8c"), letters(SMALL)
        x, y = left + area.margin, self.maps_top + area.margin
        self.still.frame(left + area.margin, self.maps_top + area.margin, *area.inner, grey)
        under = self.maps_top + area.height
        for value, text in self.columns:
            across = x + round(value * area.scale / area.fold)
            self.still.fill(min(across, x + area.inner[0]), y + area.inner[1] + 1, 1, 3, grey)
            self.still.write(words, text, across, under + 15, INK, across=0.5)
        for value, text in self.rows:
            down = round(value * area.scale / area.fold)
            down = y + (down if area.upper else area.inner[1] - down)
            self.still.fill(x - 4, min(max(down, y - 1), y + area.inner[1]), 3, 1, grey)
            self.still.write(words, text, left - 7, down + 4, INK, across=1.0)
        if self.names:
            wide = max(words.width(text) for _, text in self.rows)
            level, upright = (words.fitted(name, room) for name, room in zip(self.names, area.inner, strict=True))
            self.still.write(words, level, x + area.inner[0] / 2, under + 15 + _NAME, INK, across=0.5)
            self.still.write(words, upright, left - 12 - wide, y + area.inner[1] / 2, INK, across=0.5, upright=True)

    def _draw_scale(self, left: int) -> None:
        """The colours of worths, with the largest."""
        tall = min(max(self.area.inner[1], _SHORTEST_BAR), _LONGEST_BAR)
        top = self.maps_top + (self.area.height - tall) // 2
        shares = np.linspace(1, 0, tall)
        ramps = [self.palette.field, *self.palette.ramps]
        for k, ramp in enumerate(ramps):
            bar = ramp[(shares * (len(ramp) - 1)).round().astype(np.int64)]
            self.still.part(left + k * _BAR, top, _BAR, tall).pixels[:] = bar[:, None]
        wide = _BAR * len(ramps)
        self.still.frame(left, top, wide, tall, self.palette.number("#8c8c8c"))
        self.still.write(letters(SMALL), number(self.truth.top), left + wide + 6, top + 8)
        self.still.write(letters(SMALL), "0", left + wide + 6, top + tall)
        words = "worth per cell" if tall > 150 else "worth"
        room = tall - 30
        if letters(SMALL).width(words) <= room:
            self.still.write(letters(SMALL), words, left + wide + 16, top + tall / 2, INK, across=0.5, upright=True)

    def _draw_legend(self) -> None:
        x, y, words = self.maps_left[0], self.legend_line, letters(SMALL)
        shown = [(self.palette.number("#969696"), "worth"), (int(self.palette.ramps[0][32]), "covered worth")]
        told = ("1 robot", "2 or 3", "more on a cell")
        shown += [(self.palette.number(colour), text) for colour, text in zip(CROWD, told, strict=True)]
        for colour, text in shown:
            self.still.fill(x, y - 9, 10, 10, colour)
            x += 15 + self.still.write(words, text, x + 15, y) + 14

    # Pictures -----------------------------------------------------------------------------------------

    def picture(self, moment: Moment) -> Pixels:
        """The picture of a moment."""
        canvas = Canvas(self.still.pixels.copy(), self.palette)
        since, words = self._since(moment.step), letters(_WORDS)
        parts = [canvas.part(left, self.maps_top, self.area.width, self.area.height) for left in self.maps_left]
        self.truth.draw(parts[0], moment, self._worth(since), since)
        heading = f"step {moment.step:,}"
        if self.curve:
            value, older = self._value(self.curve, moment)
            heading += f": {self.curve.short} {number(value)}{self.curve.unit}{older}"
            self.curve.draw_until(canvas, moment.step, value)
        canvas.write(words, words.fitted(heading, self.width - 2 * _EDGE), _EDGE, self.head + 21)
        if self.beliefs and self.mind is not None:
            which = self.recording.keyframe(moment.step)
            view = self.recording.belief(which)[self.mind] if which >= 0 else None
            self.beliefs.draw(parts[1], moment, view, (which, since))
            told = self._told(view, moment.step)
            canvas.write(
                words, words.fitted(told[0], self.area.width + self.scale_room), self.maps_left[1], self.maps_top - 28
            )
            canvas.write(letters(SMALL), told[1], self.maps_left[1], self.maps_top - 12)
        return canvas.pixels

    def _value(self, curve: Curve, moment: Moment) -> tuple[float, str]:
        """The series at a moment: what is covered is counted where no row is of its step, as on pages.

        Anything else is that of the last row, which the text then says.
        """
        rows = curve.times[curve.times <= moment.step]
        if not len(rows) or rows[-1] == moment.step:
            return curve.side * self.recording.value(curve.name, moment.step), ""
        if curve.name in ("worth_union", "worth_sum") and self.recording.header["every"] == 1:
            counts = self.recording.counts(moment.profile, moment.step)
            counted = counts > 0 if curve.name == "worth_union" else counts
            return float((self._worth(self._since(moment.step)) * counted).sum()), ""
        return curve.side * self.recording.value(curve.name, moment.step), f" (as of step {rows[-1]:,.0f})"

    def _told(self, view: Believed | None, step: int) -> tuple[str, str]:
        """What stands above a belief."""
        header: dict[str, Any] = self.recording.header
        robots = header["keyframes"]["belief"]["robots"][self.mind]
        who = "What all robots believe" if len(robots) > 1 else f"What robot {robots[0]} believes"
        since, until = self.recording.lives[:, robots[0]].tolist()
        if len(robots) == 1 and until <= step:
            who = f"What robot {robots[0]} believed, failed at step {until:,.0f}"
        elif len(robots) == 1 and since > step:
            who = f"Robot {robots[0]}, not yet there"
        elif view is not None and (asked := self.recording.keyframes[self.recording.keyframe(step)]) < step:
            who += f" (step {asked:,})"
        if view is None:
            return who, "nothing yet"
        parts = [f"{int(view.seen.sum()):,} of {view.seen.size:,} cells seen (others dotted)"]
        if len(view.components):
            parts.append(f"{len(view.components)} component{'s' * (len(view.components) > 1)}")
        if np.isfinite(view.error):
            parts.append(f"error {100 * view.error:,.3g} %" if view.error < 10 else f"error {100 * view.error:,.0f} %")
        return who, ", ".join(parts)


def _marks(recording: Recording, area: Area, which: int) -> list[tuple[float, str]]:
    """Where a side of a map has marks, in cells, and what stands there."""
    count, pixels, places = (area.columns, area.rows)[which], area.inner[which], places_in(recording.header["map"])
    if places is None:
        return _cells(count, pixels)
    low, high = sorted(places.at([(0, 0), (count, count)])[:, which].tolist())
    most = max(1, min(9, pixels // (50 if which else 26 + letters(SMALL).width(f"{high:,.7g}"))))
    found = [value for value, _ in ticks(low, high, most)] or [low]
    spots = places.back([(value, value) for value in found])[:, which].tolist()
    return [(spot, f"{value:,.10g}") for spot, value in zip(spots, found, strict=True)]


def _cells(count: int, pixels: int) -> list[tuple[float, str]]:
    """Numbers of cells at a side of a map; of a short side its ends, if there is room for both."""
    found = ticks(0, count, max(2, min(9, pixels // 50)), whole=True)
    found = found if len(found) > 1 else [(0.0, "0"), (float(count), f"{count:,}")]
    return found if pixels > 24 else found[:1]
