"""What robots at given places cover, and what that is worth: the coverage game's formulas, written the obvious way.

The compiled kernel (:mod:`potentia.games.coverage_kernel`) is checked against them.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from potentia.errors import InvalidGame
from potentia.games.base import Game
from potentia.games.grid import SLACK, disc
from potentia.games.sight import Open, Sight, bits_of, make_view, seen_parts, sums_seen
from potentia.games.world import World
from potentia.kernel import memory
from potentia.kernel.arrays import Floats, Ints, frozen


class Covering(Game):
    """The part of :class:`~potentia.games.Coverage` that looks at one profile and needs no run."""

    world: World
    movement_cost: Floats  # (N,) K^i
    ranges: Floats  # those that differ, in order
    flags: bool
    flag: str
    payoff: str
    sight: bool
    blocked_worth: bool
    _range: Floats  # (N,) δ^i, no longer than the area
    _frame: int  # worthless cells around the area, so that no range is cut at a border

    @abstractmethod
    def there_at(self, time: int) -> NDArray[np.bool_]:
        """Which robots are there at this time, (N,).

        Parameters
        ----------
        time : int
            Steps since the start.

        Returns
        -------
        array
            A mask.
        """

    # Where things are ---------------------------------------------------------------------------------

    @property
    def robots(self) -> int:
        """How many robots there are: the players."""
        return self.num_players

    def positions(self, profile: ArrayLike) -> Ints:
        """The cells (x, y) of actions: profiles of any shape (..., N) give (..., N, 2).

        Parameters
        ----------
        profile : array_like
            Actions.

        Returns
        -------
        array
            Cells.
        """
        actions = np.asarray(profile, np.int64)
        if actions.size and not 0 <= actions.min() <= actions.max() < self.world.num_free:
            got = f"{actions.min()}..{actions.max()}"
            raise InvalidGame(f"must be in 0..{self.world.num_free - 1}, got {got}", "actions", profile)
        return self.world.cells[actions].astype(np.int64)

    def profile(self, cells: ArrayLike, name: str = "cells") -> Ints:
        """The actions of robots at these cells (x, y), one per robot.

        Parameters
        ----------
        cells : array_like
            (N, 2).
        name : str
            What they are called in an error.

        Returns
        -------
        array
            The profile.
        """
        where = self.world.check_cells(cells, name)
        if len(where) != self.num_players:
            told = f"must hold one place for each of {self.num_players} robots"
            raise InvalidGame(f"{told}, got {len(where)}", name, cells)
        actions = self.action_at[where[:, 1], where[:, 0]]
        if (actions < 0).any():
            k = int(np.argmax(actions < 0))
            place = f"({where[k, 0]}, {where[k, 1]})"
            if self.world.outside is not None:
                x, y = self.world.outside.at(where[k : k + 1] + 0.5)[0].tolist()
                place = f"the cell {place} around ({x:.10g}, {y:.10g})"
            raise InvalidGame(f"places robot {k} on {place}, which is blocked", name, cells)
        return actions.astype(np.int64)

    @cached_property
    def action_at(self) -> NDArray[np.int32]:
        """The action that is each cell, [y, x]; -1 where blocked."""
        number = np.full(self.world.worth.shape, -1, np.int32)
        number[~self.world.blocked] = np.arange(self.world.num_free)
        return frozen(number)

    @cached_property
    def vision(self) -> Sight | Open:
        """What is hidden from where, for kernels; see :meth:`covered`."""
        return make_view(self.world.blocked, self.ranges, self.sight, self.blocked_worth)

    def _framed(self, actions: Ints) -> Ints:
        """The numbers of actions' cells inside the frame."""
        x, y = self.world.cells[actions].astype(np.int64).T
        return (y + self._frame) * (self.world.size[0] + 2 * self._frame) + x + self._frame

    def covered(self, player: int, action: int) -> Ints:
        """The cells (x, y) that the robot covers from there, (k, 2).

        Parameters
        ----------
        player : int
            Its number.
        action : int
            The free cell where it is.

        Returns
        -------
        array
            Cells.
        """
        offsets = disc(float(self._range[player]))
        cells = self.world.cells[action] + offsets
        if isinstance(self.vision, Sight):
            cells = cells[seen_parts(self.vision, self._framed(np.array([action])), bits_of(self.vision, offsets))[0]]
        return cells[((cells >= 0) & (cells < self.world.size)).all(axis=1)]

    def worth_in_range(self, delta: float) -> Floats:
        """The worth C that a robot with this range covers at every action, (A,).

        Parameters
        ----------
        delta : float
            The covering range δ.

        Returns
        -------
        array
            One number per action.
        """
        delta = min(delta, math.hypot(*self.world.size))
        cells = disc(delta)
        frame, (rows, columns) = int(cells.max()), self.world.worth.shape
        framed = np.pad(self.world.worth, frame)
        segment = framed[:, frame : frame + columns].copy()
        total = np.zeros((rows, columns))
        # segments of rows grow outwards: a range costs its diameter, not its area
        for half in range(frame + 1):
            if half:
                segment += framed[:, frame + half : frame + half + columns]
                segment += framed[:, frame - half : frame - half + columns]
            for dy in range(-frame, frame + 1):
                if cells[cells[:, 1] == dy, 0].max() == half:
                    total += segment[frame + dy : frame + dy + rows]
        found = total[~self.world.blocked]
        view = (
            make_view(self.world.blocked, [delta], self.sight, self.blocked_worth)
            if delta > self.ranges[-1]
            else self.vision
        )
        if isinstance(view, Sight):
            framed = np.pad(self.world.worth, view.reach)
            where = np.flatnonzero(np.pad(~self.world.blocked, view.reach))
            near, offsets = np.flatnonzero(view.row[where] >= 0), cells[:, 1] * framed.shape[1] + cells[:, 0]
            found[near] = sums_seen(view, framed.reshape(-1), where[near], offsets, bits_of(view, cells))
        return found

    # What it is worth ---------------------------------------------------------------------------------

    def cover_counts(self, profile: Sequence[int] | Ints, there: NDArray[np.bool_] | None = None) -> Ints:
        """How many robots cover each cell, in the shape of the worth; ``there`` says which of them count, (N,).

        Parameters
        ----------
        profile : sequence of int
            One action per player.
        there : array, optional
            A mask; left out, all that are there at time 0.

        Returns
        -------
        array
            (rows, columns).
        """
        actions = self.check_profile(profile, "profile")
        frame, (columns, rows) = self._frame, self.world.size
        counts = np.zeros((rows + 2 * frame, columns + 2 * frame), np.int64)
        there = self.there_at(0) if there is None else there
        for delta in self.ranges:
            those = actions[(self._range == delta) & there]
            offsets = disc(float(delta))
            cells = self.world.cells[those][:, None, :] + offsets + frame
            if isinstance(self.vision, Sight):
                cells = cells[seen_parts(self.vision, self._framed(those), bits_of(self.vision, offsets))]
            np.add.at(counts, (cells[..., 1], cells[..., 0]), 1)
        return counts[frame : frame + rows, frame : frame + columns]

    def worth_sum(self, profile: Sequence[int] | Ints) -> float:
        """The sum Σ C^i, the paper's covered worth: what k robots cover counts k times.

        Parameters
        ----------
        profile : sequence of int
            One action per player.

        Returns
        -------
        float
            The sum.
        """
        return float((self.world.worth * self.cover_counts(profile)).sum())

    def worth_union(self, profile: Sequence[int] | Ints) -> float:
        """The worth of the cells that at least one robot covers.

        Parameters
        ----------
        profile : sequence of int
            One action per player.

        Returns
        -------
        float
            The worth.
        """
        return float(self.world.worth[self.cover_counts(profile) > 0].sum())

    def utility(self, player: int, profile: Sequence[int] | Ints) -> float:
        """The utility u^i where everybody just stays: no energy spent, and no flags but those under the robots now.

        Parameters
        ----------
        player : int
            Its number.
        profile : sequence of int
            One action per player.

        Returns
        -------
        float
            Its utility.
        """
        return self.move_utility(player, profile, int(profile[player]))

    def move_utility(self, player: int, profile: Sequence[int] | Ints, action: int) -> float:
        profile, there = np.asarray(profile), self.there_at(0)
        if not there[player]:
            return 0.0
        others = [j for j in range(self.num_players) if j != player and there[j]]
        home, goal = self.positions(profile[player]), self.positions(action)
        own = {tuple(c) for c in self.covered(player, action).tolist()}
        value = 0.0
        times = dict.fromkeys(own, 0)
        flagged = False
        for j in others:
            cells = {tuple(c) for c in self.covered(j, int(profile[j])).tolist()}
            for cell in own & cells:
                times[cell] += 1
            marked = {tuple(self.positions(profile[j]).tolist())} if self.flag == "cell" else cells
            flagged = flagged or tuple(goal.tolist()) in marked
        for x, y in own:
            share = float(times[x, y] == 0) if self.payoff == "marginal" else 1 - times[x, y]
            value += float(self.world.worth[y, x]) * share
        distance = math.dist(home, goal)
        if self.flags and flagged and distance**2 <= 4 * self._range[player] ** 2 * SLACK:
            value = 0.0
        return value - float(self.movement_cost[player]) * distance

    def move_prices(self) -> Floats | None:
        if not (self.movement_cost > 0).any():
            return None
        distance = np.sqrt(self._distances2())
        memory.require(8.0 * self.num_players * distance.size, "the prices of all moves")
        return self.movement_cost[:, None, None] * distance

    def _distances2(self) -> Ints:
        cells = self.world.cells.astype(np.int64)
        memory.require(40.0 * len(cells) ** 2, f"distances between {len(cells):,} cells")
        return ((cells[:, None] - cells[None]) ** 2).sum(axis=-1)

    def claimed_potential(self, profile: Sequence[int] | Ints) -> float:
        """The potential of Eq. 46, Σ u^i: not exact where ranges overlap.

        Parameters
        ----------
        profile : sequence of int
            One action per player.

        Returns
        -------
        float
            The number.
        """
        return self.welfare(profile)

    def corrected_potential(self, profile: Sequence[int] | Ints) -> float:
        """The sum Σ C^i less each pair's overlap once; with ``payoff="marginal"`` the covered worth.

        Exact with K = 0 and flags off.

        Parameters
        ----------
        profile : sequence of int
            One action per player.

        Returns
        -------
        float
            The number.
        """
        if self.payoff == "marginal":
            return self.worth_union(profile)
        counts = self.cover_counts(profile)
        return float((self.world.worth * (counts - counts * (counts - 1) / 2)).sum())

    @property
    def has_potential(self) -> bool:
        return not self.flags and not (self.movement_cost > 0).any()

    def potential(self, profile: Sequence[int] | Ints) -> float:
        if not self.has_potential:
            raise InvalidGame(
                "a coverage game has an exact potential with flags=False and K=0; "
                "corrected_potential(profile) is what it would be"
            )
        return self.corrected_potential(profile)
