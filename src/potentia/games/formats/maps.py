"""Worlds in files: a table from a spreadsheet, a greyscale image, or NumPy's files.

The first row is on top: the first field, or the upper left pixel, is cell (0, 0); x counts columns to the right,
y rows downwards. What cannot be understood for certain is refused, with its place and what to do about it.

Tables: ``.csv``, ``.tsv``, ``.txt``
    One number, finite and at least 0, for each cell. A wall or lake is ``x``, ``X``, ``#`` or an empty field.
    Fields are separated by semicolons, else tabs, else commas, else blanks. Between semicolons or tabs a comma is a
    decimal comma; with tabs, commas and points in one file, commas separate. A separator at the end of *every* line
    ends no field: write ``x`` for a wall there. No headings, no comments. UTF-8.
Images: ``.png``, ``.jpg``, ``.jpeg``, ``.bmp``, ``.tif``, ``.tiff``, ``.gif``, ``.pgm``
    Brightness over the largest possible one: black is worth 0, white 1. Images of 32 bits or of floats hold numbers,
    taken as they are. A fully transparent pixel is blocked. Colours are refused. An EXIF orientation is applied, so
    that the map is what viewers show.
``.npy``
    A table of numbers, ``worth[y, x]``.
``.npz``
    Everything a :class:`World` has, as :func:`write_world` writes it. Only the array ``worth`` is needed.

A mask of blocked cells comes in the same formats, but ``.npz``: 1, white, ``x``, ``X`` or ``#`` where robots cannot
go, 0 or black where they can, and nothing else. Nothing in a file is ever executed: no pickles.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from potentia.errors import InvalidGame, did_you_mean
from potentia.games.formats.map_images import read_image
from potentia.games.formats.map_parts import PER_CELL, Map, first
from potentia.games.formats.map_tables import read_table
from potentia.games.formats.paths import naming, npy_array, npz_arrays, one_of, require_kind, suffix_of, writing
from potentia.games.given import of_kind
from potentia.games.world import PARTS, Mixture, World
from potentia.kernel import memory

FORMAT = 1
TABLES = (".csv", ".tsv", ".txt")
IMAGES = (".png", ".jpg", ".jpeg", ".bmp", ".tif", ".tiff", ".gif", ".pgm")
MASK_SUFFIXES = (*TABLES, *IMAGES, ".npy")
MAP_SUFFIXES = (*MASK_SUFFIXES, ".npz")

_MIXTURE = ("weights", "means", "covariances")
_FIELDS = ("format", "worth", "blocked", "targets", "origin", "name", *_MIXTURE)


def read_world(
    path: str | os.PathLike[str],
    *,
    blocked: str | os.PathLike[str] | ArrayLike | None = None,
    targets: Iterable[Sequence[int]] | None = None,
    name: str | None = None,
) -> World:
    """The world in a file; the formats and what they mean stand at the top of this module.

    ``blocked``
        a mask, as a file or as an array, that blocks cells in addition to the walls in the map itself.
    ``targets``
        cells (x, y), for the recorder of targets found.
    ``name``
        what to call it; left out, the name in the file, or the file's without its suffix.
    """
    source = Path(path)
    if name is not None:
        of_kind(name, str, "text", "name")
    with naming(source):
        if suffix_of(source, MAP_SUFFIXES, "maps are read from") == ".npz":
            fields = _world_fields(npz_arrays(source, 5, _known))
        else:
            read = _read(source, mask=False)
            if (spot := first(~np.isfinite(read.values) | (read.values < 0))) is not None:
                wrong = read.values[spot[1], spot[0]]
                raise InvalidGame(f"{read.place(*spot)}: worth must be finite and at least 0, got {wrong:g}")
            fields = {"worth": read.values, "blocked": read.walls}
    mask: Any = blocked
    if isinstance(blocked, str | os.PathLike):
        with naming(Path(blocked)):
            mask = read_mask(Path(blocked), fields["worth"].shape)
    fields["name"] = name if name is not None else fields.get("name", source.stem)
    if targets is not None:
        fields["targets"] = targets
    with naming(source):
        world = World(**fields)
        if mask is None:
            return world
        return World(**fields | {"blocked": world.blocked | World(world.worth, blocked=mask).blocked})


def write_world(world: World, path: str | os.PathLike[str]) -> Path:
    """Write a world for :func:`read_world`: everything to ``.npz``, or, if nothing but its name is lost, to ``.csv``.

    In ``.csv`` walls are ``x``, and a number has the digits that bring it back.
    """
    target = Path(path)
    if type(world) is not World:  # what a subclass adds would be lost
        raise InvalidGame(f"a map holds a World, got {world!r:.60}")
    with naming(target):
        if suffix_of(target, (".npz", ".csv"), "maps are written to", there=False) == ".csv":
            _require_nothing_lost(world)
        with writing(target) as file:
            if target.suffix.lower() == ".csv":
                file.writelines(_lines(world))
            else:
                np.savez(file, **_npz_fields(world))
    return target


# Any format -------------------------------------------------------------------------------------------


def _read(path: Path, mask: bool) -> Map:
    suffix = path.suffix.lower()
    if suffix == ".npy":
        return _read_npy(path)
    return read_table(path, mask) if suffix in TABLES else read_image(path, mask)


def read_mask(path: Path, shape: tuple[int, ...]) -> NDArray[np.bool_]:
    """Which cells a file blocks on a map of this shape."""
    suffix = suffix_of(path, MASK_SUFFIXES, "masks are read from")
    read = _read(path, mask=True)
    if read.values.shape != shape:
        wanted, got = (f"{columns}×{rows}" for rows, columns in (shape, read.values.shape))
        raise InvalidGame(f"a mask must have the size of its map, {wanted} cells, got {got}")
    if (spot := first((read.values != 0) & (read.values != 1))) is not None:
        hint = "; JPEG blurs edges, use PNG" if suffix in (".jpg", ".jpeg") else ""
        wrong = read.values[spot[1], spot[0]]
        raise InvalidGame(
            f"{read.place(*spot)}: a mask must be 1 (white) where blocked and 0 (black) where free, got {wrong:g}{hint}"
        )
    return read.walls | (read.values == 1)


# Tables to write ------------------------------------------------------------------------------------


def _lines(world: World) -> Iterator[bytes]:
    for row, walls in zip(world.worth, world.blocked, strict=True):
        fields = ("x" if wall else repr(v).removesuffix(".0") for v, wall in zip(row.tolist(), walls, strict=True))
        yield (",".join(fields) + "\n").encode()


def _require_nothing_lost(world: World) -> None:
    spot = first(world.blocked & (world.worth > 0))
    for lost, what in (
        (world.mixture is not None, "a mixture"),
        (len(world.targets) > 0, "targets"),
        (world.origin != "upper", f"origin {world.origin!r}"),
        (spot is not None, f"the worth of blocked cell {spot}"),
    ):
        if lost:
            raise InvalidGame(f"a .csv file cannot hold {what}; write .npz")


# NumPy's files ----------------------------------------------------------------------------------------


def _read_npy(path: Path) -> Map:
    found = require_kind(npy_array(path, 1), "the array", "biuf", "hold real numbers")
    if found.ndim != 2 or not found.size:
        raise InvalidGame(f"expected an array of rows and columns, worth[y, x], got shape {found.shape}")
    memory.require(PER_CELL * found.size, f"reading {path}")
    return Map(found.astype(np.float64), np.zeros(found.shape, bool), lambda x, y: f"cell ({x}, {y})")


def _known(names: list[str]) -> list[str]:
    for name in names:
        if name not in _FIELDS:
            hint = did_you_mean(name, _FIELDS)
            raise InvalidGame(f"unknown array {name!r:.60}{hint} (known are {one_of(_FIELDS)})")
    return names


def _world_fields(arrays: dict[str, NDArray[Any]]) -> dict[str, Any]:
    """The arrays of an archive as :class:`World` takes them. What they hold is checked there."""
    made = arrays.pop("format", np.array(FORMAT))
    if made.ndim or made.dtype.kind not in "iu" or made != FORMAT:
        raise InvalidGame(f"the file has format {made}, this version reads {FORMAT}")
    if "worth" not in arrays:
        raise InvalidGame(f"expected an array worth, got {', '.join(arrays) or 'nothing'}")
    fields: dict[str, Any] = {}
    for name, array in arrays.items():
        text = name in ("origin", "name")
        kinds, wanted = ("U", "hold one text") if text else ("biuf", "hold real numbers")
        require_kind(array, name, kinds, wanted, axes=0 if text else None)
        fields[name] = str(array) if text else array
    parts = {name: fields.pop(name) for name in _MIXTURE if name in fields}
    if parts and len(parts) < len(_MIXTURE):
        raise InvalidGame(f"a mixture must have {one_of(_MIXTURE)}, got only {', '.join(parts)}")
    if parts:
        fields["mixture"] = Mixture(**parts)
    return fields


def _npz_fields(world: World) -> dict[str, Any]:
    fields: dict[str, Any] = {name: getattr(world, name) for name in PARTS if name != "mixture"}
    if world.mixture is not None:
        fields |= {name: getattr(world.mixture, name) for name in _MIXTURE}
    return {"format": FORMAT, **fields}
