"""From intervals to verdicts: every branch of the logic, and how often chance alone would say something."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from potentia.experiments.paper.case_verdicts import (
    FAILS,
    HOLDS,
    OPEN,
    Finding,
    difference,
    difference_of_shares,
    judge,
    reason,
    reason_over,
    restricted,
    spans,
)
from potentia.experiments.paper.claims import NOT_SUPPORTED, SUPPORTED
from potentia.experiments.statistics import Estimate


def some(low, high, mean=None, count=20):
    return Estimate((low + high) / 2 if mean is None else mean, low, high, count)


YES, NO, MAYBE = some(1, 3), some(-3, -1), some(-1, 3)


@pytest.mark.parametrize(
    ("found", "margin", "sign"),
    [
        (YES, 0, HOLDS),
        (NO, 0, FAILS),
        (MAYBE, 0, OPEN),
        (some(0, 1), 0, OPEN),
        (some(-0.9, 0.5), 1, HOLDS),
        (some(-3, -0.5), 1, OPEN),
        (some(-3, -1.1), 1, FAILS),
        (Estimate(5, np.nan, np.nan, 1), 0, OPEN),  # one run has no interval
        (Estimate(np.nan, np.nan, np.nan, 0), 0, OPEN),
    ],
)
def test_an_interval_holds_fails_or_is_open(found, margin, sign):
    assert Finding(("it",), found, margin).sign == sign


def verdict(*found, factors=("a",), keys=None):
    keys = keys or [(str(k),) for k in range(len(found))]
    return judge([Finding(key, one) for key, one in zip(keys, found, strict=True)], factors)


def test_a_verdict_needs_every_comparison_and_dependence_a_difference():
    assert verdict(YES, YES) == SUPPORTED
    assert verdict(NO, NO) == verdict(MAYBE, NO) == verdict(MAYBE) == NOT_SUPPORTED
    assert verdict(YES, NO) == verdict(YES, MAYBE, NO) == "depends on a"
    assert verdict(YES, MAYBE) == NOT_SUPPORTED  # the open one may be as large: nothing depends on anything
    assert verdict(YES, some(-1, 0.9)) == "depends on a"  # it may not


def test_a_verdict_names_the_factors_that_matter():
    keys = [("x", "1"), ("x", "2"), ("y", "1"), ("y", "2")]
    for found, on in (((YES, YES, NO, NO), "a"), ((YES, NO, YES, NO), "b"), ((YES, NO, NO, NO), "a and b")):
        assert verdict(*found, factors=("a", "b"), keys=keys) == f"depends on {on}"
    assert verdict(YES, NO, factors=("a", "b"), keys=[keys[0], keys[3]]) == "depends on a and b"


def test_reasons_have_the_numbers():
    found = [Finding(("first",), YES), Finding(("second",), NO), Finding(("third",), MAYBE)]
    text = reason(found)
    assert text == (
        "holds: first +2.0000 [+1.0000, +3.0000]. the other way round: second -2.0000 [-3.0000, -1.0000]. "
        "20 runs do not decide: third +1.0000 [-1.0000, +3.0000] contains 0"
    )
    assert "1 run does not decide" in reason([Finding(("it",), Estimate(5, np.nan, np.nan, 1))])
    assert "contains -0.5" in reason([Finding(("it",), MAYBE, 0.5)])
    over = [Finding(("speed", name), one) for name, one in zip("abcd", (YES, YES, NO, MAYBE), strict=True)]
    wanted = "speed: holds for a to b, the other way round for c, 20 runs do not decide for d"
    assert reason_over(over, "abcd") == wanted
    assert spans("abcde", lambda value: value in "abd") == "a to b and d"
    assert spans("ab", lambda value: False) == ""


def test_intervals_of_several_comparisons_hold_together():
    """Of 200 claims with ten true nulls, about 10 have a comparison that excludes 0; with plain intervals 80."""
    random = np.random.default_rng(5)
    wrong = plain = 0
    for _ in range(200):
        pairs = random.normal(size=(10, 2, 15))
        wrong += any(Finding(("",), difference(a, b, 10)).sign != OPEN for a, b in pairs)
        plain += any(Finding(("",), difference(a, b)).sign != OPEN for a, b in pairs)
    assert 1 <= wrong <= 25  # 10, and five standard deviations above
    assert plain > 50
    found = difference([1.0, 2.0, 4.0], [0.0, 0.0, 0.0], 4)
    half = stats.t.ppf(1 - 0.0125 / 2, 2) * np.std([1, 2, 4], ddof=1) / np.sqrt(3)
    np.testing.assert_allclose([found.low, found.high], [7 / 3 - half, 7 / 3 + half])
    assert np.isnan(difference([1.0], [0.0], 4).low)


def test_a_difference_of_shares_excludes_0_where_the_exact_test_rejects():
    for only in range(13):
        for other in range(13 - only):
            first, second = np.zeros((2, 12), bool)
            first[:only], second[only : only + other] = True, True
            found = difference_of_shares(first, second)
            assert found.mean == pytest.approx((only - other) / 12)
            assert found.low - 1e-12 <= found.mean <= found.high + 1e-12
            test = stats.binomtest(only, only + other).pvalue if only + other else 1.0
            assert (found.low > 0 or found.high < 0) == (test < 0.05), (only, other)
            wider = difference_of_shares(first, second, 10)
            assert wider.low <= found.low <= found.high <= wider.high


def test_runs_that_never_come_there_count_with_the_horizon():
    np.testing.assert_array_equal(restricted(np.array([5.0, np.nan]), 100), [5, 100])
