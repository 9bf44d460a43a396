"""Worlds: a rectangular area of unit cells, what each is worth, and where robots cannot go.

The paper's worth field is a Gaussian mixture f(l) = Σ_j ω_j g(l | μ_j, Σ_j) over the centres of the cells
(section 5): cell (x, y) has its centre at (x + 0.5, y + 0.5). Any other map of worths will do as well.

``worth[y, x]`` is the worth of cell (x, y): column x, row y. A mixture is drawn with y upwards, as in the
paper; a map that comes as a table or an image with its first row on top.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Iterable, Sequence
from functools import cache, cached_property
from importlib import resources
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from potentia.errors import InvalidGame, Remedy
from potentia.games.coordinates import Coordinates
from potentia.games.given import finite_array, listed, of_kind
from potentia.kernel import memory
from potentia.kernel.arrays import Fixed, Floats, Ints, any_array, frozen
from potentia.kernel.checks import Integer, OneOf, Real

# what a world is made of
PARTS = ("worth", "blocked", "targets", "origin", "name", "mixture", "cell_size", "unit", "coordinates")
_SHOWN = 6  # cells named in a message
_ON_EDGE = 1e-6  # cells that a point on the edge may be away from it, by rounding
_FARTHEST, _NARROWEST, _WIDEST = 1e9, 1e-9, 1e18  # of means, and of variances: what is beyond would overflow


def listed_cells(cells: Iterable[Sequence[int]], most: int = _SHOWN) -> str:
    """Cells as people read them: (3, 4), (3, 5) and 7 more."""
    named = [f"({int(x)}, {int(y)})" for x, y in cells]
    more = len(named) - most
    return ", ".join(named[:most]) + (f" and {more:,} more" if more > 0 else "")


def _sizes(part: NDArray[np.int32]) -> str:
    """How many cells the parts have, the largest first."""
    sizes = np.bincount(part.reshape(-1))[1:].tolist()
    more = f" and {len(sizes) - _SHOWN:,} smaller ones of" * (len(sizes) > _SHOWN)
    more += f" {sum(sizes[_SHOWN:]):,}" * bool(more)
    return ", ".join(f"{size:,}" for size in sizes[:_SHOWN]) + more


class Mixture(Fixed):
    """A Gaussian mixture in the plane.

    Parameters
    ----------
    weights : array_like
        (M,), which must sum to one.
    means : array_like
        (M, 2).
    covariances : array_like
        (M, 2, 2).
    normalise : bool
        Whether weights are scaled so that they sum to one.

    Examples
    --------
    >>> mixture = pt.games.Mixture([1, 3], [(0, 0), (4, 0)], [np.eye(2)] * 2, normalise=True)
    >>> mixture.weights.tolist(), mixture.density([(4, 0)]).round(3).tolist()
    ([0.25, 0.75], [0.119])
    """

    def __init__(
        self, weights: ArrayLike, means: ArrayLike, covariances: ArrayLike, *, normalise: bool = False
    ) -> None:
        self.weights = _checked_weights(weights, normalise)
        count = self.weights.size
        self.means = finite_array(means, "means", (count, 2), told=", one (x, y) per weight")
        each = ", one 2×2 matrix per weight"
        self.covariances = finite_array(covariances, "covariances", (count, 2, 2), told=each)
        for j, matrix in enumerate(self.covariances):
            _check_covariance(matrix, j)
        farthest = np.abs(self.means).max()
        if farthest > _FARTHEST:
            raise InvalidGame(f"must lie within {_FARTHEST:g} of 0, got {farthest:g}", "means", farthest)
        self._seal()

    @property
    def num_components(self) -> int:
        """How many components it has."""
        return int(self.weights.size)

    def density(self, points: ArrayLike) -> Floats:
        """The density f at points (..., 2).

        Parameters
        ----------
        points : array_like
            (x, y) in the last axis.

        Returns
        -------
        array
            One number per point.
        """
        at = np.asarray(points, np.float64)
        total = np.zeros(at.shape[:-1])
        for weight, mean, covariance in zip(self.weights, self.means, self.covariances, strict=True):
            (a, b), (_, c) = covariance
            determinant = a * c - b * b
            dx, dy = at[..., 0] - mean[0], at[..., 1] - mean[1]
            square = (c * dx * dx - 2 * b * dx * dy + a * dy * dy) / determinant
            total += weight * np.exp(-0.5 * square) / (2 * math.pi * math.sqrt(determinant))
        return total


def _checked_weights(weights: ArrayLike, normalise: bool) -> Floats:
    values = finite_array(weights, "weights")
    if values.ndim != 1 or values.size == 0:
        raise InvalidGame(f"must be a list of at least one number, got shape {values.shape}", "weights", weights)
    if (values <= 0).any():
        j = int(np.argmax(values <= 0))
        raise InvalidGame(f"must be positive, got {values[j]} for component {j}", "weights", values[j])
    try:
        total = math.fsum(values)
    except OverflowError:
        raise InvalidGame(f"must have a finite sum, got up to {values.max():g}", "weights", weights) from None
    if normalise:
        return frozen(values / total)
    if abs(total - 1.0) > 1e-9:
        raise InvalidGame(f"must sum to 1, got {total:.12g}; normalise=True scales them", "weights", total)
    return values


def _check_covariance(matrix: Floats, component: int) -> None:
    name = f"covariances of component {component}"
    if abs(matrix[0, 1] - matrix[1, 0]) > 1e-9 * np.abs(matrix).max():
        raise InvalidGame(f"must be symmetric, got {matrix.tolist()}", name, matrix.tolist())
    if not np.abs(matrix).max() <= _WIDEST:
        raise InvalidGame(f"must be at most {_WIDEST:g}, got {matrix.tolist()}", name, matrix.tolist())
    least = float(np.linalg.eigvalsh(matrix).min())
    if 0 < least < _NARROWEST:
        raise InvalidGame(f"must have eigenvalues of at least {_NARROWEST:g}, got {least:g}", name, least)
    if not least > 1e-12 * np.abs(matrix).max():
        got = f"{matrix.tolist()} with eigenvalue {least:.6g}"
        raise InvalidGame(f"must be positive definite, got {got}", name, matrix.tolist())


class World(Fixed):
    """What the cells of an area are worth, which of them are blocked, and where the targets are.

    Parameters
    ----------
    worth : array_like
        (rows, columns), finite and not negative; ``worth[y, x]`` belongs to cell (x, y).
    blocked : array_like, optional
        The same shape, true where robots cannot go. A blocked cell may have a worth: it can be covered from
        beside it, as a lake from its shore.
    targets : iterable of pairs, optional
        Cells (x, y), for the recorder of targets found; of a mixture, those of its means.
    mixture : Mixture, optional
        What the worth is the density of.
    origin : {"upper", "lower"}
        "upper" draws row 0 on top, "lower" at the bottom.
    name : str
        What it is called.
    cell_size : float, optional
        How long a cell's side is, for axes, tables and distances; left out, lengths are told in cells.
    unit : str
        The unit of that length.
    coordinates : Coordinates, optional
        Where the cells lie outside the map, of a file that says so.

    Examples
    --------
    >>> world = pt.games.World([[0, 1, 0], [2, 0, 3]], blocked=[[0, 1, 0], [0, 1, 0]])
    >>> world.num_free, world.parts()[0]
    (4, 2)
    >>> world.largest_part().cells.tolist()
    [[0, 0], [0, 1]]
    """

    def __init__(
        self,
        worth: ArrayLike,
        *,
        blocked: ArrayLike | None = None,
        targets: Iterable[Sequence[int]] | None = None,
        mixture: Mixture | None = None,
        origin: str = "upper",
        name: str = "map",
        cell_size: float | None = None,
        unit: str = "m",
        coordinates: Coordinates | None = None,
    ) -> None:
        self.worth = _checked_worth(worth)
        self.blocked = _checked_mask(blocked, self.worth.shape)
        self.origin, self.name = OneOf("upper", "lower").of(origin, "origin", InvalidGame), str(name)
        self.mixture = None if mixture is None else of_kind(mixture, Mixture, "a Mixture", "mixture")
        if self.blocked.all():
            raise InvalidGame("leaves no free cell", "blocked")
        self.targets = self._checked_targets(targets)
        length = Real(above=0.0)
        self.cell_size = None if cell_size is None else length.of(cell_size, "cell_size", InvalidGame)
        self.unit = str(unit)
        if coordinates is not None:
            of_kind(coordinates, Coordinates, "Coordinates", "coordinates")
        self.coordinates = coordinates
        self._seal()

    def _checked_targets(self, targets: Iterable[Sequence[int]] | None) -> Ints:
        if targets is None:
            if self.mixture is None:
                return frozen(np.zeros((0, 2)), np.int64)
            found = np.floor(self.mixture.means).astype(np.int64)
            inside = ((found >= 0) & (found < self.size)).all(axis=1)
            return frozen(found[inside], np.int64)
        return self.check_cells(listed(targets, "targets", "cells (x, y)"), "targets")

    def check_cells(self, cells: Any, name: str) -> Ints:
        """Cells (x, y) inside the area, (k, 2), or an error that names the one that is not.

        Parameters
        ----------
        cells : array_like
            Pairs (x, y).
        name : str
            What they are called in an error.

        Returns
        -------
        array
            The cells.
        """
        array = any_array(cells)
        if array.size == 0 and array.ndim:
            return frozen(np.zeros((0, 2)), np.int64)
        if array.ndim != 2 or array.shape[1] != 2 or array.dtype.kind not in "iu":
            raise InvalidGame(f"must be cells (x, y) of whole numbers, got {cells!r:.80}", name, cells)
        outside = ((array < 0) | (array >= self.size)).any(axis=1)
        if outside.any():
            k = int(np.argmax(outside))
            told = f"must lie inside x 0..{self.size[0] - 1} and y 0..{self.size[1] - 1}"
            raise InvalidGame(f"{told}, got ({array[k, 0]}, {array[k, 1]}) {_of(name, k)}", name, cells)
        return frozen(array, np.int64)

    @property
    def size(self) -> tuple[int, int]:
        """(L_x, L_y)."""
        return int(self.worth.shape[1]), int(self.worth.shape[0])

    @property
    def length(self) -> tuple[float, str]:
        """A cell's side, and the unit that lengths are told in."""
        return (1.0, "cells") if self.cell_size is None else (self.cell_size, self.unit)

    @property
    def outside(self) -> Coordinates | None:
        """Coordinates of the cells: those of the file, or lengths from the corner of the first cell; None without."""
        if self.coordinates is not None or self.cell_size is None:
            return self.coordinates
        return Coordinates([self.cell_size, 0, 0, 0, self.cell_size, 0], "", self.unit)

    def axes_names(self, more: bool = False) -> tuple[str, str]:
        """What coordinates of cells are called, with their unit, and with ``more`` their reference system.

        Parameters
        ----------
        more : bool
            Whether the reference system is told.

        Returns
        -------
        tuple of str
            Of x and of y.
        """
        outside = self.outside
        if outside is None:
            return ("x (cells)", "y (cells)") if more else ("x", "y")
        names = outside.names if self.coordinates is not None else ("x", "y")
        told = ", ".join(filter(None, (outside.unit, outside.system if more else "")))
        return tuple(f"{name} ({told})" if told else name for name in names)  # type: ignore[return-value]

    def cells_at(self, points: ArrayLike, name: str = "points") -> Ints:
        """The cells (x, y) in which points in the world's coordinates lie, (k, 2), or an error that names one.

        Points on the edge of the map are on it.

        Parameters
        ----------
        points : array_like
            (k, 2).
        name : str
            What they are called in an error.

        Returns
        -------
        array
            The cells.
        """
        given = any_array(points)
        if given.ndim != 2 or given.shape[1] != 2 or given.dtype.kind not in "iuf" or not np.isfinite(given).all():
            raise InvalidGame(f"must be points of two finite numbers, got {points!r:.80}", name, points)
        outside = self.outside
        if outside is None:
            raise InvalidGame("must be on a map with coordinates or a cell size, and it has neither", name, points)
        cells = outside.back(given)
        beyond = ((cells < -_ON_EDGE) | (cells > np.add(self.size, _ON_EDGE))).any(axis=1)
        if beyond.any():
            k = int(np.argmax(beyond))
            ends = np.sort(outside.at([(0, 0), self.size]), axis=0).T.tolist()
            ranges = [f"{told} {a:.10g} to {b:.10g}" for told, (a, b) in zip(self.axes_names(), ends, strict=True)]
            got = f"({given[k, 0]:.10g}, {given[k, 1]:.10g}) {_of(name, k)}"
            raise InvalidGame(f"must lie on the map, {' and '.join(ranges)}, got {got}", name, points)
        return frozen(np.clip(np.floor(cells), 0, np.subtract(self.size, 1)), np.int64)

    @cached_property
    def cells(self) -> NDArray[np.int32]:
        """The free cells, (F, 2), row by row: action a of a robot is cell ``cells[a]``."""
        y, x = np.nonzero(~self.blocked)
        return frozen(np.stack([x, y], axis=1), np.int32)

    @property
    def num_free(self) -> int:
        """How many cells are free: the actions of a robot."""
        return int(self.blocked.size - self.blocked.sum())

    @property
    def total(self) -> float:
        """All there is to cover."""
        return math.fsum(self.worth.reshape(-1))

    def parts(self, diagonal: bool = True) -> tuple[int, NDArray[np.int32]]:
        """How many connected parts the free cells have, and which part each cell is in; 0 is blocked, 1 the largest.

        Parameters
        ----------
        diagonal : bool
            Whether cells that touch at a corner are connected.

        Returns
        -------
        count : int
            How many.
        part : array
            The number of each cell's part, (rows, columns).
        """
        from scipy import ndimage

        structure = np.ones((3, 3), int) if diagonal else None
        labels, count = ndimage.label(~self.blocked, structure)
        sizes = np.bincount(labels.reshape(-1), minlength=count + 1)[1:]
        order = np.empty(count + 1, np.int32)
        order[0] = 0
        order[np.argsort(-sizes, kind="stable") + 1] = np.arange(1, count + 1)
        return int(count), order[labels]

    def require_connected(self, diagonal: bool = True) -> None:
        """Refuse a world in which not every free cell can be reached from every other.

        Parameters
        ----------
        diagonal : bool
            Whether cells that touch at a corner are connected.
        """
        count, part = self.parts(diagonal)
        if count > 1:
            y, x = np.nonzero(part > 1)
            many = f"{x.size:,} cells are" if x.size > 1 else "1 cell is"
            how = "" if diagonal else "diagonal=False"
            raise InvalidGame(
                f"blocked cells cut the free area into {count:,} parts, of {_sizes(part)} cells, and robots get from "
                f"none to another: {many} cut off from the largest part: {listed_cells(np.stack([x, y], axis=1))}"
            ).advising(
                Remedy(
                    "largest_part",
                    f"open a way, or keep one part: world.largest_part({how}), or another with "
                    f"world.part(K{', ' * bool(how)}{how})",
                )
            )

    def largest_part(self, diagonal: bool = True) -> World:
        """The same world with everything blocked that is cut off from its largest free part.

        Parameters
        ----------
        diagonal : bool
            Whether cells that touch at a corner are connected.

        Returns
        -------
        World
            The other world.
        """
        return self.part(1, diagonal)

    def part(self, which: int, diagonal: bool = True) -> World:
        """The same world with all but one of its connected free parts blocked; 1 is the largest.

        Parameters
        ----------
        which : int
            The number of the part.
        diagonal : bool
            Whether cells that touch at a corner are connected.

        Returns
        -------
        World
            The other world.
        """
        count, part = self.parts(diagonal)
        if not Integer(1, count).holds(which):
            parts = f"{count:,} part{'s' * (count > 1)}, of {_sizes(part)} cells"
            raise InvalidGame(f"must be 1 to {count}, for the free cells have {parts}, got {which!r}", "part", which)
        return self.like(blocked=part != which)

    def each_part(self, diagonal: bool = True) -> list[World]:
        """Every connected free part as a world of its own, the largest first; all have the size of this one.

        Parameters
        ----------
        diagonal : bool
            Whether cells that touch at a corner are connected.

        Returns
        -------
        list of World
            One per part.
        """
        count, part = self.parts(diagonal)
        return [self.like(blocked=part != which, name=f"{self.name}, part {which}") for which in range(1, count + 1)]

    def like(self, **changes: Any) -> World:
        """The same world with some of its parts changed.

        Parameters
        ----------
        **changes : Any
            Parameters of the class.

        Returns
        -------
        World
            The other world.
        """
        return World(**{name: getattr(self, name) for name in PARTS} | changes)

    def __repr__(self) -> str:
        walls = int(self.blocked.sum())
        blocked = f", {walls:,} of them blocked" if walls else ""
        return f"World({self.name}: {self.size[0]}×{self.size[1]} cells{blocked})"

    def _repr_html_(self) -> str:
        from potentia.games.showing import world_card

        return world_card(self)


def _checked_worth(worth: ArrayLike) -> Floats:
    given = _table(worth, "worth")
    if given.dtype == bool:
        given = given.astype(np.float64)
    if given.dtype.kind == "f" and np.isnan(given).any():
        y, x = (int(k) for k in np.argwhere(np.isnan(given))[0][:2]) if given.ndim == 2 else (0, 0)
        told = f"must be a number in every cell, got NaN at ({x}, {y}); block a cell with blocked="
        raise InvalidGame(told, "worth", worth)
    array = finite_array(given, "worth")
    if array.ndim != 2 or array.size == 0:
        raise InvalidGame(f"must be a table of rows and columns, got shape {array.shape}", "worth", worth)
    if (array < 0).any():
        y, x = (int(k) for k in np.argwhere(array < 0)[0])
        raise InvalidGame(f"must not be negative, got {array[y, x]} at ({x}, {y})", "worth", array[y, x])
    if array.max() > 1e300 / array.size:
        raise InvalidGame(f"must be small enough to sum without overflow, got {array.max():g}", "worth", array.max())
    return array


def _table(value: ArrayLike, name: str) -> NDArray[Any]:
    try:
        return np.asarray(value)
    except ValueError:
        told = "must be a table of rows and columns, got rows of different lengths"
        raise InvalidGame(told, name, value) from None


def _checked_mask(blocked: ArrayLike | None, shape: tuple[int, ...]) -> NDArray[np.bool_]:
    if blocked is None:
        return frozen(np.zeros(shape, bool))
    mask = _table(blocked, "blocked")
    if mask.shape != shape:
        raise InvalidGame(f"must have the shape of worth, {shape}, got {mask.shape}", "blocked", mask.shape)
    if mask.dtype.kind not in "biu" or not np.isin(mask, (0, 1)).all():
        raise InvalidGame(f"must be true and false, or 1 and 0, got {mask.dtype}", "blocked", mask.dtype)
    return frozen(mask.astype(bool))


# Mixtures on a grid -----------------------------------------------------------------------------------


def gaussian_world(
    size: Sequence[int],
    weights: ArrayLike,
    means: ArrayLike,
    covariances: ArrayLike,
    *,
    blocked: ArrayLike | None = None,
    normalise: bool = False,
    name: str = "mixture",
) -> World:
    """A Gaussian mixture on ``size`` = (L_x, L_y) cells; a cell's worth is the density at its centre.

    Parameters
    ----------
    size : sequence of int
        Columns and rows.
    weights : array_like
        (M,), which must sum to one.
    means : array_like
        (M, 2).
    covariances : array_like
        (M, 2, 2).
    blocked : array_like, optional
        (rows, columns), true where robots cannot go.
    normalise : bool
        Whether weights are scaled so that they sum to one.
    name : str
        What the world is called.

    Returns
    -------
    World
        The world, its mixture in it.

    Examples
    --------
    >>> world = pt.games.gaussian_world((10, 6), [1.0], [(7, 2)], [np.eye(2)])
    >>> world.worth.shape, world.targets.tolist(), round(world.total, 3)
    ((6, 10), [[7, 2]], 0.981)
    """
    columns, rows = checked_size(size)
    mixture = Mixture(weights, means, covariances, normalise=normalise)
    x, y = np.meshgrid(np.arange(columns) + 0.5, np.arange(rows) + 0.5)
    worth = mixture.density(np.stack([x, y], axis=-1))
    return World(worth, blocked=blocked, mixture=mixture, origin="lower", name=name)


def checked_size(size: Sequence[int]) -> tuple[int, int]:
    """Columns and rows that fit into memory, or an error."""
    try:
        columns, rows = size
    except (TypeError, ValueError):
        raise InvalidGame(f"must be (columns, rows), got {size!r}", "size", size) from None
    if not all(map(Integer(least=1).holds, (columns, rows))):
        raise InvalidGame(f"must be two integers of at least 1, got {size!r}", "size", size)
    memory.require(100 * int(columns) * int(rows), f"a world of {columns}×{rows} cells")
    return int(columns), int(rows)


@cache
def published() -> dict[str, Any]:
    """The paper's world, set-up and results, from the author's thesis (``published.toml`` beside this file)."""
    return tomllib.loads(resources.files("potentia.games").joinpath("published.toml").read_text("utf-8"))


def paper_world() -> World:
    """The world of the paper's case study: 40×40 cells and three targets.

    Returns
    -------
    World
        The world.

    Examples
    --------
    >>> world = pt.games.paper_world()
    >>> world.size, len(world.targets)
    ((40, 40), 3)
    """
    data = published()["world"]
    covariances = [np.eye(2) * sigma**2 for sigma in data["sigmas"]]
    return gaussian_world(data["size"], data["weights"], data["means"], covariances, name="paper")


def _of(name: str, number: int) -> str:
    """Whose a cell or a place is: a robot's, where they are starts."""
    return f"for robot {number}" if name in ("start", "start_at") else f"as number {number}"
