"""Discs, circles, stars, lines and ellipses as shares of pixels that they cover, with soft edges."""

from __future__ import annotations

import math
from functools import cache, lru_cache

import numpy as np

from potentia.kernel.arrays import Floats
from potentia.web.films.canvas import Stamp


def _about(reach: float, fraction: float) -> tuple[Floats, Floats, int]:
    """Distances of pixels' centres from a point that lies at this fraction of a pixel; and where the first pixel is."""
    many = math.ceil(reach) + 1
    y, x = np.mgrid[-many : many + 1, -many : many + 1] + 0.5 - fraction
    return x, y, -many


@cache
def disc(radius: float, fraction: float) -> Stamp:
    """A disc around a point at this fraction of its pixel."""
    x, y, first = _about(radius, fraction)
    return Stamp(radius + 0.5 - np.hypot(x, y), first, first)


@cache
def circle(radius: float, width: float, fraction: float) -> Stamp:
    """The line around a disc."""
    x, y, first = _about(radius + width, fraction)
    return Stamp(width / 2 + 0.5 - np.abs(np.hypot(x, y) - radius), first, first)


@cache
def star(radius: float, fraction: float) -> Stamp:
    """A star with five points."""
    x, y, first = _about(radius, fraction)
    fine = (np.arange(4) + 0.5) / 4 - 0.5  # sixteen points of each pixel
    dx, dy = x[..., None, None] + fine, y[..., None, None] + fine[:, None]
    turn = np.abs((np.arctan2(dx, -dy) + math.pi / 5) % (0.4 * math.pi) - 0.2 * math.pi)  # 0 at a point of the star
    inner = 0.45 * radius
    corner = np.array([inner * math.sin(0.2 * math.pi), inner * math.cos(0.2 * math.pi)])
    across, along = np.hypot(dx, dy) * np.sin(turn), np.hypot(dx, dy) * np.cos(turn)
    inside = across * (radius - corner[1]) <= corner[0] * (radius - along)
    return Stamp(inside.mean(axis=(-2, -1)), first, first)


@lru_cache(10_000)
def line(dx: int, dy: int, width: float, fraction: float) -> Stamp:
    """A line with round ends from a point at this fraction of its pixel to one so many pixels away."""
    reach = math.ceil(width) + 1
    left, top = min(dx, 0) - reach, min(dy, 0) - reach
    y, x = np.mgrid[top : max(dy, 0) + reach + 1, left : max(dx, 0) + reach + 1] + 0.5 - fraction
    along = np.clip((x * dx + y * dy) / max(dx * dx + dy * dy, 1), 0, 1)
    return Stamp(width / 2 + 0.5 - np.hypot(x - along * dx, y - along * dy), left, top)


def ellipse(covariance: Floats, deviations: float, width: float, dashed: bool, limit: int) -> Stamp:
    """The line where a normal density of this covariance, in pixels, is so many standard deviations from its mean."""
    spread = np.sqrt(np.diag(covariance)) * deviations + width + 1
    across, down = (min(math.ceil(side), limit) for side in spread)
    y, x = np.mgrid[-down : down + 1, -across : across + 1].astype(np.float64)
    (a, b), (_, c) = np.linalg.inv(covariance)
    far = np.sqrt(np.maximum(a * x * x + 2 * b * x * y + c * y * y, 1e-12))
    slope = np.maximum(np.hypot(a * x + b * y, b * x + c * y) / far, 1e-12)
    share = width / 2 + 0.5 - np.abs(far - deviations) / slope
    if dashed:
        share = np.where(_along(covariance, deviations, x, y) % 10 < 6, share, 0)
    return Stamp(share, -across, -down)


def _along(covariance: Floats, deviations: float, x: Floats, y: Floats) -> Floats:
    """How far along the line each point is, in pixels."""
    root = np.linalg.cholesky(covariance)
    turn = np.linspace(-math.pi, math.pi, 361)
    edge = deviations * root @ np.stack([np.cos(turn), np.sin(turn)])
    length = np.append(0.0, np.cumsum(np.hypot(*np.diff(edge, axis=1))))
    length *= 10 * max(1, round(length[-1] / 10)) / max(length[-1], 1e-9)  # whole dashes
    across, down = np.tensordot(np.linalg.inv(root), np.stack([x, y]), 1)
    return np.interp(np.arctan2(down, across), turn, length)
