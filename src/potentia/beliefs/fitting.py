"""Fit a Gaussian mixture to weighted points and find how many components it needs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from potentia.beliefs.fitted import Fitted, Move
from potentia.beliefs.scattering import scatter
from potentia.beliefs.search import Search
from potentia.errors import InvalidBelief, NotConverged, look_up
from potentia.kernel import memory
from potentia.kernel.checks import Integer, Real

CAUTION = {"bic": 0.0, "aic": 2.0}


def fit(
    points: Any,
    weights: Any = None,
    *,
    criterion: str = "bic",
    components: int | None = None,
    most: int = 20,
    caution: float | None = None,
    floor: float = 1e-6,
    seed: int = 0,
    steps: int = 1000,
    tolerance: float = 1e-9,
    progress: Callable[[Move], None] | None = None,
) -> Fitted:
    """Fit a mixture of Gaussians with full covariances.

    The fit does not depend on the order of the points, nor on their units. With the middle half of the points at the
    scale of a standard Gaussian's, no component's variance falls below ``floor`` in any direction.

    Parameters
    ----------
    points : array_like
        (n, d), or n numbers.
    weights : array_like, optional
        Frequencies: a point of weight 3 counts as three points, and n in BIC is their sum (its logarithm counts as 1 at
        least).
    criterion : {"bic", "aic"}
        What finds the number of components.
    components : int, optional
        Fixes the number.
    most : int
        The largest number that is tried.
    caution : float, optional
        The number of standard errors by which a split must lower the criterion: 0 for BIC and 2 for AIC unless told.
        With 0 it is the lowest criterion that the search finds.
    floor : float
        The least variance.
    seed : int
        For the directions of splits.
    steps : int
        EM of the result ends after so many.
    tolerance : float
        It ends when a step gains less than this per unit of weight, too.
    progress : callable, optional
        Is told each move.

    Returns
    -------
    Fitted
        The mixture, how good it is and how it was found.

    Examples
    --------
    >>> fitted = pt.beliefs.fit([0.0, 0.1, -0.1, 0.05, 5.0, 5.1, 4.9, 5.2])
    >>> fitted.num_components, fitted.means.round(2).ravel().tolist()
    (2, [5.05, 0.01])
    """
    usual = look_up(CAUTION, criterion, "criterion", InvalidBelief)
    caution = usual if caution is None else Real(least=0.0, most=1e6).of(caution, "caution", InvalidBelief)
    most = Integer(1).of(most, "most", InvalidBelief)
    floor = Real(least=1e-12, most=1.0).of(floor, "floor", InvalidBelief)
    steps = Integer(0).of(steps, "steps", InvalidBelief)
    tolerance = Real(least=0.0, most=1.0).of(tolerance, "tolerance", InvalidBelief)
    seed = Integer(0).of(seed, "seed", InvalidBelief)
    if components is not None:
        components = Integer(1).of(components, "components", InvalidBelief)
    data = scatter(points, weights)
    count, d = data.points.at.shape
    if components is not None and components * (d + 1) > count:
        raise InvalidBelief(
            f"must be at most {count // (d + 1)} for {count} distinct points in {d} dimensions, "
            f"{d + 1} to a component; got {components}",
            "components",
            components,
        )
    most = min(most, count // (d + 1)) if components is None else components
    room = 8.0 * count * (5 * (most + 2) + 4 * d)
    memory.require(room, f"a fit of {count} points with up to {most} components", "set a smaller most")
    search = Search(data, criterion, caution, floor, np.random.default_rng(seed), progress)
    path = search.run(most) if components is None else search.grow(components)
    fitted = search.result(path, steps, tolerance)
    if components is not None and fitted.num_components < components:
        raise NotConverged(f"EM left {fitted.num_components} of {components} components; fit fewer")
    return fitted
