"""Maps over time in files: a folder of images, one for each time, or an ``.npy`` file with three axes.

Images follow each other in the natural order of their names, ``frame-9.png`` before ``frame-10.png``; files whose names
begin with a dot, and what GIS programs write beside a map, are left out. All are of one size, and none has walls of its
own: those are given apart, and stay. GeoTIFFs and ASCII grids hold numbers and say where they lie: all must lie in one
place, and a cell without data in one of them is blocked at all times, for walls do not move.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from potentia.errors import InvalidGame
from potentia.games.coordinates import Coordinates
from potentia.games.drift_kinds import Flow, Frames
from potentia.games.formats.map_parts import PER_CELL, first
from potentia.games.formats.maps import GRIDS, IMAGES, checked_length, measure, read_any, read_mask, require_worth
from potentia.games.formats.paths import naming, npy_array, one_of, reading, require_kind
from potentia.games.world import World
from potentia.kernel import memory
from potentia.kernel.archive import array_header
from potentia.kernel.arrays import Floats

_FRAMES = (*IMAGES, *GRIDS)
_BESIDE = (".aux.xml", ".ovr", ".prj", ".tfw")  # what GIS programs write beside a map


def holds_frames(path: str | os.PathLike[str]) -> bool:
    """Whether there is a folder, or an array with three axes, in the place of one map."""
    source = Path(path)
    if source.suffix.lower() != ".npy" or not source.is_file():
        return source.is_dir()
    try:
        with source.open("rb") as raw:
            return len(array_header(raw)[0]) == 3
    except (OSError, ValueError, EOFError):
        return False  # whoever reads it says what is wrong with it


class MapsOverTime(NamedTuple):
    """What such files hold: the worths (T, rows, columns), where nothing is known of them, and where they lie."""

    frames: Floats
    walls: NDArray[np.bool_]
    coordinates: Coordinates | None


def read_frames(path: str | os.PathLike[str], *, band: int | None = None) -> Floats:
    """The worths in a folder of images or in an ``.npy`` file, (T, rows, columns), for :class:`Frames`.

    Parameters
    ----------
    path : str or path
        The folder or file.
    band : int, optional
        Which band of GeoTIFFs, counted from 1, holds the worth.

    Returns
    -------
    array
        The worths.

    Examples
    --------
    >>> np.save("tide.npy", np.ones((4, 2, 3)))
    >>> pt.games.Frames(pt.games.read_frames("tide.npy"), steps=100).frames.shape
    (4, 2, 3)
    """
    return read_maps(Path(path), band).frames


def read_maps(source: Path, band: int | None = None) -> MapsOverTime:
    """The same, with walls and coordinates."""
    with naming(source):
        if source.is_dir():
            found = _from_folder(source, band)
        elif band is not None:
            raise InvalidGame("is for GeoTIFFs", "band", band)
        else:
            stack = require_kind(npy_array(source, 3), "the array", "biuf", "hold real numbers")
            found = MapsOverTime(stack.astype(np.float64), np.zeros(stack.shape[1:], bool), None)
        return found._replace(frames=Frames.checked(found.frames))


def first_world(maps: MapsOverTime, path: Path, blocked: Path | None = None, cell_size: Any = None) -> World:
    """The world of the first frame; a mask may say where more walls are."""
    frames, walls, coordinates = maps
    checked_length(cell_size)
    fields: dict[str, Any] = {"blocked": walls, "coordinates": coordinates, "name": path.stem}
    if coordinates is not None:
        fields["origin"] = coordinates.origin
    with naming(path):
        measure(fields, cell_size)
    if blocked is not None:
        with naming(blocked):
            fields["blocked"] = walls | read_mask(blocked, frames.shape[1:], coordinates)
    return World(frames[0], **fields)


def read_flow(path: str | os.PathLike[str], edge: str = "empty") -> Flow:
    """The flow in an ``.npy`` file, (rows, columns, 2).

    Parameters
    ----------
    path : str or path
        The file.
    edge : {"empty", "wrap"}
        As of :class:`Flow`.

    Returns
    -------
    Flow
        The flow.

    Examples
    --------
    >>> np.save("wind.npy", np.full((2, 3, 2), (0.5, 0.0)))
    >>> pt.games.read_flow("wind.npy", edge="wrap").field.shape
    (2, 3, 2)
    """
    source = Path(path)
    with naming(source):
        if source.suffix.lower() != ".npy":
            raise InvalidGame(f"a flow is read from .npy files, got {source.suffix or 'no suffix'}")
        if not source.is_file():
            raise InvalidGame("there is no such file")
        return Flow(require_kind(npy_array(source, 2), "the array", "biuf", "hold real numbers"), edge)


def _from_folder(folder: Path, band: int | None) -> MapsOverTime:
    with reading("cannot be read"):
        found = (file.name for file in folder.iterdir() if not file.name.startswith("."))
        names = sorted((name for name in found if not name.lower().endswith(_BESIDE)), key=_natural)
    if not names:
        raise InvalidGame(f"expected a folder of images, one for each time ({one_of(_FRAMES)}), got an empty one")
    frames: list[Floats] = []
    walls, coordinates = np.zeros((0, 0), bool), None
    for name in names:
        file = folder / name
        if file.suffix.lower() not in _FRAMES or not file.is_file():
            raise InvalidGame(f"expected nothing but images, {one_of(_FRAMES)}, got {name}")
        with naming(Path(name)):
            read = read_any(file, False, None, band)
            require_worth(read)
            shape = read.values.shape
            if not frames:
                memory.require(PER_CELL * len(names) * read.values.size, f"reading {folder}")
                walls, coordinates = np.zeros(shape, bool), read.coordinates
            if shape != walls.shape:
                wanted = f"{walls.shape[1]}×{walls.shape[0]} pixels, as {names[0]} has"
                raise InvalidGame(f"all images must be of one size: expected {wanted}, got {shape[1]}×{shape[0]}")
            if not _together(coordinates, read.coordinates):
                here, there = _lies(coordinates), _lies(read.coordinates)
                raise InvalidGame(f"all must lie where {names[0]} does, {here}, got {there}")
            if coordinates is None and read.walls.any():
                x, y = first(read.walls) or (0, 0)
                told = f"{read.place(x, y)} is transparent, and walls do not move: give them apart, as blocked"
                raise InvalidGame(told)
            frames.append(read.values)
            walls |= read.walls
    return MapsOverTime(np.where(walls, 0.0, np.stack(frames)), walls, coordinates)


def _together(one: Coordinates | None, other: Coordinates | None) -> bool:
    if one is None or other is None:
        return one is other
    return one.near(other) and (one.system, one.unit) == (other.system, other.unit)


def _lies(place: Coordinates | None) -> str:
    """Where a map lies, in words."""
    if place is None:
        return "nowhere on Earth"
    return place.lies


def _natural(name: str) -> list[Any]:
    """Digits in a name count as numbers."""
    parts = re.split(r"([0-9]+)", name)
    return [(int(part), part) if k % 2 else part.casefold() for k, part in enumerate(parts)] + [name]
