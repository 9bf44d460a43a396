"""What is asked of the robots of a coverage game: a number for each, and how far they move."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from potentia.errors import InvalidGame
from potentia.games.grid import SLACK
from potentia.kernel.arrays import Floats, frozen
from potentia.kernel.checks import Real
from potentia.kernel.numbers import as_float, is_real

ADJACENT = 1.5  # the radius that reaches the eight adjacent cells and no others


def per_robot(value: Any, robots: int, name: str, arriving: int = 0) -> Floats:
    """One number at least 0 for each robot, those included that arrive later."""
    if is_real(value):
        given = [value] * robots
    elif isinstance(value, Sequence | np.ndarray) and not isinstance(value, str | bytes) and np.ndim(value) == 1:
        given = list(value)
    else:
        raise InvalidGame(f"must be a number, or a list with one per robot, got {value!r:.60}", name, value)
    if len(given) != robots:
        who = f"{robots} robots" + f", of which {arriving} arrive{'s' * (arriving == 1)} later" * bool(arriving)
        raise InvalidGame(f"must be a number, or one for each of {who}, got {len(given)}", name, value)
    names = [name if is_real(value) else f"{name} of robot {robot}" for robot in range(robots)]
    checked = [Real(least=0.0).of(number, who, InvalidGame) for number, who in zip(given, names, strict=True)]
    return frozen(checked, np.float64)


def checked_reach(reach: Any) -> float:
    """The radius of a move."""
    if isinstance(reach, str) and reach == "adjacent":
        return ADJACENT
    if not is_real(reach) or not 1 <= as_float(reach) < math.inf:
        raise InvalidGame(f'must be "adjacent" or a radius of at least 1 cell, got {reach!r}', "reach", reach)
    return as_float(reach)


def is_diagonal(radius: float) -> bool:
    """Whether robots that move so far get past a corner."""
    return radius * radius * SLACK >= 2
