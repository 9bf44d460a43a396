"""Moves on a grid with blocked cells: straight, no longer than a radius, and never through a blocked cell."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from potentia.kernel import memory
from potentia.kernel.arrays import Ints, frozen, starts
from potentia.kernel.protocol import Constrained

SLACK = 1 + 1e-9  # of squares: √13 squared is a little less than 13


def disc(radius: float) -> Ints:
    """The cells within ``radius`` of a cell as offsets (dx, dy), row by row."""
    most = int(radius * SLACK)
    dy, dx = np.mgrid[-most : most + 1, -most : most + 1]
    inside = dx**2 + dy**2 <= radius**2 * SLACK
    return np.stack([dx[inside], dy[inside]], axis=1)


def step_offsets(radius: float) -> Ints:
    """The same, the cell itself excluded."""
    cells = disc(radius)
    return cells[(cells != 0).any(axis=1)]


def crossed(dx: int, dy: int) -> list[tuple[int, int]]:
    """The cells, both ends excluded, whose inside the segment from (0, 0) to (dx, dy) crosses; corners may be touched.

    The same cells are crossed on the way back, so moves are reversible (Assumption 2).
    """
    out = set()
    for x in range(min(0, dx), max(0, dx) + 1):
        for y in range(min(0, dy), max(0, dy) + 1):
            # twice the signed distance of the cell's four corners from the line, times its length
            sides = [dy * (2 * x + i) - dx * (2 * y + j) for i in (-1, 1) for j in (-1, 1)]
            if min(sides) < 0 < max(sides):
                out.add((x, y))
    return sorted(out - {(0, 0), (dx, dy)})


def grid_steps(blocked: NDArray[np.bool_], radius: float, num_players: int) -> Constrained:
    """The moves of every free cell, shared by all players; actions are the free cells, row by row."""
    rows, columns = blocked.shape
    most = int(radius * SLACK)
    offsets = step_offsets(radius)
    free = ~blocked
    cells = int(free.sum())
    memory.require(
        (9.0 * len(offsets) + 40) * blocked.size, f"moves of up to {radius:g} cells on {columns}×{rows} cells"
    )
    framed, walls = np.pad(free, most), bool(blocked.any())
    number = np.pad(np.where(free, np.cumsum(free.reshape(-1)).reshape(free.shape) - 1, -1).astype(np.int32), most)

    def shifted(array: NDArray[Any], dx: int, dy: int) -> NDArray[Any]:
        return array[most + dy : most + dy + rows, most + dx : most + dx + columns]

    legal = np.empty((cells, len(offsets)), bool)
    targets = np.empty((cells, len(offsets)), np.int32)
    for k, (dx, dy) in enumerate(offsets.tolist()):
        allowed = free & shifted(framed, dx, dy)
        if walls:
            for x, y in crossed(dx, dy):
                allowed &= shifted(framed, x, y)
        legal[:, k] = allowed[free]
        targets[:, k] = shifted(number, dx, dy)[free]
    ptr = starts(legal.sum(axis=1))
    return Constrained(frozen(np.zeros(num_players), np.int64), ptr, frozen(targets[legal]))
