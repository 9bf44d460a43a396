"""Intervals cover as often as they say, and p-values are uniform where there is no difference.

Seeds are fixed, so a test passes or fails for good; the rates below are those at which it would fail under other
seeds although the code is right. Beside each stands what must fail the same test.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import stats

from potentia.statistics.comparison import compare, holm
from potentia.statistics.estimates import bootstrap_mean, estimate
from potentia.statistics.reaching import median_time
from tests.statistical.laws import ALPHA

SAMPLES = 600


def covers(low, high, truth):
    """Whether between 89 % and 97.5 % of the intervals hold the truth, as 95 % intervals of a small sample should.

    BCa intervals of 50 exponential numbers cover in 93.3 % (12,000 samples; short of 95 % as the sample is small and
    skewed), those of the median below in 94.2 % (5,000): of 600 the share is outside with a probability below 1e-3.
    """
    share = np.mean((low <= truth) & (truth <= high))
    return 0.89 <= share <= 0.975


@pytest.fixture(scope="module")
def skewed():
    """Intervals of the mean of 50 exponential numbers, which is 1."""
    data = np.random.default_rng(11).exponential(size=(SAMPLES, 50))
    found = [bootstrap_mean(sample, seed, resamples=999) for seed, sample in enumerate(data)]
    return np.array([each.low for each in found]), np.array([each.high for each in found])


def test_bootstrap_intervals_cover_the_mean_of_skewed_data(skewed):
    low, high = skewed
    assert covers(low, high, 1.0)
    centre, half = (low + high) / 2, (high - low) / 2
    assert not covers(centre - half / 2, centre + half / 2, 1.0)  # half as wide
    assert not covers(centre - 2 * half, centre + 2 * half, 1.0)  # twice as wide
    assert not covers(low, high, 1.1)


def test_of_few_seeds_students_interval_is_the_one_to_use():
    """Five normal numbers: BCa covers in 85 % (2,000 samples), which the same test must notice; Student in 95 %."""
    data = np.random.default_rng(14).normal(size=(SAMPLES, 5))
    for found, right in (
        ([bootstrap_mean(sample, seed, resamples=999) for seed, sample in enumerate(data)], False),
        ([estimate(sample) for sample in data], True),
    ):
        assert covers(np.array([each.low for each in found]), np.array([each.high for each in found]), 0.0) == right


def p_of_uniform(p_values, step=0.0):
    """Kolmogorov-Smirnov; p-values that are multiples of ``step`` are spread over the step below them first."""
    spread = np.asarray(p_values) - step * np.random.default_rng(0).random(len(p_values))
    return stats.kstest(spread, "uniform").pvalue


@pytest.mark.parametrize(
    ("pairs", "resamples", "step"), [(8, 256, 2 / 256), (20, 499, 2 / 500)], ids=["counted", "drawn"]
)
def test_p_values_are_uniform_under_the_null(pairs, resamples, step):
    """The seeds' levels differ much, and both rules are skewed around them in the same way.

    Fails with probability ALPHA = 1e-6 for other seeds. A shift by 1, 0.7 standard deviations of the differences, must
    fail; so must a test of the same numbers that knows nothing of the pairs.
    """
    random = np.random.default_rng(pairs)
    level = random.normal(0, 5, (200, pairs, 1))
    both = level + random.exponential(1, (200, pairs, 2))
    found = [compare(a, b, seed=k, resamples=resamples) for k, (a, b) in enumerate(both.transpose(0, 2, 1))]
    assert {each.exact for each in found} == {2**pairs <= resamples}
    assert p_of_uniform([each.p_value for each in found], step) > ALPHA
    shifted = [compare(a + 1, b, seed=k, resamples=resamples) for k, (a, b) in enumerate(both.transpose(0, 2, 1))]
    assert p_of_uniform([each.p_value for each in shifted], step) < ALPHA
    unpaired = stats.ttest_ind(both[..., 0], both[..., 1], axis=1).pvalue
    assert p_of_uniform(unpaired) < ALPHA


def test_holm_keeps_the_rate_of_any_false_alarm():
    """Four groups that are alike, six paired t-tests, 2,000 times: any p below 5 % in at most 5 % of the studies.

    More than 150 have a probability below 1e-6 even if it were exactly 5 %. Unadjusted there are far more.
    """
    data = np.random.default_rng(12).normal(size=(4, 2000, 10))
    pairs = [stats.ttest_rel(a, b, axis=1).pvalue for a, b in itertools.combinations(data, 2)]
    alarms = [(np.min(adjusted) < 0.05, np.min(p) < 0.05) for p in np.transpose(pairs) for adjusted in [holm(p)]]
    kept, plain = np.sum(alarms, axis=0)
    assert 20 < kept <= 150 < plain


def test_intervals_of_the_median_cover_it_with_a_third_censored():
    """Exponential times with median log 2, cut at their 65 % quantile; the bounds of 40 runs each.

    An end that is not known bounds nothing. Ends half as far from the median, where known, must fail.
    """
    cut, truth = -np.log(0.35), np.log(2)
    times = np.random.default_rng(13).exponential(size=(SAMPLES, 40))
    found = np.array([median_time(np.minimum(row, cut), row > cut) for row in times])
    median, low, high = found[:, 0], found[:, 1], np.where(np.isnan(found[:, 2]), np.inf, found[:, 2])
    assert covers(low, high, truth)
    assert 0.2 < np.isnan(found[:, 2]).mean() < 0.8  # so censoring does cut intervals open
    middle = np.where(np.isnan(median), cut, median)
    assert not covers((low + middle) / 2, (high + middle) / 2, truth)
