"""From intervals to verdicts: every branch of the logic, and how often chance alone would say something."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files

import numpy as np
import pytest
from scipy import stats

from potentia.cli.paper import _COLOURS
from potentia.paper.case_verdicts import (
    FAILS,
    HOLDS,
    OPEN,
    Finding,
    difference,
    difference_of_shares,
    judge,
    later_never,
    log_ratio,
    restricted,
    rule_applied,
)
from potentia.paper.case_words import LONGEST, RATIO, Comparisons, Words, evidence, percent, reason, reason_over, spans
from potentia.paper.claims import NOT_SUPPORTED, SUPPORTED, UNDECIDED, Claim
from potentia.paper.report.words import SIGNS, in_one_sentence, kind_of
from potentia.statistics.estimates import Estimate


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


@pytest.mark.parametrize(
    ("found", "sign"),
    [
        (some(-0.9, 0.9), HOLDS),
        (some(-0.5, 1.5), OPEN),  # as good, and perhaps better by more than the margin
        (some(-1.5, 0.5), OPEN),
        (some(-2, 2), OPEN),
        (some(1.1, 3), FAILS),  # better is not the same
        (some(-3, -1.1), FAILS),
        (Estimate(0, np.nan, np.nan, 1), OPEN),
    ],
)
def test_equality_has_two_sides(found, sign):
    assert Finding(("it",), found, 1.0, equal=True).sign == sign


def verdict(*found, factors=("a",), keys=None):
    keys = keys or [(str(k),) for k in range(len(found))]
    return judge([Finding(key, one) for key, one in zip(keys, found, strict=True)], factors)


def test_a_verdict_needs_every_comparison_and_dependence_a_difference():
    assert verdict(YES, YES) == SUPPORTED
    assert verdict(NO, NO) == verdict(MAYBE, NO) == NOT_SUPPORTED  # contradicted
    assert verdict(MAYBE) == verdict(MAYBE, MAYBE) == UNDECIDED
    assert verdict(YES, NO) == verdict(YES, MAYBE, NO) == "depends on a"
    assert verdict(YES, MAYBE) == UNDECIDED  # the open one may be as large: nothing depends on anything
    assert verdict(YES, some(-1, 0.9)) == "depends on a"  # it may not
    by_measure = [Finding(("steps",), YES), Finding(("metres",), some(-1, 0.9))]
    assert judge(by_measure, ["a"], measure=0) == UNDECIDED  # sizes of different things say nothing


def test_a_verdict_names_the_factors_that_matter():
    keys = [("x", "1"), ("x", "2"), ("y", "1"), ("y", "2")]
    for found, on in (((YES, YES, NO, NO), "a"), ((YES, NO, YES, NO), "b"), ((YES, NO, NO, NO), "a and b")):
        assert verdict(*found, factors=("a", "b"), keys=keys) == f"depends on {on}"
    assert verdict(YES, NO, factors=("a", "b"), keys=[keys[0], keys[3]]) == "depends on a and b"
    assert (
        verdict(YES, NO, factors=("a", "b"), keys=[("x", "1"), ("y", "")]) == "depends on a"
    )  # b has no meaning there
    three = verdict(YES, NO, factors=("a", "b", "c"), keys=[("x", "1", "s"), ("y", "2", "t")])
    assert three == "depends on a, b and c"


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
            "20 runs do not tell whether more or less here (+1.0000 steps [−1.0000, +3.0000]), nor in 2 others",
        ),
        (
            (YES, MAYBE),
            "More by 2.0000 steps [1.0000, 3.0000] here; undecided there (+1.0000 steps [−1.0000, +3.0000])",
        ),
        (
            (YES, MAYBE, MAYBE),
            "More by 2.0000 steps [1.0000, 3.0000] here; "
            "undecided there (+1.0000 steps [−1.0000, +3.0000]), and in 1 other",
        ),
        (
            (NO, MAYBE),  # refuted in one comparison, whatever the other is
            "Less by 2.0000 steps [1.0000, 3.0000] here; undecided there (+1.0000 steps [−1.0000, +3.0000])",
        ),
        ((Estimate(5, np.nan, np.nan, 1),), "1 run does not tell whether more or less here (+5.0000 steps)"),
    ],
)
def test_a_reason_is_a_sentence_of_one_of_four_shapes(found, text):
    assert told(*found) == text


def test_reasons_with_a_margin_and_in_percent():
    as_good = Words("as good", "worse")
    assert told(some(-0.9, 0.5), margin=1.0, words=as_good) == "As good here (−0.2000 [−0.9000, +0.5000])"
    undecided = "20 runs do not tell whether as good here (−1.7500 [−3.0000, −0.5000])"
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
    assert reason_over(over, WORDS, "abcd", "τ") == wanted
    same = [Finding((name,), YES) for name in "abcd"]
    assert reason_over(same, WORDS, "abcd", "τ") == "More at every τ"
    none = [Finding((name,), MAYBE) for name in "abcd"]
    assert reason_over(none, WORDS, "abcd", "τ") == "20 runs do not decide at any τ"
    long = [Finding(("s" * 145, name), one) for name, one in zip("abcd", (YES, NO, YES, MAYBE), strict=True)]
    assert reason_over(long, WORDS, "abcd", "τ").endswith("sss more at τ = a and c, less at b, unclear elsewhere")
    assert spans("abcde", lambda value: value in "abd") == "a to b and d"
    assert spans("ab", lambda value: False) == ""


def test_a_long_sentence_leaves_out_intervals_and_then_counts():
    def of(letters):
        findings = [Finding((name * letters,), one) for name, one in zip("abcd", (YES, YES, MAYBE, MAYBE), strict=True)]
        return reason(findings, judge(findings, ["where"]), WORDS)

    assert of(10).endswith("(+1.0000 steps [−1.0000, +3.0000]), and in 1 other")
    assert (
        of(40)
        == f"More by 2.0000 steps {'a' * 40}, and in 1 other; undecided {'c' * 40} (+1.0000 steps), and in 1 other"
    )
    assert of(57) == f"More by 2.0000 steps {'a' * 57}; undecided {'c' * 57} (+1.0000 steps)"
    assert len(of(57)) <= LONGEST


def test_evidence_has_a_line_for_each_comparison():
    findings = [Finding(("x", "1"), YES), Finding(("x", "2"), NO), Finding(("x", "3"), MAYBE, 0.5)]
    assert evidence(findings, WORDS, "τ") == [
        "X, τ = 1: +2.0000 steps [+1.0000, +3.0000]: more",
        "X, τ = 2: −2.0000 steps [−3.0000, −1.0000]: less",
        "X, τ = 3: +1.0000 steps [−1.0000, +3.0000], −0.5000 allowed: 20 runs do not decide",
    ]
    same = Finding(("x",), some(-0.2, 0.4), 0.5, equal=True)
    assert evidence([same], WORDS) == ["X: +0.1000 steps [−0.2000, +0.4000], ±0.5000 allowed: more"]


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


def shares(only, opposite, runs, comparisons=1):
    """Of so many runs the first alone is true in some, and the second alone in others."""
    first, second = np.zeros((2, runs), bool)
    first[:only], second[only : only + opposite] = True, True
    return difference_of_shares(first, second, comparisons)


def within_those_that_differ(only, opposite, runs):
    """Clopper and Pearson's interval among the runs that differ, their number taken as given: not one of 95 %."""
    if only + opposite == 0:
        most = stats.binomtest(0, runs).proportion_ci(0.95).high
        return Estimate(0.0, -most, most, runs)
    ends = stats.binomtest(only, only + opposite).proportion_ci(0.95)
    scale = (only + opposite) / runs
    return Estimate((only - opposite) / runs, (2 * ends.low - 1) * scale, (2 * ends.high - 1) * scale, runs)


@cache
def outcomes(interval, runs):
    """All outcomes of so many runs, and their intervals."""
    rows = [(b, c, runs - b - c) for b in range(runs + 1) for c in range(runs + 1 - b)]
    found = [interval(b, c, runs) for b, c, _ in rows]
    return np.array(rows), np.array([(one.low, one.high) for one in found])


def coverage(interval, runs, only, opposite):
    """How often the interval holds the true difference, over all outcomes of so many runs."""
    rows, ends = outcomes(interval, runs)
    law = stats.multinomial.pmf(rows, runs, [only, opposite, 1 - only - opposite])
    inside = (ends[:, 0] - 1e-9 <= only - opposite) & (only - opposite <= ends[:, 1] + 1e-9)
    return float(law[inside].sum())


def test_a_difference_of_shares_has_an_interval_of_95_percent():
    chances = [(0.1, 0.1), (0.3, 0.1), (0.5, 0.05), (0.2, 0.4), (0.7, 0.1), (0.9, 0.02), (0.5, 0.0), (0.3, 0.02)]
    for runs in (10, 20):
        true = [coverage(shares, runs, *those) for those in chances]
        assert min(true) > 0.93
        assert np.mean(true) > 0.95
    # the control: with the number of differing runs taken as given it is no such interval
    assert coverage(within_those_that_differ, 20, 0.9, 0.02) < 0.8
    assert coverage(within_those_that_differ, 20, 0.5, 0.0) < 0.6


def test_a_difference_of_shares_excludes_0_where_mcnemars_test_rejects():
    for only in range(13):
        for opposite in range(13 - only):
            found = shares(only, opposite, 12)
            assert found.mean == pytest.approx((only - opposite) / 12)
            assert -1 <= found.low <= found.mean <= found.high <= 1
            score = (only - opposite) ** 2 / max(only + opposite, 1)
            assert (found.low > 0 or found.high < 0) == (score > stats.chi2.ppf(0.95, 1)), (only, opposite)
            turned = shares(opposite, only, 12)
            np.testing.assert_allclose([turned.low, turned.high], [-found.high, -found.low])
            wider = shares(only, opposite, 12, 10)
            assert wider.low <= found.low <= found.high <= wider.high
    most = stats.chi2.ppf(0.95, 1) / (12 + stats.chi2.ppf(0.95, 1))  # where no run differs: Wilson's
    np.testing.assert_allclose([shares(0, 0, 12).low, shares(0, 0, 12).high], [-most, most])
    assert shares(1, 0, 1).low < 0  # one run decides nothing


def test_a_ratio_of_means_is_above_0():
    random = np.random.default_rng(3)
    wrong = 0
    for _ in range(400):  # twice as much in truth, with a common part
        common = random.gamma(4.0, 1.0, 40)
        found = log_ratio(2 * (common + random.gamma(4.0, 1.0, 40)), common + random.gamma(4.0, 1.0, 40))
        wrong += not found.low <= np.log(2) <= found.high
    assert 5 <= wrong <= 45  # 20, and more than five standard deviations
    exact = log_ratio([2.0, 4.0], [1.0, 2.0], 5)
    assert (exact.mean, exact.low, exact.high) == pytest.approx((np.log(2),) * 3)
    assert log_ratio([2.0, 4.0, 3.0], [1.0, 1.0, 2.0], 5).low < log_ratio([2.0, 4.0, 3.0], [1.0, 1.0, 2.0]).low
    assert np.isnan(log_ratio([1.0], [2.0]).low)
    assert np.isnan(log_ratio([0.0, 0.0], [1.0, 2.0]).mean)
    fewer = Words("fewer", "more", RATIO)
    assert told(some(np.log(2), np.log(5), np.log(4)), words=fewer) == "Fewer here (0.25 times [0.20, 0.50])"
    assert told(some(-np.log(5), -np.log(2), -np.log(4)), words=fewer) == "More here (4.00 times [2.00, 5.00])"
    assert "not defined" in told(log_ratio([0.0, 0.0], [1.0, 2.0]), words=fewer)


def test_the_papers_own_setting_decides_where_others_are_open():
    held, other = Finding(("own", "a"), YES), Finding(("elsewhere", "b"), some(-1, 4))
    assert judge([held, other], ["setting", "measure"], 1) == UNDECIDED
    assert judge([held, other], ["setting", "measure"], 1, own="own") == SUPPORTED
    assert (
        judge([Finding(("own", "a"), MAYBE), Finding(("elsewhere", "b"), YES)], ["x", "y"], 1, own="own") == UNDECIDED
    )
    assert judge([held, Finding(("elsewhere", "b"), NO)], ["setting", "measure"], 1, own="own").startswith("depends on")


def test_the_rule_that_gave_a_verdict_is_told():
    """Of the same three comparisons, in words that say why it is this verdict and no other."""

    def told(*found, own="", measure=None):
        findings = [Finding((place, what), one) for place, what, one in found]
        return rule_applied(findings, judge(findings, ["place", "measure"], measure, own), measure, own)

    here, there = ("here", "time", YES), ("there", "time", MAYBE)
    assert told(here) == "every comparison holds"
    assert told(("here", "time", NO), there) == "no comparison holds, 1 of 2 fails"
    assert told(there) == "no comparison holds, and none fails"
    assert told(here, there, own="here").endswith("holds; elsewhere 1 of 2 in all is open and none fails")
    assert told(here, there).startswith("1 of 2 comparisons holds; none fails")
    less = ("there", "time", some(-1, 0.5))
    below = "; 1 of those open is clearly smaller than one that holds by the same measure"
    assert told(here, less) == "1 of 2 comparisons holds" + below
    assert told(here, ("there", "way", some(-1, 0.5)), measure=1).startswith("1 of 2 comparisons holds; none fails")
    assert told(here, ("there", "time", NO), ("else", "time", MAYBE)) == "1 of 3 comparisons holds; 1 fails"


def test_a_time_that_was_never_reached_is_no_measurement():
    made = Comparisons(Words("sooner", "later", "steps"))
    made.times("never", np.full(3, np.nan), 100)
    made.times("twice", np.array([50.0, 70.0, np.nan]), 100)
    made.times("always", np.array([50.0, 60.0, 70.0]), 100)
    never, some_, always = made.measured
    assert (never.value, never.unit) == ("never (0 of 3 runs)", "")
    assert (some_.label, some_.value.mean) == ("twice, at least (never in 1 of 3 runs)", pytest.approx(220 / 3))
    assert (always.label, always.value.mean) == ("always", 60.0)
    late, soon = np.array([np.nan, 80.0]), np.array([10.0, 20.0])
    assert later_never(late, soon, some(30, 90))
    assert later_never(soon, late, some(-90, -30))
    assert not later_never(late, late, some(30, 90))
    assert not later_never(soon, late, some(30, 90))
    made.add(("it",), some(30, 90), "by", "steps", said="to it", at_least=True)
    judged = made.judged(["what"])
    assert judged.reason == "Sooner by at least 60 steps [30, 90] to it"
    assert judged.evidence[0] == "It: +60 steps [+30, +90], at least: sooner"


def test_undecided_is_counted_by_itself_and_has_its_own_sign_and_colours():
    def summary(*verdicts):
        return in_one_sentence([Claim(str(k), "experiment", "", "", (), one, "") for k, one in enumerate(verdicts)])

    known = (SUPPORTED, NOT_SUPPORTED, "depends on a")
    assert summary(*known).endswith(
        "1 is supported, 1 is not supported and 1 depends on circumstances that the verdict names."
    )
    assert summary(*known, UNDECIDED).endswith("the verdict names and 1 is undecided by so many runs.")
    assert summary(UNDECIDED, UNDECIDED) == "Of 2 claims, 2 are undecided by so many runs."
    assert kind_of(UNDECIDED) == UNDECIDED
    assert len(set(SIGNS.values())) == len({sign for sign, _ in SIGNS.values()}) == len(SIGNS) == 4
    assert {css for _, css in SIGNS.values()} == set(_COLOURS)
    text = (files("potentia.paper.report") / "report.css").read_text("utf-8")
    for _, css in SIGNS.values():
        pairs = re.findall(rf"--{css}: (#\w+); --{css}-ground: (#\w+);", text)
        assert len(pairs) == 4  # light, dark twice, print
        assert min(contrast(*pair) for pair in pairs) >= 4.5


def contrast(first, second):
    """Of two colours, by WCAG."""
    light = []
    for colour in (first, second):
        digits = colour[1:] if len(colour) == 7 else "".join(2 * digit for digit in colour[1:])
        parts = np.array([int(digits[k : k + 2], 16) for k in (0, 2, 4)]) / 255
        linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
        light.append(float(linear @ [0.2126, 0.7152, 0.0722]) + 0.05)
    return max(light) / min(light)


def test_runs_that_never_come_there_count_with_the_horizon():
    np.testing.assert_array_equal(restricted(np.array([5.0, np.nan]), 100), [5, 100])
