"""Frozen arrays: what games and rules hand to compiled code."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray


def frozen(array: ArrayLike, dtype: Any = None) -> NDArray[Any]:
    """A C-contiguous, read-only copy."""
    copy = np.array(array, dtype=dtype, order="C", copy=True)
    copy.setflags(write=False)
    return copy
