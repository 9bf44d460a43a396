"""Nash equilibria, improvement paths and expected utilities (paper, section 2).

A profile α is a pure Nash equilibrium iff no player gains by changing its own action (Eq. 1):
u^i(α^i, α^{-i}) ≥ u^i(a, α^{-i}) for every player i and every a in A^i. Under mixed strategies x^i, drawn
independently, player i expects U^i(x) = Σ_α u^i(α) Π_j x^j(α^j) (Eq. 2); x is a Nash equilibrium iff no pure
action promises anyone more.

In an improvement path one player at a time moves to an action it likes better. The game has the finite
improvement property iff no such path is endless, that is, iff the graph of better replies has no cycle.
Every finite game with an exact or ordinal potential has it, and a path that cannot go on ends in a pure Nash
equilibrium (Monderer & Shapley 1996, Lemmas 2.3 and 2.5).

``tolerance`` is relative to the spread of the player's payoffs; a smaller gain is none. 0 compares exactly.
What asks for ``game.utility`` only, and so takes games of any size, estimates the spread of a large game from
a few profiles. Equilibria are about all of A^i; paths take the moves the game allows.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import (
    breadth_first_order,
    connected_components,
)

from potentia.analysis.tables import check_tolerance, payoff_table, profiles, require_fit, require_game, spread, words
from potentia.errors import InvalidGame, InvalidInput, InvalidRun
from potentia.games import Game, NormalForm
from potentia.kernel.arrays import frozen, strides
from potentia.kernel.numbers import is_integer
from potentia.kernel.protocol import Constrained

_ROUNDING = 8 * float(np.finfo(float).eps)  # relative to the largest payoff
_SUM = 1e-9  # how far from 1 the probabilities of a strategy may sum
_FEW, _DRAWN = 256, 32  # profiles: up to so many are all looked at, of more so many are drawn
_SHORTEST = 4  # two players, each there and back: with one alone its utility would only rise
_SEARCH = 4_000_000  # edges looked at in search of a short cycle


@dataclass(frozen=True, eq=False)
class ImprovementPath:
    """Profiles (m, N), and who moved between them (m - 1). ``ends`` is False where the last closes a cycle."""

    profiles: NDArray[np.int64]
    players: NDArray[np.int64]
    ends: bool


@dataclass(frozen=True, eq=False)
class FiniteImprovement:
    """Whether the property holds; if not, a cycle of better replies (m, N), its first profile again at the end."""

    holds: bool
    cycle: NDArray[np.int64] | None

    def __bool__(self) -> bool:
        return self.holds


@dataclass(frozen=True, eq=False)
class NashCheck:
    """Whether it is an equilibrium; the largest gain by a deviation, each player's gain and its best replies."""

    holds: bool
    gap: float
    gaps: NDArray[np.float64]
    best: list[list[int]]

    def __bool__(self) -> bool:
        return self.holds


def slack(values: NDArray[np.float64], tolerance: float) -> float:
    """The largest difference between these payoffs of one player that counts as none."""
    if tolerance == 0:
        return 0.0
    # halves: the difference of two finite numbers may be infinite
    return 2 * tolerance * spread(values / 2) + _ROUNDING * float(np.abs(values).max())


# Pure equilibria and the graph of better replies --------------------------------------------------------


def pure_nash(
    game: Game, *, strict: bool = False, within_moves: bool = False, tolerance: float = 1e-9
) -> NDArray[np.int64]:
    """All pure Nash equilibria, (k, N), in C order.

    ``strict``: every deviation loses more than the tolerance. ``within_moves``: only deviations to reachable
    actions count, so there may be more equilibria.
    """
    tolerance = check_tolerance(tolerance)
    table = payoff_table(game)
    kept = np.ones(table.shape[1], bool)
    for player in range(game.num_players):
        values, some = _by_action(game, player, table[player]), _by_action(game, player, kept)
        raised = values + slack(table[player], tolerance)
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
    return _at_places(game, np.flatnonzero(kept))


def finite_improvement(game: Game, *, tolerance: float = 1e-9, within_moves: bool = False) -> FiniteImprovement:
    """Whether every improvement path is finite; if not, a short cycle as evidence.

    ``within_moves``: only steps to reachable actions count. The cycle is a shortest one in small games.
    """
    tolerance = check_tolerance(tolerance)
    table = payoff_table(game)
    # at most half of all pairs are edges, and an edge is two places and a number, at times twice
    require_fit(game, 32.0 * float((game.sizes - 1).sum()) + 64, "the graph of better replies")
    small = np.int32 if table.shape[1] < 2**31 else np.int64
    starts, ends = [np.zeros(0, small)], [np.zeros(0, small)]
    for player in range(game.num_players):
        values = _by_action(game, player, table[player])
        count, stride = values.shape[1:]
        allowed = np.ones((count, count), bool)
        if within_moves and isinstance(game.moves, Constrained):
            for action in range(count):
                allowed[action] = np.isin(np.arange(count), game.reachable(player, action))
        raised = values + slack(table[player], tolerance)
        for action in range(count):
            better = (values[:, action, None] > raised) & allowed[:, action, None]
            place = np.flatnonzero(better)
            starts.append(place.astype(small))
            ends.append((place + (action - place // stride % count) * stride).astype(small))
    edges = (np.concatenate(starts), np.concatenate(ends))
    del starts, ends
    cycle = _short_cycle(csr_array((np.ones(edges[0].size), edges), shape=(table.shape[1], table.shape[1])))
    return FiniteImprovement(True, None) if cycle is None else FiniteImprovement(False, _at_places(game, cycle))


def _short_cycle(graph: Any) -> NDArray[np.int64] | None:
    """The places along a short cycle, the first one again at the end; None where there is no cycle."""
    parts, label = connected_components(graph, directed=True, connection="strong")
    if parts == graph.shape[0]:  # no edge leads from a profile to itself, so a cycle needs a component of several
        return None
    nodes = np.flatnonzero(np.bincount(label)[label] > 1)
    if nodes.size < graph.shape[0]:
        graph = graph[nodes][:, nodes]
    best: list[int] = []
    tries = min(nodes.size, max(8, _SEARCH // graph.nnz))
    for first in np.unique(np.linspace(0, nodes.size - 1, tries).astype(np.int64)).tolist():
        order, before = breadth_first_order(graph, first)
        # the first profile in the order with an edge back to the start closes a shortest cycle through it
        closing = np.zeros(nodes.size, bool)
        closing[np.searchsorted(graph.indptr, np.flatnonzero(graph.indices == first), side="right") - 1] = True
        cycle = [first]
        last = int(order[np.argmax(closing[order])])
        while last != first:
            cycle.append(last)
            last = int(before[last])
        if not best or len(cycle) < len(best):
            best = cycle
        if len(best) == _SHORTEST:
            break
    return nodes[[best[0], *best[:0:-1], best[0]]]


def _by_action(game: Game, player: int, values: NDArray[Any]) -> NDArray[Any]:
    """A view of a value per profile as (players before, this player's action, players after)."""
    return values.reshape(-1, int(game.sizes[player]), int(strides(game.sizes)[player]))


def _at_places(game: Game, places: NDArray[np.int64]) -> NDArray[np.int64]:
    return places[:, None] // strides(game.sizes) % game.sizes


# Replies and paths, by game.utility only ----------------------------------------------------------------


def best_responses(game: Game, player: int, profile: ArrayLike, *, tolerance: float = 1e-9) -> list[int]:
    """The player's best actions, of all in A^i, against what the others do in the profile."""
    tolerance = check_tolerance(tolerance)
    require_game(game)
    player = _check_player(game, player)
    now = game.check_profile(profile, "profile")
    values = _replies(game, player, now, range(game.num_actions[player]))
    return _near_best(values, _slacks(game, tolerance, [player])[0])


def improvement_path(
    game: Game,
    start: ArrayLike,
    *,
    seed: int = 0,
    best: bool = False,
    max_steps: int = 10_000,
    tolerance: float = 1e-9,
) -> ImprovementPath:
    """One improvement path from ``start``, taken until nobody can improve or a profile comes back.

    Each step a player drawn among those that can improve takes an action drawn among the better ones it can
    reach; with ``best`` among the best of them. The seed decides the draws. The game is not enumerated.
    """
    tolerance = check_tolerance(tolerance)
    require_game(game)
    path, movers = [game.check_profile(start)], list[int]()
    random = np.random.Generator(np.random.PCG64(_at_least("seed", seed, 0)))
    _at_least("max_steps", max_steps, 1)
    slacks = _slacks(game, tolerance, range(game.num_players))
    seen = {path[0].tobytes()}
    while True:
        for player in random.permutation(game.num_players).tolist():
            better = _better(game, player, path[-1], slacks[player], best)
            if better:
                break
        else:
            return _path(path, movers, True)
        if len(movers) == max_steps:
            raise InvalidRun(
                f"the improvement path from {words(path[0].tolist())} goes on after max_steps={max_steps} steps; "
                "allow more"
            )
        path.append(_moved(path[-1], player, better[int(random.integers(len(better)))]))
        movers.append(player)
        if path[-1].tobytes() in seen:
            return _path(path, movers, False)
        seen.add(path[-1].tobytes())


def improvement_paths(
    game: Game, start: ArrayLike, limit: int = 1000, *, best: bool = False, tolerance: float = 1e-9
) -> list[ImprovementPath]:
    """Every maximal improvement path from ``start``, depth first; a path that comes back to itself stops there.

    Steps are those of :func:`improvement_path`. More than ``limit`` paths raise an error.
    """
    tolerance = check_tolerance(tolerance)
    require_game(game)
    first = game.check_profile(start)
    _at_least("limit", limit, 1)
    slacks = _slacks(game, tolerance, range(game.num_players))
    found: list[ImprovementPath] = []
    path: list[NDArray[np.int64]] = []
    movers: list[int] = []
    waiting = [(0, 0, int(first[0]))]  # how many steps lead there, and the last one; none to the start itself
    while waiting:
        depth, mover, taken = waiting.pop()
        del path[depth:], movers[depth:]
        profile = _moved(path[-1] if path else first, mover, taken)
        closed = profile.tobytes() in {earlier.tobytes() for earlier in path}
        path.append(profile)
        movers.append(mover)
        steps = [
            (depth + 1, player, action)
            for player in range(0 if closed else game.num_players)
            for action in _better(game, player, profile, slacks[player], best)
        ]
        if not steps:
            if len(found) == limit:
                raise InvalidRun(
                    f"more than limit={limit} improvement paths start at {words(first.tolist())}: {limit} were found "
                    "and there are more; raise the limit, or follow one with improvement_path(...)"
                )
            found.append(_path(path, movers[1:], not closed))
        waiting.extend(reversed(steps))
    return found


def _path(path: list[NDArray[np.int64]], movers: list[int], ends: bool) -> ImprovementPath:
    return ImprovementPath(frozen(path, np.int64), frozen(movers, np.int64), ends)


def _moved(profile: NDArray[np.int64], player: int, action: int) -> NDArray[np.int64]:
    after = profile.copy()
    after[player] = action
    after.setflags(write=False)  # a utility that writes into it is told so
    return after


def _replies(game: Game, player: int, profile: NDArray[np.int64], actions: Iterable[int]) -> list[float]:
    return [_utility(game, player, _moved(profile, player, action)) for action in actions]


def _utility(game: Game, player: int, profile: NDArray[np.int64]) -> float:
    try:
        value = float(game.utility(player, profile))
    except Exception as error:
        raise InvalidGame(
            f"utility of player {player} at profile {profile.tolist()} failed: {type(error).__name__}: {error}"
        ) from error
    if not math.isfinite(value):
        raise InvalidGame(f"utility of player {player} at profile {profile.tolist()} must be finite, got {value}")
    return value


def _near_best(values: list[float], slack: float) -> list[int]:
    highest = max(values, default=0.0)
    return [action for action, value in enumerate(values) if highest <= value + slack]


def _better(game: Game, player: int, profile: NDArray[np.int64], slack: float, best: bool) -> list[int]:
    """The reachable actions the player likes better than its own; with ``best`` the best of them."""
    now = _utility(game, player, profile)
    reach = game.reachable(player, int(profile[player]))
    values = _replies(game, player, profile, reach)
    chosen = _near_best(values, slack) if best else range(len(values))
    return [reach[k] for k in chosen if values[k] > now + slack]


def _slacks(game: Game, tolerance: float, players: Iterable[int]) -> list[float]:
    """:func:`slack` for each of these players, in a large game from profiles drawn once and for all."""
    if isinstance(game, NormalForm):
        return [slack(game.payoffs[player], tolerance) for player in players]
    if tolerance == 0:
        return [0.0 for _ in players]
    if game.num_profiles <= _FEW:
        some = profiles(game)
    else:
        some = np.random.Generator(np.random.PCG64(0)).integers(0, game.sizes, (_DRAWN, game.num_players))
    some.setflags(write=False)
    return [slack(np.array([_utility(game, player, p) for p in some]), tolerance) for player in players]


# Mixed strategies ---------------------------------------------------------------------------------------


@overload
def expected_utility(game: Game, mixed: Sequence[ArrayLike], player: None = None) -> NDArray[np.float64]: ...
@overload
def expected_utility(game: Game, mixed: Sequence[ArrayLike], player: int) -> float: ...
def expected_utility(game: Game, mixed: Sequence[ArrayLike], player: int | None = None) -> float | NDArray[np.float64]:
    """What the players expect under these mixed strategies, one probability vector each (Eq. 2).

    With ``player`` that player's number alone.
    """
    require_game(game)
    strategies = _check_mixed(game, mixed)
    table = payoff_table(game)
    values = table if player is None else table[_check_player(game, player)]
    for strategy in reversed(strategies):  # one player less each time
        values = values.reshape(-1, strategy.size) @ strategy
    return values if player is None else float(values[0])


def mixed_gap(game: Game, mixed: Any) -> float:
    """The largest gain any player has by a pure deviation; 0 iff this is a Nash equilibrium."""
    return is_nash(game, mixed).gap


def is_nash(game: Game, mixed: Any, *, tolerance: float = 1e-9) -> NashCheck:
    """Whether mixed strategies, or a profile of N integers, are a Nash equilibrium, and what is missing.

    A profile is checked by ``game.utility``, in games of any size. Nothing is exact about a sum of products:
    leave mixed strategies a tolerance above 0.
    """
    tolerance = check_tolerance(tolerance)
    require_game(game)
    gaps, best = list[float](), list[list[int]]()
    if _is_flat(mixed):
        profile = game.check_profile(mixed, "profile")
        slacks = _slacks(game, tolerance, range(game.num_players))
        for player in range(game.num_players):
            values = _replies(game, player, profile, range(game.num_actions[player]))
            gaps.append(max(values) - values[profile[player]])
            best.append(_near_best(values, slacks[player]))
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
            best.append(_near_best(values, slacks[player]))
        holds = all(gap <= most for gap, most in zip(gaps, slacks, strict=True))
    return NashCheck(holds, max(gaps), frozen(gaps, np.float64), best)


def _is_flat(mixed: Any) -> bool:
    """Whether this is a profile, or meant as one: numbers and not vectors."""
    try:
        return all(np.ndim(part) == 0 and not isinstance(part, str) for part in mixed)
    except (TypeError, ValueError):  # no sequence, or one of ragged parts
        return False


def _check_mixed(game: Game, mixed: Any) -> list[NDArray[np.float64]]:
    wanted = f"mixed must hold one probability vector for each of {game.num_players} players"
    try:
        parts = list(mixed)
    except TypeError:
        raise InvalidInput(f"{wanted}, got {mixed!r}") from None
    if len(parts) != game.num_players:
        raise InvalidInput(f"{wanted}, got {len(parts)}")
    out = []
    for player, (part, size) in enumerate(zip(parts, game.num_actions, strict=True)):
        name = f"the mixed strategy of player {player}"
        try:
            given = np.asarray(part)
        except ValueError:  # ragged
            given = np.array(None)
        if given.shape != (size,) or given.dtype.kind not in "iuf":
            raise InvalidInput(f"{name} must be {size} probabilities, got shape {given.shape} of {given.dtype}")
        strategy = given.astype(np.float64)
        bad = ~((strategy >= 0) & (strategy <= 1 + _SUM))  # nan is bad too
        if bad.any():
            action = int(np.argmax(bad))
            raise InvalidInput(f"{name} must be in 0..1, got {strategy[action]} for action {action}")
        if abs(float(strategy.sum()) - 1) > _SUM:
            raise InvalidInput(f"{name} must sum to 1, got {strategy.sum()}")
        out.append(strategy / strategy.sum())
    return out


def _check_player(game: Game, player: Any) -> int:
    if not is_integer(player) or not 0 <= player < game.num_players:
        raise InvalidInput(f"player must be an integer in 0..{game.num_players - 1}, got {player!r}")
    return int(player)


def _at_least(name: str, value: Any, least: int) -> int:
    if not is_integer(value) or value < least:
        raise InvalidRun(f"{name} must be an integer of at least {least}, got {value!r}")
    return int(value)
