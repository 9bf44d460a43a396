"""Statistics over seeds: means with intervals, paired differences, times to a share, and when a run is steady."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from potentia.errors import InvalidInput
from potentia.kernel.numbers import as_float, is_real

_FEW = 5  # seeds; an interval from fewer would say little


@dataclass(frozen=True)
class Estimate:
    """A mean over seeds with the ends of its 95 % interval; NaN ends where there is one seed."""

    mean: float
    low: float
    high: float
    count: int

    def __str__(self) -> str:
        if self.count < _FEW:
            return _number(self.mean)
        return f"{_number(self.mean)} [{_number(self.low)}, {_number(self.high)}]"

    def scaled(self, factor: float) -> Estimate:
        return Estimate(self.mean * factor, self.low * factor, self.high * factor, self.count)


def _number(x: float) -> str:
    return f"{x:,.0f}" if abs(x) >= 1000 else f"{x:.4g}"


def estimate(values: ArrayLike) -> Estimate:
    """The mean and its 95 % interval by Student's t; NaN entries are left out."""
    from scipy import stats

    array = np.asarray(values, np.float64).reshape(-1)
    array = array[~np.isnan(array)]
    if array.size == 0:
        return Estimate(np.nan, np.nan, np.nan, 0)
    mean = float(array.mean())
    if array.size == 1:
        return Estimate(mean, np.nan, np.nan, 1)
    half = float(stats.t.ppf(0.975, array.size - 1) * array.std(ddof=1) / np.sqrt(array.size))
    return Estimate(mean, mean - half, mean + half, array.size)


def paired_difference(first: ArrayLike, second: ArrayLike) -> Estimate:
    """The mean of first - second over seeds that both have, with its interval."""
    a, b = np.asarray(first, np.float64), np.asarray(second, np.float64)
    if a.shape != b.shape or a.ndim != 1:
        raise InvalidInput(f"paired values must be two lists of one length, got shapes {a.shape} and {b.shape}")
    return estimate(a - b)


def tail_mean(values: ArrayLike, times: ArrayLike, last: int) -> NDArray[np.float64]:
    """The mean over the last ``last`` steps of each run; values (..., T) at these times."""
    at = np.asarray(times)
    return np.asarray(values)[..., at > at[-1] - last].mean(axis=-1)


def time_to_share(values: ArrayLike, times: ArrayLike, goal: ArrayLike) -> NDArray[np.float64]:
    """The first time at which each run, values (runs, T), is at least at its goal; NaN where it never is."""
    array, at = np.atleast_2d(np.asarray(values)), np.asarray(times)
    there = array >= np.broadcast_to(np.asarray(goal, np.float64), array.shape[:1])[:, None]
    return np.where(there.any(axis=1), at[there.argmax(axis=1)], np.nan)


def settling_time(values: ArrayLike, times: ArrayLike, goal: ArrayLike, tolerance: float) -> NDArray[np.float64]:
    """From when on each run, values (runs, T), stays within a relative tolerance of its goal; NaN where it does not."""
    array, at = np.atleast_2d(np.asarray(values, np.float64)), np.asarray(times)
    wanted = np.broadcast_to(np.asarray(goal, np.float64), array.shape[:1])[:, None]
    near = np.abs(array - wanted) <= tolerance * np.abs(wanted)
    near = np.flip(np.logical_and.accumulate(np.flip(near, axis=1), axis=1), axis=1)
    return np.where(near.any(axis=1), at[near.argmax(axis=1)], np.nan)


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
    most ``tolerance``, relative to the former. ``window`` is in steps. It is when the paper's robots stop; under a
    falling temperature a run may be calm for a while long before its end.
    """
    array, at = np.atleast_2d(np.asarray(values, np.float64)), np.asarray(times)
    if at.ndim != 1 or array.shape[1] != at.size:
        raise InvalidInput(f"values must have one entry for each of {at.size} times, got shape {array.shape}")
    if not is_real(tolerance) or not as_float(tolerance) > 0:
        raise InvalidInput(f"tolerance must be a number > 0, got {tolerance!r}")
    if at.size > 1 and not (np.diff(at) > 0).all():
        raise InvalidInput("times must increase")
    if not is_real(window) or not 1 <= as_float(window) < np.inf:
        raise InvalidInput(f"window must be a number of steps of at least 1, got {window!r}")
    rows = max(1, int(window) // int(at[1] - at[0])) if at.size > 1 else 1
    if at.size < 2 * rows:
        return np.full(array.shape[0], np.nan)
    sums = np.cumsum(np.pad(array, ((0, 0), (1, 0))), axis=1)
    means = (sums[:, rows:] - sums[:, :-rows]) / rows  # means[:, k] ends at row k + rows - 1
    before, after = means[:, :-rows], means[:, rows:]
    calm = np.abs(after - before) <= tolerance * np.abs(before)
    ends = at[rows - 1 : rows - 1 + calm.shape[1]]
    return np.where(calm.any(axis=1), ends[calm.argmax(axis=1)], np.nan)
