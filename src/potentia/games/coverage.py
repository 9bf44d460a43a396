"""Multi-robot coverage control (paper, section 5): robots on a grid, each worth what it alone covers.

Robot i at cell α^i covers the cells whose centre is within δ^i, worth C^i in all. Its utility is Eq. 45,

    u^i = ϱ^i · [C^i - Σ_{j≠i} (worth covered by both i and j)] - K^i · |α^i(n) - α^i(n-1)|,

where ϱ^i = 0 if another robot's flag is visible on the cell, else 1, and K is the cost of moving.

Eq. 46 claims that Σ_i u^i is an exact potential. It is not where ranges overlap: each overlap counts twice in
it and once in u^i. With flags off and K = 0,

    Φ = Σ_i C^i - Σ_{i<j} (worth covered by both i and j)

is exact (:meth:`Coverage.corrected_potential`). ``payoff="marginal"`` replaces the bracket by the worth that
robot i alone covers (the wonderful-life utility); its potential is the covered worth itself.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from copy import deepcopy
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from potentia.errors import InvalidGame
from potentia.games.base import Game
from potentia.games.coverage_kernel import RECORDERS, TOTALS, CoverageData, CoverageState
from potentia.games.covering import Covering
from potentia.games.drift import checked_drift, checked_time, drift_words, field_at, new_source, world_at
from potentia.games.drift_kernel import Still
from potentia.games.drift_kinds import Flow, Frames, Shift
from potentia.games.events import events_from, roster_from
from potentia.games.given import of_kind
from potentia.games.grid import SLACK, disc, grid_steps, step_offsets
from potentia.games.moving_targets import carried_targets, components_of
from potentia.games.roster import Attendance, Everybody, Roster, attendance, carry_on, same_roster
from potentia.games.team import ADJACENT, checked_reach, is_diagonal, per_robot
from potentia.games.world import World
from potentia.kernel import memory
from potentia.kernel.arrays import Floats, Ints, frozen, starts
from potentia.kernel.checks import Flag, Integer, OneOf
from potentia.kernel.protocol import Proximity


class Coverage(Covering):
    """Robots that cover the cells of a :class:`World`. An action is a free cell; see :meth:`positions`.

    Parameters
    ----------
    world : World
        Where they are.
    robots : int
        How many.
    delta : float or array_like
        The covering range δ, one for all or one per robot.
    reach : float or "adjacent"
        How far a robot moves in a step: "adjacent" (the eight cells around it) or a radius R. A straight move
        never crosses a blocked cell.
    K : float or array_like
        The cost of moving by one cell, one for all or one per robot.
    flags : bool
        Whether robots leave flags that make cells worthless for the others (the paper's). A game with flags
        remembers; the exact analysis takes games without.
    flag : {"cell", "range"}
        Where a flag lies: on the "cell" a robot occupies, or on all cells in its "range".
    payoff : {"overlap", "marginal"}
        "overlap" (Eq. 45) or "marginal" (the worth that the robot alone covers).
    sight : bool
        Whether a robot covers, and reads, only what it sees past blocked cells (:mod:`potentia.games.sight`). Flags
        lie on what is covered, and are seen past everything.
    blocked_worth : bool, optional
        Whether blocked cells can be covered: with ``sight``, those of which a face is seen. Left out, they can
        where there is no ``sight`` only.
    start : array_like, optional
        Where the robots begin, cells (x, y); left out, each run draws its own.
    drift : Shift, Flow, Frames, dict or array_like, optional
        How the worth changes. In a world with a mixture, how its means move, in cells per step: one (vx, vy) for all
        components or one for each; they turn back at the borders of the area. In any other world, (vx, vy) is
        ``Shift((vx, vy))``, and an array (rows, columns, 2) is ``Flow(...)``; or :class:`Shift`, :class:`Flow`,
        :class:`Frames`, or one of them as a table, ``{"kind": "shift", "velocity": (0.1, 0)}``. Walls stay.
        Targets on the means of a mixture, or on a field that is shifted, move along, and are found where they are by
        then. Runs begin at time 0, and methods that are told no time, such as ``utility``, ``potential`` and
        ``scale``, speak of it: see :meth:`at`.
    drift_every : int, optional
        A field that drifts is computed again every so many steps; left out, every 10, and every frame of fewer.
    events : iterable of str, optional
        What happens to robots: "fail 8@2500" (after so many steps robot 8, from 0, has failed: it stays, covers nothing
        and is counted by nobody), "arrive 4000" (one more robot, with the next number, dormant until then), "hazard
        1e-5" (each robot fails with this probability in each step). Lists of ranges, costs and revision
        probabilities have an entry for those that arrive, too; ``start`` may. Methods that are told no time speak of
        those that are there at time 0.

    Examples
    --------
    >>> world = pt.games.World([[0, 1, 0], [2, 0, 3]])
    >>> game = pt.games.Coverage(world, robots=2, delta=1.0, flags=False)
    >>> game.positions([0, 5]).tolist(), game.worth_union([0, 5])
    ([[0, 0], [2, 1]], 6.0)
    >>> pt.run(game, pt.rule("blll", tau=0.05), 200, seed=1, record="worth_union").worth_union.max().item()
    6.0
    """

    remembers: tuple[str, ...] = ("flags", "seen", "tally", "spent", "clock", "driven")
    newer = ("driven", "found")
    recorders = RECORDERS
    totals = TOTALS
    worth_most = "worth_union"

    def __init__(
        self,
        world: World,
        robots: int,
        delta: float | ArrayLike = 1.5,
        *,
        reach: float | str = "adjacent",
        K: float | ArrayLike = 0.0,
        flags: bool = True,
        flag: str = "cell",
        payoff: str = "overlap",
        sight: bool = False,
        blocked_worth: bool | None = None,
        start: ArrayLike | None = None,
        drift: Shift | Flow | Frames | Mapping[str, Any] | ArrayLike | None = None,
        drift_every: int | None = None,
        events: Iterable[str] | None = None,
    ) -> None:
        given = {name: part for name, part in locals().items() if name not in ("self", "__class__")}
        self.world = of_kind(world, World, "a World, such as paper_world() or World(worth)", "world")
        robots = Integer(least=1).of(robots, "robots", InvalidGame)
        self.happenings = events_from(events)
        self.roster = roster_from(self.happenings, robots)
        self._given = {name: _kept(part) for name, part in given.items()} | {"robots": robots, "events": None}
        robots += len(self.happenings.arrivals)
        if isinstance(self.roster, Roster):
            self.remembers = (*type(self).remembers, "until", "here", "roll")
        if robots > world.num_free:
            told = f"must be at most the {world.num_free:,} free cells of the world"
            raise InvalidGame(f"{told}, got {robots:,}", "robots", robots)
        self.delta = per_robot(delta, robots, "delta", len(self.happenings.arrivals))
        self.movement_cost = per_robot(K, robots, "K", len(self.happenings.arrivals))
        farthest = math.hypot(*world.size)  # more is the same, and might overflow
        self.radius = min(checked_reach(reach), farthest + 1)
        self._range = frozen(np.minimum(self.delta, farthest))
        self.flags = Flag().of(flags, "flags", InvalidGame)
        self.flag = OneOf("cell", "range").of(flag, "flag", InvalidGame)
        self.payoff = OneOf("overlap", "marginal").of(payoff, "payoff", InvalidGame)
        self.sight = Flag().of(sight, "sight", InvalidGame)
        walls = not self.sight if blocked_worth is None else blocked_worth
        self.blocked_worth = Flag().of(walls, "blocked_worth", InvalidGame)
        self.drift = checked_drift(world, drift, drift_every)
        self.afoot = carried_targets(self.drift, world.targets, components_of(world))
        if len(self.afoot.places):
            self.remembers = (*self.remembers, "found")
        world.require_connected(is_diagonal(self.radius))
        self.ranges = frozen(np.unique(self._range))
        columns, rows = world.size
        frame = int(self.ranges[-1] * SLACK)
        memory.require(40 * (columns + 2 * frame) * (rows + 2 * frame), f"a range of {self.ranges[-1]:g} cells")
        self._frame = frame
        sizes = frozen(np.full(robots, world.num_free), np.int64)
        super().__init__(sizes, grid_steps(world.blocked, self.radius, robots))
        self.start = None if start is None else frozen(self._first_cells(start))
        self._seal()

    def _first_cells(self, start: ArrayLike) -> Ints:
        """Actions for all robots, or for those of the beginning; where others begin, each run draws."""
        cells = self.world.check_cells(start, "start")
        if len(cells) == self.base_robots:
            cells = np.concatenate([cells, np.repeat(cells[:1], self.num_players - self.base_robots, axis=0)])
            return self.profile(cells, "start")[: self.base_robots]
        return self.profile(start, "start")

    @cached_property
    def scale(self) -> float:  # type: ignore[override]  # derived once, and never set
        """The largest C of any robot anywhere: what ``tau="auto"`` and relative schedules are relative to.

        Of those of the beginning: with and without robots that arrive later, runs are the same until they do.
        """
        return float(self.worth_in_range(float(self._range[: self.base_robots].max())).max())

    @cached_property
    def signal(self) -> tuple[Floats, Floats] | None:  # type: ignore[override]
        """The worth f at each action, and the size of its gradient by central differences (for Eq. 53).

        None if the field drifts: a signal is the same at all times.
        """
        if self.drifts:
            return None
        worth, free = self.world.worth, ~self.world.blocked
        down, across = (
            np.gradient(worth, axis=axis) if worth.shape[axis] > 1 else np.zeros(worth.shape) for axis in (0, 1)
        )
        return frozen(worth[free]), frozen(np.sqrt(down**2 + across**2)[free])

    # As time goes by ----------------------------------------------------------------------------------

    @property
    def drifts(self) -> bool:
        """Whether the worth field changes with time; a drift of 0 is none."""
        return not isinstance(self.drift, Still)

    def worth_at(self, time: int) -> Floats:
        """The worth field that a run has at this time, in the shape of the world's.

        Parameters
        ----------
        time : int
            Steps since the start.

        Returns
        -------
        array
            (rows, columns).
        """
        now = checked_time(time)
        return self.world.worth if isinstance(self.drift, Still) else field_at(self.drift, now)

    def world_at(self, time: int) -> World:
        """The world as it is at this time.

        Parameters
        ----------
        time : int
            Steps since the start.

        Returns
        -------
        World
            The world.
        """
        now = checked_time(time)
        return self.world if isinstance(self.drift, Still) else world_at(self.world, self.drift, now)

    def at(self, time: int, there: NDArray[np.bool_] | None = None) -> Coverage:
        """The game as it is at this time, for the optimum, the exact analysis and figures.

        Without drift, and with the robots that are there by then as far as events are known, or those of a run that
        are (``there``, a mask), in their order.

        Parameters
        ----------
        time : int
            Steps since the start.
        there : array, optional
            Which robots are there.

        Returns
        -------
        Coverage
            One that does not change.
        """
        now = checked_time(time)
        there = self.there_at(now) if there is None else there
        if isinstance(self.drift, Still) and isinstance(self.roster, Everybody) and there.all():
            return self
        if not there.any():
            raise InvalidGame(f"must be one at which a robot is there, got {now:,}", "time", now)
        start = None if self.start is None or len(self.start) < there.size else self.positions(self.start)[there]
        options = {"delta": self.delta[there], "K": self.movement_cost[there], "start": start, "drift": None}
        return Coverage(**self._given | options | {"world": self.world_at(now), "robots": int(there.sum())})

    # Who is there -------------------------------------------------------------------------------------

    @property
    def events(self) -> tuple[str, ...]:
        """What happens to robots, in order, as in "fail 8@2500"."""
        return self.happenings.texts

    @property
    def base_robots(self) -> int:
        """The robots of the beginning, without those that arrive."""
        return self.roster.base if isinstance(self.roster, Roster) else self.num_players

    def with_events(self, events: Iterable[str] | None) -> Coverage:
        """The same game with these events, and no others: ``["fail 8@2500", "arrive 4000", "hazard 1e-5"]``.

        Draws stay what they are: with one seed, runs with and without events are the same up to the first of them.

        Parameters
        ----------
        events : iterable of str or None
            What happens to robots.

        Returns
        -------
        Coverage
            The other game.
        """
        wanted = events_from(events)
        if wanted == self.happenings:
            return self
        changes: dict[str, Any] = {"events": wanted}
        # where nobody arrives there is nobody of whom the rest of a list would speak
        first = slice(None if wanted.arrivals else self.base_robots)
        if self.start is not None and not wanted.arrivals:
            changes["start"] = self.positions(self.start[first])
        for name, values in (("delta", self.delta[first]), ("K", self.movement_cost[first])):
            if (values == values[0]).all():
                changes[name] = float(values[0])
            elif not wanted.arrivals:
                changes[name] = values
            elif len(wanted.arrivals) != len(self.happenings.arrivals):
                told = "must be one for all where robots arrive, or one per robot, those that arrive included"
                raise InvalidGame(f"{told}: give Coverage(..., events=...) both", name, values)
        return Coverage(**self._given | changes)

    def there_at(self, time: int) -> NDArray[np.bool_]:
        """Which robots are there at this time, as far as that is known before a run, (N,).

        Parameters
        ----------
        time : int
            Steps since the start.

        Returns
        -------
        array
            A mask.
        """
        if isinstance(self.roster, Everybody):
            return np.ones(self.num_players, np.bool_)
        return (self.roster.since <= time) & (time < self.roster.until)

    def lives(self, state: CoverageState) -> Ints | None:
        if isinstance(self.roster, Everybody):
            return None
        return np.stack([self.roster.since, state.until])

    def take_over(self, state: CoverageState, before: Game, key: Any, step: int) -> None:
        if state.found.size and not len(getattr(before, "afoot", self.afoot).places):
            state.found[:] = state.seen[self.world.targets @ [1, self.data.width] + self.data.base]
        roster = getattr(before, "roster", Everybody())
        if isinstance(self.roster, Roster) and not same_roster(self.roster, roster):
            carry_on(self.roster, roster, Attendance(state.until, state.here, state.roll), key, step)

    def costing(self, K: float | ArrayLike) -> Coverage:
        """The same robots at another cost of moving.

        Parameters
        ----------
        K : float or array_like
            The cost of moving by one cell, one for all or one per robot.

        Returns
        -------
        Coverage
            The other game.
        """
        return self.like(K=K)

    def like(self, **changes: Any) -> Coverage:
        """The same game with some of what it was made of changed: ``game.like(world=another)``.

        Parameters
        ----------
        **changes : Any
            Parameters of the class.

        Returns
        -------
        Coverage
            The other game.
        """
        return Coverage(**self._given | {"events": self.happenings} | changes)

    # What the engine needs ----------------------------------------------------------------------------

    @property
    def memoryless(self) -> bool:
        return not self.flags and not self.drifts and isinstance(self.roster, Everybody)

    @property
    def longest_move(self) -> float:
        """The length of the longest move in a step, in cells."""
        return float(np.sqrt((step_offsets(self.radius) ** 2).sum(axis=1).max()))

    @cached_property
    def interactions(self) -> Proximity:
        """Robots interact iff their distance is at most δ_i + δ_j plus the longest moves of both."""
        radius = self._range + self.longest_move
        columns, rows = self.world.size
        side = max(1, math.ceil(min(2 * radius.max() * SLACK, columns + rows)))
        across, down = columns // side + 3, rows // side + 3
        return Proximity(self.world.cells, frozen(radius), side, across, across * down)

    def interacting(self, player: int, other: int) -> NDArray[np.bool_]:
        """Whether two robots interact, by their actions, (A, A).

        Parameters
        ----------
        player : int
            Its number.
        other : int
            Another's number.

        Returns
        -------
        array
            A mask.
        """
        radius = self.interactions.radius
        return self._distances2() <= (radius[player] + radius[other]) ** 2 * SLACK

    def _build(self) -> CoverageData:
        frame, (columns, rows) = self._frame, self.world.size
        width = columns + 2 * frame
        target = np.zeros((rows, columns), np.int64)
        np.add.at(target, (self.world.targets[:, 1], self.world.targets[:, 0]), 1)
        discs = [disc(float(delta)) for delta in self.ranges]
        cells = np.concatenate(discs)
        return CoverageData(
            self.sizes,
            self.moves,
            width,
            frame * width + frame,
            self.world.cells,
            frozen(np.pad(self.world.worth, frame).reshape(-1)),
            frozen(np.pad(target, frame).reshape(-1)),
            frozen(np.searchsorted(self.ranges, self._range), np.int64),
            starts([len(cells) for cells in discs]),
            frozen(cells[:, 1] * width + cells[:, 0], np.int64),
            frozen(cells[:, 0], np.int64),
            frozen(cells[:, 1], np.int64),
            frozen(self.ranges**2 * SLACK, np.float64),
            frozen(4 * self.ranges**2 * SLACK, np.float64),
            self.movement_cost,
            self.payoff == "marginal",
            self.flags,
            self.flag == "range",
            self.drift,
            self.roster,
            self.vision,
            self.afoot,
        )

    def new_state(self, profile: Ints) -> CoverageState:
        return self.recording_state(profile, ())

    def recording_state(self, profile: Ints, record: tuple[str, ...]) -> CoverageState:
        frame, (columns, rows) = self._frame, self.world.size
        shape = (rows + 2 * frame, columns + 2 * frame)
        size = shape[0] * shape[1]
        seen = np.zeros(0, np.uint8)
        if "cells_seen" in record or "targets_found" in record:
            seen = np.pad(np.zeros((rows, columns), np.uint8), frame, constant_values=1).reshape(-1)
        return CoverageState(
            profile,
            profile.copy(),
            np.zeros(size, np.int32),
            np.zeros(size if self.flags else 0, np.int32),
            seen,
            np.zeros(3, np.int64),
            np.zeros(1),
            self.data.worth.copy() if self.drifts else self.data.worth,
            np.zeros(1, np.int64),
            *attendance(self.roster),
            np.zeros(self.num_players),
            new_source(self.drift),
            np.zeros(len(self.afoot.places) if "targets_found" in record else 0),
        )

    @property
    def state_size(self) -> int:
        kept = new_source(self.drift).nbytes
        return 24 * self.num_players + (17 if self.drifts else 9) * self.data.worth.size + kept

    def check_state(self, state: CoverageState) -> None:
        if isinstance(self.roster, Roster) and (state.here > 1).any():
            raise ValueError("a robot is there or not")

    def __repr__(self) -> str:
        return self.describe()

    def describe(self) -> str:
        told = f"; {', '.join(self.events)}" if self.events else ""
        return f"Coverage({self.world.name}, {self.identity()}{told})"

    def identity(self) -> str:
        # of the robots of the beginning: draws go by it, and who arrives changes none of theirs
        delta, cost = self.delta[: self.base_robots], self.movement_cost[: self.base_robots]

        def said(values: Floats) -> str:
            return f"{values[0]:g}" if (values == values[0]).all() else f"{values.min():g} to {values.max():g}"

        parts = [f"{self.world.size[0]}×{self.world.size[1]}"]
        parts += [f"robots={self.base_robots}", f"delta={said(delta)}"]
        if self.radius != ADJACENT:
            parts.append(f"reach={self.radius:g}")
        if (cost > 0).any():
            parts.append(f"K={said(cost)}")
        parts.append(f"flags={self.flag}" if self.flags else "no flags")
        if self.payoff != "overlap":
            parts.append(f"payoff={self.payoff}")
        if self.world.blocked.any():
            parts += ["sight"] * self.sight
            parts += [f"blocked_worth={self.blocked_worth}"] * (self.blocked_worth == self.sight)
        if not isinstance(self.drift, Still):
            parts += drift_words(self.drift)
        return ", ".join(parts)


def _kept(part: Any) -> Any:
    """An argument that nobody else can change."""
    return deepcopy(part) if isinstance(part, np.ndarray | list) else part
