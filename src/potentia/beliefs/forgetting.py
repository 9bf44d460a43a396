"""Readings grow old: where the field changes, what was read long ago says little about today.

With a half-life H, in steps, a reading counts 2^(-age / H), by the time since its cell was last sensed: as a point of
the fit, in the factor from density to worth, and against the model when a cell's worth is predicted, which is

    weight · reading + (1 - weight) · model.

After ten half-lives it is forgotten: the cell is unknown again. With a window a reading counts fully until it is
older than that, and is then forgotten.

Ten times in a half-life, or in a window, time passes for a mind: robots read again where they stand, weights are
computed, what is too old is forgotten, and the mixture is fitted again, whether or not anything new was seen. In
between a weight stays as it was.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from potentia.errors import InvalidBelief
from potentia.games import Coverage
from potentia.kernel.checks import Check, Integer, Real
from potentia.kernel.dispatch import at, generic, portable
from potentia.kernel.mathematics import exp

TIMES = 10  # in which a half-life, or a window, passes
HALVINGS = 10  # after which a reading is forgotten
CHANGE = 0.25  # of the field, in the half-life that a drift asks for: see docs/make_forgetting.py
_LONGEST = 2**20  # steps; a field that changes less than that in so many stands still
_LOG_2 = math.log(2.0)


class Lasting(NamedTuple):
    """Nothing is forgotten. A type of its own, so that kernels need not ask."""

    lasting: bool = True


class Ages(NamedTuple):
    """How old readings are, by mind (m) and by place in its list of cells (K)."""

    half_life: float  # infinite for a window
    limit: int  # the age, in steps, beyond which a reading is forgotten
    every: int  # steps between two times at which weights are computed
    clock: NDArray[np.int64]  # (1,) the time now: steps played
    heard: NDArray[np.int64]  # (m,) readings that a mind made or heard of, in all
    last: NDArray[np.int64]  # (m, K) when the cell was last sensed
    first: NDArray[np.int64]  # (m, K) when the first reading of its mean was
    mass: NDArray[np.float64]  # (m, K) how many readings its mean was worth then
    weight: NDArray[np.float64]  # (m, K) of the reading


REMEMBERED = ("clock", "heard", "last", "first", "mass", "weight")


class HalfLife(Check):
    """A number of steps, "auto", or None for never."""

    wanted = 'a finite number > 0, None or "auto"'

    def holds(self, value: Any) -> bool:
        return value is None or (isinstance(value, str) and value == "auto") or Real(above=0.0).holds(value)

    def refused(self) -> list[Any]:
        return ["5", True, 0.0, -1.0, math.nan, math.inf, [5.0], 10**400]


class Window(Check):
    """A number of steps, or None."""

    wanted = "an integer of at least 1, or None"

    def holds(self, value: Any) -> bool:
        return value is None or Integer(1).holds(value)

    def refused(self) -> list[Any]:
        return ["5", True, 0, -1, 1.5, math.nan, math.inf, [5], 10**400]


def half_life_from(value: Any) -> Any:
    """Files and command lines have no None."""
    if isinstance(value, str) and value.lower() == "none":
        return None
    return float(value) if Real(above=0.0).holds(value) else value


def check_one(half_life: Any, window: Any) -> None:
    """A half-life and a window exclude each other."""
    if window is not None and not (half_life is None or isinstance(half_life, str)):
        raise InvalidBelief(f"cannot go with a half-life, got {window} and half_life {half_life:g}", "window", window)


def new_ages(game: Coverage, half_life: Any, window: int | None, minds: int) -> Ages | Lasting:
    """Fresh ages: of cells surveyed at time 0, too."""
    if window is None and isinstance(half_life, str):
        half_life = drift_half_life(game)
    if window is None and half_life is None:
        return Lasting()
    steps = half_life if window is None else window
    shape = (minds, game.world.worth.size)
    return Ages(
        math.inf if window is not None else half_life,
        math.ceil(HALVINGS * half_life) if window is None else window,
        max(int(steps / TIMES), 1),
        np.zeros(1, np.int64),
        np.zeros(minds, np.int64),
        np.zeros(shape, np.int64),
        np.zeros(shape, np.int64),
        np.ones(shape),
        np.ones(shape),
    )


_found: WeakKeyDictionary[Coverage, float | None] = WeakKeyDictionary()


def drift_half_life(game: Coverage) -> float | None:
    """The half-life that a drift asks for: the time in which Σ|f - f(0)| / max(Σf, Σf(0)) grows to 1/4, or None."""
    if not game.drifts:
        return None
    if game not in _found:
        _found[game] = _time_to_change(game)
    return _found[game]


def _time_to_change(game: Coverage) -> float | None:
    start = game.worth_at(0)
    before, time, changed = 0.0, 1, 0.0
    while time <= _LONGEST:
        now = game.worth_at(time)
        total = float(max(start.sum(), now.sum()))  # either may be empty: a film that begins with nothing
        before, changed = changed, float(np.abs(now - start).sum()) / total if total > 0.0 else 0.0
        if changed >= CHANGE:
            early = time / 2 if time > 1 else 0.0
            return float(f"{early + (time - early) * (CHANGE - before) / (changed - before):.2g}")
        time *= 2
    return None


def check_ages(ages: Ages, known: NDArray[np.int64]) -> None:
    """Raise ValueError for ages that no run can have had."""
    now = int(ages.clock[0])
    if now < 0 or (ages.heard < 0).any():
        raise ValueError("the clock of a mind went backwards")
    for mind, number in enumerate(known.tolist()):
        last, first = ages.last[mind, :number], ages.first[mind, :number]
        weight, count = ages.weight[mind, :number], ages.mass[mind, :number]
        if not ((first >= 0) & (first <= last) & (last <= now)).all():
            raise ValueError("a cell was sensed at no time of the run")
        if not ((weight >= 0.0) & (weight <= 1.0) & np.isfinite(count) & (count >= 1.0)).all():
            raise ValueError("a reading has no weight")


# What compiled code asks ------------------------------------------------------------------------------


@generic
def is_due(ages: Any) -> bool:
    """Whether time passes for minds at this step."""
    return False


@is_due.register(Ages)
def _is_due(ages: Ages) -> bool:
    return ages.clock[0] > 0 and ages.clock[0] % ages.every == 0


@generic
def standing(ages: Any, mind: int, place: int) -> float:
    """What the reading at a place counts, from 0 to 1."""
    return 1.0


@standing.register(Ages)
def _standing(ages: Ages, mind: int, place: int) -> float:
    return ages.weight[mind, at(place)]


@generic
def sightings(ages: Any, mind: int, place: int, visits: int) -> float:
    """How often the cell at a place counts as visited."""
    return float(visits)


@sightings.register(Ages)
def _sightings(ages: Ages, mind: int, place: int, visits: int) -> float:
    return ages.mass[mind, at(place)] * ages.weight[mind, at(place)]


@generic
def note_first(ages: Any, mind: int, place: int) -> None:
    """A cell was sensed that the mind did not know."""


@note_first.register(Ages)
def _note_first(ages: Ages, mind: int, place: int) -> None:
    ages.heard[mind] += 1
    ages.last[mind, place] = ages.first[mind, place] = ages.clock[0]
    ages.mass[mind, place] = ages.weight[mind, place] = 1.0


@generic
def note_again(ages: Any, mind: int, place: int, visits: int) -> float:
    """A cell was sensed again; of how many readings its mean now is."""
    return float(visits)


@note_again.register(Ages)
def _note_again(ages: Ages, mind: int, place: int, visits: int) -> float:
    now = ages.clock[0]
    count = ages.mass[mind, place] * faded(ages, now - ages.last[mind, place])
    if ages.half_life == math.inf and now - ages.first[mind, place] > ages.limit:
        count, ages.first[mind, place] = 0.0, now  # no mean reaches back further than the window
    ages.heard[mind] += 1
    ages.last[mind, place] = now
    ages.mass[mind, place] = count + 1.0
    ages.weight[mind, place] = 1.0
    return count + 1.0


@portable
def faded(ages: Ages, age: int) -> float:
    """What is left of a reading."""
    return exp(-_LOG_2 * age / ages.half_life)


@generic
def is_newer(ages: Any, i: int, place: int, j: int, other: int) -> bool:
    """Whether what mind i has at a place is newer than what mind j has at the other."""
    return False


@is_newer.register(Ages)
def _is_newer(ages: Ages, i: int, place: int, j: int, other: int) -> bool:
    return ages.last[i, place] > ages.last[j, other]


@generic
def hand_on(ages: Any, i: int, place: int, j: int, other: int) -> None:
    """What mind i has at a place is what mind j has at the other now: as old as it was."""


@hand_on.register(Ages)
def _hand_on(ages: Ages, i: int, place: int, j: int, other: int) -> None:
    ages.last[j, other], ages.first[j, other] = ages.last[i, place], ages.first[i, place]
    ages.mass[j, other], ages.weight[j, other] = ages.mass[i, place], ages.weight[i, place]


@generic
def num_heard(ages: Any, known: int, mind: int) -> int:
    """What a mind has learnt so far, counted: something is new where the number has grown."""
    return known


@num_heard.register(Ages)
def _num_heard(ages: Ages, known: int, mind: int) -> int:
    return ages.heard[mind]


@generic
def told_before(ages: Any, told: int) -> int:
    """From which place on there may be something to tell, where so many cells have been told of."""
    return told


@told_before.register(Ages)
def _told_before(ages: Ages, told: int) -> int:
    return 0
