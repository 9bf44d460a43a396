"""Fields that change with time, in compiled code: each kind is a record that says what the field of any time is.

The field of a time is a function of that time and of nothing else, so that runs which are chunked, saved or branched
have the same bits. Cells count from 0, and positions are those of centres: cell (x, y) is at (x, y).
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from potentia.kernel.arrays import Floats
from potentia.kernel.dispatch import generic, portable, separate
from potentia.kernel.mathematics import exp

EDGES = ("wrap", "reflect", "empty")
WRAP, REFLECT, EMPTY = range(3)
AGAIN = -1  # instead of a time: whatever was followed is followed again from time 0


class Still(NamedTuple):
    """No drift. A type of its own, so that kernels need not ask."""

    still: bool = True


class Drift(NamedTuple):
    """What compiled code reads: the mixture of M components, how it moves, and how often that shows."""

    weights: Floats  # (M,)
    means: Floats  # (M, 2) at time 0
    velocity: Floats  # (M, 2) cells per step
    covariances: Floats  # (M, 2, 2)
    columns: int
    rows: int
    every: int  # steps between two computations of the field


class Shifted(NamedTuple):
    """A field that moves as a whole."""

    field: Floats  # (rows, columns) at time 0
    velocity: Floats  # (2,) cells per step
    edge: int
    columns: int
    rows: int
    every: int


class Carried(NamedTuple):
    """A field that is carried along a flow: worth stays what it is on its way.

    The worth of a cell is that of the place from which the flow leads to it, which is followed back step by step. As
    the flow is the same at all times, the way back from a later time is that from an earlier one and some more.
    """

    field: Floats  # (rows, columns) at time 0
    flow: Floats  # (rows, columns, 2) cells per step
    edge: int
    columns: int
    rows: int
    every: int
    parts: int  # so many steps of the midpoint rule between two computations


class Framed(NamedTuple):
    """A field that is given at some times; in between, it is interpolated."""

    frames: Floats  # (T, rows, columns)
    steps: int  # between two frames
    periodic: bool
    columns: int
    rows: int
    every: int


Moving = Drift | Shifted | Carried | Framed


@generic
def renew(drift: Any, width: int, base: int, since: int, time: int, source: Floats, worth: Floats) -> None:
    """Write the field of a time into ``worth``, where cell (x, y) has the number y · width + x + base.

    ``source`` holds where the worth of each cell was at time 0, as of time ``since``, where that is followed.
    """


@generic
def is_due(drift: Any, time: int) -> bool:
    """Whether the field is computed again at this time."""
    return time % drift.every == 0


@is_due.register(Still)
def _never_due(drift: Still, time: int) -> bool:
    return False


# The means of a mixture -------------------------------------------------------------------------------


@portable
def reflected(mean: float, velocity: float, time: int, length: int) -> float:
    """Where a coordinate is at a time; one that does not move may lie outside."""
    if velocity == 0.0:
        return mean
    way = abs(mean + velocity * time) % (2.0 * length)
    return way if way <= length else 2.0 * length - way


@separate
def _fill(drift: Drift, width: int, base: int, time: int, worth: Floats) -> None:
    for y in range(drift.rows):
        for x in range(drift.columns):
            worth[base + y * width + x] = 0.0
    for j in range(drift.weights.shape[0]):
        weight = float(drift.weights[j])
        a, c = float(drift.covariances[j, 0, 0]), float(drift.covariances[j, 1, 1])
        b = float(drift.covariances[j, 0, 1])
        determinant = a * c - b * b
        scale = 2 * math.pi * math.sqrt(determinant)
        left = reflected(float(drift.means[j, 0]), float(drift.velocity[j, 0]), time, drift.columns)
        low = reflected(float(drift.means[j, 1]), float(drift.velocity[j, 1]), time, drift.rows)
        for y in range(drift.rows):
            dy = y + 0.5 - low
            for x in range(drift.columns):
                dx = x + 0.5 - left
                # in the order of Mixture.density
                square = (c * dx * dx - 2 * b * dx * dy + a * dy * dy) / determinant
                worth[base + y * width + x] += weight * exp(-0.5 * square) / scale


@renew.register(Drift)
def _renew_mixture(drift: Drift, width: int, base: int, since: int, time: int, source: Floats, worth: Floats) -> None:
    _fill(drift, width, base, time, worth)


# A field that moves as a whole ------------------------------------------------------------------------


@portable
def way_of(velocity: float, time: int, length: int, edge: int) -> float:
    """How far the field has moved: up to its length, or to twice that, where it comes back after so much."""
    way = velocity * time
    if edge == WRAP:
        return way % length
    if edge == REFLECT:
        return way % (2 * length)
    return min(max(way, -float(length)), float(length))


@portable
def _tap(place: int, length: int, edge: int) -> int:
    """The column, or row, of the field of time 0 that is at a place; -1 where there is none.

    What turns back moves on a circle of twice the length, the second half of which is on its way back.
    """
    if edge == EMPTY:
        return place if 0 <= place < length else -1
    place = place % (length if edge == WRAP else 2 * length)
    return place if place < length else -1


@separate
def _shift(drift: Shifted, width: int, base: int, time: int, worth: Floats) -> None:
    columns, rows, edge = drift.columns, drift.rows, drift.edge
    across = way_of(float(drift.velocity[0]), time, columns, edge)
    down = way_of(float(drift.velocity[1]), time, rows, edge)
    left, low = math.floor(across), math.floor(down)
    right_share, high_share = across - left, down - low
    images = 2 if edge == REFLECT else 1
    for y in range(rows):
        for x in range(columns):
            total = 0.0
            for k in range(2 * images):
                # there and on the way back, each between two rows
                row = _tap((y if k < 2 else 2 * rows - 1 - y) - low - k % 2, rows, edge)
                share = high_share if k % 2 else 1.0 - high_share
                if row < 0 or share == 0.0:
                    continue
                for j in range(2 * images):
                    column = _tap((x if j < 2 else 2 * columns - 1 - x) - left - j % 2, columns, edge)
                    if column >= 0:
                        part = right_share if j % 2 else 1.0 - right_share
                        total += share * part * float(drift.field[row, column])
            worth[base + y * width + x] = total


@renew.register(Shifted)
def _renew_shifted(drift: Shifted, width: int, base: int, since: int, time: int, source: Floats, worth: Floats) -> None:
    _shift(drift, width, base, time, worth)


# A field that flows -----------------------------------------------------------------------------------


@portable
def _nearest(place: int, length: int, edge: int) -> int:
    """The column, or row, of a flow at a place: beyond the border it goes on as it is there."""
    return place % length if edge == WRAP else min(max(place, 0), length - 1)


@portable
def _speed(drift: Carried, x: float, y: float, axis: int) -> float:
    """One component of the flow at a place, between the four cells around it."""
    left, low = math.floor(x), math.floor(y)
    share, up = x - left, y - low
    first, last = _nearest(left, drift.columns, drift.edge), _nearest(left + 1, drift.columns, drift.edge)
    below, above = _nearest(low, drift.rows, drift.edge), _nearest(low + 1, drift.rows, drift.edge)
    near = (1.0 - share) * float(drift.flow[below, first, axis]) + share * float(drift.flow[below, last, axis])
    far = (1.0 - share) * float(drift.flow[above, first, axis]) + share * float(drift.flow[above, last, axis])
    return (1.0 - up) * near + up * far


@portable
def _carried(drift: Carried, x: float, y: float) -> float:
    """The worth at a place at time 0, between the four cells around it."""
    left, low = math.floor(x), math.floor(y)
    total = 0.0
    for k in range(2):
        row = _tap(low + k, drift.rows, drift.edge)
        share = y - low if k else 1.0 - (y - low)
        for j in range(2):
            column = _tap(left + j, drift.columns, drift.edge)
            if row >= 0 and column >= 0:
                total += share * (x - left if j else 1.0 - (x - left)) * float(drift.field[row, column])
    return total


@separate
def _carry(drift: Carried, width: int, base: int, since: int, time: int, source: Floats, worth: Floats) -> None:
    part = drift.every / drift.parts
    count = (time - max(since, 0)) // drift.every * drift.parts
    for y in range(drift.rows):
        for x in range(drift.columns):
            k = 2 * (y * drift.columns + x)
            if since == AGAIN:
                source[k], source[k + 1] = float(x), float(y)
            left, low = float(source[k]), float(source[k + 1])
            for _ in range(count):
                middle = left - 0.5 * part * _speed(drift, left, low, 0)
                between = low - 0.5 * part * _speed(drift, left, low, 1)
                left -= part * _speed(drift, middle, between, 0)
                low -= part * _speed(drift, middle, between, 1)
                if drift.edge == WRAP:
                    left, low = left % drift.columns, low % drift.rows
            source[k], source[k + 1] = left, low
            worth[base + y * width + x] = _carried(drift, left, low)


@renew.register(Carried)
def _renew_carried(drift: Carried, width: int, base: int, since: int, time: int, source: Floats, worth: Floats) -> None:
    _carry(drift, width, base, since, time, source, worth)


# A field that is given at some times ------------------------------------------------------------------


@separate
def _blend(drift: Framed, width: int, base: int, time: int, worth: Floats) -> None:
    count = drift.frames.shape[0]
    first, share = time // drift.steps, time % drift.steps / drift.steps
    last = first + 1
    if drift.periodic:
        first, last = first % count, last % count
    elif last >= count:
        first, last, share = count - 1, count - 1, 0.0
    for y in range(drift.rows):
        for x in range(drift.columns):
            before, after = float(drift.frames[first, y, x]), float(drift.frames[last, y, x])
            worth[base + y * width + x] = (1.0 - share) * before + share * after


@renew.register(Framed)
def _renew_framed(drift: Framed, width: int, base: int, since: int, time: int, source: Floats, worth: Floats) -> None:
    _blend(drift, width, base, time, worth)
