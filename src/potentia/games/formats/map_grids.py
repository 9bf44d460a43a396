"""Maps from geographic information systems: GeoTIFF, by rasterio, and the ESRI ASCII grid.

See :mod:`potentia.games.formats.maps` for what a number means. Nothing but the file itself is read, and of an
ASCII grid the ``.prj`` beside it.
"""

from __future__ import annotations

import re
import struct
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from potentia.errors import InvalidGame, Remedy
from potentia.games.coordinates import Coordinates
from potentia.games.formats.map_parts import PER_CELL, Map
from potentia.games.formats.paths import reading, whole_content
from potentia.kernel import memory

_SCALE, _TIE, _MATRIX, _KEYS = 33550, 33922, 34264, 34735  # TIFF tags of a place on Earth
_MOST_TAGS = 4096
_UNITS = {"metre": "m", "meter": "m", "meters": "m", "metres": "m", "foot": "ft", "feet": "ft", "kilometre": "km"}
_DEGREES = ("degree", "degrees", "dd", "decimal degrees")
_HEADER = ("ncols", "nrows", "xllcorner", "xllcenter", "yllcorner", "yllcenter", "cellsize", "nodata_value")
_NODATA = -9999.0  # where an ASCII grid does not say
_MOST_SIDE = 10**7


# GeoTIFF ----------------------------------------------------------------------------------------------


def is_geotiff(path: Path) -> bool:
    """Whether a TIFF says where on Earth it lies, which makes its pixels numbers instead of shades."""
    with reading("cannot be read"), path.open("rb") as file:
        try:
            order = {b"II": "<", b"MM": ">"}[file.read(2)]
            (kind,) = struct.unpack(order + "H", file.read(2))
            big = kind == 43
            if big:
                file.read(4)
            file.seek(struct.unpack(order + ("Q" if big else "I"), file.read(8 if big else 4))[0])
            (count,) = struct.unpack(order + ("Q" if big else "H"), file.read(8 if big else 2))
            each = 20 if big else 12
            tags = file.read(min(count, _MOST_TAGS) * each)
            found = {struct.unpack_from(order + "H", tags, at)[0] for at in range(0, len(tags) - each + 1, each)}
        except (KeyError, struct.error, OverflowError, ValueError):  # no TIFF, or damaged: whoever reads it will say so
            return False
    return bool(found & {_SCALE, _TIE, _MATRIX, _KEYS})


def read_geotiff(path: Path, band: int | None) -> Map:
    """The numbers of a band; what has none is a wall."""
    try:
        import rasterio
        from rasterio.enums import ColorInterp
    except ImportError:
        raise InvalidGame('is a GeoTIFF, which needs the extra "geo": pip install "potentia[geo]"') from None
    with reading("not a GeoTIFF, or damaged"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of rasterio, about a file that lies nowhere; we say so ourselves
        # no other file, whatever lies beside it
        alone = rasterio.Env(GDAL_DISABLE_READDIR_ON_OPEN="EMPTY_DIR", GDAL_PAM_ENABLED="NO")
        with alone, rasterio.open(path, driver="GTiff") as file:
            bands = [k for k in file.indexes if file.colorinterp[k - 1] != ColorInterp.alpha]
            chosen = _band(band, bands)
            if np.dtype(file.dtypes[chosen - 1]).kind not in "iuf":
                raise InvalidGame(f"expected real numbers, got {file.dtypes[chosen - 1]} in band {chosen}")
            memory.require(PER_CELL * file.width * file.height, f"reading {path}", "make it coarser")
            if file.transform.is_identity:
                told = "has no transform: it lies by ground control points, or nowhere"
                raise InvalidGame(f"{told}; warp it first, as with gdalwarp")
            coordinates = Coordinates(list(file.transform)[:6], *_system(file.crs))
            values = file.read(chosen).astype(np.float64)
            values = values * file.scales[chosen - 1] + file.offsets[chosen - 1]
            walls = (file.read_masks(chosen) == 0) | np.isnan(values)
    return _with_walls(values, walls, coordinates)


def _band(band: int | None, bands: list[int]) -> int:
    if band is None and len(bands) == 1:
        return bands[0]
    if band is None:
        raise InvalidGame(f"the file has {len(bands)} bands").advising(
            Remedy("band", "say with band which one holds the worth, counted from 1")
        )
    if band not in bands:
        raise InvalidGame(f"must be one of the file's, {', '.join(map(str, bands))}, got {band!r}", "band", band)
    return band


def _system(crs: Any) -> tuple[str, str]:
    """What a reference system is called, and its unit; both empty where a file has none."""
    if not crs:
        return "", ""
    wkt = crs.to_wkt()
    code = crs.to_epsg()
    quoted = re.search(r'"([^"]+)"', wkt)
    system = f"EPSG:{code}" if code else quoted[1] if quoted else ""
    if crs.is_geographic:
        return system, "degrees"
    return system, _unit(crs.linear_units)


def _unit(name: str) -> str:
    name = str(name).strip()
    known = _UNITS.get(name.lower(), name)
    return "" if known.lower() == "unknown" else known


def _with_walls(values: NDArray[np.float64], walls: NDArray[np.bool_], coordinates: Coordinates) -> Map:
    return Map(np.where(walls, 0.0, values), walls, lambda x, y: f"cell ({x}, {y})", coordinates)


# ASCII grids ------------------------------------------------------------------------------------------


def read_ascii_grid(path: Path) -> Map:
    """The numbers of an ESRI ASCII grid, its northernmost row first; what has none is a wall."""
    data = whole_content(path, 10, "use a GeoTIFF")
    try:
        words = data.decode("ascii").split()
    except UnicodeDecodeError as error:
        raise InvalidGame(f"expected plain text, got byte {data[error.start]:#04x}") from None
    header, used = _header(words)
    columns, rows = (_count(header, name) for name in ("ncols", "nrows"))
    size = _number(header, "cellsize")
    if size <= 0:
        raise InvalidGame(f"cellsize must be above 0, got {size:g}")
    if len(words) - used != columns * rows:
        told = f"expected {columns:,} × {rows:,} = {columns * rows:,} numbers after the heading"
        raise InvalidGame(f"{told}, got {len(words) - used:,}")
    memory.require(PER_CELL * columns * rows, f"reading {path}", "make it coarser")
    try:
        values = np.array(words[used:], np.float64).reshape(rows, columns)
    except ValueError:
        wrong = next(k for k, word in enumerate(words[used:]) if not _is_number(word))
        y, x = divmod(wrong, columns)
        raise InvalidGame(f"cell ({x}, {y}): expected a number, got {words[used + wrong]!r:.40}") from None
    left, low = (_corner(header, axis, size) for axis in "xy")
    system, unit = _projection(path)
    coordinates = Coordinates([size, 0, left, 0, -size, low + rows * size], system, unit)
    nodata = _number(header, "nodata_value") if "nodata_value" in header else _NODATA
    return _with_walls(values, (values == nodata) | np.isnan(values), coordinates)


def _header(words: list[str]) -> tuple[dict[str, str], int]:
    found: dict[str, str] = {}
    used = 0
    while used + 1 < len(words) and not _is_number(words[used]):
        name = words[used].lower()
        if name not in _HEADER or name in found:
            told = "is there twice" if name in found else "is no line of an ASCII grid's heading"
            raise InvalidGame(f"{words[used]!r:.40} {told}, which has ncols, nrows, xllcorner, yllcorner, cellsize")
        found[name] = words[used + 1]
        used += 2
    for name in ("ncols", "nrows", "cellsize"):
        if name not in found:
            raise InvalidGame(f"an ASCII grid begins with ncols, nrows, xllcorner, yllcorner and cellsize: no {name}")
    return found, used


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


def _number(header: dict[str, str], name: str) -> float:
    number = float(header[name]) if _is_number(header[name]) else np.nan
    if not np.isfinite(number) and name != "nodata_value":
        raise InvalidGame(f"{name} must be a finite number, got {header[name]!r:.40}")
    return number


def _count(header: dict[str, str], name: str) -> int:
    number = _number(header, name)
    if not number.is_integer() or not 1 <= number <= _MOST_SIDE:
        raise InvalidGame(f"{name} must be a whole number of at least 1, got {header[name]!r:.40}")
    return int(number)


def _corner(header: dict[str, str], axis: str, size: float) -> float:
    if f"{axis}llcenter" in header:
        return _number(header, f"{axis}llcenter") - size / 2
    if f"{axis}llcorner" in header:
        return _number(header, f"{axis}llcorner")
    raise InvalidGame(f"an ASCII grid says where it lies: no {axis}llcorner nor {axis}llcenter")


def _projection(path: Path) -> tuple[str, str]:
    """The reference system in the ``.prj`` beside a grid, and its unit; both empty where there is none."""
    beside = path.with_suffix(".prj")
    if not beside.is_file():
        return "", ""
    text = whole_content(beside, 2, "it should be short").decode("utf-8", "replace").strip()
    quoted = re.match(r'\s*(GEOGCS|GEOGCRS|PROJCS|PROJCRS)\s*\[\s*"([^"]*)"', text)
    if quoted and quoted[1].startswith("GEOG"):
        return quoted[2], "degrees"
    units = re.findall(r'(?:LENGTH)?UNIT\s*\[\s*"([^"]+)"', text)
    if quoted and units:
        return quoted[2], _unit(units[-1])
    said = re.search(r"(?im)^\s*units\s+(.+?)\s*$", text)  # as ArcInfo wrote it
    if said:
        return "", "degrees" if said[1].lower() in _DEGREES else _unit(said[1])
    told = f"{beside.name} beside it holds no projection that can be read, got {text[:40]!r}"
    raise InvalidGame(f"{told}; a map without one is read, and a cell_size such as 10m then says what its numbers are")
