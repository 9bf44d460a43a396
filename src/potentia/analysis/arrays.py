"""Arrays of numbers: their types, and what one must be as an argument."""

from __future__ import annotations

from typing import Any

import numpy as np

from potentia.errors import InvalidInput
from potentia.kernel.arrays import Floats, any_array
from potentia.kernel.texts import counted

SUM = 1e-9  # how far from 1 probabilities may sum


def one_each(given: Any, players: int, name: str, what: str, error: type[InvalidInput]) -> list[Any]:
    """A list with something for each player."""
    try:
        parts = list(given)
    except TypeError:
        parts = None
    if parts is None or len(parts) != players:
        got = f"{given!r:.60}" if parts is None else len(parts)
        raise error(f"must hold one {what} for each of {counted(players, 'player')}, got {got}", name, given)
    return parts


def vector(given: Any, size: int, name: str, what: str, error: type[InvalidInput]) -> Floats:
    """So many finite numbers."""
    array = any_array(given)
    if array.shape != (size,) or array.dtype.kind not in "iuf":
        raise error(f"must be {what}, got shape {array.shape} of {array.dtype}", name, given)
    if not np.isfinite(array).all():
        raise error(f"must be finite, got {array.tolist()}", name, given)
    return array.astype(np.float64)


def probabilities(
    given: Any, size: int, name: str, error: type[InvalidInput] = InvalidInput, what: str | None = None
) -> Floats:
    """So many numbers that are not negative and sum to 1, up to rounding."""
    array = vector(given, size, name, what or f"{size} probabilities", error)
    if (array < 0).any():
        raise error(f"must not be negative, got {array.tolist()}", name, given)
    if abs(float(array.sum()) - 1.0) > SUM:
        raise error(f"must sum to 1, got {array.sum()}", name, given)
    return array
