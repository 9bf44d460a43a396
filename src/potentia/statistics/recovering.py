"""What an event does to a curve: the level before, the lowest point after, and how soon it is back.

A stretch begins with an event and ends before the next one. Its level is the mean over the last ``window`` steps of it,
the level before that over the last ``window`` steps of the stretch before it. The curve is back at a time from which on
the mean over the next ``window`` steps is at least a share of a level; runs in which that never happens are censored at
the end of the stretch. To be back at the level that the run then holds says how soon those that are left have made up
for it; to be back at the level before, whether they can.

What events cost is told by runs with the same seeds and without them, which are the same to the bit up to the first.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from potentia.errors import InvalidInput
from potentia.kernel.checks import Real
from potentia.statistics.estimates import (
    FEW,
    Estimate,
    checked_curves,
    estimate,
    moving_mean,
    paired_difference,
    relative_difference,
)
from potentia.statistics.reaching import Reaching, reaching_time

BACK = 0.95  # of a level


@dataclass(frozen=True, eq=False)
class Recovery:
    """Runs after one event: means over runs with intervals, and times since the event.

    Attributes
    ----------
    time : int
        When it came.
    share : float
        Of a level, at which a run counts as back.
    before : Estimate
        The level before the event.
    dip : Estimate
        The lowest row of each run's stretch.
    after : Estimate
        The level at the end of the stretch.
    to_after : Reaching
        When runs come to the share of the level after it.
    to_before : Reaching
        When runs come to the share of the level before it.
    text : str
        What happened.

    Examples
    --------
    >>> curves = np.array([[8, 8, 8, 3, 6, 8, 8, 8], [9, 9, 9, 4, 5, 6, 9, 9]])
    >>> found = pt.statistics.recovery(curves, np.arange(0, 800, 100), event=250, text="robot 3 fails")
    >>> found.before.mean, found.dip.mean, found.to_before.reached
    (8.5, 3.5, 2)
    """

    time: int
    share: float
    before: Estimate
    dip: Estimate  # the lowest row of each run's stretch
    after: Estimate  # the level at the end of the stretch
    to_after: Reaching
    to_before: Reaching
    text: str = ""  # what happened

    def to_dict(self) -> dict[str, Any]:
        """Plain data, for JSON."""
        told: dict[str, Any] = {"event": self.text, "time": self.time, "share": self.share}
        for name in ("before", "dip", "after"):
            told[name] = getattr(self, name).to_list()
        for name in ("to_after", "to_before"):
            found = getattr(self, name)
            median, low, high = (None if np.isnan(end) else end for end in (found.median, *_ends(found)))
            told[name] = {"median_steps": median, "low": low, "high": high}
            told[name] |= {"runs_back": found.reached, "runs": found.runs}
        return told


def recovery(
    values: ArrayLike,
    times: ArrayLike,
    event: int,
    *,
    since: int = 0,
    until: int | None = None,
    window: int = 200,
    share: float = BACK,
    text: str = "",
) -> Recovery:
    """What an event at a time does to curves, values (runs, T).

    The event must leave rows before and after it.

    Parameters
    ----------
    values : array_like
        (runs, T).
    times : array_like
        (T,).
    event : int
        When it comes.
    since : int
        When the one before it came; no level reaches beyond it.
    until : int, optional
        When the next one comes; no level reaches beyond it.
    window : int
        Over which levels are means, in steps, at most the rows that there are.
    share : float
        Of a level, at which a run counts as back.
    text : str
        What happens.

    Returns
    -------
    Recovery
        Levels before, in and after the dip, and times to be back.

    Examples
    --------
    >>> curves = np.array([[8, 8, 8, 3, 6, 8, 8, 8], [9, 9, 9, 4, 5, 6, 9, 9]])
    >>> pt.statistics.recovery(curves, np.arange(0, 800, 100), event=250).to_after.median
    250.0
    """
    array, at = checked_curves(values, times)
    array = np.atleast_2d(array)
    share = Real(above=0.0, most=1.0).of(share, "share", InvalidInput)
    window = int(Real(least=1.0).of(window, "window", InvalidInput))
    first = int(np.searchsorted(at, event))
    last = at.size if until is None else int(np.searchsorted(at, until))
    begin = int(np.searchsorted(at, since))
    if not begin < first < last:
        ends = f"{at[0]:g} to {at[-1]:g}" if at.size else "none"
        raise InvalidInput(f"must have rows before and after it, in times {ends}, got {event}", "event", event)
    rows = math.ceil(window / int(at[1] - at[0]))  # of so many last steps, as tail_mean takes them
    before = array[:, max(begin, first - rows) : first].mean(axis=1)
    stretch = array[:, first:last]
    after = stretch[:, -rows:].mean(axis=1)
    ahead = moving_mean(stretch[:, ::-1], rows)[:, ::-1]
    gone = at[first:last] - event
    back = [reaching_time(ahead, gone, share * level) for level in (after, before)]
    levels = estimate(before), estimate(stretch.min(axis=1)), estimate(after)
    return Recovery(int(event), share, *levels, back[0], back[1], text)


def _ends(found: Reaching) -> tuple[float, float]:
    """Of the interval of the median, where there are runs enough to tell one."""
    return (found.median_low, found.median_high) if found.runs >= FEW else (np.nan, np.nan)


# What events cost -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class EventCost:
    """Levels at the end of runs with events, less those of the same runs without them.

    Attributes
    ----------
    level : Estimate
        With events.
    without : Estimate
        Without them.
    difference : Estimate
        Run by run; below 0 where events cost something.
    relative : Estimate
        The same as a share of the level without them.

    Examples
    --------
    >>> found = pt.statistics.event_cost([9.0, 7.0], [10.0, 10.0])
    >>> found.level.mean, found.without.mean
    (8.0, 10.0)
    """

    level: Estimate
    without: Estimate
    difference: Estimate  # run by run; below 0 where events cost something
    relative: Estimate  # the same as a share of the level without them

    def to_dict(self) -> dict[str, Any]:
        """Plain data, for JSON."""
        told = {"with": self.level, "without": self.without, "difference": self.difference}
        percent = {"percent": self.relative.scaled(100.0)}
        return {name: found.to_list() for name, found in (told | percent).items()} | {"runs": self.difference.count}


def event_cost(level: ArrayLike, without: ArrayLike) -> EventCost:
    """What events cost, from the levels of runs with and without them, in the same order of seeds.

    Parameters
    ----------
    level : array_like
        One per run with events.
    without : array_like
        One per run without them.

    Returns
    -------
    EventCost
        Both levels and their difference.

    Examples
    --------
    >>> found = pt.statistics.event_cost([9.0, 7.0], [10.0, 10.0])
    >>> found.difference.mean, round(found.relative.mean, 3)
    (-2.0, -0.2)
    """
    changes = paired_difference(level, without), relative_difference(level, without)
    return EventCost(estimate(level), estimate(without), *changes)
