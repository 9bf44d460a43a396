"""Who is there: robots that fail, robots that arrive, in compiled code.

A robot is there at time n if ``since`` ≤ n < ``until``. Before, it is dormant; after, it has failed: either way it
stays where it is, covers nothing and is counted by nobody. Everybody keeps its number and its draws, so that nothing
that happens to a robot changes a draw of another.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from potentia.kernel.arrays import Ints
from potentia.kernel.dispatch import at, generic, portable
from potentia.kernel.draws import START, uniform

NEVER = 2**62
NEXT, COME = range(2)


class Everybody(NamedTuple):
    """All robots are there all the time. A type of its own, so that kernels need not ask."""

    everybody: bool = True

    def unhashed(self) -> str:
        """Why it is left out of fingerprints."""
        return "a game without events has the one that it always had"


class Roster(NamedTuple):
    """What compiled code reads: when robots are there."""

    since: Ints  # (N,) 0, or when it arrives; those that arrive come last, in the order of time
    until: Ints  # (N,) when it is known to fail, or NEVER
    hazard: float  # the probability that a robot fails in a step
    base: int  # robots of the beginning: draws go by it, so that who arrives changes no draw of theirs


@portable
def lifetime(unit: float, hazard: float) -> int:
    """After how many steps a robot fails, geometric: k with probability h (1 - h)^(k - 1)."""
    return 1 + int(min(math.log1p(-unit) / math.log1p(-hazard), 2.0**60))


@portable
def draw_lives(roster: Roster, until: Ints, key: Any, time: int) -> None:
    """The hazard decides, from this time on, once for the run."""
    for player in range(until.shape[0]):
        until[player] = roster.until[player]
        if roster.hazard > 0.0:
            begins = max(roster.since[player], time)
            # starts are drawn under a key of their own, so that this purpose is free
            unit = uniform(key, roster.base, 0, player, START)
            until[player] = min(until[player], begins + lifetime(unit, roster.hazard))


@portable
def look_ahead(roster: Roster, until: Ints, roll: Ints, time: int) -> None:
    """Note when somebody comes or goes next, and how many have come."""
    roll[NEXT] = NEVER
    roll[COME] = 0
    for player in range(until.shape[0]):
        if until[player] > time:
            roll[NEXT] = min(roll[NEXT], until[player])
        if roster.since[player] > time:
            roll[NEXT] = min(roll[NEXT], roster.since[player])
        elif player >= roster.base:
            roll[COME] += 1


@generic
def is_here(roster: Any, here: NDArray[np.uint8], player: int) -> bool:
    """Whether the robot is there now."""
    return True


@is_here.register(Roster)
def _is_here(roster: Roster, here: NDArray[np.uint8], player: int) -> bool:
    return here[at(player)] != 0


@generic
def begins_at(roster: Any, player: int, time: int) -> bool:
    """Whether the robot arrives at this time."""
    return False


@begins_at.register(Roster)
def _begins_at(roster: Roster, player: int, time: int) -> bool:
    return time > 0 and roster.since[at(player)] == time


@generic
def num_come(roster: Any, roll: Ints) -> int:
    """How many robots have arrived."""
    return 0


@num_come.register(Roster)
def _num_come(roster: Roster, roll: Ints) -> int:
    return roll[COME]


@generic
def base_of(roster: Any, players: int) -> int:
    """How many robots there were in the beginning."""
    return players


@base_of.register(Roster)
def _base_of(roster: Roster, players: int) -> int:
    return roster.base


@generic
def begin_lives(roster: Any, until: Ints, roll: Ints, key: Any, time: int) -> None:
    """Decide when the robots of a run fail."""


@begin_lives.register(Roster)
def _begin_lives(roster: Roster, until: Ints, roll: Ints, key: Any, time: int) -> None:
    draw_lives(roster, until, key, time)
    look_ahead(roster, until, roll, time)


class Attendance(NamedTuple):
    """What a run keeps of its robots; all empty where everybody is there."""

    until: Ints  # (N,) when each fails, or NEVER
    here: NDArray[np.uint8]  # (N,)
    roll: Ints  # (2,) when somebody comes or goes next, and how many have come


def attendance(roster: Everybody | Roster, time: int = 0) -> Attendance:
    """Who is there at a time, by what is known before a run."""
    if isinstance(roster, Everybody):
        return Attendance(np.zeros(0, np.int64), np.zeros(0, np.uint8), np.zeros(0, np.int64))
    here = ((roster.since <= time) & (time < roster.until)).astype(np.uint8)
    roll = np.zeros(2, np.int64)
    look_ahead(roster, roster.until, roll, time)
    return Attendance(roster.until.copy(), here, roll)


def carry_on(roster: Roster, before: Everybody | Roster, attended: Attendance, key: Any, time: int) -> None:
    """Decide for a branch: what the hazard has done stands; where it is the same, it does what it would have done."""
    until, here, roll = attended
    lived = until.copy()
    draw_lives(roster, until, key, time)
    if isinstance(before, Roster) and before.since.size < roster.since.size:  # of newcomers nothing was known
        old = slice(before.since.size)
        since, known = roster.since.copy(), roster.until.copy()
        since[old], known[old] = before.since, before.until
        before, lived[old.stop :] = before._replace(since=since, until=known), until[old.stop :]
    if isinstance(before, Roster):
        by_chance = lived < before.until
        stands = by_chance & (lived <= time)
        if (roster.hazard, roster.base) == (before.hazard, before.base):
            unmoved, again = roster.since == before.since, until.copy()
            draw_lives(roster, again, key, 0)
            spared = unmoved & ~by_chance & (again >= before.until)  # it was known to fail before the hazard's time
            until[spared] = again[spared]
            stands |= by_chance & unmoved
        until[stands] = np.minimum(lived, roster.until)[stands]
    look_ahead(roster, until, roll, time)
    here[:] = (roster.since <= time) & (time < until)


def same_roster(one: Everybody | Roster, other: Everybody | Roster) -> bool:
    """Whether the same robots come and go at the same times."""
    if not isinstance(one, Roster) or not isinstance(other, Roster):
        return type(one) is type(other)
    alike = (one.hazard, one.base) == (other.hazard, other.base)
    return alike and np.array_equal(one.since, other.since) and np.array_equal(one.until, other.until)
