"""Improvement paths and the finite improvement property (paper, section 2.1).

In an improvement path one player at a time moves to an action it likes better. The game has the finite
improvement property iff no such path is endless, that is, iff the graph of better replies has no cycle.
Every finite game with an exact or ordinal potential has it, and a path that cannot go on ends in a pure Nash
equilibrium (Monderer & Shapley 1996, Lemmas 2.3 and 2.5).

Paths take the moves that the game allows. ``tolerance`` is as in :mod:`potentia.analysis.equilibria`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order, connected_components

from potentia.analysis.equilibria import by_action, moved, near_best, replies, slack, slacks_of, utility_at
from potentia.analysis.graphs import as_graph
from potentia.analysis.tables import Verdict, at_places, check_tolerance, payoff_table, require_fit, require_game, words
from potentia.errors import InvalidRun
from potentia.games import Game
from potentia.kernel.arrays import Ints, frozen
from potentia.kernel.checks import Integer
from potentia.kernel.protocol import Constrained

_SHORTEST = 4  # two players, each there and back: with one alone its utility would only rise
_SEARCH = 4_000_000  # edges looked at in search of a short cycle


@dataclass(frozen=True, eq=False)
class ImprovementPath:
    """Profiles (m, N), and who moved between them (m - 1). ``ends`` is False where the last closes a cycle."""

    profiles: Ints
    players: Ints
    ends: bool


@dataclass(frozen=True, eq=False)
class FiniteImprovement(Verdict):
    """Whether the property holds; if not, a cycle of better replies (m, N), its first profile again at the end."""

    holds: bool
    cycle: Ints | None


def finite_improvement(game: Game, *, tolerance: float = 1e-9, within_moves: bool = False) -> FiniteImprovement:
    """Whether every improvement path is finite; if not, a short cycle as evidence.

    The cycle is a shortest one in small games.

    Parameters
    ----------
    game : Game
        One whose profiles can be listed.
    tolerance : float
        Differences up to this, relative to the spread of payoffs, count as none.
    within_moves : bool
        Whether only steps to reachable actions count.

    Returns
    -------
    FiniteImprovement
        Whether it holds, and the cycle.

    Examples
    --------
    >>> pt.analysis.finite_improvement(pt.game("matching-pennies")).holds
    False
    """
    tolerance = check_tolerance(tolerance)
    table = payoff_table(game)
    # at most half of all pairs are edges, and an edge is two places and a number, at times twice
    require_fit(game, 32.0 * float((game.sizes - 1).sum()) + 64, "the graph of better replies")
    small = np.int32 if table.shape[1] < 2**31 else np.int64
    starts, ends = [np.zeros(0, small)], [np.zeros(0, small)]
    for player in range(game.num_players):
        values = by_action(game, player, table[player])
        count, stride = values.shape[1:]
        allowed = np.ones((count, count), bool)
        if within_moves and isinstance(game.moves, Constrained):
            for action in range(count):
                allowed[action] = np.isin(np.arange(count), game.reachable(player, action))
        raised = values + slack(values, tolerance, own=1)
        for action in range(count):
            better = (values[:, action, None] > raised) & allowed[:, action, None]
            place = np.flatnonzero(better)
            starts.append(place.astype(small))
            ends.append((place + (action - place // stride % count) * stride).astype(small))
    edges = (np.concatenate(starts), np.concatenate(ends))
    del starts, ends
    cycle = _short_cycle(as_graph(csr_array((np.ones(edges[0].size), edges), shape=(table.shape[1], table.shape[1]))))
    return FiniteImprovement(True, None) if cycle is None else FiniteImprovement(False, at_places(game, cycle))


def _short_cycle(graph: Any) -> Ints | None:
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


def improvement_path(
    game: Game, start: ArrayLike, *, seed: int = 0, best: bool = False, max_steps: int = 10_000, tolerance: float = 1e-9
) -> ImprovementPath:
    """One improvement path from ``start``, taken until nobody can improve or a profile comes back.

    Each step a player drawn among those that can improve takes an action drawn among the better ones it can reach. The
    game is not enumerated.

    Parameters
    ----------
    game : Game
        What is played.
    start : array_like
        The first profile.
    seed : int
        What the draws are made from.
    best : bool
        Whether the action is one of the best of them.
    max_steps : int
        At most so many.
    tolerance : float
        Differences up to this, relative to the spread of payoffs, count as none.

    Returns
    -------
    ImprovementPath
        The profiles, who moved, and whether it ends.

    Examples
    --------
    >>> pt.analysis.improvement_path(pt.game("prisoners-dilemma"), [0, 0], seed=1).profiles.tolist()
    [[0, 0], [1, 0], [1, 1]]
    """
    first, slacks = _begun(game, start, tolerance)
    path, movers = [first], list[int]()
    random = np.random.Generator(np.random.PCG64(Integer().of(seed, "seed", InvalidRun)))
    Integer(1).of(max_steps, "max_steps", InvalidRun)
    seen = {path[0].tobytes()}
    while True:
        for player in random.permutation(game.num_players).tolist():
            better = _better(game, player, path[-1], slacks[player], best)
            if better:
                break
        else:
            return _path(path, movers, True)
        if len(movers) == max_steps:
            said = f"the improvement path from {words(path[0].tolist(), game)} goes on"
            raise InvalidRun(f"{said} after max_steps={max_steps} steps; allow more")
        path.append(moved(path[-1], player, better[int(random.integers(len(better)))]))
        movers.append(player)
        if path[-1].tobytes() in seen:
            return _path(path, movers, False)
        seen.add(path[-1].tobytes())


def improvement_paths(
    game: Game, start: ArrayLike, limit: int = 1000, *, best: bool = False, tolerance: float = 1e-9
) -> list[ImprovementPath]:
    """Every maximal improvement path from ``start``, depth first; a path that comes back to itself stops there.

    Steps are those of :func:`improvement_path`.

    Parameters
    ----------
    game : Game
        What is played.
    start : array_like
        The first profile.
    limit : int
        More paths than this raise an error.
    best : bool
        Whether only best actions are taken.
    tolerance : float
        Differences up to this, relative to the spread of payoffs, count as none.

    Returns
    -------
    list of ImprovementPath
        The paths.

    Examples
    --------
    >>> len(pt.analysis.improvement_paths(pt.game("prisoners-dilemma"), [0, 0]))
    2
    """
    first, slacks = _begun(game, start, tolerance)
    Integer(1).of(limit, "limit", InvalidRun)
    found: list[ImprovementPath] = []
    path: list[Ints] = []
    movers: list[int] = []
    waiting = [(0, 0, int(first[0]))]  # how many steps lead there, and the last one; none to the start itself
    while waiting:
        depth, mover, taken = waiting.pop()
        del path[depth:], movers[depth:]
        profile = moved(path[-1] if path else first, mover, taken)
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
                    f"more than limit={limit} improvement paths start at {words(first.tolist(), game)}: {limit} were "
                    "found and there are more; raise the limit, or follow one with improvement_path(...)"
                )
            found.append(_path(path, movers[1:], not closed))
        waiting.extend(reversed(steps))
    return found


def _begun(game: Game, start: ArrayLike, tolerance: float) -> tuple[Ints, list[float]]:
    """The first profile, and what each player may gain without improving."""
    tolerance = check_tolerance(tolerance)
    require_game(game)
    return game.check_profile(start), slacks_of(game, tolerance, range(game.num_players))


def _path(path: list[Ints], movers: list[int], ends: bool) -> ImprovementPath:
    return ImprovementPath(frozen(path, np.int64), frozen(movers, np.int64), ends)


def _better(game: Game, player: int, profile: Ints, slack: float, best: bool) -> list[int]:
    """The reachable actions the player likes better than its own; with ``best`` the best of them."""
    now = utility_at(game, player, profile)
    reach = game.reachable(player, int(profile[player]))
    values = replies(game, player, profile, reach)
    chosen = near_best(values, slack) if best else range(len(values))
    return [reach[k] for k in chosen if values[k] > now + slack]
