"""Means with intervals, times to a share and steady states, on numbers worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest

from potentia.errors import InvalidInput
from potentia.experiments.statistics import (
    estimate,
    moving_mean,
    paired_difference,
    settling_time,
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
        ({"window": 0}, "window must be a number of steps of at least 1, got 0"),
        ({"tolerance": -1.0}, "tolerance must be a number > 0, got -1.0"),
        ({"times": TIMES[:-1]}, "one entry for each of 100 times"),
        ({"times": 0 * TIMES}, "times must increase"),
        ({"window": np.inf}, "window must be a number of steps of at least 1, got inf"),
    ],
)
def test_bad_questions_are_refused(options, message):
    with pytest.raises(InvalidInput, match=message):
        steady_state(**{"values": np.ones(TIMES.size), "times": TIMES} | options)
