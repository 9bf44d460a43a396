"""What counts as a number in an argument: Python's and NumPy's, but neither booleans nor complex ones."""

from __future__ import annotations

import math
from typing import Any

import numpy as np


def is_integer(value: Any) -> bool:
    """Whether this is an integer, and not a boolean."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def is_real(value: Any) -> bool:
    """Whether this is a real number, and not a boolean."""
    return is_integer(value) or isinstance(value, float | np.floating)


def as_float(value: Any) -> float:
    """A real number as a float; an integer that no float can hold is infinite."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def in_words(count: int) -> str:
    """A count that may be astronomically large, in a few characters."""
    if count < 10**9:
        return f"{count:,}"
    return f"about 10^{int(count.bit_length() * math.log10(2))}"
