"""Who finds the targets of a map, and when: the first robot that covers the cell in which a target is then."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from potentia.kernel.arrays import Ints
from potentia.web.recordings import Recording

Found = tuple[int, int, int, int, int]  # step, robot, number of the target, its cell x, y


def targets_found(made: Recording) -> Iterator[Found]:
    """Each target that is found, once."""
    if len(made.moving_targets.places):
        yield from _afoot(made)
        return
    steps, robots, places = made.visits
    for number, (x, y) in enumerate(made.header["map"]["targets"]):
        near = np.flatnonzero(made.covers(robots, places, np.array([x, y])))
        if near.size:
            yield int(steps[near[0]]), int(robots[near[0]]), number, x, y


def _afoot(made: Recording) -> Iterator[Found]:
    """Targets that move: from one of their moves to the next, who is there already, who comes near and who arrives."""
    when, players, actions = made.changes
    since, until = made.lives
    now, done = made.arrays["start"].astype(np.int64), 0
    missing = set(range(len(made.header["map"]["targets"])))
    for first, end, cells in _stays(made):
        last = int(np.searchsorted(when, first, "right"))
        now[players[done:last]] = actions[done:last]
        done = max(done, last)
        late = slice(done, int(np.searchsorted(when, end)))
        robots, places = np.append(np.arange(now.size), players[late]), np.append(now, actions[late])
        # who has not come yet stays where it will arrive
        steps = np.append(np.maximum(first, since.astype(np.int64)), when[late])
        order = np.lexsort((robots, steps))
        robots, places, steps = robots[order], places[order], steps[order]
        there = (since[robots] <= steps) & (steps < until[robots]) & (steps < end)
        robots, places, steps = robots[there], places[there], steps[there]
        for number in sorted(missing):
            x, y = cells[number].tolist()
            near = np.flatnonzero(made.covers(robots, places, cells[number])) if x >= 0 else np.zeros(0, np.int64)
            if near.size:
                missing.discard(number)
                yield int(steps[near[0]]), int(robots[near[0]]), number, x, y
        if not missing:
            return


def _stays(made: Recording) -> Iterator[tuple[int, int, Ints]]:
    """Since when and until before when all targets are in these cells."""
    every = made.moving_targets.every
    first, cells = 0, made.target_cells(0)
    for step in range(every, made.steps + 1, every):
        later = made.target_cells(step)
        if not np.array_equal(cells, later):
            yield first, step, cells
            first, cells = step, later
    yield first, made.steps + 1, cells
