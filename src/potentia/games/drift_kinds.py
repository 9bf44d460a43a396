"""How the worth of any world may change: as a whole, along a flow, or as it is given at some times."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from potentia.errors import InvalidGame
from potentia.games.drift_kernel import EDGES
from potentia.games.given import finite_array
from potentia.kernel.arrays import Fixed, Floats, any_array
from potentia.kernel.checks import Flag, Integer, OneOf

VELOCITY = "(vx, vy) in cells per step"


class Shift(Fixed):
    """The whole field moves.

    Parameters
    ----------
    velocity : array_like
        (vx, vy), cells per step; parts of a cell are interpolated, from the field of time 0, so that nothing blurs.
    edge : {"reflect", "wrap", "empty"}
        What happens at the borders: "reflect", worth turns back there as a ball does; "wrap", what leaves on one side
        comes in on the other; "empty", it is gone, and nothing comes in. Targets move along.

    Examples
    --------
    >>> shift = pt.games.Shift((0.1, 0.0), edge="wrap")
    >>> game = pt.games.Coverage(pt.games.World([[4, 0, 0]]), robots=1, delta=0.5, flags=False, drift=shift)
    >>> game.worth_at(10).tolist()
    [[0.0, 4.0, 0.0]]
    """

    edges = EDGES

    def __init__(self, velocity: ArrayLike, edge: str = "reflect") -> None:
        self.velocity = finite_array(velocity, "velocity", (2,), told=f", {VELOCITY}")
        self.edge = OneOf(*self.edges).of(edge, "edge", InvalidGame)
        self._seal()

    def __repr__(self) -> str:
        return f"Shift({pair(self.velocity)}, {self.edge})"


class Flow(Fixed):
    """The field is carried along a flow that is the same at all times: worth stays what it is on its way.

    Parameters
    ----------
    field : array_like
        (rows, columns, 2), the velocity (vx, vy) at each cell, in cells per step.
    edge : {"empty", "wrap"}
        "empty", where the flow comes in from outside it brings nothing; or "wrap", what leaves on one side comes in on
        the other. A flow that turns back at a border says so itself. Targets stay where they are.

    Examples
    --------
    >>> flow = pt.games.Flow(np.full((1, 3, 2), (0.5, 0.0)))
    >>> game = pt.games.Coverage(pt.games.World([[4, 0, 0]]), robots=1, delta=0.5, flags=False, drift=flow)
    >>> game.worth_at(20).round(3).tolist()  # it has left
    [[0.0, 0.0, 0.0]]
    """

    edges = ("empty", "wrap")

    def __init__(self, field: ArrayLike, edge: str = "empty") -> None:
        self.field = finite_array(field, "field")
        if self.field.ndim != 3 or self.field.shape[2] != 2 or not self.field.size:
            told = "must have shape (rows, columns, 2), one velocity (vx, vy) for each cell"
            raise InvalidGame(f"{told}, got {self.field.shape}", "field", field)
        self.edge = OneOf(*self.edges).of(edge, "edge", InvalidGame)
        self._seal()

    def __repr__(self) -> str:
        return f"Flow({self.field.shape[1]}×{self.field.shape[0]} velocities, {self.edge})"


class Frames(Fixed):
    """The field is given at some times, and linear in between.

    Parameters
    ----------
    frames : array_like
        (T, rows, columns), at least two, finite and not negative; the first is the worth of the world.
    steps : int
        Frame k holds at time k · ``steps``.
    periodic : bool
        Whether the first follows the last; if not, the last stays. Targets stay where they are.

    Examples
    --------
    >>> frames = pt.games.Frames([[[4.0, 0.0]], [[0.0, 4.0]]], steps=100)
    >>> game = pt.games.Coverage(pt.games.World([[4, 0]]), robots=1, delta=0.5, flags=False, drift=frames)
    >>> game.worth_at(50).tolist(), game.worth_at(200).tolist()
    ([[2.0, 2.0]], [[0.0, 4.0]])
    """

    def __init__(self, frames: ArrayLike, steps: int, periodic: bool = False) -> None:
        given = any_array(frames)
        self.frames = self.checked(given.astype(np.float64) if given.dtype == bool else frames)
        self.steps = Integer(least=1).of(steps, "steps", InvalidGame)
        self.periodic = Flag().of(periodic, "periodic", InvalidGame)
        self._seal()

    @staticmethod
    def checked(frames: ArrayLike) -> Floats:
        """Frames of one shape that hold worths, or an error that names the one that is wrong.

        Parameters
        ----------
        frames : array_like
            (T, rows, columns).

        Returns
        -------
        array
            The same, of floats.
        """
        given = any_array(frames)
        if given.dtype.kind == "O" and given.ndim == 0:
            shapes = sorted({any_array(part).shape for part in frames}) if isinstance(frames, list | tuple) else []
            if len(shapes) > 1:
                raise InvalidGame(f"must be of one size, got {' and '.join(map(str, shapes))}", "frames")
        if given.dtype.kind == "f" and given.ndim == 3 and not (fine := np.isfinite(given)).all():
            k, y, x = (int(part) for part in np.argwhere(~fine)[0])
            raise InvalidGame(f"must be finite, got {given[k, y, x]} at ({x}, {y}) of frame {k}", "frames")
        array = finite_array(frames, "frames")
        if array.ndim != 3 or not array.size or len(array) < 2:
            told = "must have shape (T, rows, columns) with at least two frames"
            raise InvalidGame(f"{told}, got {array.shape}", "frames", array.shape)
        if (array < 0).any():
            k, y, x = (int(part) for part in np.argwhere(array < 0)[0])
            raise InvalidGame(f"must not be negative, got {array[k, y, x]} at ({x}, {y}) of frame {k}", "frames")
        if array.max() > 1e300 / array[0].size:
            raise InvalidGame(f"must be small enough to sum without overflow, got {array.max():g}", "frames")
        return array

    def __repr__(self) -> str:
        return f"Frames({len(self.frames)} every {self.steps} steps{', periodic' * self.periodic})"


KINDS: dict[str, Any] = {"shift": Shift, "flow": Flow, "frames": Frames}


def pair(values: Floats) -> str:
    """A velocity, or a place, as people read it."""
    return f"({values[0]:g}, {values[1]:g})"
