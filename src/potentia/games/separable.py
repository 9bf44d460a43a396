"""Separable games: each player's utility depends on its own action only.

This is the hypothesis under which the paper's separable proposition (Eq. 19–20) promises that
P-SBLLL's stochastically stable states are the potential maximisers. Φ(α) = Σ_i u^i(α^i).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from potentia.errors import InvalidGame
from potentia.games.base import Game, interactions_from_groups
from potentia.games.given import action_counts, finite_array
from potentia.kernel import protocol
from potentia.kernel.arrays import Floats, Ints, frozen, starts
from potentia.kernel.dispatch import at
from potentia.kernel.protocol import Interactions, Moves, welfare


class SeparableData(NamedTuple):
    """What compiled code reads; player i's values begin at ``row[i]``."""

    sizes: Ints
    row: Ints
    values: Floats
    moves: Moves


class ProfileState(NamedTuple):
    """A state that is its profile and nothing else."""

    profile: Ints


class Separable(Game):
    """``utilities[i][a]`` is what player i gets for its own action a, whatever the others do.

    Parameters
    ----------
    utilities : sequence
        A list of numbers for each player.
    moves : array_like, optional
        Which actions are reachable from which: a boolean matrix for all players, or one per player; left out, all are.

    Examples
    --------
    >>> game = pt.games.Separable([[0.0, 1.0], [3.0, 2.0, 1.0]])
    >>> game.utility(1, [0, 2]), game.potential([1, 0])
    (1.0, 4.0)
    """

    def __init__(self, utilities: Sequence[ArrayLike] | NDArray[Any], *, moves: Any = None) -> None:
        try:
            rows = [] if isinstance(utilities, Mapping) else list(utilities)
        except TypeError:
            rows = []
        if not rows:
            raise InvalidGame(f"must hold one sequence per player, got {utilities!r}", "utilities", utilities)
        tables = [finite_array(row, f"utilities of player {i}") for i, row in enumerate(rows)]
        for player, table in enumerate(tables):
            if table.ndim != 1:
                wanted = f"of player {player} must be one number per action"
                raise InvalidGame(f"{wanted}, got shape {table.shape}", "utilities", table)
        super().__init__(action_counts([t.size for t in tables], "utilities"), moves)
        self.tables = tuple(tables)
        with np.errstate(over="ignore"):
            if not np.isfinite(sum(float(np.abs(table).max()) for table in tables)):
                raise InvalidGame("must not overflow when they are summed over players; scale them", "utilities")
        self._seal()

    def utility(self, player: int, profile: Sequence[int] | Ints) -> float:
        return float(self.tables[player][profile[player]])

    @property
    def has_potential(self) -> bool:
        return True

    def potential(self, profile: Sequence[int] | Ints) -> float:
        return self.welfare(profile)

    @cached_property
    def interactions(self) -> Interactions:
        return interactions_from_groups(self.num_players, [])

    def _build(self) -> SeparableData:
        return SeparableData(
            self.sizes, frozen(starts(self.sizes)[:-1]), frozen(np.concatenate(self.tables)), self.moves
        )

    def new_state(self, profile: Ints) -> ProfileState:
        return ProfileState(profile)


@protocol.utility.register(SeparableData)
def _utility(game: SeparableData, state: ProfileState, player: int, action: int) -> float:
    return game.values[at(game.row[at(player)] + action)]


@protocol.potential.register(SeparableData)
def _potential(game: SeparableData, state: ProfileState) -> float:
    return welfare(game, state)
