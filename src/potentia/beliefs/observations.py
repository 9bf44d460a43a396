"""What robots have sensed: each distinct cell once, with its reading and how often it was seen.

A *mind* is one robot's, or one that all share. Cells are numbered as in the coverage game's kernel, inside a
frame. However long a run, a mind holds no more than the cells of the area.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from potentia.beliefs.forgetting import Ages, Lasting, check_ages, faded, note_again, note_first
from potentia.games import Coverage
from potentia.games.coverage_kernel import CoverageData, CoverageState, cell_of
from potentia.games.sight import sees
from potentia.kernel.dispatch import at, generic, portable, separate
from potentia.kernel.draws import NOISE, normal_nth
from potentia.kernel.protocol import num_drawn

OUTSIDE = -1
KNOWN, FRESH = range(2)


class Sensing(NamedTuple):
    """What compiled code reads."""

    whole_range: bool  # every cell in range, not only the robot's own
    noise: float  # standard deviation of a reading's error
    mind: NDArray[np.int64]  # (N,) whose mind a robot has


class Store(NamedTuple):
    """Readings, by mind; K is the number of cells of the area."""

    slot: NDArray[np.int32]  # (m, framed cells) 1 + the cell's place in the lists below, 0 unseen, -1 outside
    cell: NDArray[np.int32]  # (m, K)
    reading: NDArray[np.float64]  # (m, K) the last reading, or with noise their mean
    visits: NDArray[np.int32]  # (m, K) how often it was sensed
    tally: NDArray[np.int64]  # (m, 2) distinct cells; what changed since the last fit
    peak: NDArray[np.float64]  # (m,) the largest reading
    ages: Any = Lasting()  # or Ages, where readings are forgotten


def store_size(game: Coverage, minds: int) -> int:
    """Bytes of a store, and of what its minds have told each other."""
    return minds * (4 * game.data.worth.size + 16 * game.world.worth.size + 24 * minds)


def new_store(
    game: Coverage, minds: int, surveyed: NDArray[np.bool_] | None, ages: Ages | Lasting | None = None
) -> Store:
    """A store that knows the surveyed cells and no others."""
    data, world = game.data, game.world
    rows, columns = world.worth.shape
    frame, cells = data.base // data.width, world.worth.size
    slot = np.full((minds, data.worth.size), OUTSIDE, np.int32)
    inside = slot.reshape(minds, -1, data.width)[:, frame : frame + rows, frame : frame + columns]
    inside[:] = 0
    store = Store(
        slot,
        np.zeros((minds, cells), np.int32),
        np.zeros((minds, cells)),
        np.zeros((minds, cells), np.int32),
        np.zeros((minds, 2), np.int64),
        np.zeros(minds),
        Lasting() if ages is None else ages,
    )
    if surveyed is not None and surveyed.any():
        y, x = np.nonzero(surveyed)
        count = x.size
        inside[:, y, x] = np.arange(1, count + 1)
        store.cell[:, :count] = y * data.width + x + data.base
        store.reading[:, :count] = world.worth[y, x]
        store.visits[:, :count] = 1
        store.tally[:] = count
        store.peak[:] = world.worth[y, x].max()
    return store


def check_store(game: Coverage, store: Store) -> None:
    """Raise ValueError where places and cells do not belong together, or hold what no robot reads."""
    if ((store.slot == OUTSIDE) != (new_store(game, 1, None).slot == OUTSIDE)).any():
        raise ValueError("the area is not where it should be")
    known = store.tally[:, KNOWN]
    if not ((known >= 0) & (known <= store.cell.shape[1])).all():
        raise ValueError("more cells are known than there are")
    for mind, number in enumerate(known.tolist()):
        cells = store.cell[mind, :number]
        if not ((cells >= 0) & (cells < store.slot.shape[1])).all():
            raise ValueError("a known cell does not exist")
        slots = store.slot[mind]
        if not (slots[cells] == np.arange(1, number + 1)).all() or (slots > 0).sum() != number or (slots < -1).any():
            raise ValueError("known cells are not where they should be")
        if (store.visits[mind, :number] < 1).any() or not np.isfinite(store.reading[mind, :number]).all():
            raise ValueError("a known cell has no reading")
    if not np.isfinite(store.peak).all():
        raise ValueError("the largest reading is not finite")
    if isinstance(store.ages, Ages):
        check_ages(store.ages, known)


@separate
def note_reading(store: Store, mind: int, cell: int, reading: float, averaged: bool) -> None:
    """A mind receives a reading of a cell; one that is not a number is ignored."""
    slot = np.int64(store.slot[mind, cell])
    if slot == OUTSIDE or math.isnan(reading):
        return
    if slot == 0:
        place = store.tally[mind, KNOWN]
        store.tally[mind, KNOWN] = place + 1
        store.tally[mind, FRESH] += 1
        store.slot[mind, cell] = place + 1
        store.cell[mind, place] = cell
        store.reading[mind, place] = reading
        store.visits[mind, place] = 1
        note_first(store.ages, mind, place)
    else:
        place = slot - 1
        store.visits[mind, place] += 1
        before = store.reading[mind, place]
        times = note_again(store.ages, mind, place, store.visits[mind, place])
        after = before + (reading - before) / times if averaged else reading
        if after != before:
            store.reading[mind, place] = after
            store.tally[mind, FRESH] += 1
    store.peak[mind] = max(store.peak[mind], store.reading[mind, place])


@portable
def sense(
    sensing: Sensing, store: Store, game: CoverageData, state: CoverageState, player: int, key: Any, step: int
) -> int:
    """The robot reads its cell, or all that it sees in range; how many of them its mind did not know."""
    mind = sensing.mind[at(player)]
    before = store.tally[mind, KNOWN]
    here, kind = cell_of(game, state.home[at(player)]), game.kind[at(player)]
    first = game.ptr[at(kind)]
    for k in range(first, game.ptr[at(kind + 1)]):
        if (sensing.whole_range or game.offset[at(k)] == 0) and sees(game.vision, here, k):
            cell = here + game.offset[at(k)]
            reading = state.worth[at(cell)]
            if sensing.noise > 0.0:
                reading += sensing.noise * normal_nth(key, num_drawn(game), step, player, NOISE, k - first)
            note_reading(store, mind, cell, reading, sensing.noise > 0.0)
    return store.tally[mind, KNOWN] - before


@generic
def pass_time(ages: Any, store: Store, step: int) -> None:
    """A step is over, or at step -1 a run begins: readings grow older."""


@pass_time.register(Ages)
def _pass_time(ages: Ages, store: Store, step: int) -> None:
    ages.clock[0] = step + 1
    if ages.clock[0] > 0 and ages.clock[0] % ages.every == 0:
        for mind in range(store.peak.shape[0]):
            _grow_old(ages, store, mind)


@separate
def _grow_old(ages: Ages, store: Store, mind: int) -> None:
    """Weights by age; what is too old is unknown again, and the others close the gaps."""
    known, kept, peak = store.tally[mind, KNOWN], 0, 0.0
    for place in range(known):
        cell, age = np.int64(store.cell[mind, place]), ages.clock[0] - ages.last[mind, place]
        if age > ages.limit:
            store.slot[mind, cell] = 0
            continue
        store.slot[mind, cell] = kept + 1
        store.cell[mind, kept], store.reading[mind, kept] = cell, store.reading[mind, place]
        store.visits[mind, kept] = store.visits[mind, place]
        ages.last[mind, kept], ages.first[mind, kept] = ages.last[mind, place], ages.first[mind, place]
        ages.mass[mind, kept] = ages.mass[mind, place]
        ages.weight[mind, kept] = faded(ages, age)
        peak = max(peak, ages.weight[mind, kept] * store.reading[mind, kept])
        kept += 1
    store.tally[mind, KNOWN] = kept
    store.peak[mind] = peak
