"""What is given to a game: arrays, lists and objects as they are wanted, or an error that names the argument."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from potentia.errors import InvalidGame
from potentia.kernel.arrays import Floats, Ints, any_array, frozen
from potentia.kernel.checks import Integer

T = TypeVar("T")

NATURAL = Integer(most=1 << 10_000)  # of any size, as seeds may be
_MOST_ACTIONS = 2**31 - 1
_LONGEST = 60  # characters of a value in a message


def of_kind(value: Any, kind: type[T], wanted: str, name: str) -> T:
    """The value, which must be of this class."""
    if not isinstance(value, kind):
        raise InvalidGame(f"must be {wanted}, got {value!r:.60}", name, value)
    return value


def listed(value: Any, name: str, wanted: str = "a list") -> list[Any]:
    """The value as a list."""
    try:
        return list(value)
    except TypeError:
        raise InvalidGame(f"must be {wanted}, got {value!r}", name, value) from None


def finite_array(value: ArrayLike, name: str, *shapes: tuple[int, ...], told: str = "") -> Floats:
    """A frozen float array of one of these shapes, or of any; ``told`` says more about them."""
    given = any_array(value)
    if given.dtype.kind not in "iuf":  # not booleans, text, complex numbers or ragged lists
        raise InvalidGame(f"must be a rectangular array of real numbers, got {shortened(repr(value))}", name, value)
    array = frozen(given, np.float64)
    if not np.isfinite(array).all():
        where = tuple(int(k) for k in np.argwhere(~np.isfinite(array))[0])
        raise InvalidGame(f"must be finite, got {array[where]} at index {where}", name, array[where])
    if shapes and array.shape not in shapes:
        wanted = " or ".join(map(str, shapes))
        raise InvalidGame(f"must have shape {wanted}{told}, got {array.shape}", name, value)
    return array


def action_counts(value: Any, name: str = "num_actions") -> Ints:
    """One positive integer per player."""
    counts = any_array(value)
    if counts.ndim != 1 or (counts.size and counts.dtype.kind not in "iu"):
        got = shortened(repr(value))
        raise InvalidGame(f"must be a sequence with one integer per player, got {got}", name, value)
    if counts.size == 0:
        raise InvalidGame("must name at least one player, got none", name, value)
    for wrong, bound in (
        (counts < 1, "at least one action"),
        (counts > _MOST_ACTIONS, f"at most {_MOST_ACTIONS} actions"),
    ):
        if wrong.any():
            player = int(np.argmax(wrong))
            raise InvalidGame(f"player {player} must have {bound}, got {int(counts[player])}")
    return frozen(counts, np.int64)


def shortened(text: str) -> str:
    """A text that fits into a message; an array is told in one line."""
    text = " ".join(line.strip() for line in text.split("\n"))
    return text if len(text) <= _LONGEST else text[: _LONGEST - 3] + "..."
