"""What an event does to a curve, on curves that can be read by eye."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from potentia.errors import InvalidInput
from potentia.statistics import event_cost, paired_difference, recovery
from potentia.statistics.estimates import estimate, tail_mean

TIMES = np.arange(0, 100, 10)


def test_before_dip_level_and_way_back():
    run = np.array([1.0, 4.0, 4.0, 4.0, 1.0, 2.0, 3.0, 3.0, 3.0, 3.0])
    never = np.array([1.0, 4.0, 4.0, 4.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0])
    found = recovery([run, never], TIMES, 40, window=20, text="fail 1@40")
    assert (found.before.mean, found.dip.mean, found.after.mean) == (4.0, 1.5, 2.5)
    assert found.to_after.times.tolist() == [20.0, 0.0]  # the mean of the next two rows is 3 from time 60 on
    assert (found.to_before.reached, found.to_before.runs) == (0, 2)
    assert found.to_dict()["to_before"] == {"median_steps": None, "low": None, "high": None, "runs_back": 0, "runs": 2}
    assert found.to_dict()["event"] == "fail 1@40"


def test_the_next_event_ends_the_stretch():
    run = np.array([[4.0, 4.0, 4.0, 1.0, 4.0, 4.0, 0.0, 0.0, 0.0, 0.0]])
    found = recovery(run, TIMES, 30, until=60, window=10)
    assert (found.dip.mean, found.after.mean) == (1.0, 4.0)
    assert found.to_before.times.tolist() == [10.0]
    assert recovery(run, TIMES, 30, window=10).after.mean == 0.0


def test_the_level_before_begins_with_the_event_before():
    run = np.array([[9.0, 9.0, 9.0, 9.0, 2.0, 2.0, 1.0, 1.0, 1.0, 1.0]])
    assert recovery(run, TIMES, 60, since=40, window=50).before.mean == 2.0
    with pytest.raises(InvalidInput, match="event must have rows before"):
        recovery(run, TIMES, 60, since=51)


def test_an_event_between_two_rows_counts_from_when_it_was():
    run = np.array([[4.0, 4.0, 4.0, 4.0, 1.0, 4.0, 4.0, 4.0, 4.0, 4.0]])
    assert recovery(run, TIMES, 35, window=10).to_before.times.tolist() == [15.0]


def test_the_level_at_the_end_is_that_of_the_run():
    """Of as many rows, also where their distance does not divide the window: one mean has one interval."""
    times = np.arange(0, 601, 3)
    runs = np.random.default_rng(1).random((5, times.size))
    found, told = recovery(runs, times, 300, window=200).after, estimate(tail_mean(runs, times, 200))
    assert (found.mean, found.low) == pytest.approx((told.mean, told.low), rel=1e-12)


@pytest.mark.parametrize("event", [0, 91, 1000])
def test_an_event_without_rows_on_both_sides(event):
    with pytest.raises(InvalidInput, match="event must have rows before and after it"):
        recovery(np.ones((2, 10)), TIMES, event)


def test_what_events_cost_is_told_run_by_run():
    rng = np.random.default_rng(0)
    without = rng.uniform(5.0, 15.0, 12)
    cost = event_cost(0.8 * without, without)  # each run loses a fifth, whatever its level
    assert cost.difference.mean == pytest.approx(-0.2 * without.mean())
    assert cost.relative.mean == pytest.approx(-0.2)
    assert cost.relative.low == pytest.approx(-0.2)  # a ratio that all runs share is certain
    assert cost.relative.high == pytest.approx(-0.2)
    assert cost.difference.high - cost.difference.low < cost.level.high - cost.level.low  # pairs tell more
    assert np.isnan(event_cost([1.0, 2.0], [0.0, 0.0]).relative.mean)
    assert event_cost([1.0] * 4, [2.0] * 4).to_dict()["difference"][0] == -1.0
    assert np.isnan(event_cost([1.0] * 4, [2.0] * 4).to_dict()["difference"][1:]).all()  # four runs tell no interval
    with pytest.raises(InvalidInput, match="two lists of one length"):
        event_cost([1.0, 2.0], [1.0])


def test_intervals_of_several_comparisons_are_wider():
    values = np.random.default_rng(1).normal(size=10)
    one, four = paired_difference(values, np.zeros(10)), paired_difference(values, np.zeros(10), 4)
    assert one.mean == four.mean
    assert (four.high - four.low) / (one.high - one.low) == pytest.approx(
        stats.t.ppf(1 - 0.025 / 4, 9) / stats.t.ppf(0.975, 9)
    )
