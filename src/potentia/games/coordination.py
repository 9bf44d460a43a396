"""Coordination on a graph: a player plays the same action with all its neighbours.

u^i(α) = Σ_{j ~ i} w_ij P_ij[α^i, α^j] + h_i[α^i], with one payoff matrix P for all edges or one per
edge, weights w and an optional field h. Majority, consensus and Ising-like games are of this form
(:func:`ising`, :func:`consensus`).

An edge game (P[a, b], P[b, a]) has an exact potential iff P[a, b] - P[b, a] = r(a) - r(b); it is then
φ(a, b) = P[a, b] + r(b), and Φ sums w φ over the edges and h over the players. Two actions always
satisfy it.

The run keeps a compact copy of the profile (one byte a player): with a million players it stays in
the processor's cache, which is where the time goes.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from potentia.errors import InvalidGame
from potentia.games.base import Game, interactions_from_pairs
from potentia.games.given import action_counts, finite_array, shortened
from potentia.kernel import memory, protocol
from potentia.kernel.arrays import Floats, Ints, any_array, frozen, starts
from potentia.kernel.checks import Integer, Real
from potentia.kernel.dispatch import at, portable
from potentia.kernel.protocol import Interactions, Moves

_TOLERANCE = 1e-9


class CoordinationData(NamedTuple):
    """What compiled code reads; the graph as neighbours of each player."""

    actions: int
    ptr: Ints
    neighbours: NDArray[np.int32]
    edges: NDArray[np.int32]  # the edge behind each neighbour; empty where neither table nor weight needs it
    tables: Floats  # flat (1 or E, A, A), [other, own]: the own actions of one look-up lie together
    weights: Floats  # (E,) or empty
    field: Floats  # (N, A) or empty
    corrections: Floats  # (1 or E, A): r above; empty where there is no potential
    moves: Moves


class CoordinationState(NamedTuple):
    """The profile, twice: for everybody, and one byte a player for speed."""

    profile: Ints
    compact: NDArray[Any]


class Coordination(Game):
    """A coordination game on a graph.

    Parameters
    ----------
    edges : array_like or networkx.Graph
        Integers of shape (E, 2), or a networkx graph (its nodes in their order become the players;
        an edge attribute ``weight`` becomes the weights unless ``weights`` is given).
    payoff : array_like
        (A, A), row the own action; or (E, A, A), one per edge.
    num_players : int, optional
        How many; left out, as many as the edges name.
    weights : array_like, optional
        (E,), 1 where left out.
    field : array_like, optional
        (N, A), what each player gets for each action by itself, 0 where left out.
    moves : array_like, optional
        Which actions are reachable from which: a boolean matrix for all players, or one per player; left out, all are.

    Examples
    --------
    >>> game = pt.games.Coordination([(0, 1), (1, 2)], payoff=[[2, 0], [0, 1]])
    >>> game.utility(1, [0, 0, 1]), game.potential([0, 0, 0])
    (2.0, 4.0)
    """

    def __init__(
        self,
        edges: Any,
        payoff: ArrayLike,
        *,
        num_players: int | None = None,
        weights: ArrayLike | None = None,
        field: ArrayLike | None = None,
        moves: Any = None,
    ) -> None:
        self.nodes: tuple[Any, ...] | None = None
        if hasattr(edges, "nodes") and hasattr(edges, "edges"):
            self.nodes, edges, found = _from_networkx(edges)
            if num_players not in (None, len(self.nodes)):
                told = f"must be left out: the graph has {len(self.nodes)}, got {num_players!r}"
                raise InvalidGame(told, "num_players", num_players)
            num_players = len(self.nodes)
            weights = found if weights is None else weights
        pairs = _checked_edges(edges)
        last = int(pairs.max()) if pairs.size else -1
        if num_players is None and last < 0:
            told = "must join some players, got none; give num_players for players without edges"
            raise InvalidGame(told, "edges", edges)
        num_players = Integer(least=1).of(last + 1 if num_players is None else num_players, "num_players", InvalidGame)
        if last >= num_players:
            raise InvalidGame(f"name player {last}, but there are {num_players} players", "edges", last)
        memory.require(60 * num_players + 60 * len(pairs), f"a graph of {num_players} players")
        tables = finite_array(payoff, "payoff")
        if tables.ndim == 2:
            tables = tables[None]
        if tables.ndim != 3 or tables.shape[1] != tables.shape[2] or tables.size == 0:
            told = "must have shape (A, A) or (edges, A, A) and not be empty"
            raise InvalidGame(f"{told}, got {np.shape(payoff)}", "payoff", payoff)
        if tables.shape[0] not in (1, len(pairs)):
            told = f"must have one matrix or one for each of {len(pairs)} edges"
            raise InvalidGame(f"{told}, got {tables.shape[0]}", "payoff", payoff)
        size = tables.shape[1]
        super().__init__(action_counts(np.full(num_players, size)), moves)
        self.edges = pairs
        self.payoff = tables
        self.weights = frozen([])
        if weights is not None:
            self.weights = finite_array(weights, "weights", (len(pairs),), told=", one number per edge")
        self.field = frozen(np.zeros((0, size)))
        if field is not None:
            self.field = finite_array(field, "field", (num_players, size))
        self._check_range()
        self._corrections = _corrections(tables)
        self._seal()

    def _check_range(self) -> None:
        """A sum over neighbours that overflows would turn into NaN in a logit."""
        weight = float(np.abs(self.weights).max()) if self.weights.size else 1.0
        field = float(np.abs(self.field).max()) if self.field.size else 0.0
        with np.errstate(over="ignore"):
            # the potential sums over all edges, and its correction is at most twice a payoff
            largest = 4 * len(self.edges) * weight * float(np.abs(self.payoff).max()) + self.num_players * field
        if not np.isfinite(largest):
            raise InvalidGame("payoff times weights must not overflow when all edges are summed; scale them")

    def utility(self, player: int, profile: Sequence[int] | Ints) -> float:
        own = profile[player]
        total = float(self.field[player, own]) if self.field.size else 0.0
        for edge in np.flatnonzero((self.edges == player).any(axis=1)).tolist():
            other = int(self.edges[edge].sum()) - player
            total += self._weight(edge) * float(self._table(edge)[own, profile[other]])
        return total

    @property
    def has_potential(self) -> bool:
        return self._corrections.size > 0

    def potential(self, profile: Sequence[int] | Ints) -> float:
        if not self.has_potential:
            return super().potential(profile)
        total = float(sum(self.field[i, a] for i, a in enumerate(profile))) if self.field.size else 0.0
        for edge, (i, j) in enumerate(self.edges):
            correction = self._corrections[edge % len(self._corrections)]
            total += self._weight(edge) * float(self._table(edge)[profile[i], profile[j]] + correction[profile[j]])
        return total

    def edge_tables(self, objective: str) -> Floats:
        """What an edge adds to the ``"potential"`` or to the ``"welfare"``, but for its weight.

        Parameters
        ----------
        objective : str
            Which of the two.

        Returns
        -------
        array
            (1 or E, A, A).
        """
        if objective == "welfare":
            return self.payoff + self.payoff.transpose(0, 2, 1)
        return self.payoff + self._corrections[:, None, :]

    def _weight(self, edge: int) -> float:
        return float(self.weights[edge]) if self.weights.size else 1.0

    def _table(self, edge: int) -> Floats:
        return self.payoff[edge % len(self.payoff)]

    @cached_property
    def interactions(self) -> Interactions:
        """Neighbours interact: one group per edge."""
        num_edges = len(self.edges)
        players = self.edges.reshape(-1).astype(np.int64)
        return interactions_from_pairs(self.num_players, players, np.repeat(np.arange(num_edges), 2), num_edges)

    def _build(self) -> CoordinationData:
        # half-edge k belongs to edge k // 2; its other end is ends[k ^ 1]
        ends = self.edges.reshape(-1)
        order = np.argsort(ends, kind="stable")
        needed = order if len(self.payoff) > 1 or self.weights.size else order[:0]
        return CoordinationData(
            int(self.sizes[0]),
            starts(np.bincount(ends, minlength=self.num_players)),
            frozen(ends[order ^ 1]),
            frozen(needed >> 1, np.int32),
            frozen(self.payoff.transpose(0, 2, 1)).reshape(-1),
            self.weights,
            self.field,
            self._corrections,
            self.moves,
        )

    def _facts(self) -> dict[str, Any]:
        return {"edges": len(self.edges)}

    def new_state(self, profile: Ints) -> CoordinationState:
        compact = np.uint8 if self.sizes[0] <= 256 else np.uint32
        return CoordinationState(profile, np.zeros(self.num_players, compact))


def ising(edges: Any, *, coupling: float = 1.0, field: ArrayLike | float = 0.0, **options: Any) -> Coordination:
    """Spins on a graph: u^i = s_i (coupling Σ_j s_j + field_i), action 0 being s = -1 and 1 being s = +1.

    Parameters
    ----------
    edges : array_like or networkx.Graph
        Who is next to whom.
    coupling : float
        What neighbours that agree are worth.
    field : float or array_like
        What pulls each spin, one for all or one per player.
    **options : Any
        As of :class:`Coordination`.

    Returns
    -------
    Coordination
        The game.

    Examples
    --------
    >>> game = pt.games.ising(pt.games.ring_edges(4), coupling=1.0, field=0.5)
    >>> game.utility(0, [1, 1, 1, 1]), game.utility(0, [0, 0, 0, 0])
    (2.5, 1.5)
    """
    spins = np.array([-1.0, 1.0])
    payoff = Real().of(coupling, "coupling", InvalidGame) * np.outer(spins, spins)
    game = Coordination(edges, payoff, **options)
    own = finite_array(field, "field", (), (game.num_players,), told=", a number or one per player")
    if not own.any():
        return game
    tilt = np.outer(np.broadcast_to(own, game.num_players), spins)
    return Coordination(edges, payoff, field=tilt, **options)


def consensus(edges: Any, num_actions: int = 2, **options: Any) -> Coordination:
    """Each neighbour with the same action is worth its edge's weight; with two actions, the majority game.

    Parameters
    ----------
    edges : array_like or networkx.Graph
        Who is next to whom.
    num_actions : int
        How many actions each player has.
    **options : Any
        As of :class:`Coordination`.

    Returns
    -------
    Coordination
        The game.

    Examples
    --------
    >>> game = pt.games.consensus(pt.games.ring_edges(4))
    >>> game.utility(0, [1, 1, 0, 0])
    1.0
    """
    num_actions = Integer(least=1).of(num_actions, "num_actions", InvalidGame)
    memory.require(40 * num_actions**2, f"a payoff matrix of {num_actions} actions")
    return Coordination(edges, np.eye(num_actions), **options)


def ring_edges(num_players: int) -> NDArray[np.int32]:
    """A cycle: player i next to i - 1 and i + 1.

    Parameters
    ----------
    num_players : int
        How many, at least 3.

    Returns
    -------
    array
        The edges, (N, 2).

    Examples
    --------
    >>> pt.games.ring_edges(3).tolist()
    [[0, 1], [1, 2], [2, 0]]
    """
    num_players = Integer(least=3).of(num_players, "num_players", InvalidGame)
    memory.require(100 * num_players, f"a ring of {num_players} players")
    players = np.arange(num_players, dtype=np.int32)
    return np.stack([players, np.roll(players, -1)], axis=1)


def torus_edges(rows: int, columns: int) -> NDArray[np.int32]:
    """A grid whose opposite sides touch: four neighbours each.

    Parameters
    ----------
    rows : int
        How many, at least 3.
    columns : int
        How many, at least 3.

    Returns
    -------
    array
        The edges, (2 · rows · columns, 2).

    Examples
    --------
    >>> pt.games.torus_edges(3, 3).shape
    (18, 2)
    """
    rows, columns = (Integer(least=3).of(n, name, InvalidGame) for n, name in ((rows, "rows"), (columns, "columns")))
    memory.require(200 * rows * columns, f"a torus of {rows} by {columns} players")
    cell = np.arange(rows * columns, dtype=np.int32).reshape(rows, columns)
    right, down = np.roll(cell, -1, axis=1), np.roll(cell, -1, axis=0)
    return np.concatenate([np.stack([cell.ravel(), n.ravel()], axis=1) for n in (right, down)])


def _from_networkx(graph: Any) -> tuple[tuple[Any, ...], Ints, Floats | None]:
    if graph.is_directed():
        raise InvalidGame("must be an undirected graph, got a directed one", "edges")
    nodes = tuple(graph.nodes)
    place = {node: k for k, node in enumerate(nodes)}
    pairs = np.array([(place[a], place[b]) for a, b in graph.edges()], np.int64).reshape(-1, 2)
    found = [w for _, _, w in graph.edges(data="weight")]
    return nodes, pairs, None if all(w is None for w in found) else np.array([1.0 if w is None else w for w in found])


def _checked_edges(edges: Any) -> NDArray[np.int32]:
    array = any_array(edges)
    if array.size == 0:
        return frozen(np.zeros((0, 2)), np.int32)
    if array.ndim != 2 or array.shape[1] != 2 or array.dtype.kind not in "iu":
        got = f"shape {array.shape} of {array.dtype}" if array.ndim else shortened(repr(edges))
        raise InvalidGame(f"must be integers of shape (edges, 2), got {got}", "edges", edges)
    memory.require(40 * array.shape[0], f"a graph with {array.shape[0]} edges")
    least, most = int(array.min()), int(array.max())
    if least < 0:
        raise InvalidGame(f"must name players from 0, got {least}", "edges", least)
    if most >= 2**31 - 1:
        raise InvalidGame(f"must name players below 2^31 - 1, got {most}", "edges", most)
    loops = array[:, 0] == array[:, 1]
    if loops.any():
        edge = int(np.argmax(loops))
        got = f"a loop: edge {edge} at player {array[edge, 0]}"
        raise InvalidGame(f"must join two different players, got {got}", "edges", edges)
    return frozen(array, np.int32)


def _corrections(tables: Floats) -> Floats:
    """r of the module's docstring for each matrix, or an empty array if some edge game has no potential."""
    skew = tables - tables.transpose(0, 2, 1)
    r = skew[:, :, 0]
    gap = np.abs(skew - (r[:, :, None] - r[:, None, :])).max(axis=(1, 2))
    if (gap > _TOLERANCE * np.abs(tables).max(axis=(1, 2))).any():
        return frozen(np.zeros((0, tables.shape[1])))
    return frozen(r)


@protocol.num_players.register(CoordinationData)
def _num_players(game: CoordinationData) -> int:
    return game.ptr.shape[0] - 1


@protocol.num_actions.register(CoordinationData)
def _num_actions(game: CoordinationData, player: int) -> int:
    return game.actions


@protocol.utility.register(CoordinationData)
def _utility(game: CoordinationData, state: CoordinationState, player: int, action: int) -> float:
    total = game.field[at(player), at(action)] if game.field.shape[0] else 0.0
    for k in range(game.ptr[at(player)], game.ptr[at(player + 1)]):
        other = _action_of(state, game.neighbours[at(k)])
        total += _weight(game, k) * game.tables[at(_column(game, k, other) + action)]
    return total


@protocol.utilities.register(CoordinationData)
def _utilities(game: CoordinationData, state: CoordinationState, player: int, out: Floats) -> None:
    begin, end = game.ptr[at(player)], game.ptr[at(player + 1)]
    if game.actions == 2:  # two sums in registers
        first = game.field[at(player), at(0)] if game.field.shape[0] else 0.0
        second = game.field[at(player), at(1)] if game.field.shape[0] else 0.0
        if game.edges.shape[0] == 0:  # one matrix, no weights
            for k in range(begin, end):
                other = _action_of(state, game.neighbours[at(k)])
                first += game.tables[at(2 * other)]
                second += game.tables[at(2 * other + 1)]
        else:
            for k in range(begin, end):
                other = _action_of(state, game.neighbours[at(k)])
                weight, column = _weight(game, k), _column(game, k, other)
                first += weight * game.tables[at(column)]
                second += weight * game.tables[at(column + 1)]
        out[0], out[1] = first, second
        return
    for action in range(game.actions):
        out[at(action)] = game.field[at(player), at(action)] if game.field.shape[0] else 0.0
    for k in range(begin, end):
        other = _action_of(state, game.neighbours[at(k)])
        weight, column = _weight(game, k), _column(game, k, other)
        for action in range(game.actions):
            out[at(action)] += weight * game.tables[at(column + action)]


@protocol.compare.register(CoordinationData)
def _compare(game: CoordinationData, state: CoordinationState, player: int, trial: int) -> tuple[float, float]:
    current = state.profile[at(player)]
    now = game.field[at(player), at(current)] if game.field.shape[0] else 0.0
    then = game.field[at(player), at(trial)] if game.field.shape[0] else 0.0
    for k in range(game.ptr[at(player)], game.ptr[at(player + 1)]):
        other = _action_of(state, game.neighbours[at(k)])
        weight, column = _weight(game, k), _column(game, k, other)
        now += weight * game.tables[at(column + current)]
        then += weight * game.tables[at(column + trial)]
    return now, then


@portable
def _action_of(state: CoordinationState, player: int) -> int:
    # np.int64: in plain Python, arithmetic with a NumPy byte would wrap
    return np.int64(state.compact[at(player)])  # type: ignore[return-value]


@portable
def _weight(game: CoordinationData, half_edge: int) -> float:
    return game.weights[at(game.edges[at(half_edge)])] if game.weights.shape[0] else 1.0


@portable
def _column(game: CoordinationData, half_edge: int, other: int) -> int:
    """Where in ``tables`` the payoffs against a neighbour's action begin."""
    size = game.actions
    if game.tables.shape[0] == size * size:
        return other * size
    return (game.edges[at(half_edge)] * size + other) * size


@protocol.apply.register(CoordinationData)
def _apply(game: CoordinationData, state: CoordinationState, player: int, action: int) -> None:
    state.profile[at(player)] = action
    state.compact[at(player)] = action


@protocol.settle.register(CoordinationData)
def _settle(game: CoordinationData, state: CoordinationState) -> None:
    for player in range(state.profile.shape[0]):
        state.compact[player] = state.profile[player]


@protocol.potential.register(CoordinationData)
def _potential(game: CoordinationData, state: CoordinationState) -> float:
    if game.corrections.shape[0] == 0:
        return np.nan
    total = 0.0
    for player in range(state.profile.shape[0]):
        own = state.profile[player]
        if game.field.shape[0]:
            total += game.field[player, own]
        for k in range(game.ptr[player], game.ptr[player + 1]):
            # Each edge is met twice. φ(a, b) = P[a, b] + r(b) is symmetric; take it at the lower end.
            if game.neighbours[k] > player:
                other = state.profile[game.neighbours[k]]
                correction = game.corrections[game.edges[k] if game.corrections.shape[0] > 1 else 0, other]
                total += _weight(game, k) * (game.tables[_column(game, k, other) + own] + correction)
    return total
