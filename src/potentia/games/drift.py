"""A worth field that drifts: the means of its Gaussian mixture move, and turn back at the borders of the area.

A mean at μ with velocity v, in cells per step, is at time n where μ + v·n comes to lie once [0, L] and its mirror
images are folded onto each other (L is the length of the side). The worth of a cell is the density at its centre,
as in a world that stands still; it is computed again every so many steps, and holds in between.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from potentia.errors import InvalidGame
from potentia.games.given import finite_array
from potentia.games.world import Mixture, World
from potentia.kernel.arrays import Floats, frozen
from potentia.kernel.cache import Entry
from potentia.kernel.checks import Integer
from potentia.kernel.dispatch import generic, portable, separate
from potentia.kernel.mathematics import exp

_BY_PYTHON = 60_000  # exponentials; compiling takes longer than so many


class Still(NamedTuple):
    """No drift. A type of its own, so that kernels need not ask."""

    still: bool = True


class Drift(NamedTuple):
    """What compiled code reads: the mixture of M components, how it moves, and how often that shows."""

    weights: Floats  # (M,)
    means: Floats  # (M, 2) at time 0
    velocity: Floats  # (M, 2) cells per step
    covariances: Floats  # (M, 2, 2)
    columns: int
    rows: int
    every: int  # steps between two computations of the field


@portable
def reflected(mean: float, velocity: float, time: int, length: int) -> float:
    """Where a coordinate is at a time; one that does not move may lie outside."""
    if velocity == 0.0:
        return mean
    way = abs(mean + velocity * time) % (2.0 * length)
    return way if way <= length else 2.0 * length - way


@separate
def _fill(drift: Drift, width: int, base: int, time: int, worth: Floats) -> None:
    for y in range(drift.rows):
        for x in range(drift.columns):
            worth[base + y * width + x] = 0.0
    for j in range(drift.weights.shape[0]):
        weight = float(drift.weights[j])
        a, c = float(drift.covariances[j, 0, 0]), float(drift.covariances[j, 1, 1])
        b = float(drift.covariances[j, 0, 1])
        determinant = a * c - b * b
        scale = 2 * math.pi * math.sqrt(determinant)
        left = reflected(float(drift.means[j, 0]), float(drift.velocity[j, 0]), time, drift.columns)
        low = reflected(float(drift.means[j, 1]), float(drift.velocity[j, 1]), time, drift.rows)
        for y in range(drift.rows):
            dy = y + 0.5 - low
            for x in range(drift.columns):
                dx = x + 0.5 - left
                # in the order of Mixture.density
                square = (c * dx * dx - 2 * b * dx * dy + a * dy * dy) / determinant
                worth[base + y * width + x] += weight * exp(-0.5 * square) / scale


@generic
def renew(drift: Any, width: int, base: int, time: int, worth: Floats) -> None:
    """Write the field of a time into ``worth``, where cell (x, y) has the number y · width + x + base."""


@renew.register(Drift)
def _renew(drift: Drift, width: int, base: int, time: int, worth: Floats) -> None:
    _fill(drift, width, base, time, worth)


@generic
def is_due(drift: Any, time: int) -> bool:
    """Whether the field is computed again at this time."""
    return False


@is_due.register(Drift)
def _is_due(drift: Drift, time: int) -> bool:
    return time % drift.every == 0


def _field(drift: Drift, time: int, worth: Floats) -> None:
    renew(drift, drift.columns, 0, time, worth)


_field_entry = Entry(_field)


def field_at(drift: Drift, time: int) -> Floats:
    """The field that a run has at this time, (rows, columns), to the bit."""
    field = np.empty(drift.rows * drift.columns)
    compiled = field.size * drift.weights.size > _BY_PYTHON
    _field_entry(drift, held_since(drift, time), field, compiled=compiled)
    field.setflags(write=False)
    return field.reshape(drift.rows, drift.columns)


def world_at(world: World, drift: Drift, time: int) -> World:
    """A world that stands still, with the field of this time; targets stay where they are."""
    since = held_since(drift, time)
    ways = zip(drift.means.reshape(-1), drift.velocity.reshape(-1), world.size * drift.weights.size, strict=True)
    means = [reflected(mean, velocity, since, length) for mean, velocity, length in ways]
    mixture = Mixture(drift.weights, np.reshape(means, (-1, 2)), drift.covariances)
    return world.like(worth=field_at(drift, time), mixture=mixture, name=f"{world.name} at time {since}")


def held_since(drift: Drift, time: int) -> int:
    """When the field of a time was computed."""
    return time // drift.every * drift.every


def checked_time(time: Any) -> int:
    """An integer of at least 0."""
    return Integer().of(time, "time", InvalidGame)


def require_still(game: Any, what: str) -> None:
    """Refuse a game whose field drifts, where ``what`` takes one that stands still."""
    if getattr(game, "drifts", False):
        raise InvalidGame(
            f"the worth field of {game.describe()} drifts, and {what} takes one that stands still: "
            "use game.at(time), the game as it is at one time"
        )


def checked_drift(world: World, drift: ArrayLike | None, every: Any) -> Drift | Still:
    """The drift of a world's mixture, or an error that names the field; no velocity but 0 is no drift."""
    every = Integer(least=1).of(every, "drift_every", InvalidGame)
    if drift is None:
        return Still()
    mixture = world.mixture
    if mixture is None:
        told = "moves the means of a Gaussian mixture, and the world must have one, as gaussian_world(...) has"
        raise InvalidGame(f"{told}, got {world!r}", "drift", drift)
    count = mixture.num_components
    given = finite_array(drift, "drift", (2,), (count, 2), told=", one velocity (vx, vy) or one per component")
    velocity = frozen(np.broadcast_to(given, (count, 2)))
    _check_motion(world, mixture, velocity)
    if not velocity.any():
        return Still()
    _check_field(world, mixture)
    columns, rows = world.size
    return Drift(mixture.weights, mixture.means, velocity, mixture.covariances, columns, rows, every)


def _check_motion(world: World, mixture: Mixture, velocity: Floats) -> None:
    """No mean may begin outside, or cross the whole area in a step."""
    size = np.array(world.size)
    area = f"area of {size[0]}×{size[1]} cells"
    fast = (np.abs(velocity) > size).any(axis=1)
    if fast.any():
        j = int(np.argmax(fast))
        told = f"is in cells per step and must be no longer than the {area}"
        raise InvalidGame(f"{told}, got {_pair(velocity[j])} for component {j}", "drift", velocity[j])
    outside = ((velocity != 0) & ((mixture.means < 0) | (mixture.means > size))).any(axis=1)
    if outside.any():
        j = int(np.argmax(outside))
        got = f"{_pair(mixture.means[j])} for component {j} of the world"
        raise InvalidGame(f"needs means inside the {area}, got {got}", "drift", velocity[j])


def _check_field(world: World, mixture: Mixture) -> None:
    """A world may be given any worth beside its mixture; what drifts is the density."""
    y, x = np.mgrid[: world.size[1], : world.size[0]] + 0.5
    density = mixture.density(np.stack([x, y], axis=-1))
    off = ~np.isclose(world.worth, density, rtol=1e-9, atol=1e-300)
    if off.any():
        row, column = (int(k) for k in np.argwhere(off)[0])
        told = "needs a worth that is the density of the world's mixture, as in gaussian_world(...)"
        cell = f"{density[row, column]:.6g} at ({column}, {row}), got {world.worth[row, column]:.6g}"
        raise InvalidGame(f"{told}, {cell}", "drift")


def _pair(values: Floats) -> str:
    return f"({values[0]:g}, {values[1]:g})"


def drift_words(drift: Drift) -> list[str]:
    """For the line that describes a game."""
    speeds = np.hypot(*drift.velocity.T)
    one = (drift.velocity == drift.velocity[0]).all()
    said = _pair(drift.velocity[0]) if one else f"{speeds.min():g} to {speeds.max():g}"
    return [f"drift={said}", f"drift_every={drift.every}"]
