"""What an event does to a curve, on curves that can be read by eye."""

from __future__ import annotations

import numpy as np
import pytest

from potentia.errors import InvalidInput
from potentia.statistics import recovery

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


@pytest.mark.parametrize("event", [0, 91, 1000])
def test_an_event_without_rows_on_both_sides(event):
    with pytest.raises(InvalidInput, match="event must have rows before and after it"):
        recovery(np.ones((2, 10)), TIMES, event)
