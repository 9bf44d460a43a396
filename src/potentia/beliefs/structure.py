"""Splitting and merging components (Eq. 48-52): which, from where to start, and the partial EM afterwards.

A proposal is made in a mixture of its own. The components it does not concern are copied and stay as they are,
bit for bit, until the full EM that follows.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from potentia.beliefs.em import Components, Points, Work, copy_component, expect, log_term, maximise, refresh
from potentia.kernel.dispatch import portable, separate


@portable
def num_parameters(number: int, dimensions: int) -> int:
    """k of a mixture with full covariances."""
    return number - 1 + number * dimensions + number * (dimensions * (dimensions + 1)) // 2


@portable
def akaike(likelihood: float, number: int, dimensions: int) -> float:
    """AIC = 2k - 2 ln L."""
    return 2.0 * num_parameters(number, dimensions) - 2.0 * likelihood


@separate
def merge_score(points: Points, j: int, k: int, work: Work) -> float:
    """J_merge: how much the posteriors of two components overlap."""
    total = 0.0
    for t in range(points.number):
        total += points.weight[t] * work.posterior[t, j] * work.posterior[t, k]
    return total


@separate
def split_score(points: Points, mixture: Components, k: int, work: Work) -> float:
    """J_split: the local Kullback-Leibler divergence between the data of component k and its Gaussian.

    The data around it are q_t, shares of its posterior; each stands for a volume of space, over which the
    density is q_t / volume (on a grid, a cell's area).
    """
    mass = 0.0
    for t in range(points.number):
        mass += points.weight[t] * work.posterior[t, k]
    if not mass > 0.0 or not mixture.weight[k] > 0.0:
        return -math.inf
    total, prior = 0.0, math.log(mixture.weight[k])
    for t in range(points.number):
        share = points.weight[t] * work.posterior[t, k] / mass
        if share > 0.0:
            log_gaussian = log_term(points.at, t, mixture, k, work) - prior
            total += share * (math.log(share / points.volume[t]) - log_gaussian)
    return total


@portable
def best_split(points: Points, mixture: Components, number: int, work: Work) -> int:
    """The component with the largest J_split."""
    best, highest = 0, -math.inf
    for k in range(number):
        score = split_score(points, mixture, k, work)
        if score > highest:
            best, highest = k, score
    return best


@portable
def best_merge(points: Points, number: int, work: Work) -> tuple[int, int]:
    """The pair with the largest J_merge."""
    first, second, highest = 0, 1, -math.inf
    for j in range(number):
        for k in range(j + 1, number):
            score = merge_score(points, j, k, work)
            if score > highest:
                first, second, highest = j, k, score
    return first, second


@separate
def split(mixture: Components, number: int, k: int, angle: float, spread: float, out: Components, work: Work) -> None:
    """Write the mixture with component k split in two to ``out``; they are its last two components (Eq. 51).

    Their means are μ ± e, so that merging restores the mean. e has the length ``spread`` times the standard
    deviation of the new components, and the direction of ``angle`` in the plane of the first two axes; of a
    component's own principal axis where the angle is not a number.
    """
    _direction(mixture, k, angle, work)
    step = spread * math.sqrt(_variance_of_parts(mixture, k, work))
    for a in range(mixture.mean.shape[1]):
        work.deviation[a] *= step
    split_by(mixture, number, k, work.deviation, out, work)


@separate
def split_by(mixture: Components, number: int, k: int, shift: NDArray[np.float64], out: Components, work: Work) -> None:
    """The same with e given."""
    kept = 0
    for j in range(number):
        if j != k:
            copy_component(mixture, j, out, kept)
            kept += 1
    d = mixture.mean.shape[1]
    variance = _variance_of_parts(mixture, k, work)
    for sign in range(2):
        new = kept + sign
        out.weight[new] = 0.5 * mixture.weight[k]
        for a in range(d):
            out.mean[new, a] = mixture.mean[k, a] + (shift[a] if sign == 0 else -shift[a])
            for b in range(d):
                out.covariance[new, a, b] = variance if a == b else 0.0


@portable
def _variance_of_parts(mixture: Components, k: int, work: Work) -> float:
    """det(Σ_k)^{1/d}, by the factors that evaluating g_k needed."""
    d = mixture.mean.shape[1]
    log_volume = 0.0
    for a in range(d):
        log_volume -= math.log(work.whiten[k, a, a])
    return math.exp(2.0 * log_volume / d)


@portable
def _direction(mixture: Components, k: int, angle: float, work: Work) -> None:
    """A unit vector in ``deviation``: at this angle in the plane of the first two axes, or the principal axis."""
    d = mixture.mean.shape[1]
    for a in range(d):
        work.deviation[a] = 0.0
    if d == 1:
        work.deviation[0] = 1.0
    elif not math.isnan(angle):
        work.deviation[0], work.deviation[1] = math.cos(angle), math.sin(angle)
    else:
        for a in range(d):  # power iteration, from a vector that no symmetry makes orthogonal to the axis
            work.deviation[a] = 1.0 + 0.1 * a
        for _ in range(50):
            norm = 0.0
            for a in range(d):
                entry = 0.0
                for b in range(d):
                    entry += mixture.covariance[k, a, b] * work.deviation[b]
                work.matrix[0, a] = entry
                norm += entry * entry
            norm = math.sqrt(norm)
            for a in range(d):
                work.deviation[a] = work.matrix[0, a] / norm


@separate
def merge(mixture: Components, number: int, j: int, k: int, out: Components) -> None:
    """Write the mixture with components j and k merged to ``out``; the new one is its last."""
    kept = 0
    for other in range(number):
        if other not in (j, k):
            copy_component(mixture, other, out, kept)
            kept += 1
    d = mixture.mean.shape[1]
    total = mixture.weight[j] + mixture.weight[k]
    first = mixture.weight[j] / total
    second = mixture.weight[k] / total
    out.weight[kept] = total
    for a in range(d):
        out.mean[kept, a] = first * mixture.mean[j, a] + second * mixture.mean[k, a]
        for b in range(d):
            out.covariance[kept, a, b] = first * mixture.covariance[j, a, b] + second * mixture.covariance[k, a, b]


@separate
def hold(points: Points, j: int, k: int, work: Work) -> None:
    """Keep the posterior that components j and k (the same for a split) have together, for the partial EM."""
    for t in range(points.number):
        work.held[t] = work.posterior[t, j] + (work.posterior[t, k] if k != j else 0.0)


@separate
def partial_em(
    points: Points, mixture: Components, first: int, last: int, floor: float, steps: int, tolerance: float, work: Work
) -> int:
    """EM of components first..last-1 alone, which divide the held posterior (Eq. 50, 52); the steps taken.

    They keep the weight that they have together.
    """
    mass, total = 0.0, 0.0
    for j in range(first, last):
        mass += mixture.weight[j]
        refresh(mixture, j, floor, work)
    for t in range(points.number):
        total += points.weight[t] * work.held[t]
    if not total > 0.0:
        return 0
    before = expect(points, mixture, first, last, True, work)
    for taken in range(steps):
        for j in range(first, last):
            maximise(points, mixture, j, mass / total, floor, work)
        likelihood = expect(points, mixture, first, last, True, work)  # of these components on their share of the data
        if likelihood - before <= tolerance * total:
            return taken + 1
        before = likelihood
    return steps


@portable
def change_best(
    points: Points,
    mixture: Components,
    number: int,
    growing: bool,
    angle: float,
    spread: float,
    floor: float,
    steps: int,
    tolerance: float,
    out: Components,
    work: Work,
    trial: Work,
) -> int:
    """Write the mixture with one component more or fewer to ``out``, after the partial EM; how many it has.

    The component with the largest J_split is split, or the pair with the largest J_merge merged. What ``trial`` holds
    is what ``work`` does.
    """
    if growing:
        j = k = best_split(points, mixture, number, work)
        split(mixture, number, k, angle, spread, out, work)
        first, last = number - 1, number + 1
    else:
        j, k = best_merge(points, number, work)
        merge(mixture, number, j, k, out)
        first, last = number - 2, number - 1
    hold(points, j, k, work)
    partial_em(points, out, first, last, floor, steps, tolerance, trial)
    return last
