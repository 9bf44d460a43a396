"""A common unit of payoffs is found where there is one, and nothing is made up where there is none."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from potentia.analysis.units import in_units
from potentia.errors import InvalidRule


def table(values):
    return np.atleast_2d(np.asarray(values, float))


@pytest.mark.parametrize("unit", [1.0, 0.1, 1 / 3, 0.01, 0.25, math.pi, 7e-11, 3e200])
@pytest.mark.parametrize("offset", [0.0, -12.0])
def test_multiples_of_a_unit(unit, offset):
    """Payoffs come out as whole numbers from each player's least, and ties are exact."""
    counts = np.random.default_rng(1).integers(0, 30, size=(3, 40))
    counts[0, :2] = 0, 1  # the unit itself occurs
    found = in_units((counts + offset) * unit, False, 0.0)
    assert found.exact
    assert found.tie == 0.0
    np.testing.assert_allclose(found.unit, unit, rtol=1e-9)
    np.testing.assert_array_equal(found.payoffs, counts - counts.min(axis=1, keepdims=True))


def test_the_unit_is_the_largest():
    found = in_units(table([0, 6, 10, 20]), False, 0.0)
    assert found.unit == 2.0
    np.testing.assert_array_equal(found.payoffs, [[0, 3, 5, 10]])


def test_tenths_that_differ_in_rounding():
    """0.1 + 0.2 is not 0.3 in floating point; in tenths both are 3."""
    found = in_units(table([0.0, 0.1, 0.3, 0.1 + 0.2, 0.7, 0.1 + 0.6]), False, 0.0)
    assert 0.1 + 0.2 != 0.3
    assert found.exact
    np.testing.assert_array_equal(found.payoffs, [[0, 1, 3, 3, 7, 7]])


def test_thirds_and_quarters_meet_in_twelfths():
    found = in_units(table([0.0, 1 / 3, 2 / 3, 0.25, 0.5]), False, 0.0)
    assert found.exact
    np.testing.assert_allclose(found.unit, 1 / 12, rtol=1e-12)
    np.testing.assert_array_equal(found.payoffs, [[0, 4, 8, 3, 6]])


def test_each_player_counts_from_its_own_least():
    found = in_units(np.array([[100.5, 101.0], [-3.0, -7.5]]), False, 0.0)
    assert found.exact
    np.testing.assert_array_equal(found.payoffs * found.unit, [[0.0, 0.5], [4.5, 0.0]])


def test_one_more_number_to_be_a_multiple():
    payoffs = table([0, 1, 4])
    assert in_units(payoffs, False, 0.0).unit == 1.0
    found = in_units(payoffs, False, 2.5)
    assert found.exact
    assert found.unit == 0.5
    np.testing.assert_array_equal(found.payoffs, [[0, 2, 8]])
    assert in_units(table([0.0, 0.0]), False, 2.5).exact  # the only scale there is


@pytest.mark.parametrize("extra", [math.sqrt(2), math.pi])
def test_one_more_number_that_is_no_multiple(extra):
    found = in_units(table([0, 1, 4]), False, extra)
    assert not found.exact
    assert found.unit == 1.0
    assert 0 < found.tie < 1e-8


@pytest.mark.parametrize("scale", [1.0, 1e-9, 1e12])
def test_normal_payoffs_have_no_unit(scale):
    for seed in range(50):
        payoffs = scale * np.random.default_rng(seed).normal(size=(2, 9))
        found = in_units(payoffs, False, 0.0)
        assert not found.exact
        assert found.unit == 1.0
        np.testing.assert_array_equal(found.payoffs, payoffs - payoffs.min(axis=1, keepdims=True))
        assert 0 < found.tie <= 1e-8 * np.ptp(found.payoffs)


def test_a_unit_too_fine_to_mean_anything():
    """Multiples of 1e-8 of the spread: any three numbers are that."""
    assert not in_units(table([0.0, 1.0, 0.12345678]), False, 0.0).exact


def test_a_difference_below_the_unit_is_not_lost():
    """1 beside 1e10 is neither a multiple of 1e10 nor noise."""
    assert not in_units(table([0.0, 1e10, 1e10 + 1.0]), False, 0.0).exact


def test_what_the_others_decide_plays_no_part():
    """Where players compare their own actions only, a bonus of 1e11 for what another does changes nothing."""
    payoffs = np.array([[[1.0, -1.0], [-1.0, 1.0]], [[-1.0, 1.0], [1.0, -1.0]]])
    payoffs[0][:, 1] += 1e11
    assert not in_units(payoffs, False, 0.0).exact
    found = in_units(payoffs, True, 0.0)
    assert (found.unit, found.exact) == (2.0, True)
    np.testing.assert_array_equal(found.payoffs, [[1, 0, 0, 1], [0, 1, 1, 0]])


def test_a_number_too_large_beside_the_payoffs():
    with pytest.raises(InvalidRule, match=r"must be between 4e-08 and 400000 here, .*; got 1e\+06"):
        in_units(table([0, 1, 4]), False, 1e6)


def test_constant_payoffs():
    found = in_units(np.full((2, 4), 3.7), False, 0.0)
    assert found.exact
    np.testing.assert_array_equal(found.payoffs, np.zeros((2, 4)))


def test_an_outlier_among_many_is_seen():
    """Of a large table only some values are looked at first; all of them are checked in the end."""
    payoffs = np.random.default_rng(2).integers(0, 5, size=(2, 30_000)).astype(float)
    assert in_units(payoffs, False, 0.0).exact
    payoffs[1, 12_345] += 0.3217
    found = in_units(payoffs, False, 0.0)
    assert not found.exact or np.abs(found.payoffs * found.unit - (payoffs - payoffs.min())).max() < 1e-8


def test_the_input_is_left_alone():
    payoffs = np.array([[1.0, 3.0], [2.0, 5.0]])
    payoffs.setflags(write=False)
    in_units(payoffs, False, 0.0)
    np.testing.assert_array_equal(payoffs, [[1.0, 3.0], [2.0, 5.0]])


@pytest.mark.parametrize("own_only", [True, False])
@pytest.mark.parametrize("extra", [0.0, 0.5, 1 / 3])
def test_a_unit_that_is_given(own_only, extra):
    """Counted in it nothing is rounded; one more number is a multiple of a part of it, or nothing is."""
    counts = np.random.default_rng(0).integers(0, 10**6, size=(2, 3, 3))
    unit = Fraction(1, 999_983)
    found = in_units(counts * float(unit), own_only, extra, given=unit)
    assert not in_units(counts * float(unit), own_only, extra).exact
    assert found.exact == (extra != 1 / 3)
    least = [counts.min(axis=1, keepdims=True)[0], counts[1].min(axis=1, keepdims=True)]
    wanted = np.array([counts[0] - counts[0].min(axis=0), counts[1] - least[1]]) if own_only else None
    if wanted is None:
        wanted = counts - counts.min(axis=(1, 2), keepdims=True)
    if found.exact:
        np.testing.assert_allclose(found.payoffs * found.unit, wanted.reshape(2, -1) / 999_983, rtol=1e-12)
        np.testing.assert_array_equal(found.payoffs, np.rint(found.payoffs))
