"""Planted mixtures: draws from a mixture that is known, and whether a fit found it."""

from __future__ import annotations

import math
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

Floats = NDArray[np.float64]

MOST = 5  # components
LIGHTEST = 0.1
WIDTHS = (0.5, 1.5)  # standard deviations along a component's own axes
COUNTS = (500, 1000)
_ERRORS = 5.0  # standard errors of an estimate from the component's points


class Planted(NamedTuple):
    """Points, and the mixture that they were drawn from."""

    points: Floats  # (n, d)
    weights: Floats  # (M,)
    means: Floats  # (M, d)
    covariances: Floats  # (M, d, d)


class Mixture(Protocol):
    """Any fit with these arrays."""

    weights: Any
    means: Any
    covariances: Any


def planted(seed: int, dimensions: int = 2, *, components: int | None = None, separation: float = 5.0) -> Planted:
    """500 to 1000 points from 1 to 5 components (one more with each seed) of weight 0.1 or more.

    Covariances differ and are not round. Two means are at least ``separation`` standard deviations apart: those of
    the wider component, along the line that joins them.
    """
    random = np.random.default_rng([seed, dimensions])
    number = components or 1 + seed % MOST
    count = int(random.integers(*COUNTS, endpoint=True))
    weights = random.dirichlet(np.full(number, 3.0))
    while weights.min() < LIGHTEST:
        weights = random.dirichlet(np.full(number, 3.0))
    axes, _ = np.linalg.qr(random.standard_normal((number, dimensions, dimensions)))
    widths = random.uniform(*WIDTHS, (number, dimensions))
    roots = axes * widths[:, np.newaxis]
    covariances = roots @ roots.swapaxes(1, 2)
    side = 1.5 * separation * number ** (1.0 / dimensions)
    means = random.uniform(-side, side, (number, dimensions))
    while _nearest(means, covariances) < separation:
        means = random.uniform(-side, side, (number, dimensions))
    of = random.choice(number, count, p=weights)
    points = means[of] + (roots[of] @ random.standard_normal((count, dimensions, 1)))[:, :, 0]
    return Planted(points, weights, means, covariances)


def _nearest(means: Floats, covariances: Floats) -> float:
    nearest = math.inf
    for i, j in zip(*np.triu_indices(len(means), 1), strict=True):
        apart = means[i] - means[j]
        distance = float(np.linalg.norm(apart))
        variances = [float(apart @ covariances[k] @ apart) / distance**2 for k in (i, j)]
        nearest = min(nearest, distance / math.sqrt(max(variances)))
    return nearest


def recovered(truth: Planted, found: Mixture) -> bool:
    """Whether a fit has the number of components, and each parameter within five standard errors."""
    number, d = truth.means.shape
    if len(found.weights) != number:
        return False
    distances = np.linalg.norm(truth.means[:, np.newaxis] - np.asarray(found.means), axis=2)
    for i, j in zip(*linear_sum_assignment(distances), strict=True):
        share, count = truth.weights[i], truth.weights[i] * len(truth.points)
        whiten = np.linalg.inv(np.linalg.cholesky(truth.covariances[i]))
        mean = whiten @ (found.means[j] - truth.means[i]) * math.sqrt(count / d)
        ratios = np.linalg.eigvalsh(whiten @ found.covariances[j] @ whiten.T)
        weight = (found.weights[j] - share) / math.sqrt(share * (1.0 - share) / len(truth.points) or math.inf)
        errors = [np.linalg.norm(mean), abs(weight), *np.abs(np.log(ratios)) / math.sqrt(2.0 * d / count)]
        if max(errors) > _ERRORS:
            return False
    return True
