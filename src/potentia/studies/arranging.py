"""Where the points of a study stand in its dataset: every run once, at a place that its labels name.

The dimensions are ``game``, ``belief`` and ``rule`` where there are several, then every parameter that varies for any
of them; parameters side by side (zip) share one. A rule that does not have a parameter, as best response has no
``tau``, stands at NaN (an empty text among texts), the last place of that dimension, and nowhere else: to repeat its
runs along ``tau`` would count each as many times. All other places are empty.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from potentia.kernel.numbers import is_real
from potentia.studies.axes import text_of
from potentia.studies.specification import SECTIONS

if TYPE_CHECKING:
    from potentia.studies.store import Study

_EMPTIEST = 16  # places for each point; rules with nothing in common would make a dataset of nothing


@dataclass(frozen=True)
class Layout:
    """The dimensions of a dataset before ``seed``."""

    shape: tuple[int, ...]
    dims: tuple[str, ...]
    coordinates: dict[str, Any]
    places: NDArray[np.int64]  # of each point, in C order


def layout(study: Study) -> Layout:
    """The grid, or one dimension ``point`` where the grid would be nearly empty."""
    points = study.points
    names: dict[str, str] = {section: section for section in SECTIONS} | study.manifest["names"]
    varied = [key for key in names if key not in SECTIONS or any(key in point["labels"] for point in points)]
    columns = {key: column([_at(point, key) for point in points]) for key in varied}
    sides = (next((side for side in study.specification.zip if key in side), [key]) for key in varied)
    groups = dict.fromkeys(tuple(key for key in side if key in columns) for side in sides)
    shape: dict[str, int] = {}
    coordinates: dict[str, Any] = {}
    at: list[list[int]] = []
    for keys in groups:
        rows = list(zip(*(map(_plain, columns[key].tolist()) for key in keys), strict=True))
        order = _ordered(rows, [tuple(point["labels"].items()) for point in points])
        numbers = {row: number for number, row in enumerate(order)}
        at.append([numbers[row] for row in rows])
        dim = "_".join(names[key] for key in keys)
        shape[dim] = len(order)
        first = {row: number for number, row in reversed(list(enumerate(rows)))}
        firsts = [first[row] for row in order]
        coordinates |= {names[key]: (dim, columns[key][firsts], _of(key)) for key in keys}
        coordinates.setdefault(dim, (dim, np.arange(len(order))))
    size = tuple(shape.values())
    if math.prod(size) <= _EMPTIEST * len(points):
        places = np.ravel_multi_index(at, size) if size else np.zeros(1, np.int64)
        if np.unique(places).size == len(points):  # whole numbers that differ may be one number as a double
            return Layout(size, tuple(shape), coordinates, places)
    told = {names[key]: ("point", values, _of(key)) for key, values in columns.items()}
    numbers_of = np.arange(len(points))
    return Layout((len(points),), ("point",), {"point": ("point", numbers_of)} | told, numbers_of)


def _of(key: str) -> dict[str, str]:
    """Whose parameter it is, as an attribute: what is played on one game is drawn in one panel."""
    return {} if key in SECTIONS else {"parameter_of": key.partition(".")[0]}


def _at(point: dict[str, Any], key: str) -> Any:
    return point["labels"].get(key, "") if key in SECTIONS else point["values"].get(key)


def _plain(value: Any) -> Any:
    """None for what does not apply: NaN is not equal to itself."""
    return None if value == "" or (isinstance(value, float) and math.isnan(value)) else value


def _ordered(rows: list[tuple[Any, ...]], owners: list[Any]) -> list[tuple[Any, ...]]:
    """Different rows as they were written; numbers ascending where rules have different ones; None comes last."""
    order = list(dict.fromkeys(rows))
    own: dict[Any, dict[Any, None]] = {}
    for row, owner in zip(rows, owners, strict=True):
        if any(value is not None for value in row):
            own.setdefault(owner, {})[row] = None
    several = len({tuple(found) for found in own.values()}) > 1
    if several and not any(isinstance(value, str) for row in order for value in row):
        return sorted(order, key=lambda row: [math.inf if value is None else value for value in row])
    return sorted(order, key=lambda row: all(value is None for value in row))


def column(values: list[Any]) -> NDArray[Any]:
    """Numbers where all are numbers, texts otherwise; what does not apply is NaN or empty."""
    if all(value is None or is_real(value) for value in values):
        if all(isinstance(value, int) and abs(value) < 2**63 for value in values):
            return np.array(values, np.int64)
        return np.array([np.nan if value is None else float(value) for value in values])
    return np.array(["" if value is None else text_of(value) for value in values])
