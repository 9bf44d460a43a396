"""Congestion games (Rosenthal 1973): players choose sets of resources that cost more the more use them.

u^i(α) = -Σ_{r ∈ α^i} c_r(load_r(α)), with the exact potential Φ(α) = -Σ_r Σ_{k=1}^{load_r(α)} c_r(k).
The run keeps the load of every resource, so a revision costs the resources of the player's own
strategies and never O(N).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from potentia.errors import InvalidGame
from potentia.games.base import Game, interactions_from_pairs
from potentia.games.given import action_counts, finite_array, listed
from potentia.kernel import memory, protocol
from potentia.kernel.arrays import Floats, Ints, frozen, starts
from potentia.kernel.checks import Integer
from potentia.kernel.dispatch import at, portable
from potentia.kernel.numbers import is_integer
from potentia.kernel.protocol import Interactions, Moves


class CongestionData(NamedTuple):
    """What compiled code reads."""

    sizes: Ints
    row: Ints  # the player's first strategy
    strategy_ptr: Ints
    resources: Ints
    cost_ptr: Ints
    cost: Floats  # cost[cost_ptr[r] + load]
    total: Floats  # the same, summed over loads 1..load: Rosenthal's potential
    moves: Moves


class CongestionState(NamedTuple):
    """The profile and the load of every resource."""

    profile: Ints
    loads: Ints


class Congestion(Game):
    """Players on shared resources.

    Parameters
    ----------
    strategies : sequence
        With ``num_players``: one list of strategies that all players share; without: one such list per
        player. A strategy is a list of resources, numbered from 0.
    costs : sequence
        One entry per resource: a function of its load, or a table with the cost at loads 1, 2, ...
    num_players : int, optional
        How many players share the strategies.
    moves : array_like, optional
        Which actions are reachable from which: a boolean matrix for all players, or one per player; left out, all are.

    Examples
    --------
    Two roads, one short and narrow, one long and wide:

    >>> game = pt.games.Congestion([[0], [1]], [lambda load: load, lambda load: 2.0], num_players=3)
    >>> game.loads([0, 0, 1]).tolist(), game.utility(0, [0, 0, 1])
    ([2, 1], -2.0)
    >>> game.potential([0, 0, 1])
    -5.0
    """

    def __init__(
        self,
        strategies: Sequence[Any],
        costs: Sequence[Callable[[int], float] | ArrayLike] | NDArray[Any],
        *,
        num_players: int | None = None,
        moves: Any = None,
    ) -> None:
        if num_players is not None:
            num_players = Integer(least=1).of(num_players, "num_players", InvalidGame)
        memory.require(60 * (num_players or 0), f"a congestion game with {num_players} players")
        menus = (
            [_menu(strategies, "strategies")]
            if num_players
            else [_menu(menu, f"strategies of player {i}") for i, menu in enumerate(listed(strategies, "strategies"))]
        )
        menu_of = np.zeros(num_players, np.int64) if num_players else np.arange(len(menus))
        if not menus:
            raise InvalidGame("must have one entry per player, got none", "strategies", strategies)
        super().__init__(action_counts(np.array([len(m) for m in menus])[menu_of], "strategies"), moves)
        flat = [strategy for menu in menus for strategy in menu]
        self.strategies = tuple(tuple(menu) for menu in menus)
        self._menu_of = frozen(menu_of)
        self._row = frozen(starts([len(m) for m in menus])[menu_of])
        self._ptr = starts([len(s) for s in flat])
        self._resources = frozen([r for s in flat for r in s], np.int64)
        prices = listed(costs, "costs")
        self.num_resources = len(prices)
        if self._resources.size and self._resources.max() >= self.num_resources:
            highest = int(self._resources.max())
            raise InvalidGame(
                f"use resource {highest}, but costs has {self.num_resources} entries", "strategies", highest
            )
        top = self._largest_loads()
        memory.require(32.0 * float(top.sum()), f"the costs of {self.num_resources} resources at all their loads")
        self.costs = tuple(_cost_table(prices[r], int(most), r) for r, most in enumerate(top))
        self._check_range()
        self._seal()

    def _check_range(self) -> None:
        """A sum of costs that overflows would turn into NaN in a logit."""
        with np.errstate(over="ignore"):
            total = sum(float(np.abs(table).sum()) for table in self.costs)
        if not np.isfinite(total):
            raise InvalidGame("must not overflow when they are summed over resources and loads; scale them", "costs")

    def _largest_loads(self) -> Ints:
        """How many players could use each resource."""
        players = np.bincount(self._menu_of, minlength=len(self.strategies))
        top = np.zeros(self.num_resources, np.int64)
        for menu, count in zip(self.strategies, players, strict=True):
            top[sorted({r for strategy in menu for r in strategy})] += count
        return top

    def strategy(self, player: int, action: int) -> tuple[int, ...]:
        """The resources that the player's action uses.

        Parameters
        ----------
        player : int
            Its number.
        action : int
            The number of the strategy.

        Returns
        -------
        tuple of int
            Their numbers.
        """
        return self.strategies[self._menu_of[player]][action]

    def menu(self, player: int) -> tuple[tuple[int, ...], ...]:
        """The resources that each of the player's actions uses.

        Parameters
        ----------
        player : int
            Its number.

        Returns
        -------
        tuple of tuples
            One per action.
        """
        return self.strategies[self._menu_of[player]]

    def loads(self, profile: Sequence[int] | Ints) -> Ints:
        """How many players use each resource.

        Parameters
        ----------
        profile : sequence of int
            One action per player.

        Returns
        -------
        array
            One number per resource.
        """
        loads = np.zeros(self.num_resources, np.int64)
        for player in range(self.num_players):
            for resource in self.strategy(player, int(profile[player])):
                loads[resource] += 1
        return loads

    def utility(self, player: int, profile: Sequence[int] | Ints) -> float:
        loads = self.loads(profile)
        return -float(sum(self.costs[r][loads[r] - 1] for r in self.strategy(player, int(profile[player]))))

    @property
    def has_potential(self) -> bool:
        return True

    def potential(self, profile: Sequence[int] | Ints) -> float:
        return -float(sum(self.costs[r][:load].sum() for r, load in enumerate(self.loads(profile))))

    @cached_property
    def interactions(self) -> Interactions:
        """Players who could use a common resource interact: one group per resource."""
        uses = [np.array(sorted({r for s in menu for r in s}), np.int64) for menu in self.strategies]
        groups = np.concatenate([uses[m] for m in self._menu_of])
        players = np.repeat(np.arange(self.num_players), [uses[m].size for m in self._menu_of])
        return interactions_from_pairs(self.num_players, players, groups, self.num_resources)

    def _build(self) -> CongestionData:
        cost = [np.concatenate([[0.0], table]) for table in self.costs]
        return CongestionData(
            self.sizes,
            self._row,
            self._ptr,
            self._resources,
            frozen(starts([c.size for c in cost])[:-1]),
            frozen(np.concatenate([[], *cost])),
            frozen(np.concatenate([[], *map(np.cumsum, cost)])),
            self.moves,
        )

    def _facts(self) -> dict[str, Any]:
        return {"resources": self.num_resources}

    def new_state(self, profile: Ints) -> CongestionState:
        return CongestionState(profile, np.zeros(self.num_resources, np.int64))


def _menu(value: Any, name: str) -> list[tuple[int, ...]]:
    menu = []
    for action, strategy in enumerate(listed(value, name)):
        resources = listed(strategy, f"{name}, action {action}")
        for r in resources:
            if not is_integer(r) or r < 0:
                raise InvalidGame(f"{name}, action {action}: resources are integers from 0, got {r!r}")
        if len(set(resources)) != len(resources):
            raise InvalidGame(f"{name}, action {action}: a resource is listed twice in {resources}")
        menu.append(tuple(int(r) for r in resources))
    if not menu:
        raise InvalidGame("must hold at least one strategy, got none", name)
    return menu


def _cost_table(cost: Any, top: int, resource: int) -> Floats:
    name = f"costs of resource {resource}"
    if callable(cost):
        try:
            cost = [cost(load) for load in range(1, top + 1)]
        except Exception as error:
            raise InvalidGame(f"{name} failed as a function of the load: {type(error).__name__}: {error}") from error
    table = finite_array(cost, name) if np.size(cost) or top else frozen(np.zeros(0))
    if table.ndim != 1 or table.size < top:
        raise InvalidGame(f"must cover loads 1..{top}, got shape {table.shape}", name)
    return frozen(table[:top])


@protocol.utility.register(CongestionData)
def _utility(game: CongestionData, state: CongestionState, player: int, action: int) -> float:
    row = game.row[at(player)]
    current = state.profile[at(player)]
    loads = state.loads
    _add(game, loads, row + current, -1)
    cost = _cost(game, loads, row + action)
    _add(game, loads, row + current, 1)
    return -cost


@protocol.utilities.register(CongestionData)
def _utilities(game: CongestionData, state: CongestionState, player: int, out: Floats) -> None:
    row = game.row[at(player)]
    current = state.profile[at(player)]
    loads = state.loads
    _add(game, loads, row + current, -1)
    for action in range(game.sizes[at(player)]):
        out[action] = -_cost(game, loads, row + action)
    _add(game, loads, row + current, 1)


@protocol.compare.register(CongestionData)
def _compare(game: CongestionData, state: CongestionState, player: int, trial: int) -> tuple[float, float]:
    row = game.row[at(player)]
    current = state.profile[at(player)]
    loads = state.loads
    _add(game, loads, row + current, -1)
    now, then = _cost(game, loads, row + current), _cost(game, loads, row + trial)
    _add(game, loads, row + current, 1)
    return -now, -then


@protocol.apply.register(CongestionData)
def _apply(game: CongestionData, state: CongestionState, player: int, action: int) -> None:
    row = game.row[at(player)]
    current = state.profile[at(player)]
    if action == current:
        return
    _add(game, state.loads, row + current, -1)
    _add(game, state.loads, row + action, 1)
    state.profile[at(player)] = action


@protocol.settle.register(CongestionData)
def _settle(game: CongestionData, state: CongestionState) -> None:
    state.loads[:] = 0
    for player in range(game.sizes.shape[0]):
        _add(game, state.loads, game.row[player] + state.profile[player], 1)


@protocol.potential.register(CongestionData)
def _potential(game: CongestionData, state: CongestionState) -> float:
    total = 0.0
    for resource in range(state.loads.shape[0]):
        total -= game.total[game.cost_ptr[resource] + state.loads[resource]]
    return total


@portable
def _add(game: CongestionData, loads: Ints, strategy: int, change: int) -> None:
    for k in range(game.strategy_ptr[at(strategy)], game.strategy_ptr[at(strategy + 1)]):
        loads[at(game.resources[at(k)])] += change


@portable
def _cost(game: CongestionData, loads: Ints, strategy: int) -> float:
    """What the strategy costs a player who is not yet counted in the loads."""
    cost = 0.0
    for k in range(game.strategy_ptr[at(strategy)], game.strategy_ptr[at(strategy + 1)]):
        resource = at(game.resources[at(k)])
        cost += game.cost[at(game.cost_ptr[resource] + loads[resource] + 1)]
    return cost
