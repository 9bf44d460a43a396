"""Statistics over seeds: means and shares with intervals, paired differences, times to a share, when a run is steady.

Tests of one rule against another are in :mod:`potentia.statistics.comparison`, times that some runs never reach in
:mod:`potentia.statistics.reaching`.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from potentia.engine.requests import checked_integer
from potentia.errors import InvalidInput
from potentia.kernel.arrays import any_array
from potentia.kernel.checks import Integer, Real
from potentia.kernel.precision import goal_slack

FEW = 5  # seeds; an interval from fewer would say little
_ROOM = 2**22  # numbers drawn at a time, so that large samples do not fill the memory


@dataclass(frozen=True)
class Estimate:
    """A mean over seeds with the ends of its interval, 95 % unless said otherwise; NaN ends where there is one seed.

    Attributes
    ----------
    mean : float
        The mean.
    low : float
        The lower end.
    high : float
        The upper end.
    count : int
        How many seeds.

    Examples
    --------
    >>> found = pt.statistics.estimate([4.0, 6.0, 5.0, 7.0, 3.0])
    >>> found.mean, round(found.low, 2), round(found.high, 2)
    (5.0, 3.04, 6.96)
    """

    mean: float
    low: float
    high: float
    count: int

    def __str__(self) -> str:
        if not self.enough:
            return _number(self.mean)
        return f"{_number(self.mean)} [{_number(self.low)}, {_number(self.high)}]"

    @property
    def enough(self) -> bool:
        """Whether there are seeds enough to tell people the interval: five."""
        return self.count >= FEW

    def to_list(self) -> list[float]:
        """Mean, low and high, for JSON; NaN ends where the text has no interval either."""
        return [self.mean, self.low, self.high] if self.enough else [self.mean, np.nan, np.nan]

    def to_dict(self) -> dict[str, float]:
        """The same by their names."""
        return dict(zip(("mean", "low", "high"), self.to_list(), strict=True))

    def scaled(self, factor: float) -> Estimate:
        """The same in another unit.

        Parameters
        ----------
        factor : float
            What everything is multiplied by.

        Returns
        -------
        Estimate
            The other estimate.
        """
        return Estimate(self.mean * factor, self.low * factor, self.high * factor, self.count)


def _number(x: float) -> str:
    return f"{x:,.0f}" if abs(x) >= 1000 else f"{x:.4g}"


def estimate(values: ArrayLike, comparisons: int = 1) -> Estimate:
    """The mean and its 95 % interval by Student's t; NaN entries are left out.

    Parameters
    ----------
    values : array_like
        One per seed.
    comparisons : int
        The intervals of so many hold together with 95 %, by Bonferroni.

    Returns
    -------
    Estimate
        Mean and interval.

    Examples
    --------
    >>> print(pt.statistics.estimate([4.0, 6.0, 5.0, 7.0, 3.0]))
    5 [3.037, 6.963]
    """
    array = np.asarray(values, np.float64).reshape(-1)
    array = array[~np.isnan(array)]
    mean = float(array.mean()) if array.size else np.nan
    if array.size < 2:
        return Estimate(mean, np.nan, np.nan, array.size)
    half = float(_half_width(array, comparisons))
    return Estimate(mean, mean - half, mean + half, array.size)


def _half_width(values: NDArray[np.float64], comparisons: int = 1) -> Any:
    """Half the width of the 95 % interval of the mean over the first axis, by Student's t."""
    from scipy import stats

    count = len(values)
    return stats.t.ppf(1 - 0.025 / comparisons, count - 1) * values.std(axis=0, ddof=1) / np.sqrt(count)


def band(values: ArrayLike, kind: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The ends of a band over seeds, values (seeds, T) of at least two seeds, at each time.

    "range" is from the least to the largest, "middle" the middle 80 %, "interval" the 95 % interval of the mean by
    Student's t. NaN entries are left out, but make an interval NaN.
    """
    array = np.asarray(values, np.float64)
    if kind == "interval":
        mean, half = array.mean(axis=0), _half_width(array)
        return mean - half, mean + half
    quantile = np.nanquantile if np.isnan(array).any() else np.quantile  # the former is slow
    low, high = quantile(array, [0.0, 1.0] if kind == "range" else [0.1, 0.9], axis=0)
    return low, high


def bootstrap_mean(values: ArrayLike, seed: int = 0, level: float = 0.95, resamples: int = 9999) -> Estimate:
    """The mean and its bootstrap interval, which need not be symmetric; NaN entries are left out.

    Efron's BCa interval (Better bootstrap confidence intervals, J. Amer. Statist. Assoc. 82, 1987); the percentile
    interval where BCa is undefined. Where all values are equal up to rounding both ends are the mean; of one value
    they are NaN. The draws come from ``seed`` alone. Of few values it is too narrow: of 5 normal ones it
    holds the true mean in 85 %, of 20 in 91 %; :func:`estimate` is then the safer one.

    Parameters
    ----------
    values : array_like
        One per seed.
    seed : int
        What the draws of the bootstrap are made from.
    level : float
        That of the interval.
    resamples : int
        How many are drawn.

    Returns
    -------
    Estimate
        Mean and interval.

    Examples
    --------
    >>> print(pt.statistics.bootstrap_mean([1.0, 1.0, 2.0, 2.0, 9.0], resamples=999))
    3 [1.2, 6.2]
    """
    level, seed = checked_level(level), checked_integer(seed, "seed", 0)
    resamples = checked_integer(resamples, "resamples", 2)
    array = checked_values(values, "values").reshape(-1)
    array = array[~np.isnan(array)]
    mean = float(array.mean()) if array.size else np.nan
    if array.size < 2:
        return Estimate(mean, np.nan, np.nan, array.size)
    if all_equal(array):
        return Estimate(mean, mean, mean, array.size)
    with np.errstate(all="ignore"):
        means = _resampled_means(array, seed, resamples)
        low, high = np.quantile(means, _bca_levels(array, mean, means, level))
    return Estimate(mean, float(low), float(high), array.size)


def _resampled_means(array: NDArray[np.float64], seed: int, resamples: int) -> NDArray[np.float64]:
    """Means of samples drawn with replacement: as SciPy's bootstrap draws them, but drawn once for all of one size."""
    if resamples * array.size <= _ROOM:
        return array[_places(array.size, seed, resamples)].mean(axis=1)
    rng, rows = np.random.default_rng(seed), max(1, _ROOM // array.size)
    sizes = [min(rows, resamples - first) for first in range(0, resamples, rows)]
    return np.concatenate([array[rng.integers(0, array.size, (n, array.size))].mean(axis=1) for n in sizes])


@lru_cache(maxsize=1)
def _places(size: int, seed: int, resamples: int) -> NDArray[np.int64]:
    return np.random.default_rng(seed).integers(0, size, (resamples, size))


def _bca_levels(
    array: NDArray[np.float64], mean: float, means: NDArray[np.float64], level: float
) -> tuple[float, float]:
    """The levels of Efron's (6.8), or those of the percentile interval where all resamples lie on one side."""
    from scipy.special import ndtr, ndtri

    tail = (1 - level) / 2
    below = (np.mean(means < mean) + np.mean(means <= mean)) / 2
    bias = ndtri(below)
    around = array - mean  # in proportion to the mean of all less the mean without each value
    acceleration = (around**3).sum() / (6 * (around**2).sum() ** 1.5)
    ends = bias + ndtri(tail), bias - ndtri(tail)
    low, high = (float(ndtr(bias + end / (1 - acceleration * end))) for end in ends)
    return (low, high) if np.isfinite(low) and np.isfinite(high) else (tail, 1 - tail)


def share_of(count: int, of: int) -> Estimate:
    """A share with its 95 % interval by Wilson's score.

    Parameters
    ----------
    count : int
        In how many.
    of : int
        Of how many.

    Returns
    -------
    Estimate
        Share and interval.

    Examples
    --------
    >>> print(pt.statistics.share_of(9, 10))
    0.9 [0.5958, 0.9821]
    """
    from scipy.stats import binomtest

    of = checked_integer(of, "of", 1)
    count = Integer(0, of).of(count, "count", InvalidInput)
    low, high = binomtest(count, of).proportion_ci(method="wilson")
    return Estimate(count / of, float(low), float(high), of)


def paired_difference(first: ArrayLike, second: ArrayLike, comparisons: int = 1) -> Estimate:
    """The mean of first - second over seeds that both have, with its interval as one of so many comparisons.

    Parameters
    ----------
    first : array_like
        One per seed.
    second : array_like
        One per seed, in the same order.
    comparisons : int
        The intervals of so many hold together with 95 %.

    Returns
    -------
    Estimate
        Mean and interval.

    Examples
    --------
    >>> pt.statistics.paired_difference([3.0, 4.0, 5.0], [1.0, 2.0, 3.0]).mean
    2.0
    """
    a, b = _paired(first, second)
    return estimate(a - b, comparisons)


def relative_difference(first: ArrayLike, second: ArrayLike) -> Estimate:
    """The mean of first - second over seeds that both have, as a share of the mean of second; NaN where that is 0.

    The interval is that of a ratio of two paired means, by the delta method: both vary from seed to seed.

    Parameters
    ----------
    first : array_like
        One per seed.
    second : array_like
        One per seed, in the same order.

    Returns
    -------
    Estimate
        Mean and interval.

    Examples
    --------
    >>> round(pt.statistics.relative_difference([9.0, 8.0], [10.0, 10.0]).mean, 3)
    -0.15
    """
    a, b = _paired(first, second)
    known = ~(np.isnan(a) | np.isnan(b))
    a, b = a[known], b[known]
    level = float(b.mean()) if b.size else 0.0
    if level == 0.0:
        return Estimate(np.nan, np.nan, np.nan, b.size)
    share = float(a.mean()) / level - 1.0
    around = estimate((a - (1.0 + share) * b) / abs(level))
    return Estimate(share, share + around.low, share + around.high, b.size)


def _paired(first: ArrayLike, second: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    a, b = np.asarray(first, np.float64), np.asarray(second, np.float64)
    if a.shape != b.shape or a.ndim != 1:
        raise InvalidInput(f"paired values must be two lists of one length, got shapes {a.shape} and {b.shape}")
    return a, b


def tail_mean(values: ArrayLike, times: ArrayLike, last: int) -> NDArray[np.float64]:
    """The mean over the last ``last`` steps of each run; values (..., T) at these times.

    Parameters
    ----------
    values : array_like
        (..., T).
    times : array_like
        (T,).
    last : int
        In steps.

    Returns
    -------
    array
        (...,).

    Examples
    --------
    >>> pt.statistics.tail_mean([[0.0, 4.0, 6.0]], [0, 10, 20], last=15).tolist()
    [5.0]
    """
    at = np.asarray(times)
    return np.asarray(values)[..., at > at[-1] - last].mean(axis=-1)


def area_under_curve(values: ArrayLike, times: ArrayLike) -> NDArray[np.float64]:
    """The area under each run's curve, values (..., T), by the trapezoid rule, divided by the time from first to last.

    So it is the run's mean level, whatever the times' spacing. A run with a NaN at any time has NaN: what it would
    have been there is not guessed.

    Parameters
    ----------
    values : array_like
        (..., T).
    times : array_like
        (T,).

    Returns
    -------
    array
        (...,).

    Examples
    --------
    >>> pt.statistics.area_under_curve([[0.0, 1.0, 1.0]], [0, 10, 20]).tolist()
    [0.75]
    """
    array, at = checked_curves(values, times)
    if at.size < 2:
        raise InvalidInput(f"must be two at least, got {at.size}", "times", at.size)
    return np.asarray(np.trapezoid(array, at, axis=-1) / (at[-1] - at[0]))


def time_to_share(values: ArrayLike, times: ArrayLike, goal: ArrayLike, scale: ArrayLike = 0.0) -> NDArray[np.float64]:
    """The first time at which each run, values (runs, T), is at least at its goal; NaN where it never is.

    A run is there, too, if it misses its goal by a relative 1e-9 of the goal, or of ``scale`` where that is larger.

    Parameters
    ----------
    values : array_like
        (runs, T).
    times : array_like
        Those of all runs, or (runs, T).
    goal : array_like
        A number, or one per run.
    scale : array_like
        A number, or one per run.

    Returns
    -------
    array
        (runs,).

    Examples
    --------
    >>> pt.statistics.time_to_share([[0.0, 4.0, 6.0], [0.0, 1.0, 2.0]], [0, 10, 20], goal=4.0).tolist()
    [10.0, nan]
    """
    array, at = np.atleast_2d(np.asarray(values)), np.asarray(times)
    least = np.asarray(goal, np.float64) - goal_slack(goal, scale)
    there = array >= np.broadcast_to(least, array.shape[:1])[:, None]
    return _first_time(there, at)


def settling_time(values: ArrayLike, times: ArrayLike, goal: ArrayLike, tolerance: float) -> NDArray[np.float64]:
    """From when on each run, values (runs, T), stays within a relative tolerance of its goal; NaN where it does not.

    Parameters
    ----------
    values : array_like
        (runs, T).
    times : array_like
        (T,).
    goal : array_like
        A number, or one per run.
    tolerance : float
        Relative to the goal.

    Returns
    -------
    array
        (runs,).

    Examples
    --------
    >>> pt.statistics.settling_time([[0.0, 9.9, 8.0, 9.9, 10.0]], [0, 1, 2, 3, 4], goal=10.0, tolerance=0.05).tolist()
    [3.0]
    """
    array, at = np.atleast_2d(np.asarray(values, np.float64)), np.asarray(times)
    wanted = np.broadcast_to(np.asarray(goal, np.float64), array.shape[:1])[:, None]
    near = np.abs(array - wanted) <= tolerance * np.abs(wanted)
    near = np.flip(np.logical_and.accumulate(np.flip(near, axis=1), axis=1), axis=1)
    return _first_time(near, at)


def _first_time(holds: NDArray[np.bool_], at: NDArray[Any]) -> NDArray[np.float64]:
    """When it first holds in each run, (runs, T); NaN where it never does."""
    row = holds.argmax(axis=1)
    return np.where(holds.any(axis=1), at[row] if at.ndim == 1 else at[np.arange(len(row)), row], np.nan)


def moving_mean(values: ArrayLike, rows: int) -> NDArray[np.float64]:
    """The mean over the last ``rows`` entries, values (runs, T); over as many as there are, at the beginning."""
    array = np.atleast_2d(np.asarray(values, np.float64))
    sums = np.cumsum(np.pad(array, ((0, 0), (1, 0))), axis=1)
    first = np.maximum(np.arange(array.shape[1]) - rows + 1, 0)
    last = np.arange(1, array.shape[1] + 1)
    return (sums[:, last] - sums[:, first]) / (last - first)


def steady_state(
    values: ArrayLike, times: ArrayLike, window: int = 200, tolerance: float = 0.01
) -> NDArray[np.float64]:
    """From when on each run, values (runs, T) or (T,), is steady; NaN where it never is.

    Steady at time t: the mean over the window that ends at t and the mean over the next window differ by at
    most ``tolerance``, relative to the former. It is when the paper's robots stop; under a falling temperature a run
    may be calm for a while long before its end.

    Parameters
    ----------
    values : array_like
        (runs, T) or (T,).
    times : array_like
        (T,).
    window : int
        In steps.
    tolerance : float
        Relative to the mean over the earlier window.

    Returns
    -------
    array
        (runs,).

    Examples
    --------
    >>> times = np.arange(20)
    >>> pt.statistics.steady_state(np.minimum(times, 5.0), times, window=4).tolist()
    [8.0]
    """
    array, at = checked_curves(values, times)
    array = np.atleast_2d(array)
    tolerance = Real(above=0.0).of(tolerance, "tolerance", InvalidInput)
    window = Real(least=1.0).of(window, "window", InvalidInput)
    rows = max(1, int(window) // int(at[1] - at[0])) if at.size > 1 else 1
    if at.size < 2 * rows:
        return np.full(array.shape[0], np.nan)
    means = moving_mean(array, rows)[:, rows - 1 :]  # of whole windows; means[:, k] ends at row k + rows - 1
    before, after = means[:, :-rows], means[:, rows:]
    calm = np.abs(after - before) <= tolerance * np.abs(before)
    return _first_time(calm, at[rows - 1 :])


# What may be asked ------------------------------------------------------------------------------------


def checked_values(values: Any, name: str, *, finite: bool = True) -> NDArray[np.float64]:
    """Real numbers as floats; NaN stands for a missing one."""
    array = any_array(values)
    if array.dtype.kind not in "biuf":
        kind = type(values).__name__
        raise InvalidInput(f"must be an array of real numbers, got {kind}", name, kind)
    array = array.astype(np.float64)
    if finite and np.isinf(array).any():
        got = array[np.isinf(array)][0]
        raise InvalidInput(f"must be finite, or NaN where there is none, got {got}", name, got)
    return array


def checked_curves(values: Any, times: Any, *, own: bool = False) -> tuple[NDArray[np.float64], NDArray[Any]]:
    """Curves (..., T) and the increasing times of their entries; ``own``: or of each run, which may stand still."""
    array, at = checked_values(values, "values", finite=False), np.asarray(times)
    if own and at.ndim == 2 and at.shape == array.shape:
        if not (np.diff(at, axis=1) >= 0).all():
            raise InvalidInput("must not fall", "times", times)
        return array, at
    if at.ndim != 1 or array.ndim == 0 or array.shape[-1] != at.size:
        raise InvalidInput(
            f"must have one entry for each of {at.size} times, got shape {array.shape}", "values", values
        )
    if at.size > 1 and not (np.diff(at) > 0).all():
        raise InvalidInput("must increase", "times", times)
    return array, at


def is_data_array(values: Any) -> bool:
    """Whether it is an xarray.DataArray; nothing is, as long as nobody has loaded xarray, which takes a while."""
    xarray = sys.modules.get("xarray")
    return xarray is not None and isinstance(values, xarray.DataArray)


def checked_level(level: Any) -> float:
    """The level of an interval, strictly between 0 and 1."""
    return float(Real(above=0.0, below=1.0).of(level, "level", InvalidInput))


def all_equal(array: NDArray[np.float64]) -> bool:
    """Whether the entries are one number, up to the rounding of that number."""
    return bool(np.ptp(array) <= 8 * np.finfo(np.float64).eps * np.abs(array).max())
