"""Line of sight by trying lines: the reference for what a robot sees past walls.

Cell B is seen from cell A iff a segment from inside A to inside B touches no wall but B. Whether a line does depends
only on which corners (of A, B and the walls) lie on which side of it. Lines with the same corners on either side can be
moved until they go through two of the corners; so every kind of line there is lies beside one through two corners.
Beside means: moved to a side, or turned about a point between two neighbouring corners on it. All of them are tried, in
whole numbers. Slow and obvious on purpose, and nothing is shared with the library.
"""

from __future__ import annotations

import itertools

import numpy as np

_FINE = 10**7  # a line is moved and turned by so small a part


def _corners(cell):
    return [(cell[0] + i, cell[1] + j) for i in (0, 1) for j in (0, 1)]


def _lines_beside(points, of):
    """Sides (+ or -) of all points, for each line that lies beside one through two of them.

    Only beside those that touch both ends and cross no wall: to cross or to miss a cell outlasts so small a change.
    """
    first, second = np.triu_indices(len(points), 1)
    d = points[second] - points[first]
    sides = d[:, :1] * (points[:, 1] - points[first, 1:]) - d[:, 1:] * (points[:, 0] - points[first, :1])
    low, high = sides[:, of].min(axis=2), sides[:, of].max(axis=2)
    touched = (low[:, :2] <= 0) & (high[:, :2] >= 0)
    crossed = (low[:, 2:] < 0) & (high[:, 2:] > 0)
    for k in np.flatnonzero(touched.all(axis=1) & ~crossed.any(axis=1)):
        side, along = sides[k], points @ d[k]
        stops = np.unique(along[side == 0])
        small = [np.ones(len(points), np.int64)]
        small += [2 * along - (a + b) for a, b in itertools.pairwise(stops.tolist())]
        for tilt, sign in itertools.product(small, (-1, 1)):
            assert np.abs(tilt).max() < _FINE
            yield side * _FINE + sign * tilt > 0


def visible(start, goal, walls):
    """Whether ``goal`` is seen from ``start``; ``walls`` is a set of cells (x, y)."""
    if start == goal:
        return True
    box = [range(min(a, b), max(a, b) + 1) for a, b in zip(start, goal, strict=True)]
    between = [w for w in sorted(walls) if w not in (start, goal) and w[0] in box[0] and w[1] in box[1]]
    if not between:
        return True
    cells = [start, goal, *between]
    points = np.array(sorted({corner for cell in cells for corner in _corners(cell)}), np.int64)
    index = {tuple(point): k for k, point in enumerate(points.tolist())}
    of = np.array([[index[corner] for corner in _corners(cell)] for cell in cells])
    for left in _lines_beside(points, of):
        sides = left[of]
        met = sides.any(axis=1) & ~sides.all(axis=1)  # a line goes through a cell iff it parts its corners
        if met[0] and met[1] and not met[2:].any():
            return True
    return False
