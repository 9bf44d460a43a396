"""Points to fit a mixture to: checked, made distinct, brought to scale, and the volume that each stands for."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from potentia.beliefs.em import Points
from potentia.errors import InvalidBelief

Floats = NDArray[np.float64]

_LARGEST = 1e150  # of a coordinate, so that squares stay finite
_HEAVIEST = 1e304  # of all weights together, so that likelihoods stay finite
_LIGHTEST = 1e-100  # share of the weight; less than that counts for nothing, and products of it underflow
_FLAT = 1e-12  # of a correlation matrix's eigenvalue: the points lie in a plane
_NARROW = 1e-6  # of the standard deviation; the middle half of the points may be narrower still
_NEIGHBOURS = 10


class Frame(NamedTuple):
    """Where the origin was moved to, and what counts as one along each axis."""

    shift: Floats  # (d,)
    scale: Floats  # (d,)

    def into(self, points: Floats) -> Floats:
        return (points - self.shift) / self.scale

    @property
    def log_volume(self) -> float:
        """Of the unit cube, in the points' own units."""
        return float(np.log(self.scale).sum())


class Scatter(NamedTuple):
    """Distinct points at scale, in order, whose weights sum to one."""

    points: Points
    frame: Frame
    total: float  # weight


def as_points(points: Any, dimensions: int | None = None) -> Floats:
    """Points as an array (n, d) of floats, or an error that says what is wrong with them."""
    array = _as_numbers(points, "points", "(n, d), one row to a point")
    if array.ndim == 1 and dimensions in {None, 1}:
        array = array[:, np.newaxis]
    if array.ndim != 2 or array.shape[1] == 0:
        raise InvalidBelief(f"must be of shape (n, d), one row to a point, got {array.shape}", "points", array.shape)
    if dimensions is not None and array.shape[1] != dimensions:
        raise InvalidBelief(
            f"must have {dimensions} coordinates as those of the fit, got {array.shape[1]}", "points", array.shape[1]
        )
    if not (fine := np.abs(array) <= _LARGEST).all():
        row, axis = np.argwhere(~fine)[0].tolist()
        raise InvalidBelief(
            f"must be finite and at most {_LARGEST:g} in size, got {array[row, axis]} in row {row}",
            "points",
            array[row, axis],
        )
    return array


def as_weights(weights: Any, count: int) -> tuple[Floats, float]:
    """Weights as shares of their sum, and the sum."""
    if count == 0:
        raise InvalidBelief("must hold at least one point, got none", "points")
    if weights is None:
        return np.full(count, 1.0 / count), float(count)
    array = _as_numbers(weights, "weights", f"({count},), one to a point")
    if array.shape != (count,):
        raise InvalidBelief(f"must be of shape ({count},), one to a point, got {array.shape}", "weights", array.shape)
    if not (fine := np.isfinite(array) & (array >= 0)).all():
        row = int(np.argmin(fine))
        raise InvalidBelief(f"must be finite and not negative, got {array[row]} for point {row}", "weights", array[row])
    largest = float(array.max())
    if largest == 0.0:
        raise InvalidBelief("must not all be 0: there is nothing to fit", "weights", weights)
    shares = array / largest
    sum_of_shares = float(shares.sum())
    total = sum_of_shares * largest
    if not total <= _HEAVIEST:
        raise InvalidBelief(f"must sum to at most {_HEAVIEST:g}, got {total:g}; scale them down", "weights", total)
    return shares / sum_of_shares, total


def _as_numbers(values: Any, name: str, shape: str) -> Floats:
    try:
        array = np.asarray(values)
    except ValueError:
        raise InvalidBelief(f"must be numbers of shape {shape}, got rows of different lengths", name) from None
    if array.dtype.kind not in "iuf":
        got = f"an array of {array.dtype}" if array.ndim else f"{values!r}"
        raise InvalidBelief(f"must be numbers of shape {shape}, got {got}", name, got)
    return np.asarray(array, dtype=np.float64, order="C")


def scatter(points: Any, weights: Any) -> Scatter:
    """Whatever the order of the points, and whether one of weight 3 or three of weight 1, the same bits."""
    places = as_points(points)
    count, d = places.shape
    as_weights(weights, count)
    places, heaps = _distinct(places, np.ones(count) if weights is None else np.asarray(weights, dtype=np.float64))
    shares, total = as_weights(heaps, len(places))
    if (shares < _LIGHTEST).any():
        places = places[shares >= _LIGHTEST]
        shares, _ = as_weights(shares[shares >= _LIGHTEST], len(places))
    if len(places) <= d:
        raise InvalidBelief(
            f"must hold at least {d + 1} distinct ones with a weight to fit {d} dimensions, got {len(places)}",
            "points",
            len(places),
        )
    frame = _framed(places, shares)
    scaled = frame.into(places)
    _check_spread(places, scaled, shares, frame)
    return Scatter(Points(scaled, shares, volumes(scaled, shares), len(scaled)), frame, total)


def _distinct(places: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """Each place once, in order, with the weight of all points there; without those of no weight."""
    places, weights = places[weights > 0] + 0.0, weights[weights > 0]  # -0 becomes 0
    order = np.lexsort((weights, *places.T[::-1]))
    places, weights = places[order], weights[order]
    first = np.flatnonzero(np.r_[True, (places[1:] != places[:-1]).any(axis=1)])
    return np.ascontiguousarray(places[first]), np.add.reduceat(weights, first)


def _framed(places: Floats, shares: Floats) -> Frame:
    from_first = places - places[0]  # far from the origin, differences lose nothing
    mean = shares @ from_first
    scale = np.sqrt(shares @ (from_first - mean) ** 2)
    if not (wide := scale > 1.0 / _LARGEST).all():
        axis = int(np.argmin(wide))
        raise InvalidBelief(
            f"must spread along each axis, got the same coordinate for all on axis {axis}; leave it out", "points"
        )
    return Frame(places[0] + mean, np.clip(_middle(places, shares), _NARROW * scale, scale))


def _middle(places: Floats, shares: Floats) -> Floats:
    """The standard deviation of a Gaussian with these quartiles, by axis: an outlier does not move it."""
    order = np.argsort(places, axis=0, kind="stable")
    values, below = np.take_along_axis(places, order, 0), np.cumsum(shares[order], axis=0)
    at = [np.minimum((below < part).sum(0, keepdims=True), len(places) - 1) for part in (0.25, 0.75)]
    low, high = (np.take_along_axis(values, k, 0)[0] for k in at)
    return np.where(high > low, (high - low) / 1.349, np.inf)


def _check_spread(places: Floats, scaled: Floats, shares: Floats, frame: Frame) -> None:
    centred = scaled - shares @ scaled
    spread = np.sqrt(shares @ centred**2)
    centred = centred / spread
    least = float(np.linalg.eigvalsh((centred * shares[:, np.newaxis]).T @ centred)[0])
    rounding = float((np.abs(places).max(axis=0) / (spread * frame.scale)).max()) * 4.0 * np.finfo(float).eps
    if least <= max(_FLAT, rounding * rounding):
        what = "line" if places.shape[1] == 2 else "plane"
        raise InvalidBelief(
            f"must not all lie on one {what}, where a covariance is singular; use fewer coordinates", "points"
        )


def volumes(places: Floats, shares: Floats) -> Floats:
    """The volume that each distinct point stands for, from the distance to its nearest neighbours.

    A ball that holds so much weight has a density; a point stands for as much of it as its weight.
    """
    from scipy.spatial import cKDTree

    count, d = places.shape
    neighbours = min(_NEIGHBOURS, count - 1)
    distances, found = cKDTree(places).query(places, neighbours + 1)
    radius = distances[:, -1]
    inside = shares[found].sum(axis=1) - 0.5 * shares[found[:, -1]]  # the outermost lies on the ball's surface
    log_ball = 0.5 * d * math.log(math.pi) - math.lgamma(0.5 * d + 1.0)
    log_volume = log_ball + d * np.log(np.maximum(radius, np.finfo(float).tiny)) + np.log(shares / inside)
    return np.exp(np.clip(log_volume, -700.0, 700.0))
