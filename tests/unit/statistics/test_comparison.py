"""Paired comparisons on numbers worked out by hand: permutation p-values, effects, Holm's correction, alignment."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import xarray as xr

from potentia.errors import InvalidInput
from potentia.statistics.comparison import compare, compare_all, holm
from potentia.statistics.estimates import bootstrap_mean


def by_seed(values, seeds):
    return xr.DataArray(np.asarray(values, float), dims="seed", coords={"seed": list(seeds)})


def enumerated(differences):
    """The share of all choices of signs whose sum is at least as far from 0; of integers, so without rounding."""
    sums = [
        abs(sum(s * d for s, d in zip(signs, differences, strict=True)))
        for signs in itertools.product((1, -1), repeat=len(differences))
    ]
    return np.mean([s >= abs(sum(differences)) for s in sums])


def test_three_pairs_by_hand():
    """±1 ±2 ±4 makes 7, 5, 3, 1 and their negatives, each in one of the 8 ways."""
    found = compare([2, 4, 1], [1, 2, 5])  # 1, 2, -4 sum to -1: none is nearer to 0
    assert (found.p_value, found.exact, found.pairs, found.left_out) == (1.0, True, 3, 0)
    found = compare([2, 4, 5], [1, 2, 1])  # 1, 2, 4: only +++ and --- reach 7
    assert found.p_value == found.adjusted == 2 / 8
    found = compare([0, 4, 5], [1, 2, 1])  # -1, 2, 4 sum to 5: ±5 and ±7
    assert found.p_value == 4 / 8
    assert found.difference.mean == pytest.approx(5 / 3)
    assert found.larger == pytest.approx(2 / 3)
    assert found.effect == pytest.approx((5 / 3) / np.sqrt(((8 / 3) ** 2 + (1 / 3) ** 2 + (7 / 3) ** 2) / 2))


def test_exact_p_values_are_those_enumerated():
    random = np.random.default_rng(5)
    for size in (2, 5, 8):
        for _ in range(5):
            d = random.integers(-3, 5, size).tolist()
            for scale in (1, 0.1):  # multiples of 0.1 tie only up to rounding
                found = compare(scale * np.array(d), np.zeros(size))
                assert found.p_value == pytest.approx(enumerated(d), abs=1e-12), d
    balanced = np.array([-2, -1, 0, 9, -6, 0, -9, 9])  # a tenth of them sums to 0 in one order and not in another
    assert compare(0.1 * balanced, np.zeros(8)).p_value == enumerated(balanced.tolist()) == 1


def test_drawn_p_values_are_near_the_exact_ones():
    d = np.random.default_rng(6).normal(0.4, 1, 12)
    exact, drawn = compare(d, 0 * d), compare(d, 0 * d, resamples=4000)
    assert exact.exact
    assert not drawn.exact
    assert exact.p_value != drawn.p_value
    assert drawn.p_value == pytest.approx(exact.p_value, abs=5 * np.sqrt(1 / 4000))


def test_the_interval_is_the_bootstraps_and_draws_come_from_the_seed_alone():
    random = np.random.default_rng(7)
    a, b = random.exponential(2, 40), random.exponential(1, 40)
    found = compare(a, b, seed=3, level=0.9, resamples=999)
    assert found.difference == bootstrap_mean(a - b, 3, 0.9, 999)
    np.random.seed(1)  # noqa: NPY002 - that the global state plays no part is the point
    assert compare(a, b, seed=3, level=0.9, resamples=999) == found
    assert compare(a, b, seed=4, level=0.9, resamples=999) != found
    back = compare(b, a, seed=3, level=0.9, resamples=999)
    assert back.difference.mean == -found.difference.mean
    assert back.effect == -found.effect
    assert back.larger == pytest.approx(1 - found.larger)


def test_differences_without_spread():
    same = compare([1, 2, 3], [1, 2, 3])
    assert (same.p_value, same.effect, same.larger) == (1.0, 0.0, 0.5)
    assert (same.difference.low, same.difference.high) == (0, 0)
    shifted = compare([1, 2, 3], [2, 3, 4])
    assert (shifted.p_value, shifted.effect, shifted.larger) == (2 / 8, -np.inf, 0.0)
    one = compare([2.0], [1.0])
    assert (one.p_value, one.larger, one.pairs) == (1.0, 1.0, 1)
    assert np.isnan([one.effect, one.difference.low]).all()
    none = compare([np.nan, 1], [1, np.nan])
    assert (none.pairs, none.left_out) == (0, 2)
    assert np.isnan([none.p_value, none.larger, none.effect, none.difference.mean]).all()


def test_seeds_are_aligned():
    a, b = by_seed([10, 20, 30, 40], [4, 2, 3, 9]), by_seed([1, 2, 3], [2, 3, 4])
    found = compare(a, b)
    assert found.difference.mean == pytest.approx((7 + 19 + 28) / 3)
    assert (found.pairs, found.left_out) == (3, 1)
    found = compare(a, by_seed([1, np.nan, 3, 0], [2, 3, 4, 8]))
    assert found.difference.mean == pytest.approx((7 + 19) / 2)
    assert (found.pairs, found.left_out) == (2, 3)  # seeds 3 (NaN), 8 and 9
    assert compare(a.values[1:], b.values).difference.mean == pytest.approx((19 + 28 + 37) / 3)  # plain: by place


def test_holm_by_hand():
    """Four p-values: 0.005·4, 0.01·3, then 0.03·2 = 0.06, and 0.04·1 raised to the 0.06 before it."""
    np.testing.assert_allclose(holm([0.01, 0.04, 0.03, 0.005]), [0.03, 0.06, 0.06, 0.02])
    np.testing.assert_allclose(holm([0.01, np.nan, 0.04]), [0.02, np.nan, 0.04])
    np.testing.assert_allclose(holm([0.9, 0.8]), [1, 1])
    np.testing.assert_array_equal(holm([0.2]), [0.2])
    assert holm([]).shape == (0,)
    with pytest.raises(InvalidInput, match=r"p_values must lie between 0 and 1, got 1\.5"):
        holm([0.1, 1.5])


def test_all_pairs_or_against_one():
    random = np.random.default_rng(8)
    samples = {name: by_seed(random.normal(k, 1, 10), range(10)) for k, name in enumerate("abc")}
    pairs = compare_all(samples)
    assert [(each.first, each.second) for each in pairs] == [("a", "b"), ("a", "c"), ("b", "c")]
    np.testing.assert_array_equal([p.adjusted for p in pairs], holm([p.p_value for p in pairs]))
    assert any(p.adjusted > p.p_value for p in pairs)
    against = compare_all(samples, "b")
    assert [(each.first, each.second) for each in against] == [("a", "b"), ("c", "b")]
    assert against[0].p_value == pairs[0].p_value
    assert "adjusted" in str(pairs[1])
    assert "adjusted" not in str(compare([1, 2, 3], [0, 0, 0]))


GOOD = by_seed([1, 2], [0, 1])


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        ([1, 2], [1, 2, 3], r"two lists of one length, got shapes \(2,\) and \(3,\)"),
        ([[1, 2]], [[1, 2]], r"two lists of one length, got shapes \(1, 2\) and \(1, 2\)"),
        (["a"], [1], "first must be an array of real numbers, got list"),
        ([[1], [1, 2]], [1], "first must be an array of real numbers, got list"),
        ([1.0, 2.0], [np.inf, 1.0], "second must be finite, or NaN where there is none, got inf"),
        (GOOD, [1, 2], "must both be DataArrays with seeds or both plain, got DataArray and list"),
        (GOOD, by_seed([1, 2], [2, 3]), "first and second must have seeds in common, got none"),
        (GOOD, by_seed([1, 2], [1, 1]), "second must have each seed once, got 1 again"),
        (xr.DataArray([1.0, 2.0], dims="seed"), GOOD, "first must have one number per seed, with a seed coordinate"),
        (GOOD, xr.DataArray(np.ones((2, 2)), dims=("seed", "time")), "second must have one number per seed"),
    ],
)
def test_what_cannot_be_paired_is_refused(first, second, message):
    with pytest.raises(InvalidInput, match=message):
        compare(first, second)


def test_bad_options_are_refused():
    for options, message in [
        ({"level": 1.0}, r"level must be a number in \(0, 1\), got 1\.0"),
        ({"resamples": 1}, "resamples must be an integer of at least 2, got 1"),
        ({"seed": -1}, "seed must be an integer of at least 0, got -1"),
    ]:
        with pytest.raises(InvalidInput, match=message):
            compare([1, 2, 4], [0, 1, 1], **options)
    with pytest.raises(InvalidInput, match="reference must be one of one, two, got 'tow'; did you mean 'two'"):
        compare_all({"one": [1, 2], "two": [2, 3]}, "tow")
    with pytest.raises(InvalidInput, match="samples must be a mapping of two names at least to values by seed, got 1"):
        compare_all({"one": [1, 2]})
    with pytest.raises(InvalidInput, match="got list"):
        compare_all([[1, 2], [2, 3]])
    with pytest.raises(InvalidInput, match="one and two must be two lists of one length"):
        compare_all({"one": [1, 2], "two": [2]})
