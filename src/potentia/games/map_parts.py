"""What the readers of maps share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from potentia.errors import InvalidGame, PotentiaError

PER_CELL = 50  # bytes at the peak: the numbers, the world's copy, masks of what may be wrong with them


class Map(NamedTuple):
    """What a file holds: the numbers, where the walls are, and how to name a cell to whoever made the file."""

    values: NDArray[np.float64]
    walls: NDArray[np.bool_]
    place: Callable[[int, int], str]


@contextmanager
def reading(damaged: str) -> Iterator[None]:
    """Say in one way whatever a broken file makes NumPy, zipfile and Pillow raise."""
    try:
        yield
    except PotentiaError:
        raise
    except OSError as error:
        if error.errno is None:  # Pillow's own, not the system's
            raise InvalidGame(damaged) from error
        raise InvalidGame(f"cannot be read: {error.strerror or error}") from error
    except Exception as error:
        raise InvalidGame(damaged) from error


def first(wrong: NDArray[np.bool_]) -> tuple[int, int] | None:
    """The first cell (x, y) that is wrong."""
    if not wrong.any():
        return None
    y, x = np.unravel_index(int(np.argmax(wrong)), wrong.shape)
    return int(x), int(y)
