"""What a run of robots comes to: its final worth, when it has settled, and which run is the typical one.

These are the only definitions of the three: ``potentia cover``, the report of the reproduction and the tables of the
docs read them from here.

*Final worth* is the mean over the last 200 steps; over the last 1,000 of a run of 15,000 steps or more, which is how
long robots play that know only what they receive, and wander.

A run *has settled* when its mean over as many steps stays above 90 % of its final worth. Only falling below counts:
what is above is as good.

Runs that are not shown to end higher than they began have *learnt nothing*: the step at which they settle says nothing.

The *typical* run is the one whose final worth is the median; of several rules from the same starts, the seed that is
nearest to the median of each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from potentia.kernel.arrays import Floats
from potentia.statistics.choosing import typical_seed
from potentia.statistics.estimates import moving_mean, paired_difference, settling_time, tail_mean

if TYPE_CHECKING:
    import xarray

TAIL, LONG_TAIL = 200, 1000  # steps
LONG = 15_000  # steps of a run from which on the tail is the long one
_RECORDS = 10  # at least, in a tail
SETTLED = 0.9  # of the final worth


def every(data: xarray.Dataset) -> int:
    """Steps between two records."""
    times = data.time.values
    return int(times[1] - times[0]) if times.size > 1 else 1


def complete(data: xarray.Dataset) -> xarray.Dataset:
    """The runs that were not cut short."""
    whole = data.steps_done.values == data.steps_done.values.max()
    return data if whole.all() else data.isel(seed=whole)


def tail_of(steps: int, spacing: int = 1) -> int:
    """How many last steps of so long a run are averaged over: ten records where they are further apart."""
    return max(LONG_TAIL if steps >= LONG else TAIL, _RECORDS * spacing)


def tail_steps(data: xarray.Dataset) -> int:
    """How many last steps of these runs are averaged over."""
    return tail_of(int(data.time.values[-1]), every(data))


def stretch_steps(data: xarray.Dataset) -> int:
    """How many steps a level before or after an event is averaged over: a stretch may be short in a long run."""
    return tail_of(0, every(data))


def final_worth(data: xarray.Dataset, measure: str = "worth_union") -> Floats:
    """The mean over each run's last steps, by seed."""
    return tail_mean(data[measure].values, data.time.values, tail_steps(data))


def running_worth(data: xarray.Dataset, measure: str = "worth_sum") -> Floats:
    """The mean over as many steps up to each record, (seed, time); over as many as there are, at the beginning."""
    return moving_mean(data[measure].values, max(1, tail_steps(data) // every(data)))


def settled(data: xarray.Dataset) -> Floats:
    """The step from which on each run has settled, by seed."""
    goal = final_worth(data, "worth_sum")
    falls = np.minimum(running_worth(data), goal[:, None])
    return settling_time(falls, data.time.values, goal, 1.0 - SETTLED)


def learnt(data: xarray.Dataset) -> bool:
    """Whether runs are shown to end higher than they began; one run shows nothing, and is taken to have learnt."""
    end = final_worth(data, "worth_sum")
    rounded = 1e-9 * float(end.mean())  # a mean of equal numbers is not quite that number
    return not paired_difference(end, data.worth_sum.values[:, 0]).low <= rounded


def typical(*batches: xarray.Dataset) -> int:
    """The seed to show: in each of these batches nearest to the median of the final worths."""
    whole = map(complete, batches)
    return typical_seed([(batch.seed.values.tolist(), final_worth(batch)) for batch in whole])
