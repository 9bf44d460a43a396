"""How soon does a run reach its goal, where some runs never do? Times censored at the end of the run.

A run that has not reached its goal by its last time, the horizon, tells that its time is longer. Leaving it out, as a
mean over the others does, favours the rule that fails more often. Two summaries use every run:

- the median time by Kaplan and Meier (Nonparametric estimation from incomplete observations, J. Amer. Statist. Assoc.
  53, 1958), known where half of the runs reach the goal;
- the restricted mean time, the mean of min(time, horizon): steps spent below the goal until the horizon. It is always
  known, but it is a number about this horizon.

A goal is a level: ``0.9 * optimum`` for all runs, or one per run, ``0.9 * tail_mean(values, times, 200)``. A share of
a run's *own* final level is reached by almost every run, a bad one too: compare rules by it only beside the levels at
which they end. Times are those of the rows recorded: a goal reached between two of them counts as reached
at the later one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from potentia.errors import InvalidInput
from potentia.kernel.checks import Real
from potentia.statistics.comparison import Comparison, compare
from potentia.statistics.curves import Curves
from potentia.statistics.estimates import (
    Estimate,
    bootstrap_mean,
    checked_curves,
    checked_level,
    checked_values,
    is_data_array,
    time_to_share,
)

_SOME, _MANY = 20, 50  # rows before the goal: fewer are few, where rows of all rules span as much and where not
_UNEQUAL = 1.5  # so many times as much
_HALF = 0.5 + 1e-12  # products of fractions that make one half are so up to rounding


@dataclass(frozen=True, eq=False)
class Reaching:
    """The times at which runs reach a goal, those that do not censored at the horizon."""

    reached: int
    runs: int  # without those left out
    horizon: float
    median: float  # Kaplan-Meier; NaN where fewer than half reach it
    median_low: float  # NaN: no bound
    median_high: float
    restricted: Estimate  # mean of min(time, horizon), with its bootstrap interval
    times: NDArray[np.float64] = field(repr=False)  # by run; the horizon where censored, NaN where left out
    censored: NDArray[np.bool_] = field(repr=False)  # by run
    seeds: NDArray[Any] | None = field(repr=False, default=None)  # by run, where they were given

    @property
    def interval(self) -> dict[str, float]:
        """The ends of the median's interval by their names, for JSON."""
        return {"low": self.median_low, "high": self.median_high}

    def __str__(self) -> str:
        median = "no median" if np.isnan(self.median) else f"median {self.median:,.0f}"
        ends = [f"{end:,.0f}" if np.isfinite(end) else "?" for end in (self.median_low, self.median_high)]
        to = f"restricted mean {self.restricted} up to {self.horizon:,.0f}"
        return f"{self.reached} of {self.runs} reach it, {median} [{', '.join(ends)}], {to}"


@dataclass(frozen=True)
class ReachingComparison:
    """Who reaches a goal sooner: the whole curves by the log-rank test, and the restricted times seed by seed."""

    statistic: float  # of the log-rank test, standard normal under the null; > 0: the first reaches it sooner
    p_value: float  # of the log-rank test, two-sided
    restricted: Comparison  # first - second of min(time, horizon)

    def __str__(self) -> str:
        return f"log-rank p = {self.p_value:.3g}; {self.restricted}"


def reaching_time(
    values: Any,
    times: ArrayLike,
    goal: Any,
    *,
    scale: ArrayLike = 0.0,
    horizon: float | None = None,
    seed: int = 0,
    level: float = 0.95,
    resamples: int = 9999,
) -> Reaching:
    """When runs, values (runs, T) at these times, first are at least at their goal, a number or one per run.

    ``values`` may be an xarray.DataArray with the dimensions ``seed`` and ``time``; its seeds are kept, and a goal with
    seeds is put into their order. A run whose goal is NaN, or with a NaN before it reaches its goal, is left out.

    A run is at its goal, too, if it misses it by a relative 1e-9, as one does whose goal was computed elsewhere: an
    optimum, a sum in another order. That is relative to the goal, or to ``scale``, a number or one per run, where that
    is larger: give it for a goal near 0 of values that are differences of large numbers.

    Times may also be (runs, T), where each run has its own, as along what it has spent. Runs are looked at until
    ``horizon``; left out, the last time that all of them have.
    """
    values, goal, seeds = _by_seed(values, goal)
    array, at = checked_curves(values, times, own=True)
    array = np.atleast_2d(array)
    wanted = checked_values(goal, "goal", finite=False)
    if array.ndim != 2 or at.size == 0 or wanted.shape not in ((), array.shape[:1]):
        raise InvalidInput(
            f"must be of shape (runs, times) and goal a number or one per run, got shapes {array.shape} "
            f"and {wanted.shape}",
            "values",
            values,
        )
    last = float(at[..., -1].min())
    horizon = last if horizon is None else Real(most=last).of(horizon, "horizon", InvalidInput)
    until_then = at <= horizon
    found = time_to_share(np.where(until_then, array, -np.inf), at, wanted, scale)
    unknown = np.isnan(wanted) | (np.isnan(array) & until_then & ~(at >= found[:, None])).any(axis=1)
    censored = np.isnan(found) & ~unknown
    until = np.where(unknown, np.nan, np.where(censored, horizon, found))
    kept, open_ended = until[~unknown], censored[~unknown]
    restricted = bootstrap_mean(kept, seed, level, resamples)
    ends = median_time(kept, open_ended, level)
    return Reaching(int((~open_ended).sum()), kept.size, horizon, *ends, restricted, until, censored, seeds)


def reaching_of(one: Curves, goal: float, resamples: int = 9999) -> Reaching:
    """When runs of one setting are at least at a goal: times, or what they have spent, of the rows recorded."""
    values, times = one.rows
    options: dict[str, Any] = {"horizon": float(one.times[-1]), "resamples": resamples}
    return reaching_time(values, times, goal, scale=np.abs(values[:, 0]), **options)


def coarse(told: Sequence[tuple[Curves, Reaching]]) -> str | None:
    """A warning where rows lie far apart for the times that are read off them, and more so for some rules."""
    spans = [(one.span, one, _typical(got)) for one, got in told if got.reached and one.every > 1]
    if not spans:
        return None
    (most, widest, _), (least, closest, _) = (choose(spans, key=lambda each: each[0]) for choose in (max, min))
    unequal = most > _UNEQUAL * least
    if all(span * (_MANY if unequal else _SOME) <= time for span, _, time in spans):
        return None
    said = f"rows are {widest.every:,.0f} steps apart"
    if unequal:
        said += f", which are {most:,.0f} {widest.per} of {widest.who} and {least:,.0f} of {closest.who}"
    slower = ", so those that spend more in between look slower than they are" if unequal else ""
    return f"{said}: a goal that is reached and left again in between is not seen{slower}; record more often (every)"


def _typical(found: Reaching) -> float:
    return found.restricted.mean if np.isnan(found.median) else found.median


def median_time(times: ArrayLike, censored: ArrayLike, level: float = 0.95) -> tuple[float, float, float]:
    """The Kaplan-Meier median and the ends of its interval; NaN where the curve, or its bound, stays above one half.

    S(t) is the share of runs not there by t. The median is the first time with S(t) ≤ 1/2. The interval holds the times
    at which a log-log interval of S(t) holds 1/2 (Brookmeyer and Crowley, A confidence interval for the median
    survival time, Biometrics 38, 1982). Where all are there that interval is undefined, and an exact one takes its
    place: the median lies beyond the largest of n times with probability 2^-n at most, so of six runs or more that
    largest time is a bound at 95 %. Censoring times may differ from run to run.
    """
    from scipy.special import ndtri

    at, cut, level = checked_values(times, "times"), np.asarray(censored), checked_level(level)
    if at.ndim != 1 or at.shape != cut.shape or (cut.size and cut.dtype != bool) or np.isnan(at).any():
        raise InvalidInput(
            f"must be a list of numbers and censored one boolean for each, got shapes {at.shape} and {cut.shape}",
            "times",
            times,
        )
    if at.size == 0:
        return np.nan, np.nan, np.nan
    when, come = np.unique(at[~cut], return_counts=True)
    left = at.size - np.searchsorted(np.sort(at), when)  # just before
    tail = (1 - level) / 2
    with np.errstate(all="ignore"):
        still = np.cumprod((left - come) / left)
        spread = ndtri(1 - tail) * np.sqrt(np.cumsum(come / (left * (left - come)))) / np.abs(np.log(still))
        low, high = still ** np.exp(spread), still ** np.exp(-spread)
    low, high = np.where(still == 0, 0.0, low), np.where(still == 0, 1 - tail ** (1 / max(1, come.sum())), high)
    first_below = [when[bound <= _HALF] for bound in (still, low, high)]
    median, first, last = (float(there[0]) if there.size else np.nan for there in first_below)
    return median, first, last


def compare_reaching(
    first: Reaching,
    second: Reaching,
    *,
    names: tuple[str, str] = ("first", "second"),
    seed: int = 0,
    level: float = 0.95,
    resamples: int = 9999,
) -> ReachingComparison:
    """Two rules by the times at which they reach the goal, up to one horizon.

    The log-rank test takes all runs of both for independent: it sees when and whether they get there, and makes no use
    of the pairs. It is a large-sample test, and weak where the two curves cross. The restricted times are compared
    seed by seed, by :func:`~potentia.statistics.comparison.compare`.
    """
    if not isinstance(first, Reaching) or not isinstance(second, Reaching):
        kinds = f"{type(first).__name__} and {type(second).__name__}"
        raise InvalidInput(f"{names[0]} and {names[1]} must be results of reaching_time, got {kinds}")
    if first.horizon != second.horizon:
        horizons = f"{first.horizon:g} and {second.horizon:g}"
        raise InvalidInput(f"{names[0]} and {names[1]} must have one horizon, got {horizons}")
    statistic, p_value = _log_rank(first, second)
    ours, theirs = _times_by_seed(first), _times_by_seed(second)
    restricted = compare(ours, theirs, names=names, seed=seed, level=level, resamples=resamples)
    return ReachingComparison(statistic, p_value, restricted)


def _log_rank(first: Reaching, second: Reaching) -> tuple[float, float]:
    from scipy.stats import CensoredData, logrank

    if first.runs == 0 or second.runs == 0:
        return np.nan, np.nan
    samples = [
        CensoredData(uncensored=each.times[~(each.censored | np.isnan(each.times))], right=each.times[each.censored])
        for each in (first, second)
    ]
    with np.errstate(divide="ignore", invalid="ignore"):
        found = logrank(*samples)
    if not np.isfinite(found.statistic):  # no time at which some of both were left and not all got there
        return 0.0, 1.0
    return float(found.statistic), float(found.pvalue)


def _times_by_seed(found: Reaching) -> Any:
    from xarray import DataArray

    if found.seeds is None:
        return found.times
    return DataArray(found.times, dims="seed", coords={"seed": found.seeds})


def _by_seed(values: Any, goal: Any) -> tuple[Any, Any, NDArray[Any] | None]:
    """The rows of a DataArray, its goals in the same order, and their seeds."""
    if not is_data_array(values):
        return values, goal, None
    if set(values.dims) != {"seed", "time"} or "seed" not in values.coords:
        raise InvalidInput(
            f"must have the dimensions seed and time, with seeds, got {values.dims}", "values", values.dims
        )
    seeds = np.asarray(values.seed.values)
    if is_data_array(goal) and "seed" in goal.coords and goal.dims == ("seed",):
        if not np.isin(seeds, goal.seed.values).all():
            raise InvalidInput("must have every seed of values, got too few", "goal", goal)
        goal = goal.sel(seed=seeds).values
    return values.transpose("seed", "time").values, goal, seeds
