"""What floating-point numbers may be off by, and when they are to be taken at their word.

0.1 + 0.2 is not 0.3: a number that was written in decimals or summed up is off by a few roundings. A whole number is
meant as it is, and so is one that leaves bits of its float unused: 0.1 + 0.2 would have used them all. Differences of
such numbers are exact however large the numbers are.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from potentia.kernel.arrays import Floats

GOAL = 1e-9  # of a goal: what was computed elsewhere, in another order, is off by much less
ROUNDINGS = 8 * float(np.finfo(float).eps)  # of the largest number
_SPARE = 2.0**50  # steps; a float has 2^53, and a rounded number uses them all
_WHOLE = 2.0**64  # up to here people write whole numbers


def finest_step(values: Floats) -> float:
    """The largest power of two that all of these finite numbers are multiples of; inf if all are 0."""
    mantissas, exponents = np.frexp(values[values != 0.0])
    if not mantissas.size:
        return math.inf
    whole = np.ldexp(mantissas, 53).astype(np.int64)
    _, lowest = np.frexp((whole & -whole).astype(np.float64))
    return math.ldexp(1.0, int((exponents + lowest).min()) - 54)


def rounding(values: Floats) -> float:
    """What these numbers may be off by: a few roundings of the largest, or nothing."""
    if not values.size:
        return 0.0
    step, largest = finest_step(values), float(np.abs(values).max())
    return 0.0 if 1.0 <= step <= largest < _WHOLE or largest <= step * _SPARE else ROUNDINGS * largest


def goal_slack(goal: ArrayLike, scale: ArrayLike = 0.0) -> Floats:
    """By how much a value may miss a goal and be there: a relative 1e-9 of the goal, or of a scale that is larger.

    A goal comes from elsewhere, as an optimum does, and the same sum in another order is one rounding apart. The scale
    is for goals near 0 that are differences of large numbers.
    """
    wanted = np.asarray(goal, np.float64)
    return GOAL * np.maximum(np.where(np.isfinite(wanted), np.abs(wanted), 0.0), scale)
