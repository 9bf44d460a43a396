"""What Numba will make of arguments, told without Numba.

A kernel is compiled for the types of its arguments: records, arrays of a type, dimension and layout, numbers. Here
they are told from the values (:func:`shape_of`) and from the types of Numba (:func:`shape_of_type`), in the same words.
So whether a kernel is on disk can be asked before Numba is loaded, and another process can compile it for arguments
that it makes up (:func:`filled`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

Shape = Any  # nested tuples of texts, classes and functions


def shape_of(value: Any) -> Shape:
    """The type of an argument; functions and unknown objects stand for themselves."""
    if isinstance(value, np.ndarray):
        flags = value.flags
        layout = "C" if flags.c_contiguous else "F" if flags.f_contiguous else "A"
        return ("array", value.dtype.str, value.ndim, layout, flags.writeable, flags.aligned)
    if isinstance(value, bool | np.bool_):
        return "bool"
    if isinstance(value, int):
        return "int64" if -(2**63) <= value < 2**63 else "uint64"
    if isinstance(value, float) and not isinstance(value, np.generic):
        return "float64"
    if isinstance(value, np.generic):
        return value.dtype.name
    if value is None:
        return "none"
    if isinstance(value, tuple):
        kind = type(value) if hasattr(value, "_fields") else "tuple"
        return (kind, *map(shape_of, value))
    return ("object", Same(value))


class Same:
    """An object that is equal to itself alone, whatever it says of that."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Same) and self.value is other.value

    def __hash__(self) -> int:
        return id(self.value)


def shape_of_type(kind: Any) -> Shape:
    """The same of a type of Numba's."""
    from numba.core import types
    from numba.np.numpy_support import as_dtype

    if isinstance(kind, types.Array):
        dtype = as_dtype(kind.dtype).str
        return ("array", dtype, kind.ndim, kind.layout, kind.mutable, kind.aligned)
    if isinstance(kind, types.Boolean):
        return "bool"
    if isinstance(kind, types.Number):
        return kind.name
    if isinstance(kind, types.NoneType):
        return "none"
    if isinstance(kind, types.NamedTuple | types.NamedUniTuple):
        return (kind.instance_class, *map(shape_of_type, kind.types))
    if isinstance(kind, types.BaseTuple):
        parts: Any = kind
        return ("tuple", *map(shape_of_type, parts))
    return ("object", kind)


def classes(shape: Shape) -> Iterator[Any]:
    """The classes of all records in a shape, and None for what has no name: a function, an object."""
    if isinstance(shape, tuple):
        if shape[0] == "object":
            yield None
            return
        if isinstance(shape[0], type):
            yield shape[0]
        if shape[0] != "array":
            for part in shape[1:]:
                yield from classes(part)


def words(shape: Shape) -> str:
    """A shape as a text that is the same in every process; for shapes without objects."""
    if isinstance(shape, tuple):
        return f"({' '.join(map(words, shape))})"
    return f"{shape.__module__}.{shape.__qualname__}" if isinstance(shape, type) else str(shape)


def filled(shape: Shape) -> Any:
    """A value of this shape that holds next to nothing."""
    if isinstance(shape, str):
        return None if shape == "none" else np.dtype(shape).type(0)
    kind, *parts = shape
    if kind == "object":
        return parts[0].value
    if kind == "array":
        return _array(*parts)
    values = [filled(part) for part in parts]
    return tuple(values) if kind == "tuple" else kind(*values)


def _array(dtype: str, ndim: int, layout: str, writeable: bool, aligned: bool) -> NDArray[Any]:
    if not aligned:
        raise ValueError("arrays must be aligned in memory")
    if layout == "A":
        array = np.zeros((4,) * ndim, dtype)[(slice(None, None, 2),) * ndim]
    else:
        array = np.zeros((2,) * ndim, dtype, order="F" if layout == "F" else "C")
    array.setflags(write=writeable)
    return array
