"""Constrained action sets A_c^i: A^i → 2^{A^i} (paper, section 2.2, Assumptions 1 and 2).

``moves`` may be given as

- ``None``: every action is reachable from every other (completeness);
- a boolean (A, A) array, shared by all players: ``moves[a, b]`` says whether b is reachable from a;
- a sequence with one entry per player, each ``None``, a boolean (A_i, A_i) array, or for each action the
  list of reachable actions.

Staying is always allowed and never listed: the current action is removed from each set (trial sets
exclude it; ``include_current`` of a rule puts it back).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from potentia.errors import InvalidGame
from potentia.games.given import listed
from potentia.kernel import memory
from potentia.kernel.arrays import Ints, frozen
from potentia.kernel.checks import Integer
from potentia.kernel.numbers import is_integer
from potentia.kernel.protocol import Complete, Constrained, Moves
from potentia.kernel.texts import counted


def make_moves(moves: Any, sizes: Ints) -> Moves:
    """Validate ``moves`` and lay it out for compiled code."""
    if moves is None:
        return Complete()
    if isinstance(moves, np.ndarray) and moves.ndim == 2:
        _require_boolean(moves, "moves")
        if (sizes != sizes[0]).any():
            told = "shared by all players need players with equally many actions; give one per player"
            raise InvalidGame(told, "moves", moves)
        ptr, targets = _table(moves, int(sizes[0]), "moves")
        return Constrained(frozen(np.zeros(sizes.size), np.int64), frozen(ptr, np.int64), frozen(targets, np.int64))
    try:
        count = -1 if isinstance(moves, str | Mapping) else len(moves)
    except TypeError:
        count = -1
    if count < 0:
        told = "must be None, a boolean matrix or one entry per player"
        raise InvalidGame(f"{told}, got {type(moves).__name__}", "moves", moves)
    if count != sizes.size:
        raise InvalidGame(
            f"must have one entry for each of {counted(sizes.size, 'player')}, got {count}", "moves", moves
        )
    all_ptr: list[int] = [0]
    all_targets: list[int] = []
    rows: list[int] = []
    for player, table in enumerate(moves):
        rows.append(len(all_ptr) - 1)
        ptr, targets = _table(table, int(sizes[player]), f"moves of player {player}")
        all_ptr.extend(p + len(all_targets) for p in ptr[1:])
        all_targets.extend(targets)
    return Constrained(frozen(rows, np.int64), frozen(all_ptr, np.int64), frozen(all_targets, np.int64))


def _require_boolean(matrix: NDArray[Any], name: str) -> None:
    if matrix.dtype != bool:
        # 0 and 1 could be read as actions; ask rather than guess
        raise InvalidGame(f"as a matrix must be boolean, got {matrix.dtype}; use matrix.astype(bool)", name, matrix)


def _table(table: Any, size: int, name: str) -> tuple[list[int], list[int]]:
    if table is None:  # this player is free
        table = ~np.eye(size, dtype=bool)
    if isinstance(table, np.ndarray) and table.ndim == 2:
        _require_boolean(table, name)
        if table.shape != (size, size):
            raise InvalidGame(f"must have shape {(size, size)}, got {table.shape}", name, table)
        lists: list[Any] = [np.flatnonzero(row) for row in table]
    else:
        lists = listed(table, name)
        if len(lists) != size:
            told = f"must list the reachable actions of each of {size} actions"
            raise InvalidGame(f"{told}, got {len(lists)} lists", name, table)
    ptr, targets = [0], []
    for action, reach in enumerate(lists):
        chosen: set[int] = set()
        entries = listed(reach, f"{name}, action {action}")
        if set(map(type, entries)) == {int} and min(entries) >= 0 and max(entries) < size:
            chosen, entries = set(entries), []  # as most are; below, one by one, what is wrong is found
        for target in entries:
            if not is_integer(target):
                raise InvalidGame(f"{name}, action {action}: expected actions as integers, got {target!r}")
            if not 0 <= target < size:
                raise InvalidGame(f"{name}, action {action}: reachable actions must be in 0..{size - 1}, got {target}")
            chosen.add(int(target))
        chosen.discard(action)
        if not chosen and size > 1:
            raise InvalidGame(f"{name}, action {action} leads nowhere: list at least one other action")
        targets.extend(sorted(chosen))
        ptr.append(len(targets))
    return ptr, targets


def reachable_actions(moves: Moves, size: int, player: int, action: int) -> list[int]:
    """The reachable actions as a list, the current one excluded."""
    if isinstance(moves, Complete):
        return [a for a in range(size) if a != action]
    row = int(moves.row[player]) + action
    return [int(a) for a in moves.targets[moves.ptr[row] : moves.ptr[row + 1]]]


def path_moves(num_actions: int) -> NDArray[np.bool_]:
    """Moves along a line: action a reaches a - 1 and a + 1.

    Parameters
    ----------
    num_actions : int
        How many.

    Returns
    -------
    array
        (A, A), true where a move is possible.

    Examples
    --------
    >>> game = pt.games.Separable([[0.0, 1.0, 2.0]], moves=pt.games.path_moves(3))
    >>> game.reachable(0, 0)
    [1]
    """
    num_actions = Integer(least=1).of(num_actions, "num_actions", InvalidGame)
    memory.require(20 * num_actions**2, f"moves among {num_actions} actions")
    steps = np.arange(num_actions)
    return np.abs(steps[:, None] - steps[None, :]) == 1


def grid_moves(rows: int, columns: int) -> NDArray[np.bool_]:
    """Moves on a grid: a cell reaches the up to eight adjacent ones. Actions are cells in row order.

    Parameters
    ----------
    rows : int
        How many.
    columns : int
        How many.

    Returns
    -------
    array
        (rows · columns, rows · columns), true where a move is possible.

    Examples
    --------
    >>> pt.games.grid_moves(2, 2).astype(int).tolist()
    [[0, 1, 1, 1], [1, 0, 1, 1], [1, 1, 0, 1], [1, 1, 1, 0]]
    """
    rows, columns = (Integer(least=1).of(n, name, InvalidGame) for n, name in ((rows, "rows"), (columns, "columns")))
    memory.require(40 * (rows * columns) ** 2, f"moves among {rows * columns} cells")
    y, x = np.divmod(np.arange(rows * columns), columns)
    near = np.maximum(np.abs(y[:, None] - y[None, :]), np.abs(x[:, None] - x[None, :]))
    return near == 1
