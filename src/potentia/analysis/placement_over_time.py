"""The best that robots can cover as the world changes and robots come and go: the optimum of some moments.

Each is that of a world that stands still. Robots that need time to get from one placement to the next may reach none of
these; no robot covers more. Between two moments the optimum is that of the first where only robots come and go, and
where a field is interpolated between frames it is at most on a line between those of the frames, since the largest of
sums is convex. Of other worlds that change it is known at the moments only.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from potentia.analysis.placement import BY_CLOCK, Optimum, optimum
from potentia.errors import InvalidGame, InvalidInput
from potentia.games import Coverage
from potentia.games.drift import held_since
from potentia.games.drift_kernel import Framed, Moving, Still
from potentia.games.world import listed_cells
from potentia.kernel.arrays import Floats, Ints, frozen
from potentia.kernel.checks import Integer, Real
from potentia.kernel.reprs import brief

_TOLD, _PLACES = 12, 20  # optima, and robots, in a line of text
_PARTS = 5  # of a run, after each of which the optimum of a world that changes is computed
_PHASES = 13  # moments of a world that repeats itself
_FRAMES, _CORNERS = 40, 500  # up to so many, shown so many times, the optimum of each is computed


@dataclass(frozen=True, eq=False, repr=False)
class OptimumOverTime:
    """The result of :func:`optimum_over_time`.

    Attributes
    ----------
    times : array
        (T,), rising.
    optima : tuple of Optimum
        One for each; the same one where the field and the robots are.
    every : int or None
        Steps for which a field holds; None where the world stands still.
    events : tuple of int
        Times at which robots come or go.
    everywhere : bool
        Whether :meth:`at` is a bound between the times, too.

    Examples
    --------
    >>> world = pt.games.World([[0, 1, 0], [2, 0, 3]])
    >>> game = pt.games.Coverage(world, robots=2, delta=0.5, events=["fail 0@50"])
    >>> pt.analysis.optimum_over_time(game, [0, 50]).values.tolist()
    [5.0, 3.0]
    """

    __repr__ = brief

    times: Ints  # (T,), rising
    optima: tuple[Optimum, ...]  # one for each; the same one where the field and the robots are
    every: int | None = None  # steps for which a field holds; None where the world stands still
    events: tuple[int, ...] = ()  # times at which robots come or go
    everywhere: bool = False  # whether :meth:`at` is a bound between the times, too

    @property
    def values(self) -> Floats:
        """The worth of the best placement found at each time, (T,)."""
        return np.array([best.value for best in self.optima])

    @property
    def bounds(self) -> Floats:
        """No placement is worth more at that time, (T,)."""
        return np.array([best.bound for best in self.optima])

    @property
    def proven(self) -> bool:
        """Whether all of them are."""
        return all(best.proven for best in self.optima)

    @property
    def by_clock(self) -> bool:
        """Whether the clock stopped one of them, and another run may find another."""
        return any(best.by_clock for best in self.optima)

    def at(self, times: ArrayLike) -> Floats:
        """The bounds at any times: on a line between those known, and never on one across an event.

        Parameters
        ----------
        times : array_like
            Steps since the start.

        Returns
        -------
        array
            A bound for each.
        """
        asked, bounds = np.asarray(times, np.int64), self.bounds
        far = int(max(self.times[-1], asked.max(initial=0))) + 1  # stretches between events lie apart
        (wanted, part), (known, parts) = self._place(asked, far), self._place(self.times, far)
        before = np.maximum(np.searchsorted(known, wanted, "right") - 1, 0)
        after = np.minimum(before + (wanted > known[before]), len(known) - 1)
        across = (parts[before] != part) | (parts[after] != part)
        return np.where(across, np.maximum(bounds[before], bounds[after]), np.interp(wanted, known, bounds))

    def _place(self, times: Ints, far: int) -> tuple[Ints, Ints]:
        """When the field of these times was computed, on an axis on which events are ``far`` apart; events so far."""
        parts = np.searchsorted(np.array(self.events, np.int64), times, "right")
        return (times if self.every is None else times // self.every * self.every) + far * parts, parts

    def mean_share(self, times: ArrayLike, worth: ArrayLike) -> Floats:
        """What was covered at these times, (..., K), as shares of their bounds, in the mean over the times.

        Times at which there is nothing to cover, or nobody to do so, do not count; if there are no others it is 1.

        Parameters
        ----------
        times : array_like
            Steps since the start, (K,).
        worth : array_like
            (..., K).

        Returns
        -------
        array
            (...,).
        """
        bounds, covered = self.at(times), np.asarray(worth, np.float64)
        some = bounds > 0
        return (covered[..., some] / bounds[some]).mean(axis=-1) if some.any() else np.ones(covered.shape[:-1])

    def to_dict(self) -> dict[str, Any]:
        """Plain data, for JSON."""
        return {"times": self.times.tolist(), "proven": self.proven, "optima": [best.to_dict() for best in self.optima]}

    def __str__(self) -> str:
        number = "optimum" if self.proven else "best placement known (and the bound)"
        pairs = zip(self.times.tolist(), self.optima, (None, *self.optima), strict=False)
        told = [
            f"{best.value:.6g}" + ("" if best.proven else f" ({best.bound:.6g})") + f" at step {time:,}"
            for time, best, before in pairs
            if best is not before
        ]
        told = [*told[:_TOLD], f"and {len(told) - _TOLD} more"] if len(told) > _TOLD + 1 else told
        why = "robots come and go" if self.every is None else "the world changes"
        seconds = sum({id(best): best.seconds for best in self.optima}.values())
        clock = f"\n  {BY_CLOCK}" if self.by_clock else ""
        last = self.optima[-1].positions
        when = f"at step {int(self.times[-1]):,} its robots are at"
        where = f"\n  {when} {listed_cells(last, _PLACES)}" if len(last) else ""
        return f"{number} as {why}, in {seconds:.2g} s: covered worth {', '.join(told)}{where}{clock}"


def moments(game: Coverage, steps: int) -> list[int]:
    """Times up to ``steps`` at which to know the optimum of a world that changes, evenly and at frames; at events."""
    drift = game.drift
    times = {0, steps, *(near for event in game.happenings.times for near in (event - 1, event) if 0 <= near <= steps)}
    if isinstance(drift, Still):
        return sorted(times)
    times |= {steps * k // _PARTS for k in range(_PARTS)}
    corners = _corners(drift, steps)
    if corners is not None and isinstance(drift, Framed) and len(drift.frames) <= _FRAMES:
        return sorted(times | corners)
    if not isinstance(drift, Framed) or not drift.periodic:
        return sorted(times)
    period = len(drift.frames) * drift.steps
    phases = (steps * k // _PHASES // period * period + period * k // _PHASES for k in range(_PHASES))
    return sorted(times | {time for time in phases if time <= steps})


def _corners(drift: Moving | Still, steps: int) -> set[int] | None:
    """Times between which the fields that a run has are on lines; None where there are none, or too many."""
    if isinstance(drift, Still):
        return set()
    if not isinstance(drift, Framed):
        return None
    last = steps if drift.periodic else min(steps, (len(drift.frames) - 1) * drift.steps)
    if last // drift.steps > _CORNERS:
        return None
    frames = range(0, last + 1, drift.steps)
    near = {near for time in frames for near in (held_since(drift, time), held_since(drift, time + drift.every - 1))}
    return {time for time in near | {steps} if time <= steps}


def optimum_over_time(
    game: Coverage,
    times: Iterable[int],
    *,
    method: str = "auto",
    time_limit: float = 60.0,
    gap: float = 1e-6,
    effort: float = math.inf,
) -> OptimumOverTime:
    """The optimum of a game that changes at each of these times, which rise; see :func:`optimum`.

    Where nobody is there, it is 0. Moments of the same field and the same robots have the same one. Where it is not
    proven, what was found for other moments is tried, too: the best placement known is at least worth that.

    Parameters
    ----------
    game : Coverage
        One that drifts, or whose robots come and go.
    times : iterable of int
        Steps since the start.
    method : {"auto", "greedy", "milp"}
        As of :func:`optimum`.
    time_limit : float
        Seconds, for all of them together: each has an equal part of what is left.
    gap : float
        The relative gap at which to stop.
    effort : float
        As of :func:`optimum`, but each has an equal part of all.

    Returns
    -------
    OptimumOverTime
        The optima.

    Examples
    --------
    >>> world = pt.games.World([[4, 0, 0, 0]])
    >>> game = pt.games.Coverage(world, robots=1, delta=0.5, flags=False, drift=(0.05, 0.0))
    >>> pt.analysis.optimum_over_time(game, [0, 20]).optima[1].positions.tolist()
    [[1, 0]]
    """
    if not isinstance(game, Coverage):
        raise InvalidGame(f"optimum_over_time takes a Coverage game, got {game!r:.60}")
    wanted = [Integer().of(time, "times", InvalidInput) for time in times]
    if not wanted or any(later <= time for time, later in itertools.pairwise(wanted)):
        raise InvalidInput(f"must be at least one time, and rise, got {wanted}", "times", wanted)
    left = Real(least=0.0, finite=False).of(time_limit, "time_limit", InvalidInput)
    keys = [_same(game, time) for time in wanted]
    todo, known = len(set(keys)), dict[Any, Optimum]()
    options: Any = {"method": method, "gap": gap, "effort": effort / todo}
    for time, key in zip(wanted, keys, strict=True):
        if key not in known:
            part = left / (todo - len(known))
            there = game.there_at(time).any()
            known[key] = optimum(game.at(time), time_limit=part, **options) if there else _nobody()
            left = max(0.0, left - known[key].seconds)
    first = dict(zip(reversed(keys), reversed(wanted), strict=True))  # when it is
    for key, best in list(known.items()):
        if not best.proven:
            known[key] = _carried(game, first, known, key, gap)
    events = [event for event in game.happenings.times if 0 < event <= wanted[-1]]
    corners = _corners(game.drift, wanted[-1])
    if corners:  # no line between two of them may go across an event
        corners |= {near for event in events if event > wanted[0] for near in (event - 1, event)}
    parts = np.unique(np.searchsorted(np.array(events, np.int64), wanted, "right"))
    return OptimumOverTime(
        frozen(wanted, np.int64),
        tuple(known[key] for key in keys),
        None if isinstance(game.drift, Still) else game.drift.every,
        tuple(events),
        corners is not None and corners <= set(wanted) and parts.size == parts[-1] - parts[0] + 1,
    )


def num_changes(game: Coverage, times: Iterable[int]) -> int:
    """How many optima a list of these times tells: one that holds on at the next time stands in it once."""
    return sum(1 for _ in itertools.groupby(times, lambda time: _same(game, time)))


def _same(game: Coverage, time: int) -> tuple[Any, ...]:
    """Equal at times at which the field and the robots are."""
    drift, robots = game.drift, game.delta[game.there_at(time)].tobytes()
    if isinstance(drift, Still):
        return 0, robots
    since = held_since(drift, time)
    if isinstance(drift, Framed):
        most = (len(drift.frames) - 1) * drift.steps
        since = since % (most + drift.steps) if drift.periodic else min(since, most)
    return since, robots


def _carried(game: Coverage, first: dict[Any, int], known: dict[Any, Optimum], key: Any, gap: float) -> Optimum:
    """The best of a moment, of those known for all moments: each robot goes where one of its range is then.

    Those that find none go to the place of another, since more robots cover no less.
    """
    best, now = known[key], game.at(first[key])
    value, profile = best.value, best.profile
    for other, found in known.items():
        if other == key or not found.profile.size:
            continue
        free = {reach: list[int]() for reach in now.delta.tolist()}
        for reach, action in zip(game.delta[game.there_at(first[other])].tolist(), found.profile.tolist(), strict=True):
            free.setdefault(reach, []).append(action)
        anywhere = int(found.profile[0])
        placed = np.array([free[reach].pop(0) if free[reach] else anywhere for reach in now.delta.tolist()])
        if (worth := now.worth_union(placed)) > value:
            value, profile = worth, frozen(placed, np.int64)
    if value == best.value:
        return best
    bound = max(best.bound, value)  # only rounding could put it below
    left = (bound - value) / value
    where: Any = {"positions": frozen(now.positions(profile), np.int64), "profile": profile}
    return replace(best, value=value, bound=bound, gap=left, proven=left <= gap, **where)


def _nobody() -> Optimum:
    cells, actions = frozen(np.empty((0, 2)), np.int64), frozen(np.empty(0), np.int64)
    return Optimum(0.0, 0.0, 0.0, cells, actions, "greedy", True, 0.0, 1.0, 0.0)
