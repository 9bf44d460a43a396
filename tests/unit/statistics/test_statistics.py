"""Means with intervals, times to a share and steady states, on numbers worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import bootstrap

from potentia.errors import InvalidInput
from potentia.statistics.estimates import (
    area_under_curve,
    band,
    bootstrap_mean,
    estimate,
    moving_mean,
    paired_difference,
    settling_time,
    share_of,
    steady_state,
    tail_mean,
    time_to_share,
)

TIMES = np.arange(0, 1001, 10)


@pytest.mark.parametrize("count", [3, 5, 10, 50])
def test_intervals_cover_the_mean_as_often_as_they_say(count):
    """Of 2,000 samples about 100 miss the truth (sd 10); a shifted truth is missed far more often."""
    random = np.random.default_rng(count)
    found = [estimate(sample) for sample in random.normal(1.0, 1.0, size=(2000, count))]
    missed = sum(not f.low <= 1.0 <= f.high for f in found)
    assert 50 <= missed <= 150
    shift = 1.0 + 4 / np.sqrt(count)
    assert sum(not f.low <= shift <= f.high for f in found) > 2 * missed
    assert all(f.low < f.mean < f.high and f.count == count for f in found)


def test_estimate_of_little():
    assert np.isnan(estimate([]).mean)
    one = estimate([3.0, np.nan])
    assert (one.mean, one.count) == (3.0, 1)
    assert np.isnan(one.low)
    assert str(one) == "3"
    assert str(estimate([2.0, 3.0])) == "2.5"
    assert str(estimate([20_000.0] * 5)) == "20,000 [20,000, 20,000]"
    assert estimate([1.0, 2.0, 4.0]) == estimate([1.0, 2.0, 4.0])


def test_bootstrap_of_little():
    assert np.isnan([bootstrap_mean([]).mean, bootstrap_mean([np.nan]).low]).all()
    one = bootstrap_mean([3.0, np.nan])
    assert (one.mean, one.count) == (3.0, 1)
    assert np.isnan([one.low, one.high]).all()
    flat = bootstrap_mean([0.1 + 0.2, 0.3, 0.3])  # equal up to rounding
    assert flat.low == flat.mean == flat.high == pytest.approx(0.3)
    two = bootstrap_mean([1.0, np.nan, 2.0])
    assert (two.low, two.mean, two.high, two.count) == (1, 1.5, 2, 2)
    assert bootstrap_mean([True, False, True]).mean == pytest.approx(2 / 3)


def test_bootstrap_is_the_percentile_interval_where_bca_is_undefined():
    """Two resamples are often both on one side of the mean, which makes the bias correction infinite."""
    found = [bootstrap_mean([1.0, 2.0, 9.0], seed, resamples=2) for seed in range(20)]
    assert all(1 <= each.low <= each.high <= 9 for each in found)
    assert any(each.high < each.mean or each.low > each.mean for each in found)
    tiny = bootstrap_mean(1e-200 * np.array([1.0, 2.0, 9.0]))  # the cubes of the acceleration vanish
    assert 0.99e-200 < tiny.low < tiny.mean < tiny.high < 9.01e-200


def test_bootstrap_intervals_lean_as_the_data_do_and_come_from_the_seed_alone():
    values = np.random.default_rng(4).exponential(size=60)
    found = bootstrap_mean(values, seed=1)
    assert found.high - found.mean > 1.1 * (found.mean - found.low)
    np.random.seed(7)  # noqa: NPY002 - that the global state plays no part is the point
    assert bootstrap_mean(values, seed=1) == found
    assert bootstrap_mean(values, seed=2) != found
    low, high = bootstrap_mean(values, level=0.5).low, bootstrap_mean(values, level=0.5).high
    assert found.low < low < high < found.high
    many = bootstrap_mean(np.tile(values, 100), resamples=2000)  # more than one batch of draws
    assert many.high - many.low == pytest.approx((found.high - found.low) / 10, rel=0.1)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: bootstrap_mean([1, np.inf]), "values must be finite, or NaN where there is none, got inf"),
        (lambda: bootstrap_mean(["1"]), "values must be an array of real numbers, got list"),
        (lambda: bootstrap_mean([1j]), "values must be an array of real numbers, got list"),
        (lambda: bootstrap_mean([1, 2], level=95), r"level must be a number in \(0, 1\), got 95"),
        (lambda: bootstrap_mean([1, 2], seed=0.5), "seed must be an integer of at least 0, got 0.5"),
        (lambda: bootstrap_mean([1, 2], resamples=1), "resamples must be an integer of at least 2, got 1"),
        (lambda: share_of(3, 2), "count must be an integer from 0 to 2, got 3"),
        (lambda: share_of(0, 0), "of must be an integer of at least 1, got 0"),
        (lambda: area_under_curve([1.0], [0]), "times must be two at least, got 1"),
        (lambda: area_under_curve([1.0, 2.0], [0, 0]), "times must increase"),
        (lambda: area_under_curve(1.0, [0]), r"one entry for each of 1 times, got shape \(\)"),
    ],
)
def test_bad_values_are_refused(call, message):
    with pytest.raises(InvalidInput, match=message):
        call()


def test_shares():
    assert share_of(0, 4).low == 0.0
    assert share_of(4, 4).mean == share_of(4, 4).high == 1.0
    assert share_of(np.int64(1), 4).count == 4


def test_areas_are_mean_levels():
    """(0 + 4)/2 over 2 steps and (4 + 4)/2 over 6: (4 + 24)/8."""
    assert area_under_curve([0, 4, 4], [2, 4, 10]) == pytest.approx(28 / 8)
    values = np.array([[5.0, 5.0, 5.0], [0, 4, 4], [0, np.nan, 4]])
    np.testing.assert_allclose(area_under_curve(values, [2, 4, 10]), [5, 3.5, np.nan])
    assert area_under_curve(np.ones((2, 3, 4)), [0, 1, 2, 3]).shape == (2, 3)


def test_paired_differences_see_what_unpaired_ones_hide():
    random = np.random.default_rng(2)
    level = 100 * random.random(40)
    apart = paired_difference(level + 1 + 0.1 * random.random(40), level)
    assert apart.low > 0.9
    assert estimate(level + 1).low < estimate(level).high
    with pytest.raises(InvalidInput, match=r"two lists of one length, got shapes \(2,\) and \(3,\)"):
        paired_difference([1, 2], [1, 2, 3])


def test_tail_and_share():
    values = np.stack([TIMES / 1000, np.full(TIMES.size, 5.0)])
    np.testing.assert_allclose(tail_mean(values, TIMES, 200), [np.mean(np.arange(810, 1001, 10)) / 1000, 5.0])
    np.testing.assert_array_equal(time_to_share(values, TIMES, [0.9, 6.0]), [900, np.nan])
    np.testing.assert_array_equal(time_to_share(values, TIMES, 0.25), [250, 0])


def by_definition(values, window, tolerance):
    """Row by row: the mean of one window against the mean of the next."""
    rows = window // 10
    calm = {}
    for end in range(rows - 1, len(values) - rows):
        before, after = values[end - rows + 1 : end + 1].mean(), values[end + 1 : end + rows + 1].mean()
        calm[end] = abs(after - before) <= tolerance * abs(before)
    for end, now in calm.items():
        if now:
            return 10.0 * end
    return np.nan


def test_steady_state_is_what_it_says():
    random = np.random.default_rng(3)
    for k in range(30):
        values = 1 - np.exp(-TIMES / (50 + 20 * k)) + 0.05 * random.random(TIMES.size)
        for window, tolerance in ((100, 0.02), (200, 0.05), (10, 0.2)):
            found = steady_state(values, TIMES, window, tolerance)
            np.testing.assert_array_equal(found, [by_definition(values, window, tolerance)])


def test_steady_states_of_plain_curves():
    flat, rising = np.ones(TIMES.size), 1.0 + TIMES
    late = np.where(TIMES < 500, 1.0, 2.0)
    np.testing.assert_array_equal(steady_state(flat, TIMES), [190])
    np.testing.assert_array_equal(steady_state(rising, TIMES), [np.nan])
    np.testing.assert_array_equal(steady_state(late, TIMES, 100), [90])  # a plateau is enough
    np.testing.assert_array_equal(steady_state(flat, TIMES, 5000), [np.nan])


def test_settling_is_for_good():
    wobble = np.where((TIMES < 100) | (TIMES == 500), 0.5, 1.0)
    np.testing.assert_array_equal(settling_time(wobble, TIMES, 1.0, 0.05), [510])
    np.testing.assert_array_equal(settling_time(wobble, TIMES, 1.0, 0.5), [0])
    np.testing.assert_array_equal(settling_time(wobble, TIMES, 2.0, 0.05), [np.nan])
    np.testing.assert_allclose(moving_mean([[1, 2, 3, 7]], 2), [[1, 1.5, 2.5, 5]])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"window": 0}, "window must be a finite number of at least 1, got 0"),
        ({"tolerance": -1.0}, "tolerance must be a finite number > 0, got -1.0"),
        ({"times": TIMES[:-1]}, "one entry for each of 100 times"),
        ({"times": 0 * TIMES}, "times must increase"),
        ({"window": np.inf}, "window must be a finite number of at least 1, got inf"),
    ],
)
def test_bad_questions_are_refused(options, message):
    with pytest.raises(InvalidInput, match=message):
        steady_state(**{"values": np.ones(TIMES.size), "times": TIMES} | options)


@pytest.mark.parametrize("size", [5, 40, 1000])
def test_bootstrap_intervals_are_those_of_scipy(size):
    """Drawn once for all samples of one size, and more than one batch of draws where they are large."""
    values = np.random.default_rng(size).exponential(size=size)
    options = {"n_resamples": 9999, "batch": 2000, "random_state": np.random.default_rng(3)}
    theirs = bootstrap((values,), np.mean, vectorized=True, **options).confidence_interval
    for _ in range(2):
        ours = bootstrap_mean(values, seed=3)
        np.testing.assert_allclose([ours.low, ours.high], theirs, rtol=1e-12)
    assert bootstrap_mean(values, seed=4) != ours


@pytest.mark.parametrize("kind", ["range", "middle", "interval"])
def test_a_band_is_over_seeds_at_each_time(kind):
    values = np.random.default_rng(0).random((7, 5))
    low, high = band(values, kind)
    for time in range(5):
        column = values[:, time]
        expected = {
            "range": (column.min(), column.max()),
            "middle": tuple(np.quantile(column, [0.1, 0.9])),
            "interval": (estimate(column).low, estimate(column).high),
        }[kind]
        np.testing.assert_allclose((low[time], high[time]), expected, rtol=1e-12)


def test_a_band_leaves_out_what_is_missing():
    values = np.array([[1.0, 2.0], [3.0, np.nan], [5.0, 4.0]])
    np.testing.assert_array_equal(band(values, "range"), [[1.0, 2.0], [5.0, 4.0]])
