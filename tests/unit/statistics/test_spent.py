"""Runs along what they have spent: their times are those of their own records, however these lie."""

from __future__ import annotations

import numpy as np
import pytest

from potentia.errors import InvalidInput
from potentia.statistics import reaching_time
from potentia.statistics.curves import Curves, spent
from potentia.statistics.reaching import reaching_of

TIMES = np.arange(0, 4001, 5)
FIRST = {"lll": [35, 1005, 2505, 3995], "slll": [5, 15, 310, 2000]}  # the step at which each run gets there


def curves(rule, revisions):
    rows = np.array([first <= TIMES for first in FIRST[rule]], float)
    return Curves({"rule": rule}, {}, np.arange(4), TIMES, rows, revisions=revisions)


def test_a_rule_of_one_revision_a_step_has_the_times_of_its_steps():
    wakes = np.random.default_rng(0).binomial(15, 0.6, (4, TIMES.size))
    wakes[:, 0] = 0
    many = wakes.cumsum(axis=1).astype(float)
    by_steps, others = curves("lll", np.repeat(TIMES[None], 4, 0).astype(float)), curves("slll", many)
    one, other = spent([by_steps, others], "revisions")
    assert one.times[-1] == other.times[-1] == min(4000, many[:, -1].min())
    assert np.array_equal(reaching_of(one, 1.0).times, reaching_of(by_steps, 1.0).times)
    expected = [many[run, first // 5] for run, first in enumerate(FIRST["slll"])]
    got = reaching_of(other, 1.0)
    assert got.times.tolist() == [min(when, got.horizon) for when in expected]
    assert got.censored.tolist() == [when > got.horizon for when in expected]
    assert one.levels == pytest.approx(by_steps.levels)


def test_runs_are_looked_at_up_to_a_horizon():
    values, times = [[0, 1, 1], [0, 0, 1]], [[0, 3, 9], [0, 3, 7]]
    assert reaching_time(values, times, 1.0).horizon == 7
    assert reaching_time(values, times, 1.0, resamples=2).times.tolist() == [3, 7]
    found = reaching_time(values, times, 1.0, horizon=5, resamples=2)
    assert (found.reached, found.times.tolist()) == (1, [3, 5])
    late = reaching_time([[0, 1, np.nan], [0, np.nan, 1]], times, 1.0, horizon=5, resamples=2)
    assert late.times.tolist() == pytest.approx([3, np.nan], nan_ok=True)  # what is not known by then
    with pytest.raises(InvalidInput, match="horizon must be a finite number"):
        reaching_time(values, times, 1.0, horizon=8)
    with pytest.raises(InvalidInput, match="times must not fall"):
        reaching_time(values, [[0, 3, 2], [0, 3, 7]], 1.0)
