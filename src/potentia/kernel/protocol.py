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
    """How many players there are, N.

    Parameters
    ----------
    game : NamedTuple
        The game's data.

    Returns
    -------
    int
        The number.

    Examples
    --------
    >>> pt.extend.num_players(pt.game("ring", players=6).data)
    6
    """
    return game.sizes.shape[0]


@generic
def num_drawn(game: Any) -> int:
    """How many players draws are numbered by: N, without those that come later (see ``uniform``).

    Parameters
    ----------
    game : NamedTuple
        The game's data.

    Returns
    -------
    int
        The number.

    Examples
    --------
    >>> world = pt.games.World([[0, 1, 0], [2, 0, 3]])
    >>> game = pt.games.Coverage(world, robots=2, events=["arrive 10"])
    >>> pt.extend.num_drawn(game.data), pt.extend.num_players(game.data)
    (2, 3)
    """
    return num_players(game)


@generic
def num_arrived(game: Any, state: Any) -> int:
    """How many players have come since the run began; they have the numbers from :func:`num_drawn` on."""
    return 0


@generic
def plays(game: Any, state: Any, player: int) -> bool:
    """Whether the player takes part now. One that does not neither moves nor learns, and is counted by nobody.

    Parameters
    ----------
    game : NamedTuple
        The game's data.
    state : NamedTuple
        The state of the run.
    player : int
        Its number.

    Returns
    -------
    bool
        Whether it does.

    Examples
    --------
    >>> game = pt.game("stag-hunt")
    >>> state = game.new_state(np.array([0, 1]))
    >>> pt.extend.plays(game.data, state, 0)
    True
    """
    return True


@generic
def arrives(game: Any, player: int, time: int) -> bool:
    """Whether the player takes part for the first time, later than others, in the step from this time on."""
    return False


@generic
def num_actions(game: Any, player: int) -> int:
    """How many actions the player has, ``|A^i|``.

    Parameters
    ----------
    game : NamedTuple
        The game's data.
    player : int
        Its number.

    Returns
    -------
    int
        The number.

    Examples
    --------
    >>> int(pt.extend.num_actions(pt.game("stag-hunt").data, 0))
    2
    """
    return game.sizes[at(player)]


@generic
def utility(game: Any, state: Any, player: int, action: int) -> float:
    """The player's utility u^i(action, α^{-i}) if it alone switched to ``action``.

    The one function that every kind of game registers for the type of its data.

    Parameters
    ----------
    game : NamedTuple
        The game's data.
    state : NamedTuple
        The state of the run.
    player : int
        Its number.
    action : int
        What it would play.

    Returns
    -------
    float
        Its utility.

    Examples
    --------
    >>> from typing import NamedTuple
    >>> from potentia.extend import utility
    >>> class HiderData(NamedTuple):
    ...     reward: float
    >>> class HiderState(NamedTuple):
    ...     profile: np.ndarray
    >>> @utility.register(HiderData)
    ... def _(game, state, player, action):
    ...     return game.reward * (action != state.profile[1 - player])
    >>> float(utility(HiderData(2.0), HiderState(np.array([0, 1])), 0, 0))
    2.0
    """
    raise NotImplementedError("this game has no utility")


@generic
def utilities(game: Any, state: Any, player: int, out: Floats) -> None:
    """Write u^i(a, α^{-i}) for each action a of the player into ``out``.

    Parameters
    ----------
    game : NamedTuple
        The game's data.
    state : NamedTuple
        The state of the run.
    player : int
        Its number.
    out : array
        Is written to.

    Examples
    --------
    >>> game = pt.game("stag-hunt")
    >>> state = game.new_state(np.array([0, 1]))
    >>> out = np.zeros(2)
    >>> pt.extend.utilities(game.data, state, 0, out)
    >>> out.tolist()
    [4.0, 3.0]
    """
    for action in range(num_actions(game, player)):
        out[action] = utility(game, state, player, action)


@generic
def compare(game: Any, state: Any, player: int, trial: int) -> tuple[float, float]:
    """The player's utility now, and if it alone switched to ``trial``.

    Parameters
    ----------
    game : NamedTuple
        The game's data.
    state : NamedTuple
        The state of the run.
    player : int
        Its number.
    trial : int
        What it might play.

    Returns
    -------
    tuple of float
        Now, and then.

    Examples
    --------
    >>> game = pt.game("stag-hunt")
    >>> state = game.new_state(np.array([0, 1]))
    >>> [float(u) for u in pt.extend.compare(game.data, state, 0, 1)]
    [4.0, 3.0]
    """
    return utility(game, state, player, state.profile[at(player)]), utility(game, state, player, trial)


@generic
def payoff(game: Any, state: Any, player: int) -> float:
    """What the player receives at the current profile: the truth, also where utilities are only believed.

    Parameters
    ----------
    game : NamedTuple
        The game's data.
    state : NamedTuple
        The state of the run.
    player : int
        Its number.

    Returns
    -------
    float
        Its utility.

    Examples
    --------
    >>> game = pt.game("stag-hunt")
    >>> state = game.new_state(np.array([0, 1]))
    >>> float(pt.extend.payoff(game.data, state, 1))
    4.0
    """
    return utility(game, state, player, state.profile[at(player)])


@generic
def apply(game: Any, state: Any, player: int, action: int) -> None:
    """Let the player play ``action``: the only way a profile changes.

    Parameters
    ----------
    game : NamedTuple
        The game's data.
    state : NamedTuple
        The state of the run.
    player : int
        Its number.
    action : int
        What it plays.

    Examples
    --------
    >>> game = pt.game("stag-hunt")
    >>> state = game.new_state(np.array([0, 1]))
    >>> pt.extend.apply(game.data, state, 0, 1)
    >>> state.profile.tolist()
    [1, 1]
    """
    state.profile[at(player)] = action


@generic
def commit(game: Any, state: Any, player: int) -> None:
    """The player's present action stands; called after each change that was not only tried.

    Parameters
    ----------
    game : NamedTuple
        The game's data.
    state : NamedTuple
        The state of the run.
    player : int
        Its number.

    Examples
    --------
    A game in which moves are counted:

    >>> from typing import NamedTuple
    >>> from potentia.extend import commit
    >>> class TollData(NamedTuple):
    ...     toll: float
    >>> class TollState(NamedTuple):
    ...     profile: np.ndarray
    ...     paid: np.ndarray
    >>> @commit.register(TollData)
    ... def _(game, state, player):
    ...     state.paid[player] += game.toll
    >>> state = TollState(np.zeros(2, np.int64), np.zeros(2))
    >>> commit(TollData(0.5), state, 1)
    >>> state.paid.tolist()
    [0.0, 0.5]
    """


@generic
def open_run(game: Any, state: Any, key: Any) -> None:
    """A run begins at this settled state.

    Parameters
    ----------
    game : NamedTuple
        The game's data.
    state : NamedTuple
        The state of the run.
    key : Any
        What the draws of the run are made from.

    Examples
    --------
    >>> from typing import NamedTuple
    >>> from potentia.extend import open_run
    >>> class FreshData(NamedTuple):
    ...     fuel: float
    >>> class FreshState(NamedTuple):
    ...     profile: np.ndarray
    ...     fuel: np.ndarray
    >>> @open_run.register(FreshData)
    ... def _(game, state, key):
    ...     state.fuel[:] = game.fuel
    >>> state = FreshState(np.zeros(2, np.int64), np.zeros(2))
    >>> open_run(FreshData(9.0), state, None)
    >>> state.fuel.tolist()
    [9.0, 9.0]
    """


@generic
def tick(game: Any, state: Any, key: Any, step: int) -> None:
    """The step is over; what happens by itself before the next one.

    Parameters
    ----------
    game : NamedTuple
        The game's data.
    state : NamedTuple
        The state of the run.
    key : Any
        What the draws of the run are made from.
    step : int
        The step that is over.

    Examples
    --------
    >>> from typing import NamedTuple
    >>> from potentia.extend import tick
    >>> class ClockData(NamedTuple):
    ...     rate: float
    >>> class ClockState(NamedTuple):
    ...     profile: np.ndarray
    ...     time: np.ndarray
    >>> @tick.register(ClockData)
    ... def _(game, state, key, step):
    ...     state.time[0] = game.rate * (step + 1)
    >>> state = ClockState(np.zeros(2, np.int64), np.zeros(1))
    >>> tick(ClockData(0.5), state, None, 3)
    >>> state.time.tolist()
    [2.0]
    """


@generic
def waiting(game: Any, state: Any) -> bool:
    """Whether the run must stop here, for ``Game.think`` to do what is too long for one kernel."""
    return False


@generic
def settle(game: Any, state: Any) -> None:
    """Derive everything else in the state from its profile.

    Parameters
    ----------
    game : NamedTuple
        The game's data.
    state : NamedTuple
        The state of the run.

    Examples
    --------
    >>> game = pt.games.Congestion([[0], [1]], [[1, 2], [1, 3]], num_players=2)
    >>> state = game.new_state(np.array([0, 0]))
    >>> pt.extend.settle(game.data, state)
    >>> state.loads.tolist()
    [2, 0]
    """


@generic
def potential(game: Any, state: Any) -> float:
    """The potential Φ at the current profile, computed from scratch so that nothing drifts.

    Asked only where there is one.

    Parameters
    ----------
    game : NamedTuple
        The game's data.
    state : NamedTuple
        The state of the run.

    Returns
    -------
    float
        The potential.

    Examples
    --------
    >>> game = pt.games.consensus(pt.games.ring_edges(4))
    >>> float(pt.extend.potential(game.data, game.new_state(np.array([0, 0, 1, 1]))))
    2.0
    """
    return np.nan


@generic
def welfare(game: Any, state: Any) -> float:
    """The sum of utilities at the current profile.

    Parameters
    ----------
    game : NamedTuple
        The game's data.
    state : NamedTuple
        The state of the run.

    Returns
    -------
    float
        The sum.

    Examples
    --------
    >>> game = pt.game("stag-hunt")
    >>> state = game.new_state(np.array([0, 1]))
    >>> float(pt.extend.welfare(game.data, state))
    8.0
    """
    total = 0.0
    for player in range(num_players(game)):
        total += utility(game, state, player, state.profile[player])
    return total


@generic
def measure(game: Any, state: Any, which: int) -> float:
    """The value of the game's own recorder with this number (``Game.recorders``) at the current state.

    Parameters
    ----------
    game : NamedTuple
        The game's data.
    state : NamedTuple
        The state of the run.
    which : int
        Its place in ``recorders``.

    Returns
    -------
    float
        The value.

    Examples
    --------
    >>> game = pt.games.Coverage(pt.games.World([[0, 1, 0], [2, 0, 3]]), robots=2, delta=0.5)
    >>> state = game.new_state(np.array([3, 5]))
    >>> pt.extend.settle(game.data, state)
    >>> float(pt.extend.measure(game.data, state, game.recorders.index("worth_union")))
    5.0
    """
    return np.nan


@generic
def num_reachable(moves: Any, player: int, action: int, size: int) -> int:
    """How many actions other than the current one are reachable; ``size`` is the player's ``|A^i|``.

    Parameters
    ----------
    moves : Moves
        The game's, or a rule's own.
    player : int
        Its number.
    action : int
        What it plays now.
    size : int
        How many actions it has.

    Returns
    -------
    int
        The number.

    Examples
    --------
    >>> game = pt.games.Separable([[0.0, 1.0, 2.0]], moves=pt.games.path_moves(3))
    >>> [int(pt.extend.num_reachable(game.moves, 0, action, 3)) for action in range(3)]
    [1, 2, 1]
    """
    return size - 1


@num_reachable.register(Constrained)
def _num_reachable(moves: Constrained, player: int, action: int, size: int) -> int:
    row = moves.row[at(player)] + action
    return moves.ptr[at(row + 1)] - moves.ptr[at(row)]


@generic
def reachable(moves: Any, player: int, action: int, index: int) -> int:
    """The index-th reachable action, the current one excluded.

    Parameters
    ----------
    moves : Moves
        The game's, or a rule's own.
    player : int
        Its number.
    action : int
        What it plays now.
    index : int
        Which, from 0.

    Returns
    -------
    int
        The action.

    Examples
    --------
    >>> game = pt.games.Separable([[0.0, 1.0, 2.0]], moves=pt.games.path_moves(3))
    >>> [int(pt.extend.reachable(game.moves, 0, 1, index)) for index in range(2)]
    [0, 2]
    """
    return index if index < action else index + 1


@reachable.register(Constrained)
def _reachable(moves: Constrained, player: int, action: int, index: int) -> int:
    return moves.targets[at(moves.ptr[at(moves.row[at(player)] + action)] + index)]
