"""Nash equilibria, best responses and expected utilities (paper, section 2).

A profile α is a pure Nash equilibrium iff no player gains by changing its own action (Eq. 1):
u^i(α^i, α^{-i}) ≥ u^i(a, α^{-i}) for every player i and every a in A^i. Under mixed strategies x^i, drawn
independently, player i expects U^i(x) = Σ_α u^i(α) Π_j x^j(α^j) (Eq. 2); x is a Nash equilibrium iff no pure
action promises anyone more.

Where moving has a price, these are the equilibria of players that choose where to be, not whether to go there:
moves are taken as free.

``tolerance`` is relative to the spread of the player's payoffs; a smaller gain is none. 0 compares exactly.
What asks for ``game.utility`` only, and so takes games of any size, estimates the spread of a large game from
a few profiles. Equilibria are about all of A^i, whatever moves the game allows.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from potentia.analysis.arrays import one_each, probabilities
from potentia.analysis.tables import (
    Verdict,
    at_places,
    check_tolerance,
    payoff_table,
    profiles,
    require_game,
    utility_of,
)
from potentia.errors import InvalidGame, InvalidInput
from potentia.games import Game, NormalForm
from potentia.kernel.arrays import Floats, Ints, frozen, strides
from potentia.kernel.checks import Integer
from potentia.kernel.precision import ROUNDINGS, rounding
from potentia.kernel.protocol import Constrained

_FEW, _DRAWN = 256, 32  # profiles: up to so many are all looked at, of more so many are drawn


@dataclass(frozen=True, eq=False)
class NashCheck(Verdict):
    """Whether it is an equilibrium; the largest gain by a deviation, each player's gain and its best replies."""

    holds: bool
    gap: float
    gaps: Floats
    best: list[list[int]]


def slack(values: Floats, tolerance: float, own: int | None = None) -> float:
    """The largest difference between these payoffs of one player that counts as none.

    ``own`` is the axis of the player's own actions: what the others decide is then no part of the spread.
    """
    if tolerance == 0:
        return 0.0
    halves = values / 2  # the difference of two finite numbers may be infinite
    half = float(np.ptp(halves, axis=own).max())
    # equal ones, perhaps a few drawn of many, do not tell whether the others are meant to the last digit
    return 2 * tolerance * half + (rounding(values) if half else ROUNDINGS * float(np.abs(values).max()))


# Pure equilibria -----------------------------------------------------------------------------------------


def pure_nash(game: Game, *, strict: bool = False, within_moves: bool = False, tolerance: float = 1e-9) -> Ints:
    """All pure Nash equilibria, (k, N), in C order.

    Parameters
    ----------
    game : Game
        One whose profiles can be listed.
    strict : bool
        Whether every deviation must lose more than the tolerance.
    within_moves : bool
        Whether only deviations to reachable actions count, so that there may be more equilibria.
    tolerance : float
        Differences up to this, relative to the spread of payoffs, count as none.

    Returns
    -------
    array
        The profiles.

    Examples
    --------
    >>> pt.analysis.pure_nash(pt.game("stag-hunt")).tolist()
    [[0, 0], [1, 1]]
    """
    tolerance = check_tolerance(tolerance)
    table = payoff_table(game)
    kept = np.ones(table.shape[1], bool)
    for player in range(game.num_players):
        values, some = by_action(game, player, table[player]), by_action(game, player, kept)
        raised = values + slack(values, tolerance, own=1)
        if within_moves and isinstance(game.moves, Constrained):
            for action in range(values.shape[1]):
                reach = game.reachable(player, action)
                if reach and strict:
                    some[:, action] &= values[:, action] > raised[:, reach].max(axis=1)
                elif reach:
                    some[:, action] &= values[:, reach].max(axis=1) <= raised[:, action]
        else:
            near = values.max(axis=1, keepdims=True) <= raised
            some &= near & (np.count_nonzero(near, axis=1, keepdims=True) == 1) if strict else near
    return at_places(game, np.flatnonzero(kept))


def as_set(profiles: Ints) -> set[tuple[int, ...]]:
    """Profiles (k, N) as tuples."""
    return {tuple(profile) for profile in profiles.tolist()}


def by_action(game: Game, player: int, values: NDArray[Any]) -> NDArray[Any]:
    """A view of a value per profile as (players before, this player's action, players after)."""
    return values.reshape(-1, int(game.sizes[player]), int(strides(game.sizes)[player]))


# Replies, by game.utility only --------------------------------------------------------------------------


def best_responses(game: Game, player: int, profile: ArrayLike, *, tolerance: float = 1e-9) -> list[int]:
    """The player's best actions, of all in A^i, against what the others do in the profile.

    Parameters
    ----------
    game : Game
        What is played.
    player : int
        Its number.
    profile : array_like
        One action per player.
    tolerance : float
        Differences up to this, relative to the spread of payoffs, count as none.

    Returns
    -------
    list of int
        The actions, in order.

    Examples
    --------
    >>> pt.analysis.best_responses(pt.game("stag-hunt"), 0, [1, 0])
    [0]
    """
    tolerance = check_tolerance(tolerance)
    require_game(game)
    player = _check_player(game, player)
    now = game.check_profile(profile, "profile")
    values = replies(game, player, now, range(game.num_actions[player]))
    return near_best(values, slacks_of(game, tolerance, [player])[0])


def moved(profile: Ints, player: int, action: int) -> Ints:
    """The profile after a player's change of action; read-only."""
    after = profile.copy()
    after[player] = action
    after.setflags(write=False)  # a utility that writes into it is told so
    return after


def replies(game: Game, player: int, profile: Ints, actions: Iterable[int]) -> list[float]:
    """The player's utility for each of these actions of its own."""
    return [utility_at(game, player, moved(profile, player, action)) for action in actions]


def utility_at(game: Game, player: int, profile: Ints) -> float:
    """A finite utility, or an error that says where it is none."""
    value = utility_of(game, player, profile)
    if not math.isfinite(value):
        where = f"player {player} at profile {profile.tolist()}"
        raise InvalidGame(f"of {where} must be finite, got {value}", "utility", value)
    return value


def near_best(values: list[float], slack: float) -> list[int]:
    """The places of the values that are largest, or almost."""
    highest = max(values, default=0.0)
    return [action for action, value in enumerate(values) if highest <= value + slack]


def slacks_of(game: Game, tolerance: float, players: Iterable[int]) -> list[float]:
    """:func:`slack` for each of these players, in a large game from profiles drawn once and for all."""
    if isinstance(game, NormalForm):
        return [slack(game.payoffs[player], tolerance, own=player) for player in players]
    if tolerance == 0:
        return [0.0 for _ in players]
    if game.num_profiles <= _FEW:
        some = profiles(game)
    else:
        some = np.random.Generator(np.random.PCG64(0)).integers(0, game.sizes, (_DRAWN, game.num_players))
    some.setflags(write=False)
    return [slack(np.array([utility_at(game, player, p) for p in some]), tolerance) for player in players]


# Mixed strategies ---------------------------------------------------------------------------------------


@overload
def expected_utility(game: Game, mixed: Sequence[ArrayLike], player: None = None) -> Floats: ...
@overload
def expected_utility(game: Game, mixed: Sequence[ArrayLike], player: int) -> float: ...
def expected_utility(game: Game, mixed: Sequence[ArrayLike], player: int | None = None) -> float | Floats:
    """What the players expect under these mixed strategies, one probability vector each (Eq. 2).

    Parameters
    ----------
    game : Game
        One whose profiles can be listed.
    mixed : sequence of array_like
        A strategy for each player.
    player : int, optional
        That player's number alone.

    Returns
    -------
    float or array
        (N,), or one number.

    Examples
    --------
    >>> pt.analysis.expected_utility(pt.game("stag-hunt"), [[0.5, 0.5], [0.5, 0.5]]).tolist()
    [2.5, 2.5]
    """
    require_game(game)
    strategies = _check_mixed(game, mixed)
    table = payoff_table(game)
    values = table if player is None else table[_check_player(game, player)]
    for strategy in reversed(strategies):  # one player less each time
        values = values.reshape(-1, strategy.size) @ strategy
    return values if player is None else float(values[0])


def is_nash(game: Game, mixed: Any, *, tolerance: float = 1e-9) -> NashCheck:
    """Whether mixed strategies, or a profile of N integers, are a Nash equilibrium, and what is missing.

    A profile is checked by ``game.utility``, in games of any size. Nothing is exact about a sum of products:
    leave mixed strategies a tolerance above 0.

    Parameters
    ----------
    game : Game
        What is played.
    mixed : array_like or sequence of array_like
        A profile, or a strategy for each player.
    tolerance : float
        Differences up to this, relative to the spread of payoffs, count as none.

    Returns
    -------
    NashCheck
        Whether it is one, and what each player would gain.

    Examples
    --------
    >>> check = pt.analysis.is_nash(pt.game("stag-hunt"), [0, 1])
    >>> check.holds, check.gaps.tolist(), check.best
    (False, [3.0, 1.0], [[1], [0]])
    """
    tolerance = check_tolerance(tolerance)
    require_game(game)
    gaps, best = list[float](), list[list[int]]()
    if _is_flat(mixed):
        profile = game.check_profile(mixed, "profile")
        slacks = slacks_of(game, tolerance, range(game.num_players))
        for player in range(game.num_players):
            values = replies(game, player, profile, range(game.num_actions[player]))
            gaps.append(max(values) - values[profile[player]])
            best.append(near_best(values, slacks[player]))
        holds = all(action in replies for action, replies in zip(profile, best, strict=True))  # as in pure_nash
    else:
        strategies = _check_mixed(game, mixed)
        table = payoff_table(game)
        slacks = [slack(row, tolerance) for row in table]
        for player, row in enumerate(table):
            # a constant changes no gap, and without it little is lost to rounding
            kept = row - (row.max() / 2 + row.min() / 2)
            for strategy in strategies[:player:-1]:
                kept = kept.reshape(-1, strategy.size) @ strategy
            for strategy in strategies[:player]:
                kept = strategy @ kept.reshape(strategy.size, -1)
            values = kept.tolist()
            gaps.append(max(0.0, max(values) - float(kept @ strategies[player])))
            best.append(near_best(values, slacks[player]))
        holds = all(gap <= most for gap, most in zip(gaps, slacks, strict=True))
    return NashCheck(holds, max(gaps), frozen(gaps, np.float64), best)


def _is_flat(mixed: Any) -> bool:
    """Whether this is a profile, or meant as one: numbers and not vectors."""
    try:
        return all(np.ndim(part) == 0 and not isinstance(part, str) for part in mixed)
    except (TypeError, ValueError):  # no sequence, or one of ragged parts
        return False


def _check_mixed(game: Game, mixed: Any) -> list[Floats]:
    parts = one_each(mixed, game.num_players, "mixed", "probability vector", InvalidInput)
    given = enumerate(zip(parts, game.num_actions, strict=True))
    strategies = [probabilities(part, size, f"the mixed strategy of player {player}") for player, (part, size) in given]
    return [strategy / strategy.sum() for strategy in strategies]


def _check_player(game: Game, player: Any) -> int:
    return Integer(0, game.num_players - 1).of(player, "player", InvalidInput)
