"""Worlds in files: a table from a spreadsheet, a greyscale image, NumPy's files, or those of geographic systems.

The first row is on top: the first field, or the upper left pixel, is cell (0, 0); x counts columns to the right,
y rows downwards. What cannot be understood for certain is refused, with its place and what to do about it.

Tables: ``.csv``, ``.tsv``, ``.txt``
    One number, finite and at least 0, for each cell. A wall or lake is ``x``, ``X``, ``#`` or an empty field.
    Fields are separated by semicolons, else tabs, else commas, else blanks. Between semicolons or tabs a comma is a
    decimal comma; with tabs, commas and points in one file, commas separate. A separator at the end of *every* line
    ends no field: write ``x`` for a wall there. No headings, no comments. UTF-8.
Images: ``.png``, ``.jpg``, ``.jpeg``, ``.bmp``, ``.tif``, ``.tiff``, ``.gif``, ``.pgm``
    Brightness over the largest possible one: black is worth 0, white 1. Images of 32 bits or of floats hold numbers,
    taken as they are. A fully transparent pixel is blocked, and one of exactly the ``wall_colour``, if that is given.
    Other colours are refused. An EXIF orientation is applied, so that the map is what viewers show.
GeoTIFF: a ``.tif`` or ``.tiff`` that says where it lies, with the extra ``geo``
    The numbers of its band as they are; of several bands ``band`` says which. What has no data is blocked. The first
    row is drawn where the file says, so that north is above. Its coordinates, the side of a cell and the unit are kept
    in the world. Turned maps and cells that are no squares are refused. In degrees lengths are told in cells, for a
    degree has no length; a file without a projection needs ``cell_size``.
ESRI ASCII grid: ``.asc``
    The same, without an extra. The projection is that of the ``.prj`` beside it.
``.npy``
    A table of numbers, ``worth[y, x]``.
``.npz``
    Everything a :class:`World` has, as :func:`write_world` writes it. Only the array ``worth`` is needed.

A mask of blocked cells comes in the same formats, but ``.npz``: 1, white, ``x``, ``X`` or ``#`` where robots cannot
go, 0 or black where they can, and nothing else. Nothing in a file is ever executed: no pickles.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from potentia.errors import InvalidGame, Remedy, did_you_mean
from potentia.games.coordinates import Coordinates, length_from, same_unit
from potentia.games.formats.map_grids import is_geotiff, read_ascii_grid, read_geotiff
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
GRIDS = (".asc",)
MASK_SUFFIXES = (*TABLES, *IMAGES, *GRIDS, ".npy")
MAP_SUFFIXES = (*MASK_SUFFIXES, ".npz")

_MIXTURE = ("weights", "means", "covariances")
_COORDINATES = ("transform", "system", "coordinates_unit")
_TEXTS = ("origin", "name", "unit", "system", "coordinates_unit")
_FIELDS = ("format", "worth", "blocked", "targets", "origin", "name", "cell_size", "unit", *_COORDINATES, *_MIXTURE)


def read_world(
    path: str | os.PathLike[str],
    *,
    blocked: str | os.PathLike[str] | ArrayLike | None = None,
    targets: Iterable[Sequence[int]] | None = None,
    name: str | None = None,
    cell_size: float | str | None = None,
    wall_colour: str | None = None,
    band: int | None = None,
) -> World:
    r"""The world in a file; the formats and what they mean stand at the top of this module.

    Parameters
    ----------
    path : str or path
        The file.
    blocked : str, path or array_like, optional
        A mask, as a file or as an array, that blocks cells in addition to the walls in the map itself.
    targets : iterable of pairs, optional
        Cells (x, y), for the recorder of targets found.
    name : str, optional
        What to call it; left out, the name in the file, or the file's without its suffix.
    cell_size : float or str, optional
        How long a cell's side is, a number of metres or a text such as "0.5m"; left out, what the file says.
    wall_colour : str, optional
        "#rrggbb": pixels of exactly this colour are blocked, for images.
    band : int, optional
        Which band of a GeoTIFF, counted from 1, holds the worth.

    Returns
    -------
    World
        The world.

    Examples
    --------
    >>> with open("yard.csv", "w") as file:
    ...     _ = file.write("1,0,x\n0,2,0\n")
    >>> world = pt.games.read_world("yard.csv", cell_size="0.5m")
    >>> world.name, world.num_free, world.cell_size
    ('yard', 5, 0.5)
    """
    source = Path(path)
    if name is not None:
        of_kind(name, str, "text", "name")
    checked_length(cell_size)
    with naming(source):
        if suffix_of(source, MAP_SUFFIXES, "maps are read from") == ".npz":
            for given, asked in ((wall_colour, "wall_colour"), (band, "band")):
                if given is not None:
                    raise InvalidGame("is not for .npz files", asked, given)
            fields = _world_fields(npz_arrays(source, 5, _known))
        else:
            read = read_any(source, False, wall_colour, band)
            require_worth(read)
            fields = {"worth": read.values, "blocked": read.walls, "coordinates": read.coordinates}
            if read.coordinates is not None:
                fields["origin"] = read.coordinates.origin
        measure(fields, cell_size)
    mask: Any = blocked
    if isinstance(blocked, str | os.PathLike):
        with naming(Path(blocked)):
            mask = read_mask(Path(blocked), fields["worth"].shape, fields.get("coordinates"))
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

    Parameters
    ----------
    world : World
        What to write.
    path : str or path
        The file, its suffix the format.

    Returns
    -------
    Path
        The file that was written.

    Examples
    --------
    >>> path = pt.games.write_world(pt.games.World([[1, 0, 2]]), "strip.csv")
    >>> pt.games.read_world(path).worth.tolist()
    [[1.0, 0.0, 2.0]]
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


def read_any(path: Path, mask: bool, wall_colour: str | None = None, band: int | None = None) -> Map:
    """What a file holds, whatever its format."""
    suffix = path.suffix.lower()
    geotiff = suffix in (".tif", ".tiff") and is_geotiff(path)
    for given, name, fits, kind in (
        (wall_colour, "wall_colour", suffix in IMAGES and not geotiff, "images"),
        (band, "band", geotiff, "GeoTIFFs"),
    ):
        if given is not None and not fits:
            raise InvalidGame(f"is for {kind}", name, given)
    if suffix == ".npy":
        return _read_npy(path)
    if suffix in GRIDS:
        return read_ascii_grid(path)
    if geotiff:
        return read_geotiff(path, band)
    return read_table(path, mask) if suffix in TABLES else read_image(path, mask, wall_colour)


def require_worth(read: Map) -> None:
    """Refuse numbers that are no worths, by the place of the first."""
    if (spot := first(~np.isfinite(read.values) | (read.values < 0))) is not None:
        wrong = read.values[spot[1], spot[0]]
        raise InvalidGame(f"{read.place(*spot)}: worth must be finite and at least 0, got {wrong:g}")


def checked_length(cell_size: float | str | None) -> tuple[float, str] | None:
    """How long a cell's side is said to be: a text that is none is no fault of the file's."""
    return None if cell_size is None else length_from(cell_size)


def measure(fields: dict[str, Any], cell_size: float | str | None) -> None:
    """How long a cell's side is, as was given and as the file says."""
    given = checked_length(cell_size)
    coordinates = fields.get("coordinates")
    told: tuple[Any, Any] | None
    if coordinates is not None and coordinates.unit and not coordinates.degrees:
        told = coordinates.side, coordinates.unit
    else:
        told = (fields["cell_size"], fields.get("unit", "m")) if "cell_size" in fields else None
        if coordinates is not None and not coordinates.unit and given is None and told is None:
            said = f"the file has cells of {coordinates.side:g} and does not say in which unit: it has no projection"
            raise InvalidGame(said).advising(Remedy("cell_size", 'give cell_size, such as "0.5m"'))
    if given and told and not (same_unit(given[1], told[1]) and math.isclose(given[0], told[0])):
        raise InvalidGame(
            f"must be what the file says, {told[0]:g} {told[1]}, or left out, got {cell_size!r}", "cell_size", cell_size
        )
    if (known := told or given) is not None:
        fields["cell_size"], fields["unit"] = known


def read_mask(path: Path, shape: tuple[int, ...], coordinates: Coordinates | None = None) -> NDArray[np.bool_]:
    """Which cells a file blocks on a map of this shape."""
    suffix = suffix_of(path, MASK_SUFFIXES, "masks are read from")
    read = read_any(path, mask=True)
    if read.coordinates is not None and coordinates is not None and not coordinates.near(read.coordinates):
        raise InvalidGame(f"a mask must lie where its map does, {coordinates.lies}, got {read.coordinates.lies}")
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
        (world.cell_size is not None, "a cell_size"),
        (world.coordinates is not None, "coordinates"),
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
        text = name in _TEXTS
        kinds, wanted = ("U", "hold one text") if text else ("biuf", "hold real numbers")
        require_kind(array, name, kinds, wanted, axes=0 if text else None)
        fields[name] = str(array) if text else array
    parts = {name: fields.pop(name) for name in _MIXTURE if name in fields}
    if parts and len(parts) < len(_MIXTURE):
        raise InvalidGame(f"a mixture must have {one_of(_MIXTURE)}, got only {', '.join(parts)}")
    if parts:
        fields["mixture"] = Mixture(**parts)
    place = [fields.pop(name) for name in _COORDINATES if name in fields]
    if place and len(place) < len(_COORDINATES):
        raise InvalidGame(f"coordinates must have {one_of(_COORDINATES)}")
    if place:
        fields["coordinates"] = Coordinates(*place)
    if "cell_size" in fields and fields["cell_size"].ndim == 0:
        fields["cell_size"] = fields["cell_size"].item()
    return fields


def grid_fields(path: Path) -> dict[str, Any]:
    """What an ASCII grid and the ``.prj`` beside it say, as the arrays of an archive: one file instead of two."""
    with naming(path):
        read = read_ascii_grid(path)
        assert read.coordinates is not None
        place: dict[str, Any] = {"coordinates": read.coordinates, "origin": read.coordinates.origin}
        return _npz_fields(World(read.values, blocked=read.walls, name=path.stem, **place))


def _npz_fields(world: World) -> dict[str, Any]:
    plain = [name for name in PARTS if name not in ("mixture", "coordinates", "cell_size", "unit")]
    fields: dict[str, Any] = {name: getattr(world, name) for name in plain}
    if world.cell_size is not None:
        fields |= {"cell_size": world.cell_size, "unit": world.unit}
    if (place := world.coordinates) is not None:
        fields |= {"transform": place.transform, "system": place.system, "coordinates_unit": place.unit}
    if world.mixture is not None:
        fields |= {name: getattr(world.mixture, name) for name in _MIXTURE}
    return {"format": FORMAT, **fields}
