"""Exponents held exactly: payoffs in multiples of a common unit, where they have one.

Whether two paths have the same resistance decides whether two states share the long run. Payoffs such as
0.1, 0.2 and 0.3 are multiples of 0.1, but their floating-point sums are not; counted in units they are whole
numbers, and whole numbers below 2^53 add without error. A unit is one only if every payoff is a multiple of it, up to
what floating-point numbers are off by; differences of payoffs that are large beside them are exact, and a power of two
is their unit. Payoffs without a common unit (draws from a normal distribution) are compared with a tolerance instead.

Both are relative to what matters to the rule: where players compare their own actions only, what a utility
owes to the others' actions alone is taken away first.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from potentia.errors import InvalidRule, NotConverged
from potentia.games.exact import counts_in
from potentia.kernel.arrays import Floats, Ints
from potentia.kernel.precision import finest_step, rounding

_FINEST = 1e-10  # of the spread; finer units could not be told from rounding
_CLEAR = 2.0**16  # roundings; a unit of fewer could be met by chance
_TIE = 64 * float(np.finfo(float).eps)  # of the spread, for each payoff: what sums along a tree may be off by
_MOST_TIE = 1e-9  # of the spread; without a unit, differences up to the tolerance count as none
_REMAINDER = 1e-11  # of the spread; what Euclid's algorithm takes for none before the unit is checked
_PARTS = 10_000  # of a mistake, in which a vanishing revision is counted
_EXACT = 2.0**52
_STEPS = 2.0**32  # of a power of two, up to which floats are taken as they are
_LARGEST_EXTRA, _LEAST_EXTRA = 1e5, 1e-8  # of the spread
_EPS = float(np.finfo(float).eps)


@dataclass(frozen=True)
class Units:
    """Payoffs in units of ``unit``; in them, differences of at most ``tie`` count as none."""

    payoffs: Floats  # (N, S)
    unit: float
    tie: float
    shrink: float = 1.0  # what payoffs were divided by beside

    @property
    def exact(self) -> bool:
        return self.tie == 0.0

    @property
    def slack(self) -> float:
        """What sums may differ by and still be equal."""
        return 0.5 if self.exact else self.tie


def own_changes(payoffs: Floats) -> Floats:
    """Payoffs (N, A_1, ..., A_N) less each player's least at the others' actions: what its own action changes."""
    return np.array([payoffs[i] - payoffs[i].min(axis=i, keepdims=True) for i in range(payoffs.shape[0])])


def in_units(payoffs: Floats, own_only: bool, extra: float, price: float = 0.0, given: Fraction | None = None) -> Units:
    """Payoffs (N, A_1, ..., A_N) counted in units, as (N, S).

    ``own_only``: the rule compares a player's own actions only. ``extra`` is one more number, m of a vanishing
    revision probability, that must be a multiple. ``price`` is the largest price of a move; distances on a grid
    have no common unit, so with one ties are decided by the tolerance. ``given`` is a unit that payoffs are
    known to have.
    """
    players = payoffs.shape[0]
    least = payoffs.reshape(players, -1).min(axis=1).reshape(players, *[1] * (payoffs.ndim - 1))
    shifted = (own_changes(payoffs) if own_only else payoffs - least).reshape(players, -1)
    spread = max(float(shifted.max()), price)
    if spread == 0.0:
        return Units(shifted, extra or 1.0, 0.0)
    if extra:
        _check_extra(extra, spread, "payoffs differ by")
    known = None if given is None or price else _in_given(payoffs, given, own_only, extra)
    if known is not None:
        return known
    rows = payoffs.reshape(players, -1)
    off = np.array([rounding(row) if shift.any() else 0.0 for row, shift in zip(rows, shifted, strict=True)])[:, None]
    as_they_are = None if price else _in_steps(rows, shifted, extra)
    if as_they_are is not None and not off.any():
        return as_they_are
    scale = 2.0 ** math.frexp(spread)[1]  # a power of two, so that dividing by it rounds nothing
    unit = None if price else _common_unit(shifted / scale, extra / scale, off / scale)
    if unit is not None and shifted.size * max(1.0, extra / scale) / unit < _EXACT:
        unit = _nice(unit * scale)
        return Units(np.rint(shifted / unit), unit, 0.0)
    if as_they_are is not None:
        return as_they_are
    tie = min(_TIE * shifted.size, _MOST_TIE) * max(spread, extra)
    return Units(shifted, 1.0, max(tie, 8 * float(off.max())))


def in_mistakes(units: Units, m: float) -> Units:
    """The same where resistances count mistakes, and ``m`` for each player that wakes; payoffs tell what is best."""
    if m:
        _check_extra(m, 1.0, "a mistake costs")
    shrink = 2.0 ** math.frexp(float(units.payoffs.max(initial=0.0)))[1]
    whole = Fraction(m).limit_denominator(_PARTS)
    unit, tie = 1.0 / whole.denominator, units.tie / shrink
    if abs(float(whole) - m) > 4 * _EPS * max(1.0, m):
        unit, tie = 1.0, max(tie, _MOST_TIE)
    return Units(units.payoffs / shrink, unit, tie, shrink)


def _check_extra(extra: float, spread: float, what: str) -> None:
    if not _LEAST_EXTRA * spread <= extra <= _LARGEST_EXTRA * spread:
        raise InvalidRule(
            f"of a vanishing revision must be between {_LEAST_EXTRA * spread:g} and {_LARGEST_EXTRA * spread:g} "
            f"here, or it or what {what}, up to {spread:g}, are lost in rounding; got {extra:g}",
            "m",
            extra,
        )


def require_told(units: Units, payoffs: Floats) -> None:
    """Refuse a tolerance that swallows all that a player's own action changes in payoffs (N, A_1, ..., A_N)."""
    for player, (row, values) in enumerate(zip(own_changes(payoffs), payoffs, strict=True)):
        most = float(row.max())
        if not units.exact and rounding(values) < most <= units.tie:
            raise NotConverged(
                f"ties cannot be told: payoffs are counted in no common unit, and the tie tolerance of {units.tie:g} "
                f"reaches the spread of payoffs of player {player} by its own action, {most:g}; use payoffs of like "
                "size, and leave out large constants"
            )


def _in_steps(payoffs: Floats, shifted: Floats, extra: float) -> Units | None:
    """Differences counted in the floats' own steps, powers of two, where they are few: nothing is rounded."""
    varying = shifted.max(axis=1) > 0.0
    step = finest_step(np.append(payoffs[varying], extra))
    largest = max(float(shifted.max()), extra)
    if largest / _STEPS >= step or shifted.size * (largest / step) >= _EXACT:
        return None
    counts = shifted / step
    common = int(np.gcd.reduce(np.append(counts, extra / step).astype(np.int64)))
    return Units(counts / common, common * step, 0.0)


def _in_given(payoffs: Floats, unit: Fraction, own_only: bool, extra: float) -> Units | None:
    """Differences counted in a unit that is known, without any rounding; None where they are too many."""
    whole = counts_in(payoffs, unit)
    more = Fraction(repr(extra)) / unit
    counts = own_changes(whole) if own_only else whole - whole.min(axis=tuple(range(1, whole.ndim)), keepdims=True)
    if counts.size * max(float(counts.max()) * more.denominator, more.numerator) >= _EXACT:
        return None
    counts = counts.reshape(payoffs.shape[0], -1) * more.denominator
    common = int(np.gcd.reduce(np.append(counts, more.numerator).astype(np.int64)))
    return Units(counts / common, float(unit * common / more.denominator), 0.0)


def _nice(unit: float) -> float:
    """0.1, not 0.10000000000000002."""
    near = float(f"{unit:.12g}")
    return near if abs(near - unit) <= 1e-14 * unit else unit


def _common_unit(values: Floats, extra: float, off: Floats) -> float | None:
    """The largest number that all values, up to about 1, are multiples of: Euclid's algorithm with rounding.

    ``off`` is what each player's payoffs, the rows of ``values``, may be off by.
    """
    remainder = max(_REMAINDER, float(off.max()))
    finest = max(_FINEST, _CLEAR * float(off.max()))
    unit = 0.0
    flat = values[values > off]
    if not flat.size:  # nothing but rounding
        return None
    some = np.unique(flat[:: max(1, flat.size // 4096)])
    for value in (float(flat.max()), *([extra] if extra else []), *some.tolist()):
        a, b = max(unit, value), min(unit, value)
        while b > remainder:
            a, b = b, a % b
            if a - b < remainder:  # a multiple but for rounding
                b = 0.0
        unit = a
        if unit < finest:
            return None
    counts = np.rint(flat / unit)
    if counts.min() < 1.0:  # a difference that is neither noise nor a multiple
        return None
    unit = float((flat * counts).sum() / (counts * counts).sum())  # the rounding of many averages out
    if (np.abs(values - np.rint(values / unit) * unit) > np.maximum(off, 4 * _EPS * values)).any():
        return None
    if abs(extra - round(extra / unit) * unit) > 4 * _EPS * max(1.0, extra):
        return None
    return None if extra and extra < 0.5 * unit else unit


def maximisers(phi: Floats) -> Ints:
    """The numbers of the profiles that maximise a potential."""
    units = in_units(phi.reshape(1, -1), False, 0.0)  # ties as stability tells them
    return np.flatnonzero(units.payoffs[0] >= units.payoffs[0].max() - units.tie)
