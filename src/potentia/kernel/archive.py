"""Arrays from an ``.npz`` archive that may be damaged, or made to do harm.

``numpy.load`` unpacks whatever an archive holds. Here members are read as ``numpy.savez`` writes them, which does not
compress, so that what is read is never more than the file; and the header of an array must be what the reader expects
before room is made for it.
"""

from __future__ import annotations

import os
import zipfile
from types import TracebackType
from typing import IO, Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

_BLOCK = 1 << 20


class Archive:
    """An ``.npz`` archive as ``savez`` writes it; anything else is a ``ValueError``, or what ``zipfile`` raises."""

    def __init__(self, raw: BinaryIO, size: int | None = None) -> None:
        self.size = os.fstat(raw.fileno()).st_size if size is None else size
        self._zip = zipfile.ZipFile(raw)
        members = self._zip.infolist()
        names = [member.filename for member in members]
        if len(set(names)) != len(names) or not all(name.endswith(".npy") for name in names):
            raise ValueError("it holds a name twice, or what is no array")
        if any(member.compress_type != zipfile.ZIP_STORED for member in members):
            raise ValueError("it is compressed")
        if sum(member.file_size for member in members) > self.size:
            raise ValueError("its parts are larger than it is")
        self.names = {name.removesuffix(".npy") for name in names}

    def __enter__(self) -> Archive:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._zip.close()

    def like(self, name: str, array: NDArray[Any]) -> NDArray[Any]:
        """The array called ``name``, which must have the shape and type of this one."""
        return self.read(name, array.shape, array.dtype)

    def read(self, name: str, shape: tuple[int | None, ...], dtype: Any, most: int | None = None) -> NDArray[Any]:
        """The array called ``name``: of this shape, None for any length up to ``most``, and type, or kind of type."""
        if name not in self.names:
            raise ValueError(f"{name} is missing")
        with self._zip.open(f"{name}.npy") as member:
            found, fortran, kind = array_header(member)
            fits = len(found) == len(shape) and all(n == m for n, m in zip(found, shape, strict=True) if m is not None)
            right = kind.kind == dtype if isinstance(dtype, str) else kind == dtype
            if not fits or not right or kind.hasobject or not kind.isnative:
                wanted = f"not {tuple(shape)} of {dtype}".replace("None", "any length")
                raise ValueError(f"{name} has shape {found} of {kind}, {wanted}")
            if most is not None and found and found[0] > most:
                raise ValueError(f"{name} has {found[0]} entries, at most {most} can be")
            if int(np.prod(found, dtype=object)) * kind.itemsize > self.size:
                raise ValueError(f"{name} is cut short")
            array = np.empty(found, kind, order="F" if fortran else "C")
            _read_into(member, (array.T if fortran else array).reshape(-1), name)
        return array


def array_header(file: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """The shape of the array that comes next, whether it is in Fortran's order, and its type."""
    first = np.lib.format.read_magic(file) == (1, 0)
    return (np.lib.format.read_array_header_1_0 if first else np.lib.format.read_array_header_2_0)(file)


def _read_into(member: Any, flat: NDArray[Any], name: str) -> None:
    room = flat.view(np.uint8) if flat.size and flat.itemsize else np.zeros(0, np.uint8)
    done = 0
    while done < room.size:
        block = member.read(min(_BLOCK, room.size - done))
        if not block:
            raise ValueError(f"{name} is cut short")
        room[done : done + len(block)] = np.frombuffer(block, np.uint8)
        done += len(block)
    if member.read(1):
        raise ValueError(f"{name} is longer than it says")
