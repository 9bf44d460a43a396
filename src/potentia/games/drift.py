"""A worth field that drifts: what is told of it, checked; and its field at any time.

*A mixture* whose means move: a mean at μ with velocity v, in cells per step, is at time n where μ + v·n comes to lie
once [0, L] and its mirror images are folded onto each other (L is the length of the side). The worth of a cell is the
density at its centre, as in a world that stands still.

*Any field* may be shifted (:class:`Shift`), carried along a flow (:class:`Flow`), or given at some times
(:class:`Frames`). Where its worth comes from between the centres of cells, it is interpolated linearly.

A field is computed again every so many steps, and holds in between.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from potentia.errors import InvalidGame, look_up
from potentia.games.drift_kernel import AGAIN, EDGES, Carried, Drift, Framed, Moving, Shifted, Still, reflected, renew
from potentia.games.drift_kinds import KINDS, Flow, Frames, Shift, pair
from potentia.games.given import finite_array
from potentia.games.moving_targets import carried_targets, cells_at, components_of
from potentia.games.world import Mixture, World
from potentia.kernel import memory
from potentia.kernel.arrays import Floats, Ints, any_array, frozen
from potentia.kernel.cache import Compiled, Entry
from potentia.kernel.checks import Integer

_BY_PYTHON = 60_000  # exponentials, or as much else; compiling takes longer than so many
_EVERY = 10  # steps between two computations of a field, where nothing is said
_PART = 0.5  # cells that a step of the midpoint rule leads at most


# Any time ---------------------------------------------------------------------------------------------


def _field(drift: Moving, since: int, time: int, source: Floats, worth: Floats) -> None:
    renew(drift, drift.columns, 0, since, time, source, worth)


_field_entry = Entry(_field)


def new_source(drift: Moving | Still) -> Floats:
    """Room for where the worth of each cell was at time 0, where that is followed."""
    return np.zeros(drift.field.size * 2 if isinstance(drift, Carried) else 0)


def fields_over(drift: Moving, times: Iterable[int]) -> Iterator[Floats]:
    """The fields that a run has at these times, which do not fall, (rows, columns), to the bit."""
    source, since = new_source(drift), AGAIN
    for time in times:
        field, now = np.empty(drift.rows * drift.columns), held_since(drift, time)
        compiled: Compiled = field.size * _cost(drift, now - max(since, 0)) > _BY_PYTHON or "auto"
        _field_entry(drift, since, now, source, field, compiled=compiled)
        since = now
        field.setflags(write=False)
        yield field.reshape(drift.rows, drift.columns)


def _cost(drift: Moving, steps: int) -> int:
    """About how many exponentials take as long as the field of one cell."""
    if isinstance(drift, Drift):
        return int(drift.weights.size)
    return 4 + (12 * steps // drift.every * drift.parts if isinstance(drift, Carried) else 0)


def field_at(drift: Moving, time: int) -> Floats:
    """The field that a run has at this time, (rows, columns), to the bit."""
    return next(fields_over(drift, [time]))


def world_at(world: World, drift: Moving, time: int) -> World:
    """A world that stands still, with the field of this time, and targets where they are then."""
    since = held_since(drift, time)
    changes = {"mixture": mixture_at(world, drift, time), "targets": targets_at(world, drift, time).tolist()}
    return world.like(worth=field_at(drift, time), name=f"{world.name} at time {since}", **changes)


def mixture_at(world: World, drift: Moving | Still, time: int) -> Mixture | None:
    """The mixture that the field of this time is the density of, where it is one."""
    if isinstance(drift, Drift):
        return Mixture(drift.weights, means_at(drift, time), drift.covariances)
    return world.mixture if isinstance(drift, Still) else None


def means_at(drift: Drift, time: int) -> Floats:
    """Where the means of a mixture are, (M, 2)."""
    since, size = held_since(drift, time), (drift.columns, drift.rows) * drift.weights.size
    ways = zip(drift.means.reshape(-1), drift.velocity.reshape(-1), size, strict=True)
    return np.reshape([reflected(mean, velocity, since, length) for mean, velocity, length in ways], (-1, 2))


def targets_at(world: World, drift: Moving, time: int) -> Ints:
    """The cells of the targets at a time: means of a mixture and what lies on a field that is shifted move along."""
    moving = carried_targets(drift, world.targets, components_of(world))
    cells = cells_at(moving, time) if len(moving.places) else world.targets
    return cells[(cells >= 0).all(axis=1)]


def held_since(drift: Moving, time: int) -> int:
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


# What is checked --------------------------------------------------------------------------------------


def checked_drift(world: World, drift: Any, every: Any) -> Moving | Still:
    """How a world changes, for compiled code, or an error that names the field; no velocity but 0 is no drift."""
    given = None if every is None else Integer(least=1).of(every, "drift_every", InvalidGame)
    if drift is None:
        return Still()
    told = _told(world, drift)
    if isinstance(told, Frames):
        return _framed(world, told, given)
    every = _EVERY if given is None else given
    if isinstance(told, Flow):
        return _carried(world, told, every)
    if isinstance(told, Shift):
        return _shifted(world, told, every)
    return _mixture_drift(world, told, every)


def _told(world: World, drift: Any) -> Any:
    """What is meant: one of the classes above, or velocities of a mixture's components as they are."""
    if isinstance(drift, Shift | Flow | Frames):
        return drift
    if isinstance(drift, Mapping):
        options = dict(drift)
        kind = options.pop("kind", None)
        if not isinstance(kind, str):
            raise InvalidGame(f"must have a kind, one of {', '.join(KINDS)}, got {kind!r}", "drift", drift)
        look_up(KINDS, kind, "kind of drift", InvalidGame)
        try:
            return KINDS[kind](**options)
        except TypeError:
            raise InvalidGame(f"has no such options for {kind}: got {', '.join(options) or 'none'}", "drift") from None
    if any_array(drift).ndim == 3:
        return Flow(finite_array(drift, "drift"))
    if world.mixture is not None:
        return drift
    columns, rows = world.size
    told = f", one velocity (vx, vy) or one for each cell of {world!r}, which has no mixture"
    given = finite_array(drift, "drift", (2,), (rows, columns, 2), told=told)
    return Shift(given)


def _mixture_drift(world: World, drift: ArrayLike, every: int) -> Drift | Still:
    mixture = world.mixture
    assert mixture is not None
    count = mixture.num_components
    given = finite_array(drift, "drift", (2,), (count, 2), told=", one velocity (vx, vy) or one per component")
    velocity = frozen(np.broadcast_to(given, (count, 2)))
    _check_motion(world, mixture, velocity)
    if not velocity.any():
        return Still()
    _check_field(world, mixture)
    columns, rows = world.size
    return Drift(mixture.weights, mixture.means, velocity, mixture.covariances, columns, rows, every)


def _area(world: World) -> str:
    return f"area of {world.size[0]}×{world.size[1]} cells"


def _shifted(world: World, shift: Shift, every: int) -> Shifted | Still:
    if (np.abs(shift.velocity) > world.size).any():
        told = f"is in cells per step and must be no longer than the {_area(world)}"
        raise InvalidGame(f"{told}, got {pair(shift.velocity)}", "drift", shift)
    if not shift.velocity.any():
        return Still()
    return Shifted(world.worth, shift.velocity, EDGES.index(shift.edge), *world.size, every)


def _carried(world: World, flow: Flow, every: int) -> Carried | Still:
    wanted = (*world.worth.shape, 2)
    if flow.field.shape != wanted:
        raise InvalidGame(f"must have shape {wanted}, a velocity for each cell, got {flow.field.shape}", "drift", flow)
    fast = (np.abs(flow.field) > world.size).any(axis=2)
    if fast.any():
        y, x = (int(k) for k in np.argwhere(fast)[0])
        told = f"is in cells per step and must be no longer than the {_area(world)}"
        raise InvalidGame(f"{told}, got {pair(flow.field[y, x])} at ({x}, {y})", "drift", flow)
    if not flow.field.any():
        return Still()
    parts = max(1, math.ceil(every * float(np.abs(flow.field).max()) / _PART))
    return Carried(world.worth, flow.field, EDGES.index(flow.edge), *world.size, every, parts)


def _framed(world: World, frames: Frames, given: int | None) -> Framed:
    got, wanted = frames.frames.shape[1:], world.worth.shape
    if got != wanted:
        told = f"{wanted[1]}×{wanted[0]} cells as the world, got {got[1]}×{got[0]}"
        raise InvalidGame(f"must have frames of {told}", "drift", frames)
    off = frames.frames[0] != world.worth
    if off.any():
        y, x = (int(k) for k in np.argwhere(off)[0])
        told = f"must begin with the world's worth, as in World(frames[0]), {world.worth[y, x]:g} at ({x}, {y})"
        raise InvalidGame(f"{told}, got {frames.frames[0, y, x]:g}", "drift", frames)
    every = min(_EVERY, frames.steps) if given is None else given
    if every > frames.steps:
        told = f"must be at most the {frames.steps} steps from one frame to the next, or frames are skipped"
        raise InvalidGame(f"{told}, got {every}", "drift_every", every)
    memory.require(2 * frames.frames.nbytes, "the frames of a drift")
    return Framed(frames.frames, frames.steps, frames.periodic, *world.size, every)


def _check_motion(world: World, mixture: Mixture, velocity: Floats) -> None:
    """No mean may begin outside, or cross the whole area in a step."""
    size = np.array(world.size)
    area = f"area of {size[0]}×{size[1]} cells"
    fast = (np.abs(velocity) > size).any(axis=1)
    if fast.any():
        j = int(np.argmax(fast))
        told = f"is in cells per step and must be no longer than the {area}"
        raise InvalidGame(f"{told}, got {pair(velocity[j])} for component {j}", "drift", velocity[j])
    outside = ((velocity != 0) & ((mixture.means < 0) | (mixture.means > size))).any(axis=1)
    if outside.any():
        j = int(np.argmax(outside))
        got = f"{pair(mixture.means[j])} for component {j} of the world"
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


def drift_words(drift: Moving) -> list[str]:
    """For the line that describes a game."""
    if isinstance(drift, Drift):
        speeds = np.hypot(*drift.velocity.T)
        one = (drift.velocity == drift.velocity[0]).all()
        said = pair(drift.velocity[0]) if one else f"{speeds.min():g} to {speeds.max():g}"
    elif isinstance(drift, Shifted):
        said = f"{pair(drift.velocity)} {EDGES[drift.edge]}"
    elif isinstance(drift, Carried):
        said = f"flow of up to {np.hypot(*np.moveaxis(drift.flow, -1, 0)).max():g} {EDGES[drift.edge]}"
    else:
        said = f"{len(drift.frames)} frames of {drift.steps} steps{' periodic' * drift.periodic}"
    return [f"drift={said}", f"drift_every={drift.every}"]
