"""Runs along what they have spent: their times are those of their own records, however these lie."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from potentia.errors import InvalidInput
from potentia.statistics import reaching_time
from potentia.statistics.curves import Curves, spent
from potentia.statistics.reaching import coarse, reaching_of

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


def told(found):
    return coarse([(one, reaching_of(one, 1.0)) for one in found])


def test_rows_that_lie_far_apart_for_the_times_they_tell_are_said():
    """The same runs: recorded at every step, seldom, and seldom by rules that spend as much."""
    once = np.repeat(TIMES[None], 4, 0).astype(float)
    found = spent([curves("lll", once), curves("slll", 9 * once)], "revisions")
    assert "5 steps apart, which are 45 revisions of slll and 5 of lll" in told(found)
    assert "look slower than they are" in told(found)
    late = [replace(curves(rule, once), curves=np.repeat([TIMES > 3000], 4, 0) * 1.0) for rule in FIRST]
    assert told(late) is told(spent(late, "revisions")) is None
    assert told([curves("lll", once)]) is None  # 1,005 steps, 201 rows
    early = told([replace(curves("slll", once), curves=np.repeat([TIMES >= 50], 4, 0).astype(float))])
    assert early.startswith("rows are 5 steps apart: a goal")
    whole = [replace(one, times=TIMES // 5) for one in (curves("lll", once), curves("slll", 9 * once))]
    assert told(spent(whole, "revisions")) is None  # at every step: nothing is between


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


def test_what_comes_before_the_first_record_is_not_known():
    """Of runs from which the beginning was cut off; at the end nothing changes."""
    once = np.repeat(TIMES[None], 4, 0).astype(float)
    (whole,) = spent([curves("lll", once)], "revisions")
    (late,) = spent(
        [replace(curves("lll", once), times=TIMES[401:], curves=whole.curves[:, 401:], revisions=once[:, 401:])],
        "revisions",
    )
    assert np.isnan(late.curves[:, late.times < TIMES[401]]).all()
    assert np.isfinite(late.curves[:, late.times >= TIMES[401]]).all()
    assert late.levels == pytest.approx(whole.levels, abs=0.02)
