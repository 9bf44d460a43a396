"""Files that hold games and maps: their names and suffixes, and whatever goes wrong with them in words."""

from __future__ import annotations

import math
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import numpy as np

from potentia.errors import InvalidGame, NotPotentialGame, PotentiaError, Remedy


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Begin what goes wrong inside with the file's name."""
    try:
        yield
    except InvalidGame as error:
        raise InvalidGame(f"{path}: {error}") from error.__cause__
    except NotPotentialGame as error:
        remedy = Remedy("claimed", "leave it out, and test it with check_claim")
        raise NotPotentialGame(f"{path}: {error}", evidence=error.evidence).advising(remedy) from None


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


def require_honest(array: IO[bytes], size: int) -> None:
    """Refuse an array in NumPy's format whose header claims more than the ``size`` bytes of its file can hold.

    NumPy would ask for memory for all of it first.
    """
    version = np.lib.format.read_magic(array)
    header = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, _, dtype = header(array)
    if math.prod(shape) * dtype.itemsize > size - array.tell():
        raise ValueError("less is there than the header claims")


def require_honest_member(archive: zipfile.ZipFile, name: str) -> None:
    """The same for an array in an ``.npz`` file."""
    member = f"{name}.npy"
    if member in archive.NameToInfo:  # what is no array NumPy hands over as it is
        with archive.open(member) as array:
            require_honest(array, archive.getinfo(member).file_size)


def suffix_of(path: Path, known: tuple[str, ...], what: str, there: bool = True) -> str:
    """The suffix of a file that must be there, or is about to be written; ``what`` is like "maps are read from"."""
    suffix = path.suffix.lower()
    with reading("there is no such file"):
        if there and path.is_dir():
            raise InvalidGame(f"expected a file, got a folder; {what} {one_of(known)} files")
        if suffix not in known:
            raise InvalidGame(f"{what} {one_of(known)} files, got {path.suffix or 'no suffix'}")
        if there and not path.exists():
            raise InvalidGame("is no such file", "there", there)
        if there and not path.is_file():  # reading might never end
            raise InvalidGame("expected a file, got a pipe, a socket or a device")
    return suffix


def one_of(names: tuple[str, ...]) -> str:
    """a, b and c."""
    return f"{', '.join(names[:-1])} and {names[-1]}"
