"""The curve under the map of a film: a series up to now, the optimum, and numbers on axes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from potentia.web.films import shapes
from potentia.web.films.canvas import INK, Canvas, Palette, Pixels, Stamp
from potentia.web.films.lettering import letters
from potentia.web.measures import length_in
from potentia.web.recordings import Recording

SMALL = 11  # letters at axes
TALL = 130  # pixels of a curve
_EVENT_ROWS = 3  # of words beside the lines of events
_AXIS, _GRID, _WORDS = "#8c8c8c", "#e4e4e4", "#4d4d4d"


def number(value: float) -> str:
    """Four digits, so that worths can be compared."""
    if not math.isfinite(value):
        return "unknown"
    return f"{value:,.0f}" if abs(value) >= 1e4 else f"{value:#,.4g}".rstrip(".")


def ticks(low: float, high: float, most: int, whole: bool = False) -> list[tuple[float, str]]:
    """Round numbers within an interval, at most so many, and how they are written."""
    rough = (high - low) / (most + 1)
    power = 10.0 ** math.floor(math.log10(rough)) if rough > 0 else 1.0
    steps = (power * k for k in (1, 2, 5, 10, 20, 50))
    step = next(step for step in steps if math.floor(high / step + 1e-9) - math.ceil(low / step - 1e-9) < most)
    if whole:
        step = max(1.0, round(step))
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    places = max(0, -math.floor(math.log10(step) + 1e-9))
    values = [k * step for k in range(first, last + 1)][:99]
    far = max((abs(value) for value in values), default=0.0)
    if places > 5 or far >= 1e7:
        digits = max(0, math.floor(math.log10(far / step) + 1e-9))
        return [(value, f"{value:.{digits}e}" if value else "0") for value in values]
    return [(value, f"{value:,.{places}f}" if value else "0") for value in values]


def _happened(lives: Any, step: float) -> str:
    """Who comes or fails at a step: robot 3 fails."""
    parts = []
    for k, (one, many) in enumerate((("arrives", "arrive"), ("fails", "fail"))):
        who = np.flatnonzero(lives[k] == step).tolist()
        if who:
            parts.append(f"robot {who[0]} {one}" if len(who) == 1 else f"{len(who):,} robots {many}")
    return ", ".join(parts)


class Curve:
    """One series of a recording over its steps."""

    def __init__(self, recording: Recording, name: str, colours: Palette) -> None:
        row = next(row for row in recording.header["series"] if row["name"] == name)
        self.name, self.palette, self.steps = name, colours, max(recording.steps, 1)
        length = row.get("length", False)
        self.side, unit = length_in(recording.header["map"]) if length else (1.0, row.get("unit", ""))
        self.label = str(row["label"] or name) + (f" ({unit})" if unit else "")
        self.short, self.unit = self.label.partition(" (")[0], f" {unit}" if length else ""  # beside a number
        self.times, self.values = (np.asarray(part, np.float64) for part in recording.series(name))
        self.values = self.values * self.side
        self.best, self.told = _best(recording.header["optimum"], name)
        times = (recording.header["optimum"] or {}).get("times")  # of a world that changes
        self.when = np.array(times if self.best and times else np.zeros(len(self.best)), np.float64)
        lives = recording.lives[np.isfinite(recording.lives)]
        self.events = np.unique(lives[(lives > 0) & (lives <= recording.steps)])  # when robots come or fail
        self.happened = [_happened(recording.lives, step) for step in self.events.tolist()]
        finite = self.values[np.isfinite(self.values)]
        ends = [*((finite.min(), finite.max()) if finite.size else (0.0, 1.0)), *self.best]
        room = 0.07 * (max(ends) - min(ends)) or 0.1 * abs(max(ends)) or 1.0
        self.low = 0.0 if 0 <= min(ends) <= 2 * room else min(ends) - room
        self.high = max(ends) + (3.2 if self.best else 1.0) * room  # above the optimum stands its name
        self.ticks = ticks(self.low, self.high, 6)
        self.room = 8 + max((letters(SMALL).width(text) for _, text in self.ticks), default=0)  # left of the axis

    def across(self, step: Any, width: int) -> Any:
        """Where a step is, in pixels."""
        return step / self.steps * (width - 1)

    def down(self, value: Any) -> Any:
        """Where a value is, in pixels."""
        return (self.high - value) / (self.high - self.low) * (TALL - 1)

    def _name_events(self, canvas: Canvas, left: int, top: int, width: int) -> None:
        """What each dotted line is of, as far as there is room: never one over another."""
        words, free = letters(SMALL), [left] * _EVENT_ROWS
        for step, text in zip(self.events.tolist(), self.happened, strict=True):
            x, room = left + round(self.across(step, width)), words.width(text) + 4
            x = x + 3 if x + 3 + room <= left + width else x - room - 1
            row = next((row for row, taken in enumerate(free) if x >= taken), None)
            if row is not None:
                y = top + TALL - 5 - 14 * row
                canvas.fill(x, y - 10, room, 13, 0)  # no line through the words
                canvas.write(words, text, x + 2, y, INK)
                free[row] = x + room

    def draw_axes(self, canvas: Canvas, left: int, top: int, width: int) -> None:
        """All that stands still; the curve's own part is drawn once and shown bit by bit."""
        axis, grid = self.palette.number(_AXIS), self.palette.number(_GRID)
        words = letters(SMALL)
        canvas.write(words, words.fitted(self.label, width), left, top - 6, INK)
        for value, text in self.ticks:
            y = top + round(float(self.down(value)))
            canvas.fill(left, y, width, 1, grid)
            canvas.write(words, text, left - 6, y + 4, INK, across=1.0)
        every = ticks(0, self.steps, max(2, min(8, width // 75)), whole=True)
        for value, text in every:
            x = left + round(self.across(value, width))
            canvas.fill(x, top + TALL, 1, 4, axis)
            canvas.write(words, text, x, top + TALL + 16, INK, across=0.5)
        for x in (left + np.round(self.across(self.events, width))).astype(int).tolist():
            for y in range(top, top + TALL, 4):
                canvas.fill(x, y, 1, 2, self.palette.number(_WORDS))
        self._name_events(canvas, left, top, width)
        canvas.write(words, "step", left + width / 2, top + TALL + 31, INK, across=0.5)
        canvas.fill(left, top + TALL, width, 1, axis)
        canvas.fill(left - 1, top, 1, TALL + 1, axis)
        if self.best:
            along = np.interp(np.linspace(0, self.steps, width), self.when, self.best)  # as high as it is there
            for x in range(0, width, 9):
                for k in range(x, min(x + 6, width)):
                    canvas.fill(left + k, top + round(float(self.down(along[k]))), 1, 1, self.palette.number(_WORDS))
            under = along[: words.width(self.told) + 12]
            y = top + round(float(self.down(under.max())))
            canvas.fill(left + 6, y - 15, words.width(self.told) + 4, 14, 0)  # no line through the words
            canvas.write(words, self.told, left + 8, y - 4, INK)
        self._whole = self._drawn(canvas.part(left, top, width, TALL))
        self._place = left, top, width

    def _drawn(self, under: Canvas) -> Pixels:
        """The whole curve on its axes: in each column of pixels what lies between its least and its largest value."""
        height, width = under.pixels.shape
        copy = Canvas(under.pixels.copy(), self.palette)
        finite = np.isfinite(self.values) & np.isfinite(self.times)
        x, y = self.across(self.times[finite], width), self.down(self.values[finite])
        if not len(x):
            return copy.pixels
        edges = np.arange(width + 1.0)
        begin, end = np.maximum(edges[:-1] - 0.3, x[0]), np.minimum(edges[1:] + 0.3, x[-1])
        has = end >= begin
        low, high = (np.minimum(*np.interp([begin, end], x, y)), np.maximum(*np.interp([begin, end], x, y)))
        column = np.clip(np.floor(x).astype(np.int64), 0, width - 1)
        np.minimum.at(low, column, y)
        np.maximum.at(high, column, y)
        rows = np.arange(float(height))[:, None]
        share = np.minimum(rows + 1, high + 1.3) - np.maximum(rows, low - 0.3)
        copy.stamp(Stamp(np.where(has, share, 0.0), 0, 0), 0, 0, INK)
        return copy.pixels

    def draw_until(self, canvas: Canvas, step: int, value: float) -> None:
        """The curve up to a step, and a dot there."""
        left, top, width = self._place
        x = self.across(step, width)
        canvas.part(left, top, round(x) + 1, TALL).pixels[:] = self._whole[:, : round(x) + 1]
        if math.isfinite(value):
            canvas.stamp(shapes.disc(3.6, 0.5), left + round(x), top + round(float(self.down(value))), INK)


def _best(optimum: Any, name: str) -> tuple[list[float], str]:
    """Where the line of the optimum is, and its name; no line where it is unknown, or of another series."""
    if not isinstance(optimum, dict) or optimum.get("series") != name:
        return [], ""
    if "times" in optimum:
        values, bounds = (list(map(float, optimum[part])) for part in ("values", "bounds"))
        proven = all(bound <= value + 1e-6 * abs(value) for value, bound in zip(values, bounds, strict=True))
        return (values, "optimum of the moment") if proven else (bounds, "upper bound of the moment")
    value, bound = (_finite(optimum.get(part)) for part in ("value", "bound"))
    if value is not None and (bound is None or bound <= value + 1e-6 * abs(value)):
        return [value], f"optimum {number(value)}"
    if bound is not None:
        return [bound], f"upper bound {number(bound)}"
    return [], ""


def _finite(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) and math.isfinite(value) else None
