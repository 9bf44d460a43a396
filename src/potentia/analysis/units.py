"""Exponents held exactly: payoffs in multiples of a common unit, where they have one.

Whether two paths have the same resistance decides whether two states share the long run. Payoffs such as
0.1, 0.2 and 0.3 are multiples of 0.1, but their floating-point sums are not; counted in units they are whole
numbers, and whole numbers below 2^53 add without error. Payoffs without a common unit (draws from a normal
distribution) are compared with a tolerance instead.

Both are relative to what matters to the rule: where players compare their own actions only, what a utility
owes to the others' actions alone is taken away first.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from potentia.errors import InvalidRule

_FINEST = 1e-10  # of the spread; finer units could not be told from rounding
_TIE = 1e-9  # of the spread; without a unit, smaller differences count as none
_ROUNDING = 1e-11  # of the spread; how far a multiple may be off
_NOISE = 1e-13  # of the spread; what subtracting floating-point numbers leaves
_EXACT = 2.0**52
_LARGEST_EXTRA = 1e5  # of the spread


@dataclass(frozen=True)
class Units:
    """Payoffs in units of ``unit``; in them, differences of at most ``tie`` count as none."""

    payoffs: NDArray[np.float64]  # (N, S)
    unit: float
    tie: float

    @property
    def exact(self) -> bool:
        return self.tie == 0.0

    @property
    def slack(self) -> float:
        """What sums may differ by and still be equal."""
        return 0.5 if self.exact else self.tie


def own_changes(payoffs: NDArray[np.float64]) -> NDArray[np.float64]:
    """Payoffs (N, A_1, ..., A_N) less each player's least at the others' actions: what its own action changes."""
    return np.array([payoffs[i] - payoffs[i].min(axis=i, keepdims=True) for i in range(payoffs.shape[0])])


def in_units(payoffs: NDArray[np.float64], own_only: bool, extra: float) -> Units:
    """Payoffs (N, A_1, ..., A_N) counted in units, as (N, S).

    ``own_only``: the rule compares a player's own actions only. ``extra`` is one more number, m of a vanishing
    revision probability, that must be a multiple.
    """
    players = payoffs.shape[0]
    least = payoffs.reshape(players, -1).min(axis=1).reshape(players, *[1] * (payoffs.ndim - 1))
    shifted = (own_changes(payoffs) if own_only else payoffs - least).reshape(players, -1)
    spread = float(shifted.max())
    if spread == 0.0:
        return Units(shifted, extra or 1.0, 0.0)
    if extra > _LARGEST_EXTRA * spread:
        raise InvalidRule(
            f"m of a vanishing revision must be at most {_LARGEST_EXTRA * spread:g} here, {_LARGEST_EXTRA:g} times the "
            f"spread of payoffs, or their differences are lost in rounding; got {extra:g}"
        )
    unit = _common_unit(shifted, extra, spread)
    if unit is not None and shifted.size * max(spread, extra) / unit < _EXACT:
        return Units(np.rint(shifted / unit), unit, 0.0)
    return Units(shifted, 1.0, _TIE * spread)


def _common_unit(values: NDArray[np.float64], extra: float, spread: float) -> float | None:
    """The largest number that all values are multiples of, by Euclid's algorithm with rounding."""
    unit = 0.0
    flat = values[values > _NOISE * spread]
    some = np.unique(flat[:: max(1, flat.size // 4096)])
    for value in (spread, *([extra] if extra else []), *some.tolist()):
        a, b = max(unit, value), min(unit, value)
        while b > _ROUNDING * spread:
            a, b = b, a % b
            if a - b < _ROUNDING * spread:  # a multiple but for rounding
                b = 0.0
        unit = a
        if unit < _FINEST * spread:
            return None
    counts = np.rint(flat / unit)
    if counts.min() < 1.0:  # a difference that is neither noise nor a multiple
        return None
    unit = float((flat * counts).sum() / (counts * counts).sum())  # the rounding of many averages out
    near = float(f"{unit:.12g}")  # 0.1, not 0.10000000000000002
    if abs(near - unit) <= 1e-14 * unit:
        unit = near
    for value, count in ((flat, counts), (np.array([extra]), np.rint(extra / unit))):
        if np.abs(value - count * unit).max() > _ROUNDING * spread:
            return None
    return unit
