"""Where cells lie outside the map: the six numbers of an affine transform, and lengths with a unit.

As in every format of maps the transform is that of corners: the corner (0, 0) of the first cell lies at (c, f), the
next ones a to the right and e upwards; e is negative where the first row is the northernmost, as it mostly is.
"""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from potentia.errors import InvalidGame, Remedy
from potentia.kernel.arrays import Fixed, Floats, any_array
from potentia.kernel.numbers import as_float, is_real

_LENGTH = re.compile(r"\s*([+-]?[0-9.]+(?:[eE][+-]?[0-9]+)?)\s*([A-Za-zµμ][A-Za-zµμ _.-]*?)?\s*")
# what units are called; a US survey foot is longer than a foot by 0.0002 %, less than any map is exact
_SAME = {
    "m": ("metre", "metres", "meter", "meters"),
    "km": ("kilometre", "kilometres", "kilometer", "kilometers"),
    "ft": ("foot", "feet", "us survey foot", "us survey feet", "us-ft", "usft", "ftus", "international foot"),
}
_SHORT = {name: short for short, names in _SAME.items() for name in names}
_SQUARE = 1e-4  # relative: how far the sides of a cell may differ, rounded as they are in files


class Coordinates(Fixed):
    """The reference system of a map.

    ``transform``
        a, b, c, d, e, f: the corner (x, y) of a cell lies at (a x + b y + c, d x + e y + f). Turned or mirrored maps
        are refused: b and d must be 0, a above 0; e may not be 0.
    ``system``
        what the reference system is called, such as "EPSG:25832"; empty where it is not known.
    ``unit``
        of the coordinates, such as "m" or "degrees"; empty where it is not known.
    """

    def __init__(self, transform: ArrayLike, system: str = "", unit: str = "") -> None:
        given = any_array(transform)
        if given.shape != (6,) or given.dtype.kind not in "iuf" or not np.isfinite(given).all():
            raise InvalidGame(f"must be six finite numbers a, b, c, d, e, f, got {transform!r:.80}", "transform")
        a, b, c, d, e, f = map(float, given)
        if b or d or a <= 0 or e == 0:
            raise InvalidGame(
                f"must neither turn nor mirror the map (b = d = 0, a > 0 and e not 0), got a = {a:g}, b = {b:g}, "
                f"d = {d:g}, e = {e:g}; warp it to a grid along the axes first, as with gdalwarp",
                "transform",
            )
        self.transform = (a, b, c, d, e, f)
        self.system, self.unit = str(system), str(unit)
        self._seal()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Coordinates) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash((self.transform, self.system, self.unit))

    def __repr__(self) -> str:
        return f"Coordinates({list(self.transform)}, system={self.system!r}, unit={self.unit!r})"

    @property
    def degrees(self) -> bool:
        """Whether they are longitudes and latitudes, in which cells are no squares."""
        return self.unit == "degrees"

    @property
    def lies(self) -> str:
        """Where the map lies, in words."""
        a, _, c, _, e, f = self.transform
        unit = f" {self.unit}" if self.unit else ""
        cells = f"{a:.12g}" if a == abs(e) else f"{a:.12g} by {abs(e):.12g}"
        corner = f"first corner at {self.names[0]} {c:.12g}, {self.names[1]} {f:.12g}"
        way = "down" if e < 0 else "up"
        return f"{corner}, cells of {cells}{unit}, rows {way}" + f", {self.system}" * bool(self.system)

    @property
    def names(self) -> tuple[str, str]:
        """What the two coordinates are called."""
        return ("longitude", "latitude") if self.degrees else ("easting", "northing")

    @property
    def origin(self) -> str:
        """Where the first row is drawn, so that north is above."""
        return "upper" if self.transform[4] < 0 else "lower"

    @property
    def side(self) -> float:
        """How long the side of a cell is; an error where cells are no squares."""
        a, e = self.transform[0], abs(self.transform[4])
        if abs(a - e) > _SQUARE * a:
            raise InvalidGame(
                f"cells must be squares, got {a:g} by {e:g} {self.unit}; resample the map, "
                f"as with gdalwarp -tr {a:g} {a:g}"
            )
        return a

    def at(self, points: ArrayLike) -> Floats:
        """The coordinates of points (..., 2) in cells: (0.5, 0.5) is the centre of the first one."""
        a, _, c, _, e, f = self.transform
        return np.asarray(points, np.float64) * [a, e] + [c, f]

    def near(self, other: Coordinates) -> bool:
        """Whether cells of both lie in the same places, up to a thousandth of a cell."""
        away = np.abs(np.subtract(self.transform, other.transform))
        return bool(away.max() <= 1e-3 * self.transform[0])

    def back(self, points: ArrayLike) -> Floats:
        """Where points (..., 2) in these coordinates are in cells."""
        a, _, c, _, e, f = self.transform
        return (np.asarray(points, np.float64) - [c, f]) / [a, e]


def length_from(given: Any, name: str = "cell_size") -> tuple[float, str]:
    """A length and its unit, from a number of metres or from a text such as "0.5m", "0.5 m" or "30 ft"."""
    number, unit = given, "m"
    if isinstance(given, str):
        found = _LENGTH.fullmatch(given)
        number = _float(found[1]) if found else None  # also where there are two points
        unit = found[2] or "m" if found else ""
    if not is_real(number) or not 0 < as_float(number) < math.inf:
        raise InvalidGame(f"must be a length above 0, such as 0.5m, got {given!r:.60}", name, given)
    return float(number), unit


def same_unit(one: str, other: str) -> bool:
    """Whether two names are of one unit: "ft" and "US survey foot" are."""
    first, second = (" ".join(unit.lower().replace("_", " ").split()) for unit in (one, other))
    return _SHORT.get(first, first) == _SHORT.get(second, second)


def in_cells(given: Any, side: float | None, unit: str, name: str, also: str = "") -> Any:
    """Lengths, one or several, in cells: those that are texts with a unit, such as "7.5m", by the ``side`` of a cell.

    ``side`` is None where the map has no cell size. What is no text, and texts without a unit, are in cells already.
    ``also`` are words that may be there instead, for the message.
    """
    if isinstance(given, list | tuple):
        return [in_cells(one, side, unit, name, also) for one in given]
    if not isinstance(given, str):
        return given
    number = _float(given)
    if number is not None:
        return number
    found = _LENGTH.fullmatch(given)
    number = _float(found[1]) if found else None
    if found is None or number is None or number < 0:
        wanted = "a number of cells" if side is None else f"a number of cells, or a length such as 7.5{unit}"
        raise InvalidGame(f"must be {also}{wanted}, got {given!r:.60}", name, given)
    if side is None:
        told = f"must be {also}a number of cells, for the map has no cell size, got {given!r:.60}"
        raise InvalidGame(told, name, given).advising(Remedy("cell_size", 'give cell_size, such as "0.5m"'))
    if not same_unit(found[2], unit):
        told = f"must be in {unit}, the map's unit, or a number of cells"
        raise InvalidGame(f"{told}, got {given!r:.60}", name, given)
    return number / side


def _float(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
