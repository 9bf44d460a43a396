"""Sums over the ranges of robots, for all positions at once, and how much work they were.

Work is counted, not measured, in what takes about a second: whoever stops by it finds the same every time.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from potentia.games import Coverage
from potentia.games.sight import Sight, in_blocks, seen_parts, sums_seen
from potentia.kernel.arrays import Floats, Ints

Grid = Floats
_CALL, _ADDED, _HELD, _UNPACKED = 3e-5, 1e-9, 2e-9, 1e-8  # the work of a call, and of a cell that is added up
_MOST_HELD = 10_000_000  # cells that are seen, in all, of which a list is kept: 12 bytes each


class Area:
    """Sums over ranges on the framed area of the game's kernel, where no range is cut at a border."""

    def __init__(self, game: Coverage) -> None:
        data = self.data = game.data
        self.work = 0.0
        self._held: dict[int, Any] = {}  # by range, what is seen from each cell near a wall
        self.rows, self.columns = game.world.worth.shape
        self.frame = (data.width - self.columns) // 2
        self.robots = [np.flatnonzero(data.kind == kind) for kind in range(len(game.ranges))]
        parts = [slice(a, b) for a, b in zip(data.ptr[:-1], data.ptr[1:], strict=True)]
        self.offsets = [data.offset[part] for part in parts]
        self.vision = data.vision
        self.bits: list[Any] = [data.vision.bit[part] if isinstance(data.vision, Sight) else None for part in parts]
        self.reach = [int(data.dx[part].max()) for part in parts]
        self.chords: list[list[list[int]]] = []  # by half-width h, the rows dy of a range that go from -h to h
        for part, reach in zip(parts, self.reach, strict=True):
            widest = dict(sorted(zip(data.dy[part].tolist(), data.dx[part].tolist(), strict=True)))
            self.chords.append([[dy for dy, h in widest.items() if h == width] for width in range(reach + 1)])
        self.blocked = np.zeros((self.rows, self.columns), bool)
        seen = self._seen(game, len(parts) - 1)
        self.worth: Grid = np.pad(np.where(seen, game.world.worth, 0.0), self.frame)  # what can be covered at all
        self.blocked = game.world.blocked

    def _seen(self, game: Coverage, kind: int) -> NDArray[np.bool_]:
        """Which cells are seen from some free cell."""
        far = np.pad(~game.world.blocked, self.frame)
        if not isinstance(self.vision, Sight):
            return self.sums(far.astype(np.float64), kind) > 0
        near, bits = np.flatnonzero(far.reshape(-1) & (self.vision.row >= 0)), self.bits[kind]
        far.reshape(-1)[near] = False
        seen = np.pad(self._in_range(far.astype(np.float64), kind, (0, self.rows, 0, self.columns)) > 0, self.frame)
        for _, part in in_blocks(near, bits.size):
            seen.reshape(-1)[(part[:, None] + self.offsets[kind])[seen_parts(self.vision, part, bits)]] = True
        return seen[self.frame : self.frame + self.rows, self.frame : self.frame + self.columns]

    def cells(self, kind: int, action: int) -> Ints:
        """The framed cells that a robot covers."""
        x, y = self.data.place[action].tolist()
        here = y * self.data.width + x + self.data.base
        if not isinstance(self.vision, Sight) or self.vision.row[here] < 0:
            return here + self.offsets[kind]
        return here + self.offsets[kind][seen_parts(self.vision, np.array([here]), self.bits[kind])[0]]

    def sums(self, field: Grid, kind: int, window: tuple[int, int, int, int] | None = None) -> Grid:
        """The sum of a framed field over what is covered from each position (of a window); -1 where blocked."""
        whole = window is None
        top, bottom, left, right = window = window or (0, self.rows, 0, self.columns)
        total = self._in_range(field, kind, window)
        if isinstance(self.vision, Sight):
            rows, columns = (slice(self.frame + a, self.frame + b) for a, b in ((top, bottom), (left, right)))
            y, x = np.nonzero(self.vision.row.reshape(field.shape)[rows, columns] >= 0)
            near = (y + top) * self.data.width + x + left + self.data.base
            total[y, x] = self._over_seen(field.reshape(-1), kind, near, whole)
        total[self.blocked[top:bottom, left:right]] = -1.0
        return total

    def _over_seen(self, field: Floats, kind: int, near: Ints, whole: bool) -> Floats:
        """The sums over what is seen from cells near walls; ``whole`` if they are all that there are."""
        offsets, bits = self.offsets[kind], self.bits[kind]
        if not whole or near.size * sum(part.size for part in self.offsets) > _MOST_HELD:
            self.work += _UNPACKED * near.size * offsets.size
            return sums_seen(self.vision, field, near, offsets, bits)
        if kind not in self._held:
            self._held[kind] = _matrix(self.vision, near, offsets, bits, field.size)
        self.work += _HELD * self._held[kind].nnz
        found: Floats = self._held[kind] @ field
        return found

    def _in_range(self, field: Grid, kind: int, window: tuple[int, int, int, int]) -> Grid:
        """The same over all that is in range, past walls."""
        top, bottom, left, right = window
        frame, reach = self.frame, self.reach[kind]
        block = field[frame + top - reach : frame + bottom + reach]
        segment = block[:, frame + left : frame + right].copy()
        total = np.zeros((bottom - top, right - left))
        self.work += _CALL + _ADDED * total.size * 4 * (reach + 1)
        # segments of rows grow outwards: a range costs its diameter, not its area, and nothing is subtracted
        for h, rows in enumerate(self.chords[kind]):
            if h:
                segment += block[:, frame + left + h : frame + right + h]
                segment += block[:, frame + left - h : frame + right - h]
            for dy in rows:
                total += segment[reach + dy : reach + dy + bottom - top]
        return total


def _matrix(vision: Sight, cells: Ints, offsets: Ints, bits: Ints, size: int) -> Any:
    """Which cells of a framed field (columns) are seen from which of these cells (rows)."""
    from scipy import sparse

    seen, counts = [], []
    for _, part in in_blocks(cells, bits.size):
        shown = seen_parts(vision, part, bits)
        seen.append((part[:, None] + offsets)[shown].astype(np.int32))
        counts.append(shown.sum(axis=1))
    columns = np.concatenate([np.empty(0, np.int32), *seen])
    starts = np.concatenate([[0], *counts]).cumsum()
    return sparse.csr_array((np.ones(columns.size), columns, starts), shape=(cells.size, size))


class Gains:
    """What one more robot of a range would add at each position, kept up to date around what changes."""

    def __init__(self, area: Area, kind: int, left: Grid) -> None:
        self.area, self.kind, self.left = area, kind, left
        self.gain = area.sums(left, kind)
        self.best = self.gain.max(axis=1)

    def update(self, action: int) -> None:
        """After a robot of this range came to or left a position."""
        area, span = self.area, 2 * self.area.reach[self.kind]
        x, y = area.data.place[action].tolist()
        top, bottom = max(y - span, 0), min(y + span + 1, area.rows)
        left, right = max(x - span, 0), min(x + span + 1, area.columns)
        self.gain[top:bottom, left:right] = area.sums(self.left, self.kind, (top, bottom, left, right))
        self.best[top:bottom] = self.gain[top:bottom].max(axis=1)

    def top(self) -> tuple[tuple[int, int], float]:
        """The position (y, x) that adds most."""
        y = int(self.best.argmax())
        return (y, int(self.gain[y].argmax())), float(self.best[y])
