"""Worths that change, by slow definitions: the field of any time from that of time 0."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
from scipy import ndimage

from potentia.games import Flow, Frames, Shift


def shifted(worth, velocity, time, edge):
    """Each cell is a heap that walks off in exact arithmetic, onto the two rows and columns it then lies between."""
    out = np.zeros(worth.shape)
    for (y, x), heap in np.ndenumerate(worth):
        shares = []
        for place, speed, length in ((y, velocity[1], worth.shape[0]), (x, velocity[0], worth.shape[1])):
            way = place + Fraction(speed) * time
            low = math.floor(way)
            shares.append([])
            for cell, share in ((low, 1 - (way - low)), (low + 1, way - low)):
                there = cell % length if edge == "wrap" else cell
                if edge == "reflect":  # one cell after the other, turning at the borders
                    there = min(cell % (2 * length), 2 * length - 1 - cell % (2 * length))
                if 0 <= there < length:
                    shares[-1].append((there, float(share)))
        for (row, a), (column, b) in itertools.product(*shares):
            out[row, column] += a * b * heap
    return out


def carried(worth, flow, time, every, parts, mode):
    """Every cell's way back by the midpoint rule, with SciPy's interpolation."""
    y, x = np.mgrid[: worth.shape[0], : worth.shape[1]].astype(float)
    step = every / parts

    def at(field, y, x, outside):
        return ndimage.map_coordinates(field, [y, x], order=1, mode=outside)

    around = "grid-wrap" if mode == "wrap" else "nearest"
    for _ in range(time // every * parts):
        u, v = (at(flow[..., k], y, x, around) for k in (0, 1))
        middle_x, middle_y = x - 0.5 * step * u, y - 0.5 * step * v
        u, v = (at(flow[..., k], middle_y, middle_x, around) for k in (0, 1))
        x, y = x - step * u, y - step * v
    if mode == "wrap":
        return at(worth, y, x, "grid-wrap")
    return at(np.pad(worth, 40), y + 40, x + 40, "constant")


def blended(frames, steps, periodic, time):
    """The two frames around a time, each by how near it is."""
    near = [(k, abs(time / steps - k)) for k in range(time // steps + 2)]
    out = np.zeros(frames.shape[1:])
    for k, apart in near:
        frame = k % len(frames) if periodic else min(k, len(frames) - 1)
        out += max(0.0, 1 - apart) * frames[frame]
    return out


def bounced(mean, velocity, steps, length):
    """A ball between two walls, one step after the other, in exact arithmetic."""
    place, speed = Fraction(mean), Fraction(velocity)
    for _ in range(steps):
        place += speed
        while not 0 <= place <= length:
            place = -place if place < 0 else 2 * length - place
            speed = -speed
    return float(place)


def density(mixture, means, shape):
    """Σ_j ω_j g(l | μ_j, Σ_j) at the centre of each cell."""
    out = np.zeros(shape)
    for (y, x), j in itertools.product(np.ndindex(shape), range(len(means))):
        apart = np.array([x + 0.5, y + 0.5]) - means[j]
        square = apart @ np.linalg.solve(mixture.covariances[j], apart)
        scale = 2 * math.pi * math.sqrt(np.linalg.det(mixture.covariances[j]))
        out[y, x] += mixture.weights[j] * math.exp(-0.5 * square) / scale
    return out


def field_of(world, drift, every, time):
    """The worth of a time where it is computed again every so many steps: cells (x, y) and what they are worth."""
    time, worth = time // every * every, world.worth
    if isinstance(drift, Shift):
        field = shifted(worth, drift.velocity.tolist(), time, drift.edge)
    elif isinstance(drift, Flow):
        parts = max(1, math.ceil(every * np.abs(drift.field).max() / 0.5))  # half a cell at most
        field = carried(worth, drift.field, time, every, parts, drift.edge)
    elif isinstance(drift, Frames):
        field = blended(drift.frames, drift.steps, drift.periodic, time)
    else:
        pairs = zip(world.mixture.means.tolist(), itertools.repeat(drift), strict=False)
        means = [[bounced(m[k], v[k], time, world.size[k]) for k in (0, 1)] for m, v in pairs]
        field = density(world.mixture, np.array(means), worth.shape)
    return {(x, y): float(value) for (y, x), value in np.ndenumerate(field)}


def targets_of(world, drift, every, time):
    """The cells of targets that move at a time, None for one that has left: by exact arithmetic, from time 0."""
    since, edge = time // every * every, getattr(drift, "edge", "reflect")
    if isinstance(drift, Shift):
        begin, speeds = world.targets + 0.5, [drift.velocity] * len(world.targets)
    else:
        begin, speeds = world.mixture.means, np.broadcast_to(drift, world.mixture.means.shape)

    def one(place, speed, length):
        if edge == "reflect":
            return min(math.floor(bounced(place, speed, since, length)), length - 1)
        way = Fraction(place) + Fraction(speed) * since
        return math.floor(way % length if edge == "wrap" else way)

    cells = [tuple(one(p[k], v[k], world.size[k]) for k in (0, 1)) for p, v in zip(begin, speeds, strict=True)]
    return [cell if all(0 <= c < n for c, n in zip(cell, world.size, strict=True)) else None for cell in cells]
