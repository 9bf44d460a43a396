"""What a run of robots comes to: by hand, on runs of a few records."""

from __future__ import annotations

import numpy as np
import pytest
import xarray

from potentia.studies.coverage_ends import complete, final_worth, learnt, settled, tail_of, tail_steps, typical


def batch(rows, every=100, union=None, done=None):
    worth = np.atleast_2d(np.asarray(rows, float))
    times = np.arange(worth.shape[1]) * every
    steps = np.full(len(worth), times[-1]) if done is None else np.asarray(done)
    values = {
        "worth_sum": (("seed", "time"), worth),
        "worth_union": (("seed", "time"), worth if union is None else union),
    }
    return xarray.Dataset(values | {"steps_done": ("seed", steps)}, {"seed": 7 + np.arange(len(worth)), "time": times})


@pytest.mark.parametrize(
    ("steps", "every", "tail"),
    [(40, 1, 200), (2000, 1, 200), (14_999, 1, 200), (15_000, 10, 1000), (100_000, 20, 1000), (100_000, 500, 5000)],
)
def test_how_many_steps_are_averaged_over(steps, every, tail):
    assert tail_of(steps, every) == tail
    assert tail_steps(batch(np.zeros(steps // every + 1), every)) == tail


def test_final_worth_is_the_mean_of_the_tail():
    data = batch([[9.0] * 11 + [1.0] * 10, [0.0] * 20 + [5.0]], union=np.ones((2, 21)))
    assert tail_steps(data) == 1000  # ten records of 100 steps
    assert final_worth(data, "worth_sum").tolist() == [1.0, 0.5]
    assert final_worth(data).tolist() == [1.0, 1.0]


def test_a_run_settles_where_its_mean_stays_above_nine_tenths_of_its_end():
    """With a record every 20 steps the mean is over ten of them."""
    rows = np.ones((4, 41))
    rows[0, :20] = 0.0  # the mean of ten is 0.9 where nine are 1: at row 28
    rows[1, :20] = 3.0  # what is above is as good
    rows[2, 30] = 0.0  # a dip of one record in ten costs a tenth, no more
    rows[3, 29:31] = 0.0  # and of two too much, until one of them is ten records ago
    found = settled(batch(rows, every=20))
    assert found.tolist() == [28 * 20, 0, 0, 39 * 20]


def test_what_ends_no_higher_than_it_began_has_learnt_nothing():
    assert learnt(batch([[0.0] + [1.0] * 20, [0.0] + [1.1] * 20]))
    assert not learnt(batch([[1.0] * 21, [1.0] * 20 + [1.1]]))
    assert learnt(batch([1.0] * 21))  # of one run nobody knows


def test_the_typical_run_has_the_median_and_of_several_rules_is_near_all_medians():
    one, other = (batch(np.asarray(ends)[:, None] * np.ones(3)) for ends in ([5, 1, 3, 2, 4], [1, 2, 9, 3, 4]))
    assert typical(one) == 7 + 2
    assert typical(other) == 7 + 3
    assert typical(one, other) == 7 + 3  # 3 is one rank away in the first, 2 two ranks in the second
    cut = batch(np.ones((2, 3)), done=[200, 100])
    assert complete(cut).seed.values.tolist() == [7]
    assert typical(cut) == 7
