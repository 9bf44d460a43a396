"""Frozen arrays, what games and rules hand to compiled code; and objects that never change."""

from __future__ import annotations

import copy
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def any_array(value: Any) -> NDArray[Any]:
    """The value as an array; one of an object and no axes for rows of different lengths."""
    try:
        return np.asarray(value)
    except (TypeError, ValueError):
        return np.array(None)


def strides(sizes: Ints) -> Ints:
    """How far apart the profiles that differ in one player's action lie, in C order."""
    return frozen(np.cumprod((1, *sizes[:0:-1].tolist()), dtype=np.int64)[::-1])


def starts(lengths: ArrayLike) -> Ints:
    """Where parts of these lengths begin that lie behind each other, and where the last one ends."""
    return frozen(np.concatenate([[0], np.cumsum(lengths)]), np.int64)


def frozen_deep(value: Any) -> Any:
    """A copy whose arrays are read-only, inside tuples, lists and dictionaries too."""
    if isinstance(value, np.ndarray):
        return frozen(value)
    if isinstance(value, tuple):
        parts = [frozen_deep(part) for part in value]
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    if type(value) is list:
        return [frozen_deep(part) for part in value]
    if type(value) is dict:
        return {key: frozen_deep(part) for key, part in value.items()}
    return copy.deepcopy(value)


def frozen(array: ArrayLike, dtype: Any = None) -> NDArray[Any]:
    """A C-contiguous, read-only copy.

    Parameters
    ----------
    array : array_like
        What is copied.
    dtype : Any
        The type of its numbers; left out, its own.

    Returns
    -------
    array
        The copy.

    Examples
    --------
    >>> pt.extend.frozen([1, 2, 3], np.float64).flags.writeable
    False
    """
    copy = np.array(array, dtype=dtype, order="C", copy=True)
    copy.setflags(write=False)
    return copy


class Fixed:
    """What is built once, sealed, and then never changes."""

    _sealed = False

    def __setattr__(self, name: str, value: Any) -> None:
        if self._sealed:
            raise AttributeError(f"{self._called()} is immutable: build a new one instead of setting {name}")
        super().__setattr__(name, value)

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{self._called()} is immutable: cannot delete {name}")

    @classmethod
    def _called(cls) -> str:
        return f"a {cls.__name__}"

    def _seal(self) -> None:
        object.__setattr__(self, "_sealed", True)

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: Any) -> Self:
        return self

    def __getstate__(self) -> dict[str, Any]:
        # what is derived is derived again
        return {k: v for k, v in self.__dict__.items() if not isinstance(getattr(type(self), k, None), cached_property)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        for name, part in state.items():
            object.__setattr__(self, name, frozen_deep(part))
