"""Targets that move with a field that drifts: on the means of a mixture, or on a field that is shifted as a whole.

A target is in one cell from one computation of the field to the next. It is found at the first time at which a robot
that is there covers the cell it is in then.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from potentia.games.drift_kernel import REFLECT, WRAP, Drift, Moving, Shifted, Still, reflected
from potentia.games.world import World
from potentia.kernel.arrays import Floats, Ints, frozen
from potentia.kernel.dispatch import at, portable


class MovingTargets(NamedTuple):
    """What compiled code reads of T targets; none where they stay."""

    places: Floats  # (T, 2) at time 0
    velocity: Floats  # (T, 2) cells per step
    edge: int
    columns: int
    rows: int
    every: int  # steps from one cell to the next

    def unhashed(self) -> str:
        """Why they are left out of fingerprints."""
        return "they follow from the world and its drift"


@portable
def moved_to(place: float, velocity: float, time: int, length: int, edge: int) -> Any:
    """The column, or row, of a target at a time; outside 0..length - 1 once it has left."""
    way = reflected(place, velocity, time, length) if edge == REFLECT else place + velocity * time
    if edge == WRAP:
        way = way % length
    return np.int64(min(math.floor(way), length - 1)) if way <= length else np.int64(-1)


@portable
def look_for(targets: MovingTargets, width: int, base: int, time: int, counts: NDArray[np.int32], found: Floats) -> int:
    """Note the targets that somebody covers at this time; how many of them are found for the first time."""
    new = 0
    for k in range(found.shape[0]):
        if found[at(k)] == 0.0:
            x = moved_to(targets.places[at(k), 0], targets.velocity[at(k), 0], time, targets.columns, targets.edge)
            y = moved_to(targets.places[at(k), 1], targets.velocity[at(k), 1], time, targets.rows, targets.edge)
            if x >= 0 and y >= 0 and counts[at(y * width + x + base)] > 0:
                found[at(k)] = 1.0
                new += 1
    return new


def components_of(world: World) -> list[int] | None:
    """Which component of the mixture each target is the mean of; None where targets are of their own."""
    if world.mixture is None:
        return None
    cells = np.floor(world.mixture.means)
    inside = np.flatnonzero(((cells >= 0) & (cells < world.size)).all(axis=1))
    return inside.tolist() if np.array_equal(cells[inside], world.targets) else None


def carried_targets(drift: Moving | Still, targets: ArrayLike, components: list[int] | None) -> MovingTargets:
    """Those of them that move: all or none. ``components`` as :func:`components_of` tells them."""
    if isinstance(drift, Drift) and components is not None:
        ways, edge = (drift.means[components], drift.velocity[components]), REFLECT
    elif isinstance(drift, Shifted):
        cells = np.reshape(targets, (-1, 2))
        ways, edge = (cells + 0.5, np.broadcast_to(drift.velocity, cells.shape)), drift.edge
    else:
        return MovingTargets(frozen(np.zeros((0, 2))), frozen(np.zeros((0, 2))), REFLECT, 0, 0, 1)
    places, velocity = (frozen(part, np.float64) for part in ways)
    return MovingTargets(places, velocity, edge, drift.columns, drift.rows, drift.every)


def cells_at(targets: MovingTargets, time: int) -> Ints:
    """The cells (x, y) at a time, (T, 2); (-1, -1) for a target that has left."""
    out, since = np.full(targets.places.shape, -1), time // targets.every * targets.every
    lengths = (targets.columns, targets.rows)
    for k, (place, velocity) in enumerate(zip(targets.places.tolist(), targets.velocity.tolist(), strict=True)):
        ways = zip(place, velocity, lengths, strict=True)
        there = [moved_to(start, speed, since, length, targets.edge) for start, speed, length in ways]
        if min(there) >= 0:
            out[k] = there
    return out
