"""Line of sight on a grid with blocked cells: what a robot sees of its range.

Cell B is visible from the free cell A iff some straight segment from a point inside A to a point inside B touches no
blocked cell other than B. Points anywhere inside count, so the view is as permissive as it can be, and it is symmetric:
the segment back is the same. Corners and edges of blocked cells are touched by what runs along them, so nothing is
seen between two blocked cells that meet at a corner, although a robot may slip through there; and a wall in a diagonal
line is a wall. A blocked cell has a visible face iff something is seen of it before it ends the view.

*How*. Take the quadrant x, y ≥ 0 of A = [0, 1]². A line that rises leaves each blocked cell either above it, which is
to leave its lower right corner above, or below it, which is to leave its upper left corner below. It goes through the
inside of A iff it leaves A's own upper left corner above and its lower right one below. So the lines that leave the
walls passed so far on the same sides are those that separate a set P of corners above from a set Q of corners below,
a *view*; and B is seen in it iff P with B's upper left corner and Q with its lower right one can be separated, too.
Cells are visited in the order of x + y. Then both can be told from the shallowest and the steepest line of the view
(the first goes from a corner in P to one in Q that is farther away, the second from Q to P), by signs of whole numbers:
nothing is rounded. A wall inside a view cuts it, into two if lines pass on both sides. This is the precise permissive
field of view of roguelike games (J. Duerig), with gaps of no width closed.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from potentia.games.grid import SLACK, disc
from potentia.kernel import memory
from potentia.kernel.arrays import Ints, frozen
from potentia.kernel.cache import Entry
from potentia.kernel.dispatch import at, generic, portable

_BY_PYTHON = 20_000  # cells looked at; compiling takes longer than so many
_AT_ONCE = 4_000_000  # cells in ranges that are unpacked together
FREE, WALL, OUTSIDE = range(3)


class Open(NamedTuple):
    """Nothing is hidden. A type of its own, so that kernels need not ask."""

    everything: bool = True

    def unhashed(self) -> str:
        """Why it is left out of fingerprints."""
        return "a game without sight has the one that it always had"


class Sight(NamedTuple):
    """What compiled code reads: which cells of its range a robot sees from each cell."""

    row: NDArray[np.int32]  # by framed cell: a row of ``mask``, or -1 where all in range is seen
    mask: NDArray[np.uint8]  # (rows, bytes) a bit for each cell of the longest range
    bit: Ints  # the bits of the cells of all ranges, in the order of the game's offsets
    number: Ints  # the bit of offset (dx, dy) is number[(dy + reach) * (2 * reach + 1) + dx + reach]
    reach: int


# What kernels ask -------------------------------------------------------------------------------------


@generic
def is_open(view: Any) -> bool:
    """Whether everything in range is seen from everywhere."""
    return True


@is_open.register(Sight)
def _is_open(view: Sight) -> bool:
    return False


@generic
def sees(view: Any, cell: int, k: int) -> bool:
    """Whether a robot on a framed cell sees the cell of its range that is number ``k`` of the game's offsets."""
    return True


@sees.register(Sight)
def _sees(view: Sight, cell: int, k: int) -> bool:
    row: Any = np.int64(view.row[at(cell)])
    return row < 0 or _has(view, row, view.bit[at(k)])


@generic
def owns(view: Any, cell: int, x: Any, y: Any, reach: Any) -> Any:
    """1 if a robot on a framed cell covers the one (x, y) from it, within δ² = ``reach``, else 0."""
    return np.int64(x * x + y * y <= reach)


@owns.register(Sight)
def _owns(view: Sight, cell: int, x: Any, y: Any, reach: Any) -> Any:
    if x * x + y * y > reach:
        return np.int64(0)
    row: Any = np.int64(view.row[at(cell)])
    bit = view.number[at((y + view.reach) * (2 * view.reach + 1) + x + view.reach)]
    return np.int64(row < 0 or _has(view, row, bit))


@portable
def _has(view: Sight, row: Any, bit: Any) -> bool:
    return (np.int64(view.mask[at(row), at(bit >> 3)]) >> (bit & 7)) & 1 != 0


# How it is computed -----------------------------------------------------------------------------------


class Views(NamedTuple):
    """What a quadrant is swept with: the lines that are still free."""

    shallow: Ints  # (V, 4) the shallowest line of a view, from (x, y) to (x, y)
    steep: Ints  # (V, 4)
    above: Ints  # (V,) the last of the corners P
    below: Ints  # (V,) the last of the corners Q
    corner: Ints  # (C, 3) x, y and the corner before it, or -1


@portable
def _side(lines: Ints, j: int, x: Any, y: Any) -> Any:
    """Positive where a point is to the left of (above) a line, 0 on it."""
    ax, ay = lines[j, 0], lines[j, 1]
    return (lines[j, 2] - ax) * (y - ay) - (lines[j, 3] - ay) * (x - ax)


@portable
def _turn(lines: Ints, j: int, corner: Ints, last: Any, x: Any, y: Any, sign: int) -> None:
    """Let a line end in (x, y) and start in the corner of a list that has all others on one side."""
    best = last
    while last >= 0:
        bx, by = corner[best, 0], corner[best, 1]
        if ((x - bx) * (corner[last, 1] - by) - (y - by) * (corner[last, 0] - bx)) * sign < 0:
            best = last
        last = corner[last, 2]
    lines[j, 0], lines[j, 1], lines[j, 2], lines[j, 3] = corner[best, 0], corner[best, 1], x, y


@portable
def _note(views: Views, used: int, x: Any, y: Any, last: Any) -> None:
    views.corner[used, 0], views.corner[used, 1], views.corner[used, 2] = x, y, last


@portable
def _copy(views: Views, j: int, to: int) -> None:
    for c in range(4):
        views.shallow[to, c], views.steep[to, c] = views.shallow[j, c], views.steep[j, c]
    views.above[to], views.below[to] = views.above[j], views.below[j]


class Ground(NamedTuple):
    """Where is looked: a framed area, and the offsets of a range."""

    walls: NDArray[np.uint8]  # by framed cell: FREE, WALL or OUTSIDE
    width: int
    x: Ints  # the offsets x, y >= 0 in the order of x + y, without (0, 0)
    y: Ints
    number: Ints  # as in Sight
    reach: int


@portable
def _sweep(ground: Ground, here: int, right: int, up: int, views: Views, shown: NDArray[np.uint8]) -> bool:
    """Write 1 for each cell of a quadrant that is seen from ``here``; False if there was no room to find out."""
    _note(views, 0, 0, 1, -1)  # the two corners of the cell itself
    _note(views, 1, 1, 0, -1)
    views.above[0], views.below[0] = 0, 1
    for c in range(4):
        views.shallow[0, c] = (c + 1) // 2 % 2
        views.steep[0, c] = 1 - views.shallow[0, c]
    count, used, level, upright = 1, 2, True, True
    for k in range(ground.x.shape[0]):
        x, y = ground.x[k], ground.y[k]
        wall = ground.walls[here + up * y * ground.width + right * x] == WALL
        seen = (y == 0 and level) or (x == 0 and upright)
        level, upright = level and not (wall and y == 0), upright and not (wall and x == 0)
        j = 0
        while j < count and (wall or (x > 0 and y > 0)):
            over, under = _side(views.shallow, j, x, y + 1), _side(views.steep, j, x + 1, y)
            # lines along an axis are not in views, but those that rise a little meet its walls
            met = (over > 0 and under < 0) or (y == 0 and over >= 0) or (x == 0 and under <= 0)
            if not met:
                j += 1
                continue
            seen = seen or (x > 0 and y > 0)
            if not wall:
                break
            beneath = y > 0 and _side(views.shallow, j, x + 1, y) > 0  # some lines pass there
            beyond = x > 0 and _side(views.steep, j, x, y + 1) < 0
            if not beneath and not beyond:
                count -= 1
                _copy(views, count, j)
                continue
            if count >= views.above.shape[0] or used + 2 > views.corner.shape[0]:
                return False
            other = j
            if beneath and beyond:
                other = count
                count += 1
                _copy(views, j, other)
            if beneath:
                _turn(views.steep, j, views.corner, views.below[j], x + 1, y, -1)
                _note(views, used, x + 1, y, views.above[j])
                views.above[j] = used
                used += 1
            if beyond:
                _turn(views.shallow, other, views.corner, views.above[other], x, y + 1, 1)
                _note(views, used, x, y + 1, views.below[other])
                views.below[other] = used
                used += 1
            j += 1
        if seen:
            shown[k] = 1
        if count == 0 and not level and not upright:
            break
    return True


def look(
    ground: Ground,
    cells: Ints,
    first: int,
    faces: bool,
    through: bool,
    views: Views,
    shown: NDArray[np.uint8],
    mask: NDArray[np.uint8],
    hidden: NDArray[np.uint8],
) -> int:
    """Fill the rows of ``mask`` from ``first`` on, and tell how many are done: all, or less where room ran out.

    ``faces``: blocked cells are seen, too; ``through``: they hide nothing but themselves.
    """
    for i in range(first, cells.shape[0]):
        here = cells[i]
        _mark(ground, mask, i, 0, 0)
        for right in (-1, 1):
            for up in (-1, 1):
                for k in range(shown.shape[0]):
                    shown[k] = through
                if not through and not _sweep(ground, here, right, up, views, shown):
                    return i
                for k in range(shown.shape[0]):
                    x, y = right * ground.x[k], up * ground.y[k]
                    what = ground.walls[here + y * ground.width + x]
                    if shown[k] and (faces or what != WALL):
                        _mark(ground, mask, i, x, y)
                    elif what != OUTSIDE:
                        hidden[i] = 1
    return cells.shape[0]


@portable
def _mark(ground: Ground, mask: NDArray[np.uint8], i: int, x: Any, y: Any) -> None:
    bit = ground.number[(y + ground.reach) * (2 * ground.reach + 1) + x + ground.reach]
    mask[i, bit >> 3] |= 1 << (bit & 7)


_look_entry = Entry(look)


def make_view(blocked: NDArray[np.bool_], ranges: Any, opaque: bool, faces: bool, compiled: bool | None = None) -> Any:
    """What is seen from each free cell within the longest of some ranges, given in order.

    ``opaque``
        blocked cells hide what is behind them.
    ``faces``
        blocked cells are seen where nothing hides them; else they never are.
    """
    if not blocked.any() or (faces and not opaque):
        return Open()
    offsets = disc(float(ranges[-1]))
    reach = int(float(ranges[-1]) * SLACK)
    width, size = blocked.shape[1] + 2 * reach, mask_bytes(float(ranges[-1]))
    walls = np.pad(blocked.astype(np.uint8), reach, constant_values=OUTSIDE).reshape(-1)
    free = np.pad(~blocked & _near(blocked, reach), reach).reshape(-1)
    cells = np.flatnonzero(free)
    memory.require(2.0 * size * cells.size + 30.0 * walls.size, f"lines of sight over {reach} cells")
    number = _numbered(offsets, reach)
    part = offsets[(offsets >= 0).all(axis=1) & offsets.any(axis=1)]
    part = part[np.argsort(part.sum(axis=1), kind="stable")]
    x, y = np.ascontiguousarray(part.T)
    ground = Ground(walls, width, x, y, number, reach)
    mask, hidden = np.zeros((cells.size, size), np.uint8), np.zeros(cells.size, np.uint8)
    compiled = 4.0 * len(part) * cells.size > _BY_PYTHON if compiled is None else compiled
    done, room = 0, len(part) + 16
    while done < cells.size:
        views, shown = _new_views(room), np.zeros(len(part), np.uint8)
        done = _look_entry(ground, cells, done, faces, not opaque, views, shown, mask, hidden, compiled=compiled)
        room *= 4
    kept = hidden > 0
    row = np.full(walls.size, -1, np.int32)
    row[cells[kept]] = np.arange(int(kept.sum()))
    all_offsets = np.concatenate([disc(float(delta)) for delta in ranges])
    found = Sight(frozen(row), frozen(mask[kept]), frozen([], np.int64), frozen(number), reach)
    return found._replace(bit=frozen(bits_of(found, all_offsets)))


def _numbered(offsets: Ints, reach: int) -> Ints:
    number = np.full((2 * reach + 1, 2 * reach + 1), -1, np.int64)
    number[offsets[:, 1] + reach, offsets[:, 0] + reach] = np.arange(len(offsets))
    return number.reshape(-1)


def written(view: Sight, columns: int) -> tuple[NDArray[np.int32], NDArray[np.uint8]]:
    """A view as arrays for a file: the row of each cell, (rows, columns), and the mask."""
    rows = view.row.reshape(-1, columns + 2 * view.reach)
    return rows[view.reach : len(rows) - view.reach, view.reach : view.reach + columns], view.mask


def read(row: NDArray[np.int32], mask: NDArray[np.uint8], delta: float) -> Sight:
    """A view from such arrays, and the longest range, no longer than the area."""
    reach, offsets = int(delta * SLACK), disc(delta)
    framed = np.pad(row, reach, constant_values=-1).reshape(-1)
    return Sight(framed, mask, np.zeros(0, np.int64), _numbered(offsets, reach), reach)


def mask_bytes(delta: float) -> int:
    """How long a row of a mask is."""
    return len(disc(delta)) // 8 + 1


def _new_views(room: int) -> Views:
    lines, last = np.zeros((2, room, 4), np.int64), np.zeros((2, room), np.int64)
    return Views(lines[0], lines[1], last[0], last[1], np.zeros((4 * room, 3), np.int64))


def _near(blocked: NDArray[np.bool_], reach: int) -> NDArray[np.bool_]:
    """Where a blocked cell is in the square around a cell."""
    rows, columns = blocked.shape
    sums = np.pad(blocked.astype(np.int64), ((reach + 1, reach), (reach + 1, reach))).cumsum(axis=0).cumsum(axis=1)
    side = 2 * reach + 1
    found = sums[side:, side:] - sums[:-side, side:] - sums[side:, :-side] + sums[:-side, :-side]
    return found[:rows, :columns] > 0


# What others ask --------------------------------------------------------------------------------------


def bits_of(view: Sight, offsets: Ints) -> Ints:
    """The bits that stand for offsets (dx, dy)."""
    dx, dy = offsets.T + view.reach
    return view.number[dy * (2 * view.reach + 1) + dx]


def seen_parts(view: Sight, cells: Ints, bits: Ints) -> NDArray[np.bool_]:
    """Which of the cells with these bits are seen from framed cells, (cells, bits)."""
    rows = view.row[cells]
    out = np.ones((cells.size, bits.size), bool)
    held = np.flatnonzero(rows >= 0)
    out[held] = np.unpackbits(view.mask[rows[held]], axis=1, bitorder="little")[:, bits]
    return out


def in_blocks(cells: Ints, wide: int) -> Any:
    """The cells in parts, so that ranges of so many cells can be unpacked."""
    block = max(1, _AT_ONCE // max(1, wide))
    for begin in range(0, cells.size, block):
        yield begin, cells[begin : begin + block]


def sums_seen(view: Sight, field: NDArray[np.float64], cells: Ints, offsets: Ints, bits: Ints) -> NDArray[np.float64]:
    """The sum of a framed field over what is seen in range of framed cells."""
    out = np.empty(cells.size)
    for begin, part in in_blocks(cells, bits.size):
        values = field[part[:, None] + offsets]
        values *= seen_parts(view, part, bits)
        out[begin : begin + part.size] = values.sum(axis=1)
    return out
