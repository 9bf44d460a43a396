"""Is one rule better than another? Paired tests over the seeds that both have, and Holm's correction for many.

The same seed gives every rule the same start, so runs are compared seed by seed. The null hypothesis: a seed's
difference is as likely to be d as -d. Then every choice of signs of the observed differences is equally likely, and
the p-value is the share of choices whose mean is at least as far from 0 as the one observed (Fisher, The Design of
Experiments, 1935, §21). It asks for no normal law and no large number of seeds; n pairs cannot give less than 2/2^n.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from potentia.errors import InvalidInput, did_you_mean
from potentia.statistics.estimates import Estimate, all_equal, bootstrap_mean, checked_values, is_data_array

_DIGITS = 12  # of means of sign-flipped differences, relative to the largest; sums in another order are still ties
_ROOM = 2**22  # numbers drawn at a time


@dataclass(frozen=True)
class Comparison:
    """The difference first - second over the seeds that both have.

    Attributes
    ----------
    first : str
        What the first is called.
    second : str
        What the second is called.
    difference : Estimate
        Its mean, with its bootstrap interval.
    p_value : float
        Of the sign-flip test, two-sided.
    adjusted : float
        The same corrected for all comparisons made together; of one alone, the same.
    effect : float
        Cohen's d_z, mean / standard deviation of the differences; NaN for one pair.
    larger : float
        Share of pairs in which first is larger, ties half.
    pairs : int
        How many seeds both have.
    left_out : int
        Seeds that only one has, or with a NaN.
    exact : bool
        Whether all choices of signs were counted, not drawn.

    Examples
    --------
    >>> found = pt.statistics.compare([5, 6, 7, 6, 8, 7], [4, 4, 6, 5, 5, 6], names=("lll", "blll"))
    >>> found.difference.mean, found.p_value, found.larger
    (1.5, 0.03125, 1.0)
    """

    first: str
    second: str
    difference: Estimate  # mean, with its bootstrap interval
    p_value: float  # two-sided
    adjusted: float  # the same corrected for all comparisons made together; of one alone, the same
    effect: float  # Cohen's d_z, mean / standard deviation of the differences; NaN for one pair
    larger: float  # share of pairs in which first is larger, ties half
    pairs: int
    left_out: int  # seeds that only one has, or with a NaN
    exact: bool  # whether all choices of signs were counted, not drawn

    def __str__(self) -> str:
        what = f"{self.first} - {self.second}: {self.difference}, p = {self.p_value:.3g}"
        if self.adjusted != self.p_value:
            what += f" (adjusted {self.adjusted:.3g})"
        return f"{what}, d_z = {self.effect:.3g}, larger in {self.larger:.0%} of {self.pairs} pairs"

    def to_dict(self) -> dict[str, Any]:
        """Plain data, for JSON."""
        told = {name: getattr(self, name) for name in ("first", "second", "pairs", "effect", "larger")}
        chance = {"p_value": self.p_value, "adjusted": self.adjusted}
        return told | {"difference": self.difference.to_dict()} | chance


def compare(
    first: Any,
    second: Any,
    *,
    names: tuple[str, str] = ("first", "second"),
    seed: int = 0,
    level: float = 0.95,
    resamples: int = 9999,
) -> Comparison:
    """Two rules on the same seeds, one number per seed.

    All 2^n choices of signs are counted where they are at most ``resamples``, else so many are drawn, from ``seed``
    alone. Where all differences are equal the effect is infinite, or 0 where they are 0. Of few pairs trust the
    p-value, not the interval, which is then too narrow (:func:`~potentia.statistics.estimates.bootstrap_mean`).

    Parameters
    ----------
    first : xarray.DataArray or array_like
        Two xarray.DataArrays along ``seed`` are aligned on the seeds that both have; plain arrays must be of one
        length, in the same order of seeds. Pairs with a NaN are left out.
    second : xarray.DataArray or array_like
        As the first.
    names : tuple of str
        What the two are called.
    seed : int
        What the draws of the bootstrap are made from.
    level : float
        That of the interval.
    resamples : int
        How many are drawn.

    Returns
    -------
    Comparison
        Difference, p-value and effect.

    Examples
    --------
    >>> print(pt.statistics.compare([5, 6, 7, 6, 8, 7], [4, 4, 6, 5, 5, 6], names=("lll", "blll")))
    lll - blll: 1.5 [1, 2.333], p = 0.0312, d_z = 1.79, larger in 100% of 6 pairs
    """
    a, b, left_out = _aligned(first, second, names)
    with np.errstate(over="ignore"):
        d = a - b
    d, left_out = d[~np.isnan(d)], left_out + int(np.isnan(d).sum())
    difference = bootstrap_mean(d, seed, level, resamples)
    p_value = _sign_flips(d, seed, resamples)
    return Comparison(
        first=names[0],
        second=names[1],
        difference=difference,
        p_value=p_value,
        adjusted=p_value,
        effect=_effect(d),
        larger=float(np.mean(d > 0) + np.mean(d == 0) / 2) if d.size else np.nan,
        pairs=d.size,
        left_out=left_out,
        exact=2**d.size <= resamples,
    )


def compare_all(
    samples: Mapping[str, Any],
    reference: str | None = None,
    *,
    seed: int = 0,
    level: float = 0.95,
    resamples: int = 9999,
) -> list[Comparison]:
    """Every sample minus the reference, or every pair where there is none, with p-values adjusted by :func:`holm`.

    Each pair is aligned by itself, as in :func:`compare`. Intervals are of each difference alone, not simultaneous.

    Parameters
    ----------
    samples : mapping
        Arrays as of :func:`compare`, by name.
    reference : str, optional
        The name of the one that all others are compared with.
    seed : int
        What the draws of the bootstrap are made from.
    level : float
        That of the interval.
    resamples : int
        How many are drawn.

    Returns
    -------
    list of Comparison
        One for each pair.

    Examples
    --------
    >>> samples = {"lll": [5, 6, 7, 6], "blll": [4, 4, 6, 5], "slll": [1, 2, 3, 3]}
    >>> [(found.first, found.difference.mean) for found in pt.statistics.compare_all(samples, "slll")]
    [('lll', 3.75), ('blll', 2.5)]
    """
    if not isinstance(samples, Mapping) or len(samples) < 2:
        got = f"{len(samples)}" if isinstance(samples, Mapping) else type(samples).__name__
        raise InvalidInput(f"must be a mapping of two names at least to values by seed, got {got}", "samples", got)
    if reference is None:
        pairs = list(itertools.combinations(samples, 2))
    elif reference in samples:
        pairs = [(name, reference) for name in samples if name != reference]
    else:
        known = ", ".join(samples)
        raise InvalidInput(
            f"must be one of {known}, got {reference!r}{did_you_mean(reference, samples)}", "reference", reference
        )
    found = [
        compare(samples[a], samples[b], names=(a, b), seed=seed, level=level, resamples=resamples) for a, b in pairs
    ]
    adjusted = holm([each.p_value for each in found])
    return [replace(each, adjusted=float(p)) for each, p in zip(found, adjusted, strict=True)]


def holm(p_values: ArrayLike) -> NDArray[np.float64]:
    """The p-values adjusted so that rejecting those below α errs at all with probability at most α.

    Holm, A simple sequentially rejective multiple test procedure, Scand. J. Statist. 6 (1979) 65-70: the k-th smallest
    of m is multiplied by m - k + 1; none is below a smaller one's. NaN stays NaN and is not counted.

    Parameters
    ----------
    p_values : array_like
        From 0 to 1.

    Returns
    -------
    array
        In the same order.

    Examples
    --------
    >>> pt.statistics.holm([0.01, 0.04, 0.5]).round(3).tolist()
    [0.03, 0.08, 0.5]
    """
    p = checked_values(p_values, "p_values").reshape(-1)
    wrong = p[(p < 0) | (p > 1)]
    if wrong.size:
        raise InvalidInput(f"must lie between 0 and 1, got {wrong[0]}", "p_values", wrong[0])
    out = np.full(p.size, np.nan)
    order = np.argsort(p)[: int((~np.isnan(p)).sum())]  # NaN sorts last
    out[order] = np.minimum(1, np.maximum.accumulate(np.arange(order.size, 0, -1) * p[order]))
    return out


def _sign_flips(d: NDArray[np.float64], seed: int, resamples: int) -> float:
    if d.size == 0:
        return np.nan
    if d.size == 1 or not d.any():
        return 1.0
    if 2**d.size <= min(resamples, _ROOM // d.size):
        signs = 1.0 - 2.0 * (np.arange(2**d.size)[:, None] >> np.arange(d.size) & 1)
        means = np.abs(np.round((signs * (d / np.abs(d).max())).mean(axis=1), _DIGITS))
        return float(np.mean(means >= means[0]))
    from scipy.stats import permutation_test

    found = permutation_test(
        (d / np.abs(d).max(),),  # one sample: SciPy then flips signs
        lambda flipped, axis: np.round(flipped.mean(axis=axis), _DIGITS),
        permutation_type="samples",
        vectorized=True,
        n_resamples=resamples,
        batch=max(1, _ROOM // d.size),
        random_state=np.random.default_rng(seed),
    )
    return float(found.pvalue)


def _effect(d: NDArray[np.float64]) -> float:
    if d.size < 2:
        return np.nan
    if all_equal(d):
        return float(np.sign(d[0]) * np.inf) if d[0] else 0.0
    return float(d.mean() / d.std(ddof=1))


def _aligned(first: Any, second: Any, names: tuple[str, str]) -> tuple[NDArray[np.float64], NDArray[np.float64], int]:
    """The values of both on the same seeds, and how many seeds only one has."""
    given = [is_data_array(values) for values in (first, second)]
    a, b = checked_values(first, names[0]), checked_values(second, names[1])
    if any(given) and not all(given):
        kinds = " and ".join(type(values).__name__ for values in (first, second))
        raise InvalidInput(f"{names[0]} and {names[1]} must both be DataArrays with seeds or both plain, got {kinds}")
    if not any(given):
        if a.shape != b.shape or a.ndim != 1:
            raise InvalidInput(
                f"{names[0]} and {names[1]} must be two lists of one length, got shapes {a.shape} and {b.shape}; "
                "runs of different seeds need DataArrays with a seed coordinate"
            )
        return a, b, 0
    ours, theirs = _seeds(first, names[0]), _seeds(second, names[1])
    both, at, there = np.intersect1d(ours, theirs, assume_unique=True, return_indices=True)
    if both.size == 0:
        raise InvalidInput(f"{names[0]} and {names[1]} must have seeds in common, got none")
    return a[at], b[there], ours.size + theirs.size - 2 * both.size


def _seeds(values: Any, name: str) -> NDArray[Any]:
    if values.dims != ("seed",) or "seed" not in values.coords:
        raise InvalidInput(f"must have one number per seed, with a seed coordinate, got dimensions {values.dims}", name)
    seeds = np.asarray(values.seed.values)
    again = seeds.size - np.unique(seeds).size
    if again:
        raise InvalidInput(f"must have each seed once, got {again} again", name, again)
    return seeds
