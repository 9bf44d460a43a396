"""What players observe, and what they may play, in compiled code.

A *view* is a record that says what is shown to whom; :func:`show` is chosen by its type.

=========  ============================================  =========================================================
view       games                                         what a row holds
=========  ============================================  =========================================================
``Seats``  all but ``Coverage``                          actions: the player's own, then those of the others it sees
``Loads``  ``Congestion``, local                         its own action, then the loads of the resources it could use
``Place``  ``Coverage``, own                             x, y, whether the robot is there
``Patch``  ``Coverage``, local                           worth, free cells, robots, flags within 2δ of the robot
``Area``   ``Coverage``, full                            worth, free cells, the robot itself, the others, flags
=========  ============================================  =========================================================
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from potentia.games.coverage_kernel import CoverageData, CoverageState, cell_of, squared_distance
from potentia.games.roster import is_here
from potentia.games.sight import Open, Sight, sees
from potentia.kernel.arrays import Floats, Ints
from potentia.kernel.dispatch import at, generic, portable
from potentia.kernel.protocol import Constrained, num_actions, num_players, plays

LOCAL, FULL = 4, 5  # layers of a patch, and of the whole area


class Seats(NamedTuple):
    """Player i sees the actions of the players ``who[ptr[i]:ptr[i + 1]]``, itself first."""

    ptr: Ints
    who: Ints


class Loads(NamedTuple):
    """Player i sees its own action and the loads of the resources ``resources[ptr[i]:ptr[i + 1]]``."""

    ptr: Ints
    resources: Ints


class Place(NamedTuple):
    """A robot knows where it is."""

    here: bool = True


class Patch(NamedTuple):
    """A robot sees what is around it, in a square of ``side`` cells with it in the middle."""

    side: int
    columns: int  # of the area
    rows: int
    blocked: NDArray[np.uint8]  # (rows, columns)
    kind: Ints  # (N,) which range a robot has
    ptr: Ints  # the cells of range k are ptr[k]..ptr[k + 1]
    dx: Ints
    dy: Ints
    reach: Floats  # (2δ)² of each range
    vision: Sight | Open
    frame: int  # cells around the area by which ``vision`` numbers cells


class Area(NamedTuple):
    """A robot sees everything."""

    columns: int
    rows: int
    blocked: NDArray[np.uint8]


View = Seats | Loads | Place | Patch | Area


@generic
def show(view: Any, game: Any, state: Any, player: int, out: Any, row: int) -> None:
    """Write what the player observes into a row of zeros."""


@show.register(Seats)
def _show_seats(view: Seats, game: Any, state: Any, player: int, out: Ints, row: int) -> None:
    first = view.ptr[at(player)]
    for k in range(first, view.ptr[at(player + 1)]):
        out[at(row), at(k - first)] = state.profile[at(view.who[at(k)])]


@show.register(Loads)
def _show_loads(view: Loads, game: Any, state: Any, player: int, out: Ints, row: int) -> None:
    out[at(row), 0] = state.profile[at(player)]
    first = view.ptr[at(player)]
    for k in range(first, view.ptr[at(player + 1)]):
        out[at(row), at(1 + k - first)] = state.loads[at(view.resources[at(k)])]


@show.register(Place)
def _show_place(view: Place, game: CoverageData, state: CoverageState, player: int, out: Floats, row: int) -> None:
    action = state.profile[at(player)]
    out[at(row), 0] = game.place[at(action), 0]
    out[at(row), 1] = game.place[at(action), 1]
    out[at(row), 2] = 1.0 if is_here(game.roster, state.here, player) else 0.0


@show.register(Patch)
def _show_patch(view: Patch, game: CoverageData, state: CoverageState, player: int, out: Floats, row: int) -> None:
    layer, middle, action = view.side * view.side, view.side // 2, state.profile[at(player)]
    x, y = np.int64(game.place[at(action), 0]), np.int64(game.place[at(action), 1])
    kind, cell, here = view.kind[at(player)], cell_of(game, action), is_here(game.roster, state.here, player)
    seen_from = (y + view.frame) * (view.columns + 2 * view.frame) + x + view.frame
    for k in range(view.ptr[at(kind)], view.ptr[at(kind + 1)]):  # beyond these cells a row stays 0
        dx, dy = view.dx[at(k)], view.dy[at(k)]
        worth = free = flagged = 0.0
        if here and x + dx >= 0 and x + dx < view.columns and y + dy >= 0 and y + dy < view.rows:
            there = cell + dy * game.width + dx
            if sees(view.vision, seen_from, k):
                worth = state.worth[at(there)]
            free = 1.0 - view.blocked[at(y + dy), at(x + dx)]
            if state.flags.shape[0] and state.flags[at(there)] != 0 and state.flags[at(there)] != player + 1:
                flagged = 1.0
        place = (middle + dy) * view.side + middle + dx
        out[at(row), at(place)] = worth
        out[at(row), at(layer + place)] = free
        out[at(row), at(2 * layer + place)] = 0.0
        out[at(row), at(3 * layer + place)] = flagged
    if not here:
        return
    for other in range(num_players(game)):
        spot = state.profile[at(other)]
        far = squared_distance(game, spot, action)
        if other != player and far <= view.reach[at(kind)] and is_here(game.roster, state.here, other):
            across = np.int64(game.place[at(spot), 0]) - x
            down = np.int64(game.place[at(spot), 1]) - y
            place = 2 * layer + (middle + int(down)) * view.side + middle + int(across)
            out[at(row), at(place)] += 1.0


@show.register(Area)
def _show_area(view: Area, game: CoverageData, state: CoverageState, player: int, out: Floats, row: int) -> None:
    layer = view.rows * view.columns
    for y in range(view.rows):
        for x in range(view.columns):
            cell, place = game.base + y * game.width + x, y * view.columns + x
            out[at(row), at(place)] = state.worth[at(cell)]
            out[at(row), at(layer + place)] = 1.0 - view.blocked[at(y), at(x)]
            out[at(row), at(2 * layer + place)] = 0.0
            out[at(row), at(3 * layer + place)] = 0.0
            flagged = state.flags.shape[0] and state.flags[at(cell)] != 0 and state.flags[at(cell)] != player + 1
            out[at(row), at(4 * layer + place)] = 1.0 if flagged else 0.0
    for robot in range(num_players(game)):
        if is_here(game.roster, state.here, robot):
            action = state.profile[at(robot)]
            spot = np.int64(game.place[at(action), 1]) * view.columns + np.int64(game.place[at(action), 0])
            out[at(row), at((2 if robot == player else 3) * layer + int(spot))] += 1.0


# What may be played -----------------------------------------------------------------------------------


@generic
def reaches(moves: Any, player: int, current: int, action: int) -> bool:
    """Whether the player may move from one action to another."""
    return True


@reaches.register(Constrained)
def _reaches(moves: Constrained, player: int, current: int, action: int) -> bool:
    row = moves.row[at(player)] + current
    found = False
    for k in range(moves.ptr[at(row)], moves.ptr[at(row + 1)]):
        found = found or moves.targets[at(k)] == action
    return found


@portable
def is_legal(game: Any, state: Any, player: int, action: int) -> bool:
    """Whether the player may play this now: what it plays, or what is in reach of one that takes part."""
    current = state.profile[at(player)]
    return action == current or (plays(game, state, player) and reaches(game.moves, player, current, action))


@generic
def mark(moves: Any, player: int, current: int, size: int, mask: NDArray[np.int8], row: int, value: int) -> None:
    """Write a value for each action in reach into a row of masks."""
    for action in range(size):
        mask[at(row), at(action)] = value


@mark.register(Constrained)
def _mark(
    moves: Constrained, player: int, current: int, size: int, mask: NDArray[np.int8], row: int, value: int
) -> None:
    first = at(moves.row[at(player)] + current)
    for k in range(moves.ptr[first], moves.ptr[at(first + 1)]):
        mask[at(row), at(moves.targets[at(k)])] = value


@portable
def show_legal(game: Any, state: Any, player: int, mask: NDArray[np.int8], row: int) -> None:
    """Write 1 for each legal action into a row of zeros."""
    current = state.profile[at(player)]
    if plays(game, state, player):
        mark(game.moves, player, current, num_actions(game, player), mask, row, 1)
    mask[at(row), at(current)] = 1


@portable
def show_again(game: Any, state: Any, player: int, before: int, mask: NDArray[np.int8], row: int) -> None:
    """The same, into a row that tells what was legal when the player was at ``before``."""
    size = num_actions(game, player)
    taken = plays(game, state, player)
    if taken and is_shown(game.moves, player, before, state.profile[at(player)], size, mask, row):
        return
    mark(game.moves, player, before, size, mask, row, 0)
    mask[at(row), at(before)] = 0
    show_legal(game, state, player, mask, row)


@generic
def is_shown(moves: Any, player: int, before: int, current: int, size: int, mask: NDArray[np.int8], row: int) -> bool:
    """Whether a row tells already what is legal for one that takes part: it did so before, and that is the same now."""
    return mask[at(row), 0] != 0 and mask[at(row), at(size - 1)] != 0


@is_shown.register(Constrained)
def _is_shown(
    moves: Constrained, player: int, before: int, current: int, size: int, mask: NDArray[np.int8], row: int
) -> bool:
    first = moves.ptr[at(moves.row[at(player)] + current)]
    return before == current and (size == 1 or mask[at(row), at(moves.targets[at(first)])] != 0)
