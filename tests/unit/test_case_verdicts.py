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
    restricted,
)
from potentia.experiments.paper.case_words import Words, evidence, percent, reason, reason_over, spans
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


WORDS = Words("more", "less", "steps", "in every other case")


def told(*found, words=WORDS, margin=0.0):
    """The reason for the verdict that follows."""
    findings = [
        Finding((name,), one, margin) for name, one in zip(("here", "there", "yonder", "far"), found, strict=False)
    ]
    return reason(findings, judge(findings, ["where"]), words)


LESS_AT_BEST = some(-1, 0.9)


@pytest.mark.parametrize(
    ("found", "text"),
    [
        ((YES,), "More by 2.0000 steps [1.0000, 3.0000] here"),
        ((YES, YES), "More by 2.0000 steps [1.0000, 3.0000] here, and in every other case"),
        ((NO, NO), "Less by 2.0000 steps [1.0000, 3.0000] here, and in every other case"),
        ((YES, NO), "More by 2.0000 steps [1.0000, 3.0000] here; less by 2.0000 steps there"),
        (
            (YES, NO, NO, MAYBE),
            "More by 2.0000 steps [1.0000, 3.0000] here; less by 2.0000 steps there, and in 1 other; "
            "no clear difference in 1 other",
        ),
        (
            (YES, LESS_AT_BEST),
            "More by 2.0000 steps [1.0000, 3.0000] here; no clear difference there (−0.0500 steps [−1.0000, +0.9000])",
        ),
        (
            (MAYBE, MAYBE, MAYBE),
            "Undecided: 20 runs do not tell whether more or less here (+1.0000 steps [−1.0000, +3.0000]), "
            "nor in 2 others",
        ),
        (
            (YES, MAYBE),
            "Undecided: more by 2.0000 steps [1.0000, 3.0000] here; "
            "20 runs do not tell whether more or less there (+1.0000 steps [−1.0000, +3.0000])",
        ),
        (
            (NO, MAYBE),  # refuted in one comparison, whatever the other is
            "Less by 2.0000 steps [1.0000, 3.0000] here; "
            "20 runs do not tell whether more or less there (+1.0000 steps [−1.0000, +3.0000])",
        ),
        ((Estimate(5, np.nan, np.nan, 1),), "Undecided: 1 run does not tell whether more or less here (+5.0000 steps)"),
    ],
)
def test_a_reason_is_a_sentence_of_one_of_four_shapes(found, text):
    assert told(*found) == text


def test_reasons_with_a_margin_and_in_percent():
    as_good = Words("as good", "worse")
    assert told(some(-0.9, 0.5), margin=1.0, words=as_good) == "As good here (−0.2000 [−0.9000, +0.5000])"
    undecided = "Undecided: 20 runs do not tell whether as good here (−1.7500 [−3.0000, −0.5000])"
    assert told(some(-3, -0.5), margin=1.0, words=as_good) == undecided
    assert told(some(0.1, 0.3), words=Words("more", "less", "%")) == "More by 20 % [10 %, 30 %] here"
    assert percent(some(0.48, 0.85, 0.7)) == "70 % [48 %, 85 %]"
    assert told(some(1000, 3000)) == "More by 2,000 steps [1,000, 3,000] here"


def test_a_factor_that_tells_signs_apart_is_named_alone():
    keys = [("a", "early"), ("b", "early"), ("a", "late"), ("b", "late")]
    findings = [Finding(key, one) for key, one in zip(keys, (YES, YES, NO, NO), strict=True)]
    wanted = "More by 2.0000 steps [1.0000, 3.0000] early; less by 2.0000 steps late"
    assert reason(findings, judge(findings, ["what", "when"]), WORDS) == wanted
    mixed = [Finding(key, one) for key, one in zip(keys, (YES, YES, NO, YES), strict=True)]
    assert "a, early, and in 2 others; less" in reason(mixed, judge(mixed, ["what", "when"]), WORDS)


def test_reasons_over_a_grid_are_ranges():
    over = [Finding(("speed", name), one) for name, one in zip("abcd", (YES, YES, NO, MAYBE), strict=True)]
    wanted = "Speed more at τ = a to b, less at τ = c, unclear elsewhere"
    assert reason_over(over, "depends on τ", WORDS, "abcd", "τ") == wanted
    same = [Finding((name,), YES) for name in "abcd"]
    assert reason_over(same, SUPPORTED, WORDS, "abcd", "τ") == "More at every τ"
    none = [Finding((name,), MAYBE) for name in "abcd"]
    assert reason_over(none, NOT_SUPPORTED, WORDS, "abcd", "τ") == "Undecided: 20 runs do not decide at any τ"
    assert spans("abcde", lambda value: value in "abd") == "a to b and d"
    assert spans("ab", lambda value: False) == ""


def test_evidence_has_a_line_for_each_comparison():
    findings = [Finding(("x", "1"), YES), Finding(("x", "2"), NO), Finding(("x", "3"), MAYBE, 0.5)]
    assert evidence(findings, WORDS, "τ") == [
        "X, τ = 1: +2.0000 steps [+1.0000, +3.0000]: more",
        "X, τ = 2: −2.0000 steps [−3.0000, −1.0000]: less",
        "X, τ = 3: +1.0000 steps [−1.0000, +3.0000], −0.5000 allowed: 20 runs do not decide",
    ]


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
