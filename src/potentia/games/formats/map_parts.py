"""What the readers of maps share."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from potentia.games.coordinates import Coordinates
from potentia.kernel.arrays import Floats

PER_CELL = 50  # bytes at the peak: the numbers, the world's copy, masks of what may be wrong with them


class Map(NamedTuple):
    """What a file holds: the numbers, where the walls are, and how to name a cell to whoever made the file."""

    values: Floats
    walls: NDArray[np.bool_]
    place: Callable[[int, int], str]
    coordinates: Coordinates | None = None


def first(wrong: NDArray[np.bool_]) -> tuple[int, int] | None:
    """The first cell (x, y) that is wrong."""
    if not wrong.any():
        return None
    y, x = np.unravel_index(int(np.argmax(wrong)), wrong.shape)
    return int(x), int(y)
