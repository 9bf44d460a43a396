"""The coverage game in compiled code: who covers what, as a count per cell.

The area lies inside a frame of worthless cells as wide as the longest range, so that no range is cut at a
border: cell (x, y) has the number y · width + x + base. ``counts`` says how many robots cover each cell. A
robot's utility is a sum over the cells in its range (Eq. 45): f(l) for those that it covers, less f(l) once
for each other robot that covers l too,

    C^i - C^i_n = Σ_l f(l) · (1 - number of others that cover l),

so an evaluation costs the cells in range, whatever the number of robots.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from potentia.games.drift_kernel import AGAIN, Moving, Still, is_due, renew
from potentia.games.moving_targets import MovingTargets, look_for
from potentia.games.roster import (
    NEXT,
    Everybody,
    Roster,
    base_of,
    begin_lives,
    begins_at,
    is_here,
    look_ahead,
    num_come,
)
from potentia.games.sight import Open, Sight, is_open, owns, sees
from potentia.kernel import protocol
from potentia.kernel.arrays import Floats, Ints
from potentia.kernel.dispatch import at, generic, portable
from potentia.kernel.protocol import Moves
from potentia.kernel.recorders import Recorder

SHARED = -1  # a flag of more than one robot
BLOCK = 9  # a range of so many cells is the robot's and the eight around it
MOVES, SEEN, FOUND = range(3)
SUM, UNION, PAIRS = range(3)  # how a cell counts that several robots cover
RECORDERS = (
    Recorder("worth_sum", "covered worth (sum: a cell counts once per robot)"),
    Recorder("worth_union", "covered worth (union: each cell once)"),
    Recorder("moves", "moves so far"),
    Recorder("energy", "energy spent"),
    Recorder("cells_seen", "cells covered so far", "cells"),
    Recorder("targets_found", "targets found", "targets"),
    Recorder("distance", "distance driven by all robots", "cells"),
)
WORTH_SUM, WORTH_UNION, MOVED, ENERGY, CELLS_SEEN, TARGETS_FOUND, DISTANCE = range(len(RECORDERS))
TOTALS = (Recorder("driven", "distance driven by the robot", "cells", dims=("player",)),)


class CoverageData(NamedTuple):
    """What compiled code reads."""

    sizes: Ints
    moves: Moves
    width: int  # of the framed area
    base: int  # number of cell (0, 0)
    place: NDArray[np.int32]  # (A, 2) the cell (x, y) of each action
    worth: Floats  # by framed cell, at time 0; kernels read the state's
    target: Ints  # targets in a framed cell
    kind: Ints  # (N,) which range a robot has
    ptr: Ints  # the cells of range k are ptr[k]..ptr[k + 1]
    offset: Ints  # relative to the robot's cell
    dx: Ints
    dy: Ints
    reach: Floats  # δ² of each range
    sight: Floats  # (2δ)²: how far a flag is seen
    cost: Floats  # (N,) K^i
    marginal: bool  # the wonderful-life utility instead of Eq. 45
    flags: bool
    flag_range: bool  # flags on all covered cells, not on the occupied one
    drift: Moving | Still
    roster: Everybody | Roster
    vision: Sight | Open
    afoot: MovingTargets


class CoverageState(NamedTuple):
    """The profile, and what follows from it or was left behind."""

    profile: Ints
    home: Ints  # (N,) the action that stands; a trial is a departure from it
    counts: NDArray[np.int32]  # how many robots cover each framed cell
    flags: NDArray[np.int32]  # 0, the only robot whose flag lies there + 1, or SHARED; empty without flags
    seen: NDArray[np.uint8]  # whether a cell was ever covered (outside: 1); empty where nobody asks
    tally: Ints  # moves, distinct cells seen, targets found
    spent: Floats  # (1,) energy
    worth: Floats  # by framed cell, now: the game's own array, or the run's where it drifts
    clock: Ints  # (1,) the time that worth is of
    until: Ints  # (N,) when each robot fails, and whether it is there now; all three empty where everybody is
    here: NDArray[np.uint8]  # (N,)
    roll: Ints  # (2,) when somebody comes or goes next, and how many have come
    driven: Floats  # (N,) how far each robot came, in cells
    source: Floats  # where the worth of each cell was at time 0; empty unless it flows
    found: Floats  # (T,) 1 where a target that moves was found; empty where targets stay or nobody asks


@portable
def cell_of(game: CoverageData, action: int) -> Any:
    """The framed cell of an action."""
    return np.int64(game.place[at(action), 1]) * game.width + np.int64(game.place[at(action), 0]) + game.base


@portable
def squared_distance(game: CoverageData, a: int, b: int) -> Any:
    """The squared distance between two actions."""
    dx = np.int64(game.place[at(a), 0]) - np.int64(game.place[at(b), 0])
    dy = np.int64(game.place[at(a), 1]) - np.int64(game.place[at(b), 1])
    return dx * dx + dy * dy


@portable
def share_of(game: CoverageData, worth: Any, others: Any) -> Any:
    """What a covered cell adds to the bracket."""
    if game.marginal:
        return worth if others == 0 else 0.0
    return worth * (1 - others)


@portable
def _bracket(game: CoverageData, state: CoverageState, kind: Any, cell: Any, dx: Any, dy: Any, here: bool) -> Any:
    """The bracket of Eq. 45 at ``cell`` for a robot that is (dx, dy) behind it, or there (``here``)."""
    total = 0.0
    first, last = game.ptr[at(kind)], game.ptr[at(kind + 1)]
    if last - first == BLOCK and is_open(game.vision):
        # the paper's range, unrolled: no offsets to load and no distances to compare
        for y in range(-1, 2):
            for x in range(-1, 2):
                covered = at(cell + y * game.width + x)
                own = 1 if here else np.int64(abs(y + dy) <= 1) & np.int64(abs(x + dx) <= 1)
                total += share_of(game, state.worth[covered], np.int64(state.counts[covered]) - own)
        return total
    reach = np.int64(game.reach[at(kind)])  # whole numbers compare faster
    behind = cell - dy * game.width - dx
    for k in range(first, last):
        if not sees(game.vision, cell, k):
            continue
        covered = at(cell + game.offset[at(k)])
        x, y = game.dx[at(k)] + dx, game.dy[at(k)] + dy
        own = 1 if here else owns(game.vision, behind, x, y, reach)
        total += share_of(game, state.worth[covered], np.int64(state.counts[covered]) - own)
    return total


@portable
def _worth(game: CoverageData, state: CoverageState, player: int, action: int) -> float:
    """The bracket of Eq. 45 if the robot were at ``action`` instead of where its profile says."""
    current = state.profile[at(player)]
    dx = np.int64(game.place[at(action), 0]) - np.int64(game.place[at(current), 0])
    dy = np.int64(game.place[at(action), 1]) - np.int64(game.place[at(current), 1])
    return _bracket(game, state, game.kind[at(player)], cell_of(game, action), dx, dy, False)


@portable
def _worth_here(game: CoverageData, state: CoverageState, player: int) -> float:
    """The same where the robot is: it covers all of these cells itself."""
    return _bracket(game, state, game.kind[at(player)], cell_of(game, state.profile[at(player)]), 0, 0, True)


@portable
def reward(game: CoverageData, state: CoverageState, player: int, action: int, worth: float) -> float:
    """Eq. 45: nothing where another robot's flag is seen, less the energy to go there."""
    cost = game.cost[at(player)]
    if cost == 0.0 and state.flags.shape[0] == 0:
        return worth
    distance2 = squared_distance(game, action, state.home[at(player)])
    if state.flags.shape[0]:
        owner = np.int64(state.flags[at(cell_of(game, action))])
        if owner != 0 and owner != player + 1 and distance2 <= game.sight[at(game.kind[at(player)])]:
            worth = 0.0
    return worth - cost * math.sqrt(distance2)


@protocol.utility.register(CoverageData)
def _utility(game: CoverageData, state: CoverageState, player: int, action: int) -> float:
    if not is_here(game.roster, state.here, player):
        return 0.0
    if action == state.profile[at(player)]:
        return reward(game, state, player, action, _worth_here(game, state, player))
    return reward(game, state, player, action, _worth(game, state, player, action))


@protocol.compare.register(CoverageData)
def _compare(game: CoverageData, state: CoverageState, player: int, trial: int) -> tuple[float, float]:
    if not is_here(game.roster, state.here, player):
        return 0.0, 0.0
    current = state.profile[at(player)]
    now = reward(game, state, player, current, _worth_here(game, state, player))
    return now, reward(game, state, player, trial, _worth(game, state, player, trial))


@portable
def _cover(game: CoverageData, state: CoverageState, kind: int, cell: int, change: int) -> None:
    if game.ptr[at(kind + 1)] - game.ptr[at(kind)] == BLOCK and is_open(game.vision):
        for y in range(-1, 2):
            for x in range(-1, 2):
                state.counts[at(cell + y * game.width + x)] += change
        return
    for k in range(game.ptr[at(kind)], game.ptr[at(kind + 1)]):
        if sees(game.vision, cell, k):
            state.counts[at(cell + game.offset[at(k)])] += change


@protocol.apply.register(CoverageData)
def _apply(game: CoverageData, state: CoverageState, player: int, action: int) -> None:
    current = state.profile[at(player)]
    if action == current or not is_here(game.roster, state.here, player):
        return
    kind = game.kind[at(player)]
    _cover(game, state, kind, cell_of(game, current), -1)
    _cover(game, state, kind, cell_of(game, action), 1)
    state.profile[at(player)] = action


@protocol.commit.register(CoverageData)
def _commit(game: CoverageData, state: CoverageState, player: int) -> None:
    before, after = state.home[at(player)], state.profile[at(player)]
    if before == after:
        return
    state.home[at(player)] = after
    state.tally[MOVES] += 1
    way = math.sqrt(squared_distance(game, before, after))
    state.spent[0] += game.cost[at(player)] * way
    state.driven[at(player)] += way
    _leave_marks(game, state, player)


@portable
def _leave_marks(game: CoverageData, state: CoverageState, player: int) -> None:
    """Flags, and cells seen for the first time, where the robot is."""
    kind = game.kind[at(player)]
    cell = cell_of(game, state.profile[at(player)])
    if state.flags.shape[0]:
        if game.flag_range:
            for k in range(game.ptr[at(kind)], game.ptr[at(kind + 1)]):
                if sees(game.vision, cell, k):
                    _lay(state.flags, cell + game.offset[at(k)], player)
        else:
            _lay(state.flags, cell, player)
    if state.seen.shape[0]:
        for k in range(game.ptr[at(kind)], game.ptr[at(kind + 1)]):
            covered = at(cell + game.offset[at(k)])
            if state.seen[covered] == 0 and sees(game.vision, cell, k):
                state.seen[covered] = 1
                state.tally[SEEN] += 1
                if state.found.shape[0] == 0:
                    state.tally[FOUND] += game.target[covered]


@portable
def _lay(flags: NDArray[np.int32], cell: int, player: int) -> None:
    owner = flags[at(cell)]
    if owner == 0:
        flags[at(cell)] = player + 1
    elif owner != player + 1:
        flags[at(cell)] = SHARED


@protocol.settle.register(CoverageData)
def _settle(game: CoverageData, state: CoverageState) -> None:
    renew(game.drift, game.width, game.base, AGAIN, state.clock[0], state.source, state.worth)
    state.counts[:] = 0
    for player in range(game.sizes.shape[0]):
        state.home[player] = state.profile[player]
        if not is_here(game.roster, state.here, player):
            continue
        _cover(game, state, game.kind[player], cell_of(game, state.profile[player]), 1)
        _leave_marks(game, state, player)  # again after a run was restored, which changes nothing
    _look_for_targets(game, state)


@portable
def _look_for_targets(game: CoverageData, state: CoverageState) -> None:
    if state.found.shape[0]:
        new = look_for(game.afoot, game.width, game.base, state.clock[0], state.counts, state.found)
        state.tally[FOUND] += new


@protocol.tick.register(CoverageData)
def _tick(game: CoverageData, state: CoverageState, key: Any, step: int) -> None:
    if is_due(game.drift, step + 1):
        renew(game.drift, game.width, game.base, state.clock[0], step + 1, state.source, state.worth)
        state.clock[0] = step + 1
    call_roll(game.roster, game, state, step + 1)
    _look_for_targets(game, state)


# Who is there -----------------------------------------------------------------------------------------


@generic
def call_roll(roster: Any, game: CoverageData, state: CoverageState, time: int) -> None:
    """Those whose time it is come, or are gone."""


@call_roll.register(Roster)
def _call_roll(roster: Roster, game: CoverageData, state: CoverageState, time: int) -> None:
    if time < state.roll[NEXT]:
        return
    for player in range(roster.since.shape[0]):
        here = roster.since[player] <= time < state.until[player]
        if here != (state.here[player] != 0):
            state.here[player] = here
            _cover(game, state, game.kind[player], cell_of(game, state.profile[player]), 1 if here else -1)
            if here:
                _leave_marks(game, state, player)
    look_ahead(roster, state.until, state.roll, time)


@protocol.open_run.register(CoverageData)
def _open_run(game: CoverageData, state: CoverageState, key: Any) -> None:
    begin_lives(game.roster, state.until, state.roll, key, 0)


@protocol.plays.register(CoverageData)
def _plays(game: CoverageData, state: CoverageState, player: int) -> bool:
    return is_here(game.roster, state.here, player)


@protocol.arrives.register(CoverageData)
def _arrives(game: CoverageData, player: int, time: int) -> bool:
    return begins_at(game.roster, player, time)


@protocol.num_arrived.register(CoverageData)
def _num_arrived(game: CoverageData, state: CoverageState) -> int:
    return num_come(game.roster, state.roll)


@protocol.num_drawn.register(CoverageData)
def _num_drawn(game: CoverageData) -> int:
    return base_of(game.roster, game.sizes.shape[0])


@protocol.potential.register(CoverageData)
def _potential(game: CoverageData, state: CoverageState) -> float:
    """Σ C^i less each pair's overlap once; with the wonderful-life utility, the covered worth."""
    return _total(game, state, UNION if game.marginal else PAIRS)


@portable
def _total(game: CoverageData, state: CoverageState, counted: int) -> float:
    """The worth of what robots cover, a cell counted for each of them, once, or less once for each pair."""
    total = 0.0
    for player in range(game.sizes.shape[0]):
        if not is_here(game.roster, state.here, player):
            continue
        kind, cell = game.kind[player], cell_of(game, state.profile[player])
        for k in range(game.ptr[at(kind)], game.ptr[at(kind + 1)]):
            if not sees(game.vision, cell, k):
                continue
            covered = at(cell + game.offset[at(k)])
            worth, robots = state.worth[covered], np.int64(state.counts[covered])
            if counted == UNION:
                total += worth / robots
            elif counted == PAIRS:  # c - c (c - 1) / 2 times in all, (3 - c) / 2 for each of c robots
                total += worth * (3 - robots) * 0.5
            else:
                total += worth
    return total


@protocol.measure.register(CoverageData)
def _measure(game: CoverageData, state: CoverageState, which: int) -> float:
    if which == WORTH_SUM:
        return _total(game, state, SUM)
    if which == WORTH_UNION:
        return _total(game, state, UNION)
    if which == MOVED:
        return float(state.tally[MOVES])
    if which == ENERGY:
        return state.spent[0]
    if which == CELLS_SEEN:
        return float(state.tally[SEEN])
    if which == TARGETS_FOUND:
        total = float(state.tally[FOUND])
        for k in range(state.found.shape[0]):
            total += 0.0 * state.found[k]  # not known of a run that was saved when targets found did not move
        return total
    total = 0.0
    for player in range(state.driven.shape[0]):
        total += state.driven[player]
    return total
