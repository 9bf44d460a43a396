"""Actions of robots as moves: stay, or so many cells across and down, the same numbers wherever a robot is.

The engine's actions are cells. What is here stands between it and those who act: a move becomes the cell that it leads
to, and the mask of cells becomes one of moves.
"""

from __future__ import annotations

from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from potentia.errors import InvalidRun
from potentia.games import Coverage, Game
from potentia.games.grid import step_offsets
from potentia.kernel import memory
from potentia.kernel.arrays import Ints, frozen
from potentia.kernel.protocol import Constrained

ACTIONS = ("own", "moves")


@attrs.frozen
class Compass:
    """The moves there are, and where each leads from each cell."""

    moves: Ints  # (D, 2) cells across and down; the first one stays
    leads: Ints  # (A, D) the action that a move leads to, -1 where there is none

    def actions(self, profile: Ints, moves: Ints, strict: bool) -> tuple[int, Ints, NDArray[np.bool_]]:
        """0, or as kernels count what is wrong with a move; the actions that moves lead to; and who has to stay."""
        outside = (moves < 0) | (moves >= len(self.moves))
        if outside.any():
            return int(outside.argmax()) + 1, moves, outside
        actions = self.leads[profile, moves]
        nowhere = actions < 0
        wrong = -int(nowhere.argmax()) - 1 if strict and nowhere.any() else 0
        return wrong, np.where(nowhere, profile, actions), nowhere

    def masks(self, profile: Ints, masks: NDArray[np.int8]) -> NDArray[np.int8]:
        """What may be played now, (rows, D), by the masks of actions, (rows, A)."""
        leads = self.leads[profile]
        found: NDArray[np.int8] = np.take_along_axis(masks, np.maximum(leads, 0), 1) * (leads >= 0).astype(np.int8)
        return found


def compass_of(game: Game) -> Compass:
    """The moves of a game on a map, or an error that says why there are none."""
    known: Any = game.moves
    if not isinstance(game, Coverage) or not isinstance(known, Constrained) or len(set(known.row.tolist())) > 1:
        told = f'cannot be "moves": these are for robots on a map, all with the same reach, got {game.describe()}'
        raise InvalidRun(f'{told}; use "own"', "actions", "moves")
    around = np.concatenate([np.zeros((1, 2), np.int64), step_offsets(game.radius)])
    cells = game.world.cells.astype(np.int64)
    memory.require(8.0 * len(cells) * len(around), f"{len(around):,} moves from {len(cells):,} cells", 'use "own"')
    size, first = len(cells), int(known.row[0])
    ptr = known.ptr[first : first + size + 1]
    here, there = np.repeat(np.arange(size), np.diff(ptr)), known.targets[ptr[0] : ptr[-1]]
    most = int(np.abs(around).max(initial=0))
    number = np.full((2 * most + 1, 2 * most + 1), -1)
    number[around[:, 1] + most, around[:, 0] + most] = np.arange(len(around))
    across, down = (cells[there] - cells[here] + most).T
    leads = np.full((size, len(around)), -1)
    leads[:, 0] = np.arange(size)
    leads[here, number[down, across]] = there
    return Compass(frozen(around, np.int64), frozen(leads, np.int64))
