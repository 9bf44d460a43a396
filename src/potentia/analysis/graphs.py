"""Sparse matrices as the graphs that ``scipy.sparse.csgraph`` takes."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from potentia.errors import TooLarge
from potentia.kernel.arrays import Ints

_MOST = int(np.iinfo(np.int32).max)


def entry_rows(ptr: Ints) -> Ints:
    """The row of each entry of a matrix in compressed rows."""
    return np.repeat(np.arange(ptr.size - 1), np.diff(ptr))


def as_graph(matrix: sparse.csr_array) -> sparse.csr_array:
    """The same matrix with 32-bit indices; its values are shared.

    Some functions of csgraph refuse wider ones, which ones depends on the version of SciPy, and others cut
    them off without a word.
    """
    for what, count in (("nodes", matrix.shape[0]), ("edges", matrix.nnz)):
        if count > _MOST:
            raise TooLarge(f"a graph may have up to {_MOST:,} {what}, this one has {count:,}")
    indices, ptr = (array.astype(np.int32, copy=False) for array in (matrix.indices, matrix.indptr))
    return sparse.csr_array((matrix.data, indices, ptr), shape=matrix.shape)
