"""Files that hold games and maps: their names and suffixes, and whatever goes wrong with them in words."""

from __future__ import annotations

import math
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from potentia.errors import InvalidGame, NotPotentialGame, PotentiaError, Remedy
from potentia.kernel import memory
from potentia.kernel.archive import array_header
from potentia.kernel.files import whole_file

_DENSEST = 1100  # no archive unpacks to more times its size: deflate's limit is 1032


_ASKED = ("cell_size", "wall_colour", "band")  # of who reads a map, so what goes wrong with it is called by its name


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Begin what goes wrong inside with the file's name."""
    try:
        yield
    except InvalidGame as error:
        if error.parameter in _ASKED:
            told = InvalidGame(f"{error.problem} ({path})", error.parameter, error.value)
            raise told.advising(*error.remedies) from error.__cause__
        raise InvalidGame(f"{path}: {error.message}").advising(*error.remedies) from error.__cause__
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


@contextmanager
def writing(path: Path) -> Iterator[IO[bytes]]:
    """A file to write to, which is there as a whole when the block ends well."""
    try:
        with whole_file(path) as temporary, temporary.open("wb") as file:
            yield file
    except OSError as error:
        raise InvalidGame(f"cannot be written: {error.strerror or error}") from error


def whole_content(path: Path, times: int, advice: str) -> bytes:
    """What is in a file; ``times`` its size is needed in all."""
    with reading("cannot be read"):
        memory.require(times * path.stat().st_size, f"reading {path}", advice)
        return path.read_bytes()


def npy_array(path: Path, times: int) -> NDArray[Any]:
    """The array in an ``.npy`` file; ``times`` its size is needed in all."""
    with reading("not an .npy file of numbers, or damaged"), path.open("rb") as raw:
        size = path.stat().st_size
        memory.require(times * size, f"reading {path}")
        _require_honest(raw, size)
        raw.seek(0)
        return np.lib.format.read_array(raw, allow_pickle=False)


def npz_arrays(path: Path, times: int, wanted: Callable[[list[str]], list[str]]) -> dict[str, NDArray[Any]]:
    """Those arrays in an ``.npz`` file that are ``wanted`` of all that are there."""
    arrays: dict[str, NDArray[Any]] = {}
    # opened here: NumPy leaves the file open where it is no proper archive
    with reading("not an .npz file, or damaged"), path.open("rb") as raw, np.load(raw, allow_pickle=False) as archive:
        names = wanted(archive.files)
        unpacked = sum(info.file_size for info in archive.zip.infolist())
        if unpacked > _DENSEST * path.stat().st_size:
            raise ValueError
        memory.require(times * unpacked, f"reading {path}")
        for name in names:
            if name in arrays:
                raise InvalidGame("is there twice", name)
            with reading(f"{name} is damaged or holds Python objects, which are never loaded"):
                _require_honest_member(archive.zip, name)
                arrays[name] = archive[name]
                arrays[name].dtype  # bytes, if the member is no array  # noqa: B018
    return arrays


def require_kind(array: NDArray[Any], name: str, kinds: str, wanted: str, axes: int | None = None) -> NDArray[Any]:
    """The array, whose type must be of one of these kinds."""
    if array.dtype.kind not in kinds or axes not in (None, array.ndim):
        raise InvalidGame(f"must {wanted}, got shape {array.shape} of {array.dtype}", name, array)
    return array


def _require_honest(array: IO[bytes], size: int) -> None:
    """Refuse an array in NumPy's format whose header claims more than the ``size`` bytes of its file can hold.

    NumPy would ask for memory for all of it first.
    """
    shape, _, dtype = array_header(array)
    if math.prod(shape) * dtype.itemsize > size - array.tell():
        raise ValueError("less is there than the header claims")


def _require_honest_member(archive: zipfile.ZipFile, name: str) -> None:
    """The same for an array in an ``.npz`` file."""
    member = f"{name}.npy"
    if member in archive.NameToInfo:  # what is no array NumPy hands over as it is
        with archive.open(member) as array:
            _require_honest(array, archive.getinfo(member).file_size)


def suffix_of(
    path: Path,
    known: tuple[str, ...],
    what: str,
    there: bool = True,
    convert: Mapping[str, tuple[str, str]] | None = None,
) -> str:
    """The suffix of a file that must be there, or is about to be written; ``what`` is like "maps are read from".

    ``convert`` says of suffixes what they are, and what function of pygambit reads them.
    """
    suffix = path.suffix.lower()
    with reading("there is no such file"):
        if there and path.is_dir():
            raise InvalidGame(f"expected a file, got a folder; {what} {one_of(known)} files")
        if convert and suffix in convert:
            kind, reader = convert[suffix]
            how = f"{reader}({path.name!r}).to_nfg() makes the text of an .nfg file of it"
            raise InvalidGame(f"{what} {one_of(known)} files, got {kind}; {how}")
        if suffix not in known:
            raise InvalidGame(f"{what} {one_of(known)} files, got {path.suffix or 'no suffix'}")
        if there and not path.exists():
            raise InvalidGame("there is no such file")
        if there and not path.is_file():  # reading might never end
            raise InvalidGame("expected a file, got a pipe, a socket or a device")
    return suffix


def one_of(names: tuple[str, ...]) -> str:
    """a, b and c."""
    return f"{', '.join(names[:-1])} and {names[-1]}"
