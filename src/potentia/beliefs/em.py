"""Expectation-maximisation of a Gaussian mixture on weighted points (Eq. 47), as functions that compile.

A weight is a frequency: a point of weight 3 counts as three points. The likelihood is a sum of logarithms of
sums, each taken from its largest term, so nothing underflows. Covariances stay at or above a floor: where an
eigenvalue would fall below, it is set to the floor, which is the exact maximum under that constraint, so the
likelihood still never falls, beyond rounding.

A mixture may have a background: a component of constant density over the points, 1/n, of which only the weight is
fitted. It is 0 where there is none.

Nothing here allocates. A mixture lives in arrays with room for more components than it has.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from potentia.kernel.dispatch import at, portable, separate
from potentia.kernel.mathematics import exp

_LOG_TAU = math.log(2.0 * math.pi)
_EMPTY = 1e-12  # of the total weight; a component with less has died
_NOTHING = -45.0  # e to this is lost beside 1; the exponential of much less is slow
_FARTHEST = -1e290  # log-density of a point infinitely far from everything
_SWEEPS = 60


class Points(NamedTuple):
    """What is fitted: the first ``number`` rows."""

    at: NDArray[np.float64]  # (n, d)
    weight: NDArray[np.float64]  # (n,) not negative
    volume: NDArray[np.float64]  # (n,) of the space that a point stands for
    number: int


class Components(NamedTuple):
    """A mixture with room for K components; the caller knows how many there are."""

    weight: NDArray[np.float64]  # (K,)
    mean: NDArray[np.float64]  # (K, d)
    covariance: NDArray[np.float64]  # (K, d, d)


class Work(NamedTuple):
    """Room to work in, for n points, K components and d dimensions."""

    posterior: NDArray[np.float64]  # (n, K) P(j | x_t)
    held: NDArray[np.float64]  # (n,) the posterior that a partial step divides anew
    density: NDArray[np.float64]  # (n,) the mixture's, as logarithms
    whiten: NDArray[np.float64]  # (K, d, d) inverse Cholesky factors, lower
    offset: NDArray[np.float64]  # (K,) log ω_j and the normalising constant of g_j
    matrix: NDArray[np.float64]  # (d, d)
    vectors: NDArray[np.float64]  # (d, d)
    deviation: NDArray[np.float64]  # (d,)
    flat: NDArray[np.float64]  # (2,) the background's weight, 0 without one; the weight of its data


FLAT_WEIGHT, FLAT_MASS = range(2)


def new_work(points: int, components: int, dimensions: int) -> Work:
    """Fresh room."""
    square = (dimensions, dimensions)
    return Work(
        np.zeros((points, components)),
        np.zeros(points),
        np.zeros(points),
        np.zeros((components, *square)),
        np.zeros(components),
        np.zeros(square),
        np.zeros(square),
        np.zeros(dimensions),
        np.zeros(2),
    )


def new_components(room: int, dimensions: int) -> Components:
    """Room for a mixture."""
    return Components(np.zeros(room), np.zeros((room, dimensions)), np.zeros((room, dimensions, dimensions)))


@portable
def total_weight(points: Points) -> float:
    """How many points there are, by weight."""
    total = 0.0
    for t in range(points.number):
        total += points.weight[t]
    return total


# Covariances ------------------------------------------------------------------------------------------


@portable
def _whitening(covariance: NDArray[np.float64], j: int, shift: float, out: NDArray[np.float64]) -> bool:
    """Write the inverse of the Cholesky factor of covariance j less shift·I to ``out[j]``; whether there is one."""
    d = covariance.shape[1]
    for a in range(d):
        for b in range(a + 1):
            entry = covariance[j, a, b] - (shift if a == b else 0.0)
            for c in range(b):
                entry -= out[j, a, c] * out[j, b, c]
            if a > b:
                out[j, a, b] = entry / out[j, b, b]
            elif entry > 0.0:
                out[j, a, a] = math.sqrt(entry)
            else:
                return False
    for a in range(d):  # in place, row by row: row a of the inverse needs the rows above it only
        scale = 1.0 / out[j, a, a]
        for b in range(a):
            entry = 0.0
            for c in range(b, a):
                entry -= out[j, a, c] * out[j, c, b]
            out[j, a, b] = entry * scale
        out[j, a, a] = scale
    return True


@separate
def _raise_to_floor(mixture: Components, j: int, floor: float, work: Work) -> None:
    """Set eigenvalues of covariance j below the floor to the floor, by Jacobi rotations."""
    d = mixture.mean.shape[1]
    matrix, vectors = work.matrix, work.vectors
    for a in range(d):
        for b in range(d):
            matrix[a, b] = mixture.covariance[j, a, b]
            vectors[a, b] = 1.0 if a == b else 0.0
    for _ in range(_SWEEPS):
        outside, inside = 0.0, 0.0
        for a in range(d):
            inside += matrix[a, a] * matrix[a, a]
            for b in range(a):
                outside += matrix[a, b] * matrix[a, b]
        if outside <= 1e-32 * inside:
            break
        for a in range(d):
            for b in range(a):
                # an angle whose tangent is lost in rounding is left alone, and cannot overflow
                if abs(matrix[a, b]) > 1e-18 * (abs(matrix[a, a]) + abs(matrix[b, b])):
                    _rotate(matrix, vectors, a, b)
    for a in range(d):
        for b in range(d):
            entry = 0.0
            for c in range(d):
                entry += vectors[a, c] * vectors[b, c] * max(matrix[c, c], floor)
            mixture.covariance[j, a, b] = entry


@portable
def _rotate(matrix: NDArray[np.float64], vectors: NDArray[np.float64], a: int, b: int) -> None:
    """One Jacobi rotation, after which matrix[a, b] is 0."""
    theta = (matrix[b, b] - matrix[a, a]) / (2.0 * matrix[a, b])
    tangent = 1.0 / (abs(theta) + math.sqrt(theta * theta + 1.0))
    if theta < 0.0:
        tangent = -tangent
    cosine = 1.0 / math.sqrt(tangent * tangent + 1.0)
    sine = tangent * cosine
    for c in range(matrix.shape[0]):
        first, second = matrix[c, a], matrix[c, b]
        matrix[c, a], matrix[c, b] = cosine * first - sine * second, sine * first + cosine * second
    for c in range(matrix.shape[0]):
        first, second = matrix[a, c], matrix[b, c]
        matrix[a, c], matrix[b, c] = cosine * first - sine * second, sine * first + cosine * second
    for c in range(matrix.shape[0]):
        first, second = vectors[c, a], vectors[c, b]
        vectors[c, a], vectors[c, b] = cosine * first - sine * second, sine * first + cosine * second


@separate
def refresh(mixture: Components, j: int, floor: float, work: Work) -> None:
    """Bring covariance j to the floor, and derive what evaluating g_j needs."""
    if not _whitening(mixture.covariance, j, floor, work.whiten):
        _raise_to_floor(mixture, j, floor, work)
    d = mixture.mean.shape[1]
    if not _whitening(mixture.covariance, j, 0.0, work.whiten):  # not finite, or the floor is lost in rounding
        for a in range(d):
            for b in range(d):
                mixture.covariance[j, a, b] = floor if a == b else 0.0
        _whitening(mixture.covariance, j, 0.0, work.whiten)
    work.offset[j] = -math.inf
    if mixture.weight[j] > 0.0:
        log_volume = 0.0
        for a in range(d):
            log_volume -= math.log(work.whiten[j, a, a])
        work.offset[j] = math.log(mixture.weight[j]) - 0.5 * d * _LOG_TAU - log_volume


# One step ---------------------------------------------------------------------------------------------


@portable
def log_term(points: NDArray[np.float64], t: int, mixture: Components, j: int, work: Work) -> float:
    """log ω_j g(x_t | μ_j, Σ_j)."""
    d = mixture.mean.shape[1]
    square = 0.0
    if d == 2:
        dx, dy = points[at(t), 0] - mixture.mean[at(j), 0], points[at(t), 1] - mixture.mean[at(j), 1]
        first = work.whiten[at(j), 0, 0] * dx
        second = work.whiten[at(j), 1, 0] * dx + work.whiten[at(j), 1, 1] * dy
        square = first * first + second * second
    else:
        for a in range(d):
            entry = 0.0
            for b in range(a + 1):
                entry += work.whiten[at(j), at(a), at(b)] * (points[at(t), at(b)] - mixture.mean[at(j), at(b)])
            square += entry * entry
    return work.offset[at(j)] - 0.5 * square


@separate
def expect(points: Points, mixture: Components, first: int, last: int, partial: bool, work: Work) -> float:
    """Posteriors of components first..last-1 among each other; the weighted log-likelihood under those alone.

    A ``partial`` step divides among them the posterior that is held, instead of all of it. Otherwise the background
    has its share, too.
    """
    total, flat_mass = 0.0, 0.0
    flat = -math.inf
    if not partial and work.flat[FLAT_WEIGHT] > 0.0:
        flat = math.log(work.flat[FLAT_WEIGHT] / points.number)
    posterior = work.posterior
    for t in range(points.number):
        share = work.held[at(t)] if partial else 1.0
        weight = points.weight[at(t)] * share
        if share == 0.0:
            for j in range(first, last):
                posterior[at(t), at(j)] = 0.0
            continue
        top = flat
        for j in range(first, last):
            term = log_term(points.at, t, mixture, j, work)
            posterior[at(t), at(j)] = term
            top = max(top, term)
        if top == -math.inf:  # infinitely far from everything
            for j in range(first, last):
                posterior[at(t), at(j)] = share / (last - first)
            work.density[at(t)] = -math.inf
            total += weight * _FARTHEST
            continue
        mass = background = exp(flat - top) if flat - top > _NOTHING else 0.0
        for j in range(first, last):
            below = posterior[at(t), at(j)] - top
            term = exp(below) if below > _NOTHING else 0.0
            posterior[at(t), at(j)] = term
            mass += term
        scale = share / mass
        for j in range(first, last):
            posterior[at(t), at(j)] *= scale
        density = top + math.log(mass)
        if not partial:
            work.density[at(t)] = density
            flat_mass += weight * background * scale
        total += weight * density
    if not partial:
        work.flat[FLAT_MASS] = flat_mass
    return total


@separate
def maximise(points: Points, mixture: Components, j: int, unit: float, floor: float, work: Work) -> None:
    """Eq. 47 for component j: its weight, ``unit`` to a point of weight one, its mean and its covariance."""
    mass = (
        _moments_of_plane(points, mixture, j, work)
        if mixture.mean.shape[1] == 2
        else _moments(points, mixture, j, work)
    )
    if not mass * unit > _EMPTY:
        mixture.weight[j] = 0.0  # dead; it keeps its place until it is dropped
        work.offset[j] = -math.inf
        return
    mixture.weight[j] = mass * unit
    refresh(mixture, j, floor, work)


@portable
def _moments(points: Points, mixture: Components, j: int, work: Work) -> float:
    """Mass, mean and covariance of the data of component j."""
    d = mixture.mean.shape[1]
    mass = 0.0
    for a in range(d):
        work.deviation[a] = 0.0
    for t in range(points.number):
        share = points.weight[at(t)] * work.posterior[at(t), at(j)]
        if share != 0.0:  # most points are far from most components
            mass += share
            for a in range(d):
                work.deviation[at(a)] += share * points.at[at(t), at(a)]
    if not mass > 0.0:
        return mass
    scale = 1.0 / mass
    for a in range(d):
        mixture.mean[j, a] = work.deviation[a] * scale
        for b in range(a + 1):
            mixture.covariance[j, a, b] = 0.0
    for t in range(points.number):
        share = points.weight[at(t)] * work.posterior[at(t), at(j)]
        if share != 0.0:
            for a in range(d):
                work.deviation[at(a)] = points.at[at(t), at(a)] - mixture.mean[at(j), at(a)]
                along = share * work.deviation[at(a)]
                for b in range(a + 1):
                    mixture.covariance[at(j), at(a), at(b)] += along * work.deviation[at(b)]
    for a in range(d):
        for b in range(a + 1):
            mixture.covariance[j, a, b] *= scale
            mixture.covariance[j, b, a] = mixture.covariance[j, a, b]
    return mass


@portable
def _moments_of_plane(points: Points, mixture: Components, j: int, work: Work) -> float:
    """The same in two dimensions, where everything fits into registers."""
    mass, x, y = 0.0, 0.0, 0.0
    for t in range(points.number):
        share = points.weight[at(t)] * work.posterior[at(t), at(j)]
        mass += share
        x += share * points.at[at(t), 0]
        y += share * points.at[at(t), 1]
    if not mass > 0.0:
        return mass
    scale = 1.0 / mass
    x *= scale
    y *= scale
    xx, xy, yy = 0.0, 0.0, 0.0
    for t in range(points.number):
        share = points.weight[at(t)] * work.posterior[at(t), at(j)]
        dx, dy = points.at[at(t), 0] - x, points.at[at(t), 1] - y
        xx += share * dx * dx
        xy += share * dy * dx
        yy += share * dy * dy
    mixture.mean[at(j), 0], mixture.mean[at(j), 1] = x, y
    mixture.covariance[j, 0, 0], mixture.covariance[j, 1, 1] = xx * scale, yy * scale
    mixture.covariance[j, 0, 1] = mixture.covariance[j, 1, 0] = xy * scale
    return mass


# Many steps -------------------------------------------------------------------------------------------


@separate
def drop_dead(mixture: Components, number: int) -> int:
    """Remove components of weight 0, the others keeping their order; how many are left."""
    kept = 0
    for j in range(number):
        if mixture.weight[j] > 0.0:
            if kept < j:
                copy_component(mixture, j, mixture, kept)
            kept += 1
    return kept


@portable
def copy_component(source: Components, j: int, target: Components, k: int) -> None:
    """Component j of one mixture becomes component k of another, or of the same."""
    d = source.mean.shape[1]
    target.weight[k] = source.weight[j]
    for a in range(d):
        target.mean[k, a] = source.mean[j, a]
        for b in range(d):
            target.covariance[k, a, b] = source.covariance[j, a, b]


@separate
def run_em(
    points: Points, mixture: Components, number: int, floor: float, steps: int, tolerance: float, work: Work
) -> tuple[float, int]:
    """EM until the mean log-likelihood gains less than ``tolerance``; the log-likelihood and the steps taken.

    Posteriors in ``work`` are those of the result.
    """
    total = total_weight(points)
    for j in range(number):
        refresh(mixture, j, floor, work)
    likelihood = expect(points, mixture, 0, number, False, work)
    taken = 0
    while taken < steps:
        for j in range(number):
            maximise(points, mixture, j, 1.0 / total, floor, work)
        work.flat[FLAT_WEIGHT] = work.flat[FLAT_MASS] / total
        before, likelihood = likelihood, expect(points, mixture, 0, number, False, work)
        taken += 1
        if likelihood - before <= tolerance * total:
            break
    return likelihood, taken
