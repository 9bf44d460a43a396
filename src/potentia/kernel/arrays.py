"""Frozen arrays: what games and rules hand to compiled code."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray


def strides(sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """How far apart the profiles that differ in one player's action lie, in C order."""
    return frozen(np.cumprod((1, *sizes[:0:-1].tolist()), dtype=np.int64)[::-1])


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
    """A C-contiguous, read-only copy."""
    copy = np.array(array, dtype=dtype, order="C", copy=True)
    copy.setflags(write=False)
    return copy
