"""Times to a goal that some runs never reach, on cases worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr

from potentia.errors import InvalidInput
from potentia.statistics.comparison import compare
from potentia.statistics.estimates import bootstrap_mean
from potentia.statistics.reaching import compare_reaching, median_time, reaching_time

TIMES = np.arange(0, 101, 10)


def steps_at(*when):
    """Runs that jump from 0 to 1 at these times; None: never."""
    return np.array([(w <= TIMES).astype(float) if w is not None else np.zeros(TIMES.size) for w in when])


def batch(values, seeds):
    return xr.DataArray(values, dims=("seed", "time"), coords={"seed": list(seeds), "time": TIMES})


def test_kaplan_meier_by_hand():
    """Five runs: 1, 3, 3 there, one lost at 3 and one at 6. S = 4/5 after 1, 4/5 · 2/4 = 2/5 after 3, and stays.

    The log-log interval at 3: Greenwood's sum is 1/(5·4) + 2/(4·2) = 0.3, so S^exp(±1.96 √0.3 / |log S|).
    """
    median, low, high = median_time([1, 3, 3, 3, 6], [False, False, False, True, True])
    assert median == 3
    early = 0.8 ** np.exp(1.959964 * np.sqrt(0.05) / np.abs(np.log(0.8)))
    late = 0.4 ** np.exp(-1.959964 * np.sqrt(0.3) / np.abs(np.log(0.4)))
    assert early < 0.5 < late  # so the lower end is 1, and there is no upper one
    assert low == 1
    assert np.isnan(high)


def test_the_median_and_its_bounds():
    times, all_there = np.arange(1, 21), np.zeros(20, bool)
    median, low, high = median_time(times, all_there)
    assert low < median == 10 < high < 20
    cut = np.minimum(np.arange(1, 25), 20)
    assert median_time(cut, np.arange(1, 25) > 12)[0] == 12  # S(12) is one half, though not in floating point
    narrow = median_time(times, all_there, level=0.5)
    assert low < narrow[1] <= 10 <= narrow[2] < high
    assert median_time(np.minimum(times, 12), times > 12) == pytest.approx((10, low, np.nan), nan_ok=True)
    assert median_time(np.minimum(times, 9), times > 9) == pytest.approx((np.nan, low, np.nan), nan_ok=True)
    assert np.isnan(median_time([5.0, 5.0], [True, True])).all()
    assert np.isnan(median_time([], [])).all()
    assert median_time([5, 5, 5], [False] * 3)[:2] == (5, 5)


def test_where_all_get_there_the_largest_time_is_a_bound():
    """P(median > all of n times) is 2^-n at most, and at 95 % each end may miss it in 2.5 %: six are enough."""
    assert median_time([100] * 10, [False] * 10) == (100, 100, 100)
    assert median_time([96] * 5 + [104] * 5, [False] * 10) == (96, 96, 104)
    assert median_time(range(1, 7), [False] * 6) == (3, 1, 6)
    assert np.isnan(median_time(range(1, 6), [False] * 5)[2])
    assert median_time([5, 5], [False] * 2, level=0.5) == (5, 5, 5)
    some_never = median_time([96] * 5 + [104] * 5, [False] * 7 + [True] * 3)
    assert some_never[:2] == (96, 96)
    assert np.isnan(some_never[2])


@pytest.mark.filterwarnings("ignore:The confidence interval is undefined")
def test_the_curve_is_that_of_scipy():
    from scipy.stats import CensoredData, ecdf

    random = np.random.default_rng(3)
    for _ in range(20):
        at, cut = random.integers(1, 20, 30).astype(float), random.random(30) < 0.3
        curve = ecdf(CensoredData(uncensored=at[~cut], right=at[cut])).sf
        with np.errstate(all="ignore"):
            ends = curve.confidence_interval(0.9, method="log-log")
        for bound, told in zip((curve, ends.low, ends.high), median_time(at, cut, 0.9), strict=True):
            below = curve.quantiles[bound.probabilities <= 0.5 + 1e-12]
            assert told == below[0]


def test_runs_that_never_get_there_count():
    found = reaching_time(steps_at(20, 40, None, 60, 100), TIMES, 1.0)
    np.testing.assert_array_equal(found.times, [20, 40, 100, 60, 100])
    np.testing.assert_array_equal(found.censored, [False, False, True, False, False])  # the last just in time
    assert (found.reached, found.runs, found.horizon, found.median) == (4, 5, 100, 60)
    assert found.restricted == bootstrap_mean([20, 40, 100, 60, 100])
    assert found.restricted.mean == 64
    assert str(found).startswith("4 of 5 reach it, median 60 [20, ?], restricted mean 64 [")
    none = reaching_time(steps_at(None, None), TIMES, 1.0)
    assert (none.reached, none.restricted.mean, none.restricted.low) == (0, 100, 100)
    assert np.isnan([none.median, none.median_low, none.median_high]).all()
    assert "no median" in str(none)


def test_goals_by_run_and_one_run():
    values = np.stack([TIMES / 100, TIMES / 50])
    found = reaching_time(values, TIMES, 0.5 * values[:, -1])
    np.testing.assert_array_equal(found.times, [50, 50])
    np.testing.assert_array_equal(reaching_time(values, TIMES, [0.2, 3.0]).times, [20, 100])
    np.testing.assert_array_equal(reaching_time(values[0], TIMES, 0.2).times, [20])


def test_what_is_not_known_is_left_out():
    values = steps_at(20, 40, None, 60)
    values[0, 5:] = np.nan  # after it got there: no matter
    values[1, 1] = np.nan  # before: it may have been there at 10
    values[2, -1] = np.nan
    found = reaching_time(values, TIMES, [1, 1, 1, np.nan])
    np.testing.assert_array_equal(found.times, [20, np.nan, np.nan, np.nan])
    assert (found.reached, found.runs, found.restricted.count) == (1, 1, 1)
    assert not found.censored.any()
    empty = reaching_time(values, TIMES, np.nan)
    assert (empty.reached, empty.runs) == (0, 0)
    assert np.isnan([empty.median, empty.restricted.mean, compare_reaching(empty, found).p_value]).all()


def test_seeds_are_kept_and_goals_follow_them():
    values = batch(np.stack([TIMES / 100, TIMES / 50]), [7, 3])
    goal = xr.DataArray([2.0, 0.5, 9.0], dims="seed", coords={"seed": [3, 7, 8]})
    found = reaching_time(values.transpose("time", "seed"), values.time, goal)
    np.testing.assert_array_equal(found.times, [50, 100])
    np.testing.assert_array_equal(found.seeds, [7, 3])
    other = reaching_time(batch(steps_at(10, 20, None), [3, 7, 1]), TIMES, 1.0)
    pairs = compare_reaching(found, other).restricted
    assert pairs.difference.mean == ((50 - 20) + (100 - 10)) / 2
    assert (pairs.pairs, pairs.left_out) == (2, 1)


def test_log_rank_by_hand():
    """First: 10, 30, never; second: 20, never, never.

    At 10: 6 left, 3 of the first, expected 3/6, variance 3·3/36. At 20: 5 left, 2 of the first, 2/5 and 2·3/25.
    At 30: 4 left, 2 of the first, 2/4 and 2·2/16. Observed 2, expected 1.4.
    """
    a, b = (reaching_time(steps_at(*when), TIMES, 1.0) for when in ((10, 30, None), (20, None, None)))
    found = compare_reaching(a, b, names=("a", "b"))
    assert found.statistic == pytest.approx((2 - 1.4) / np.sqrt(9 / 36 + 6 / 25 + 4 / 16))
    assert found.restricted == compare([10, 30, 100], [20, 100, 100], names=("a", "b"))
    assert compare_reaching(b, a).statistic == pytest.approx(-found.statistic)
    assert compare_reaching(b, a).p_value == pytest.approx(found.p_value)
    assert str(found).startswith("log-rank p = 0.485; a - b: ")


def test_nothing_to_tell_apart():
    never = reaching_time(steps_at(None, None, None), TIMES, 1.0)
    at_once = reaching_time(steps_at(0, 0, 0), TIMES, 1.0)
    for each in (never, at_once):
        found = compare_reaching(each, each)
        assert (found.statistic, found.p_value, found.restricted.p_value) == (0, 1, 1)
    assert compare_reaching(never, at_once).p_value < 0.05


def test_draws_come_from_the_seed_alone():
    values = steps_at(*np.random.default_rng(1).choice([10, 20, 50, 80], 30))
    first = reaching_time(values, TIMES, 1.0, seed=2, resamples=99)
    assert reaching_time(values, TIMES, 1.0, seed=2, resamples=99).restricted == first.restricted
    assert reaching_time(values, TIMES, 1.0, seed=3, resamples=99).restricted != first.restricted


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: reaching_time(steps_at(1), TIMES[:-1], 1.0), "one entry for each of 10 times"),
        (lambda: reaching_time(steps_at(1), 0 * TIMES, 1.0), "times must increase"),
        (lambda: reaching_time(steps_at(1, 2), TIMES, [1, 2, 3]), r"got shapes \(2, 11\) and \(3,\)"),
        (lambda: reaching_time(np.ones((1, 2, 11)), TIMES, 1.0), r"shape \(runs, times\)"),
        (lambda: reaching_time(steps_at(1), TIMES, "high"), "goal must be an array of real numbers, got str"),
        (lambda: reaching_time(steps_at(1), TIMES, 1.0, level=0), r"level must be a number in \(0, 1\), got 0"),
        (lambda: reaching_time(np.ones((2, 0)), [], 1.0), "values must be of shape"),
        (
            lambda: reaching_time(xr.DataArray(steps_at(1), dims=("seed", "time")), TIMES, 1.0),
            "values must have the dimensions seed and time, with seeds",
        ),
        (
            lambda: reaching_time(
                batch(steps_at(1, 2), [0, 1]), TIMES, xr.DataArray([1.0], dims="seed", coords={"seed": [0]})
            ),
            "goal must have every seed of values",
        ),
        (lambda: median_time([1, 2], [True]), r"got shapes \(2,\) and \(1,\)"),
        (lambda: median_time([1, np.nan], [True, True]), "times must be a list of numbers"),
        (lambda: median_time([1, 2], [0, 1]), "censored one boolean for each"),
        (lambda: compare_reaching([1], [2]), "must be results of reaching_time, got list and list"),
        (
            lambda: compare_reaching(
                reaching_time(steps_at(1), TIMES, 1.0), reaching_time(steps_at(1), 2 * TIMES, 1.0)
            ),
            "must have one horizon, got 100 and 200",
        ),
    ],
)
def test_bad_questions_are_refused(call, message):
    with pytest.raises(InvalidInput, match=message):
        call()


def one_up(values):
    return np.nextafter(values, np.inf)


def test_a_goal_one_rounding_above_is_reached():
    """A goal from elsewhere; one that is really above is not reached, and none of it depends on the sign."""
    random = np.random.default_rng(0)
    curves = np.cumsum(random.random((50, 11)), axis=1) * np.tile([1e-200, 1.0, -1.0, 3e17, 1e6], 10)[:, None]
    for rows in (curves, -curves):
        most = rows.max(axis=1)
        assert reaching_time(rows, TIMES, one_up(most), resamples=2).reached == 50
        assert reaching_time(rows, TIMES, most + 1e-8 * np.abs(most), resamples=2).reached == 0
        exact = reaching_time(rows, TIMES, most, resamples=2)
        assert (exact.times == TIMES[rows.argmax(axis=1)]).all()
    assert reaching_time(steps_at(1, 2), TIMES, [np.inf, -np.inf], resamples=2).reached == 1


def test_a_goal_near_nothing_has_the_scale_of_its_numbers():
    """0.1 + 0.2 - 0.3 is below 0 in one order and above in another."""
    values = np.array([[-1.0, 0.3 - (0.1 + 0.2)]])
    assert values[0, 1] < 0
    assert reaching_time(values, [0, 1], 0.0, resamples=2).reached == 0
    assert reaching_time(values, [0, 1], 0.0, scale=0.3, resamples=2).reached == 1
