"""Exponents held exactly: payoffs in multiples of a common unit, where they have one.

Whether two paths have the same resistance decides whether two states share the long run. Payoffs such as
0.1, 0.2 and 0.3 are multiples of 0.1, but their floating-point sums are not; counted in units they are whole
numbers, and whole numbers below 2^53 add without error. Payoffs without a common unit (draws from a normal
distribution) are compared with a tolerance instead.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_FINEST = 1e-6  # of the spread; finer units are rounding, not meaning
_ROUNDING = 1e-9  # of the spread
_EXACT = 2.0**52


@dataclass(frozen=True)
class Units:
    """Payoffs in units of ``unit``; differences of at most ``tie`` count as none."""

    payoffs: NDArray[np.float64]  # (N, S), each player's least payoff 0
    unit: float
    tie: float

    @property
    def exact(self) -> bool:
        return self.tie == 0.0


def in_units(payoffs: NDArray[np.float64], extra: float, num_states: int) -> Units:
    """Payoffs (N, S) counted from each player's least one; ``extra`` is one more number to be a multiple."""
    shifted = payoffs - payoffs.min(axis=1, keepdims=True)
    spread = max(float(shifted.max()), extra)
    if spread == 0.0:
        return Units(shifted, 1.0, 0.0)
    unit = _common_unit(shifted, extra, spread)
    if unit is not None and num_states * shifted.shape[0] * spread / unit < _EXACT:
        return Units(np.rint(shifted / unit), unit, 0.0)
    return Units(shifted, 1.0, _ROUNDING * spread)


def _common_unit(values: NDArray[np.float64], extra: float, spread: float) -> float | None:
    """The largest number that all values are multiples of, by Euclid's algorithm with rounding."""
    unit = extra
    limit = _FINEST * spread
    flat = values.reshape(-1)
    some = np.unique(flat[:: max(1, flat.size // 4096)])
    for value in (*some.tolist(), spread):
        a, b = max(unit, value), min(unit, value)
        while b > _ROUNDING * spread:
            a, b = b, a % b
            if a - b < _ROUNDING * spread:  # a multiple but for rounding
                b = 0.0
        unit = a
        if unit < limit:
            return None
    counts = np.rint(flat / unit)
    unit = float((flat * counts).sum() / (counts * counts).sum())  # the rounding of many averages out
    if unit < limit or np.abs(flat - counts * unit).max() > _ROUNDING * spread:
        return None
    if extra and abs(extra - round(extra / unit) * unit) > _ROUNDING * spread:
        return None
    return unit
