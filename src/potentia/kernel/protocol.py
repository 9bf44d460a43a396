"""What a rule may ask of a game, as functions that compile.

A game is two records: its *data* (a NamedTuple of frozen arrays, with at least ``moves``) and a *state*
(a NamedTuple of the run's own arrays, with at least ``profile``). The profile changes only through
:func:`apply`, one player at a time; a joint change is a sequence of those. A change may be tried and taken
back; :func:`commit` tells the game that it stands.

A new kind of game registers ``utility`` (and ``num_players`` and ``num_actions`` if its data has no
``sizes``). Whatever it keeps beside the profile (loads, counts) it updates in ``apply`` and builds in
``settle``. Whatever depends on what was really played (a movement cost, marks left behind) it updates in
``commit``, and what goes on between steps (a field that drifts, what players learn) in ``tick``. The others
have defaults.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from potentia.kernel.arrays import Floats, Ints
from potentia.kernel.dispatch import at, generic


class Complete(NamedTuple):
    """No constraint: every other action is reachable. A type of its own, so that kernels need not ask."""

    complete: bool = True


class Constrained(NamedTuple):
    """Constrained action sets: the actions reachable from action a of player i, the current one excluded.

    They are ``targets[ptr[row[i] + a]:ptr[row[i] + a + 1]]``. Players with the same table share rows.
    """

    row: Ints
    ptr: Ints
    targets: Ints


Moves = Complete | Constrained


class Interactions(NamedTuple):
    """Who interacts with whom: player i belongs to the groups ``groups[ptr[i]:ptr[i + 1]]``.

    Two players interact iff they share a group: an edge, a resource, or one group for everybody.
    """

    ptr: Ints
    groups: Ints
    num_groups: int


class Proximity(NamedTuple):
    """Interactions of players that move in the plane: two interact iff their distance is at most the sum of radii.

    Buckets of ``side`` by ``side`` cells, no narrower than the largest such sum, find the near ones; one
    empty bucket lies around them all.
    """

    place: NDArray[np.int32]  # (A, 2) where each action is
    radius: Floats  # (N,)
    side: int
    columns: int  # of buckets
    num_groups: int  # of buckets in all


@generic
def num_players(game: Any) -> int:
    """N."""
    return game.sizes.shape[0]


@generic
def num_drawn(game: Any) -> int:
    """How many players draws are numbered by: N, without those that come later (see ``uniform``)."""
    return num_players(game)


@generic
def num_arrived(game: Any, state: Any) -> int:
    """How many players have come since the run began; they have the numbers from :func:`num_drawn` on."""
    return 0


@generic
def plays(game: Any, state: Any, player: int) -> bool:
    """Whether the player takes part now. One that does not neither moves nor learns, and is counted by nobody."""
    return True


@generic
def arrives(game: Any, player: int, time: int) -> bool:
    """Whether the player takes part for the first time, later than others, in the step from this time on."""
    return False


@generic
def num_actions(game: Any, player: int) -> int:
    """|A^i|."""
    return game.sizes[at(player)]


@generic
def utility(game: Any, state: Any, player: int, action: int) -> float:
    """u^i(action, α^{-i}): the player's utility if it alone switched to ``action``."""
    raise NotImplementedError("this game has no utility")


@generic
def utilities(game: Any, state: Any, player: int, out: Floats) -> None:
    """Write u^i(a, α^{-i}) for each action a of the player into ``out``."""
    for action in range(num_actions(game, player)):
        out[action] = utility(game, state, player, action)


@generic
def compare(game: Any, state: Any, player: int, trial: int) -> tuple[float, float]:
    """The player's utility now, and if it alone switched to ``trial``."""
    return utility(game, state, player, state.profile[at(player)]), utility(game, state, player, trial)


@generic
def payoff(game: Any, state: Any, player: int) -> float:
    """What the player receives at the current profile: the truth, also where utilities are only believed."""
    return utility(game, state, player, state.profile[at(player)])


@generic
def apply(game: Any, state: Any, player: int, action: int) -> None:
    """Let the player play ``action``: the only way a profile changes."""
    state.profile[at(player)] = action


@generic
def commit(game: Any, state: Any, player: int) -> None:
    """The player's present action stands; called after each change that was not only tried."""


@generic
def open_run(game: Any, state: Any, key: Any) -> None:
    """A run begins at this settled state."""


@generic
def tick(game: Any, state: Any, key: Any, step: int) -> None:
    """The step is over; what happens by itself before the next one."""


@generic
def waiting(game: Any, state: Any) -> bool:
    """Whether the run must stop here, for ``Game.think`` to do what is too long for one kernel."""
    return False


@generic
def settle(game: Any, state: Any) -> None:
    """Derive everything else in the state from its profile."""


@generic
def potential(game: Any, state: Any) -> float:
    """Φ at the current profile, computed from scratch so that nothing drifts. Asked only where there is one."""
    return np.nan


@generic
def welfare(game: Any, state: Any) -> float:
    """The sum of utilities at the current profile."""
    total = 0.0
    for player in range(num_players(game)):
        total += utility(game, state, player, state.profile[player])
    return total


@generic
def measure(game: Any, state: Any, which: int) -> float:
    """The value of the game's own recorder with this number (``Game.recorders``) at the current state."""
    return np.nan


@generic
def num_reachable(moves: Any, player: int, action: int, size: int) -> int:
    """How many actions other than the current one are reachable; ``size`` is the player's |A^i|."""
    return size - 1


@num_reachable.register(Constrained)
def _num_reachable(moves: Constrained, player: int, action: int, size: int) -> int:
    row = moves.row[at(player)] + action
    return moves.ptr[at(row + 1)] - moves.ptr[at(row)]


@generic
def reachable(moves: Any, player: int, action: int, index: int) -> int:
    """The index-th reachable action, the current one excluded."""
    return index if index < action else index + 1


@reachable.register(Constrained)
def _reachable(moves: Constrained, player: int, action: int, index: int) -> int:
    return moves.targets[at(moves.ptr[at(moves.row[at(player)] + action)] + index)]
