"""Maps over time in files: a folder of images, one for each time, or an ``.npy`` file with three axes.

Images follow each other in the natural order of their names, ``frame-9.png`` before ``frame-10.png``; files whose names
begin with a dot are left out. All are of one size, and none has walls of its own: those are given apart, and stay.
GeoTIFFs, which hold numbers and say where they lie, are refused.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import numpy as np

from potentia.errors import InvalidGame
from potentia.games.drift_kinds import Flow, Frames
from potentia.games.formats.map_grids import is_geotiff
from potentia.games.formats.map_images import read_image
from potentia.games.formats.map_parts import PER_CELL, first
from potentia.games.formats.maps import IMAGES, read_mask
from potentia.games.formats.paths import naming, npy_array, one_of, reading, require_kind
from potentia.games.world import World
from potentia.kernel import memory
from potentia.kernel.archive import array_header
from potentia.kernel.arrays import Floats


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


def read_frames(path: str | os.PathLike[str]) -> Floats:
    """The worths in a folder of images or in an ``.npy`` file, (T, rows, columns), for :class:`Frames`."""
    source = Path(path)
    with naming(source):
        if source.is_dir():
            return Frames.checked(_from_images(source))
        found = require_kind(npy_array(source, 3), "the array", "biuf", "hold real numbers")
        return Frames.checked(found.astype(np.float64))


def first_world(frames: Floats, path: Path, blocked: Path | None = None) -> World:
    """The world of the first frame; a mask may say where its walls are."""
    mask = None
    if blocked is not None:
        with naming(blocked):
            mask = read_mask(blocked, frames.shape[1:])
    return World(frames[0], blocked=mask, name=path.stem)


def read_flow(path: str | os.PathLike[str], edge: str = "empty") -> Flow:
    """The flow in an ``.npy`` file, (rows, columns, 2)."""
    source = Path(path)
    with naming(source):
        if source.suffix.lower() != ".npy":
            raise InvalidGame(f"a flow is read from .npy files, got {source.suffix or 'no suffix'}")
        if not source.is_file():
            raise InvalidGame("there is no such file")
        return Flow(require_kind(npy_array(source, 2), "the array", "biuf", "hold real numbers"), edge)


def _from_images(folder: Path) -> Floats:
    with reading("cannot be read"):
        names = sorted((file.name for file in folder.iterdir() if not file.name.startswith(".")), key=_natural)
    if not names:
        raise InvalidGame(f"expected a folder of images, one for each time ({one_of(IMAGES)}), got an empty one")
    frames: list[Floats] = []
    for name in names:
        file = folder / name
        if file.suffix.lower() not in IMAGES or not file.is_file():
            raise InvalidGame(f"expected nothing but images, {one_of(IMAGES)}, got {name}")
        with naming(Path(name)):
            if file.suffix.lower() in (".tif", ".tiff") and is_geotiff(file):
                told = "is a GeoTIFF, whose numbers are no shades: read each with read_world"
                raise InvalidGame(f"{told}, and give their worth as an .npy file with three axes")
            read = read_image(file, mask=False)
            if read.walls.any():
                x, y = first(read.walls) or (0, 0)
                told = f"{read.place(x, y)} is transparent, and walls do not move: give them apart, as blocked"
                raise InvalidGame(told)
            shape = read.values.shape
            if frames and shape != frames[0].shape:
                wanted = f"{frames[0].shape[1]}×{frames[0].shape[0]} pixels, as {names[0]} has"
                raise InvalidGame(f"all images must be of one size: expected {wanted}, got {shape[1]}×{shape[0]}")
            if not frames:
                memory.require(PER_CELL * len(names) * read.values.size, f"reading {folder}")
            frames.append(read.values)
    return np.stack(frames)


def _natural(name: str) -> list[Any]:
    """Digits in a name count as numbers."""
    parts = re.split(r"([0-9]+)", name)
    return [(int(part), part) if k % 2 else part.casefold() for k, part in enumerate(parts)] + [name]
