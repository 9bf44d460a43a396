"""Payoffs that are exact: whole multiples of a fraction, though floats hold them rounded.

1/3 is no float. Payoffs that are given as fractions, or as decimals in a file, are kept as floats like all others, with
the largest fraction beside them that all are whole multiples of, the *unit*. Counted in it they are whole numbers again
without any doubt, and ties are decided exactly.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from fractions import Fraction
from numbers import Rational
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from potentia.errors import InvalidGame
from potentia.games.given import shortened
from potentia.kernel.arrays import Floats, any_array

MOST_UNITS = 2**50  # that a payoff may have: a float, divided by the unit, is then off by less than half of one
_MOST_DIGITS = 1000  # of a number in a file
_MOST_EXPONENT = 400  # of ten; floats end before
_FLOAT = 2**53
_NUMBER = re.compile(r"([+-]?)(?:([0-9]+)/([0-9]+)|([0-9]*)(?:\.([0-9]*))?(?:[eE]([+-]?[0-9]+))?)")

Ratio = tuple[int, int]  # numerator and denominator


def ratio(word: str) -> Ratio:
    """A number as files have them: 3, -0.25, 1e-3 or 2/3; ValueError says what is wrong with another."""
    match = _NUMBER.fullmatch(word)
    if match is None or not (match[2] or match[4] or match[5]):
        raise ValueError(f"expected a number, got {shortened(repr(word))}")
    if len(word) > _MOST_DIGITS:
        raise ValueError(f"expected a number of at most {_MOST_DIGITS} characters, got one of {len(word):,}")
    sign = -1 if match[1] == "-" else 1
    if match[2]:
        top, bottom = int(match[2]), int(match[3])
        if bottom == 0:
            raise ValueError(f"expected a number, got {shortened(word)}, which divides by 0")
    else:
        whole, part, exponent = match[4] or "", match[5] or "", match[6] or "0"
        top, power = int(whole + part), int(exponent) - len(part)
        if not top:
            return 0, 1
        if abs(int(exponent)) > _MOST_EXPONENT:
            raise ValueError(f"expected a number that fits into a float, got {shortened(word)}")
        top, bottom = (top * 10**power, 1) if power >= 0 else (top, 10**-power)
    try:
        value = top / bottom
    except OverflowError:
        value = math.inf
    if math.isinf(value) or (top and value == 0.0):
        raise ValueError(f"expected a number that fits into a float, got {shortened(word)}")
    common = math.gcd(top, bottom)
    return sign * top // common, bottom // common


def unit_of(ratios: Iterable[Ratio]) -> Fraction | None:
    """The largest fraction that all of these are whole multiples of; None where it is too small beside them."""
    some = set(ratios)
    bottom = 1
    for _, below in some:
        bottom = math.lcm(bottom, below)
        if bottom.bit_length() > 1200:  # no float is that small
            return None
    counts = [top * (bottom // below) for top, below in some]
    common = math.gcd(*counts)
    if common == 0 or max(map(abs, counts)) > MOST_UNITS * common:
        return None
    found = Fraction(common, bottom)
    return found if float(found) >= np.finfo(float).tiny else None


def as_floats(value: ArrayLike) -> tuple[Any, Fraction | None]:
    """Payoffs, and their unit where they are given as fractions; what is no array of these stays as it is."""
    given = any_array(value)
    if given.dtype.kind != "O" or not given.size:
        return value, None
    entries = given.reshape(-1).tolist()
    if not all(isinstance(entry, Rational | float | np.floating) and not isinstance(entry, bool) for entry in entries):
        return value, None
    try:
        floats = np.array([float(entry) for entry in entries]).reshape(given.shape)
    except OverflowError:
        raise InvalidGame("must be finite, got a number too large for a float", "payoffs", value) from None
    if not all(isinstance(entry, Rational) for entry in entries):
        return floats, None
    return floats, unit_of((int(entry.numerator), int(entry.denominator)) for entry in entries)


def checked_unit(unit: Any, payoffs: Floats) -> Fraction:
    """A unit that somebody claims these payoffs to have."""
    try:
        found = Fraction(*ratio(unit)) if isinstance(unit, str) else Fraction(unit)
        size = float(found)
    except (TypeError, ValueError, OverflowError, ZeroDivisionError):
        found, size = Fraction(0), 0.0
    if found <= 0 or not np.finfo(float).tiny <= size < math.inf:
        raise InvalidGame(f'must be a fraction above 0, such as "1/3", got {shortened(repr(unit))}', "unit", unit)
    some = np.unique(payoffs)
    if np.abs(some / size).max(initial=0.0) > MOST_UNITS:
        told = f"must be at least the largest payoff / {MOST_UNITS}, got {shortened(str(unit))}"
        raise InvalidGame(told, "unit", unit)
    wrong = some[_floats_of(np.rint(some / size), found) != some]
    if wrong.size:
        told = "must be one that all payoffs are whole multiples of"
        raise InvalidGame(f"{told}, got {shortened(str(unit))} and a payoff {wrong[0]}", "unit", unit)
    return found


def _floats_of(counts: Floats, unit: Fraction) -> Floats:
    """So many units each, rounded once."""
    top, bottom = unit.numerator, unit.denominator
    if bottom < _FLOAT and np.abs(counts).max(initial=0.0) * top < _FLOAT:
        return counts * top / bottom
    return np.array([int(count) * top / bottom for count in counts.tolist()])


def counts_in(payoffs: Floats, unit: Fraction) -> Floats:
    """How many units each payoff is: whole numbers."""
    return np.rint(payoffs / float(unit))


def fractions_of(payoffs: NDArray[np.float64], unit: Fraction | None) -> list[Fraction]:
    """Payoffs as what they are, exactly: multiples of the unit, or the fractions that their floats are."""
    flat = payoffs.reshape(-1)
    if unit is None:
        return [Fraction(value) for value in flat.tolist()]
    return [int(count) * unit for count in counts_in(flat, unit).tolist()]
