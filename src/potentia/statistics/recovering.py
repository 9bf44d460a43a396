"""What an event does to a curve: the level before, the lowest point after, and how soon it is back.

A stretch begins with an event and ends before the next one. Its level is the mean over the last ``window`` steps of it,
the level before that over the last ``window`` steps of the stretch before it. The curve is back at a time from which on
the mean over the next ``window`` steps is at least a share of a level; runs in which that never happens are censored at
the end of the stretch. To be back at the level that the run then holds says how soon those that are left have made up
for it; to be back at the level before, whether they can.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from potentia.errors import InvalidInput
from potentia.kernel.checks import Real
from potentia.statistics.estimates import Estimate, checked_curves, estimate, moving_mean
from potentia.statistics.reaching import Reaching, reaching_time

BACK = 0.95  # of a level


@dataclass(frozen=True, eq=False)
class Recovery:
    """Runs after one event: means over runs with intervals, and times since the event."""

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
            found = getattr(self, name)
            told[name] = [found.mean, found.low, found.high]
        for name in ("to_after", "to_before"):
            found = getattr(self, name)
            median = None if np.isnan(found.median) else found.median
            told[name] = {"median_steps": median, "runs_back": found.reached, "runs": found.runs}
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

    ``since`` is when the one before it came, ``until`` when the next one comes: no level reaches beyond them.
    ``window`` is in steps, at most the rows that there are. The event must leave rows before and after it.
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
    rows = max(1, window // int(at[1] - at[0]))
    before = array[:, max(begin, first - rows) : first].mean(axis=1)
    stretch = array[:, first:last]
    after = stretch[:, -rows:].mean(axis=1)
    ahead = moving_mean(stretch[:, ::-1], rows)[:, ::-1]
    gone = at[first:last] - event
    back = [reaching_time(ahead, gone, share * level) for level in (after, before)]
    levels = estimate(before), estimate(stretch.min(axis=1)), estimate(after)
    return Recovery(int(event), share, *levels, back[0], back[1], text)
