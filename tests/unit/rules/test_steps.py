"""Step sizes: their values, what the text stands for, and what stochastic approximation asks of them."""

from __future__ import annotations

import json
import math

import pytest

import potentia as pt
from potentia.errors import InvalidRule
from potentia.rules.steps import Diminishing, step_data, step_from, step_size

VALUES = {
    "1/n": (Diminishing(), lambda n: 1 / n),
    "0.5/n": (Diminishing(scale=0.5), lambda n: 0.5 / n),
    "n^-0.6": (Diminishing(0.6), lambda n: n**-0.6),
    "0.5/n^0.7": (Diminishing(0.7, 0.5), lambda n: 0.5 * n**-0.7),
    " 1 / n ^ 0.75 ": (Diminishing(0.75), lambda n: n**-0.75),
    "1e-2/n": (Diminishing(scale=0.01), lambda n: 0.01 / n),
    "0.3": (0.3, lambda n: 0.3),
}


@pytest.mark.parametrize("text", VALUES)
def test_text_and_values(text):
    expected, formula = VALUES[text]
    found = step_from(text)
    assert found == expected
    for n in (1, 2, 7, 10**6, 10**15):
        assert step_size(step_data(found), n) == pytest.approx(formula(n), rel=1e-14)


def test_numbers_offsets_and_plain_data():
    assert step_from(0.25) == 0.25
    assert step_from(1) == 1.0
    step = Diminishing(0.8, 3.0, 4.0)
    assert step_size(step.data(), 1) == pytest.approx(3 * 5**-0.8, rel=1e-15)
    assert step_from(step) is step
    for one in (step, Diminishing(), Diminishing(2.0), Diminishing(0.3)):
        assert step_from(json.loads(json.dumps(one.spec()))) == one
    assert [str(one) for one in (step, Diminishing(), Diminishing(0.6))] == ["3/(n + 4)^0.8", "1/n", "1/n^0.6"]
    assert step_from(str(Diminishing(0.6, 0.5))) == Diminishing(0.6, 0.5)


@pytest.mark.parametrize(
    ("power", "endless", "summable"), [(0.3, True, False), (0.5, True, False), (0.51, True, True), (1.0, True, True),
                                       (1.01, False, True), (2.0, False, True)]
)  # fmt: skip
def test_the_two_sums(power, endless, summable):
    """Σ μ = ∞ iff power ≤ 1, Σ μ² < ∞ iff power > 1/2: the integral from 2^40 to 2^41 against that before it."""
    step = Diminishing(power)
    assert (step.endless, step.square_summable) == (endless, summable)

    def shell(r, k):
        """∫ n^-r over [2^k, 2^(k+1)]."""
        low, high = 2.0**k, 2.0 ** (k + 1)
        return math.log(high / low) if r == 1 else (high ** (1 - r) - low ** (1 - r)) / (1 - r)

    # shells of a divergent integral do not shrink
    assert (shell(power, 40) >= shell(power, 39) * (1 - 1e-9)) == endless
    assert (shell(2 * power, 40) >= shell(2 * power, 39) * (1 - 1e-9)) == (not summable)


BAD = {
    "zero": (lambda: step_from(0.0), r"mu must be a number in \(0, 1\], got 0\.0"),
    "above": (lambda: step_from(1.5), r"mu must be a number in \(0, 1\], got 1\.5"),
    "open": (lambda: step_from(1.0, closed=False), r"mu must be a number in \(0, 1\), got 1\.0"),
    "open text": (lambda: step_from("1.0", closed=False), r"mu must be a number in \(0, 1\), got 1\.0"),
    "nan": (lambda: step_from(math.nan), r"mu must be a number in \(0, 1\], got nan"),
    "bool": (lambda: step_from(True), r"mu must be a number in \(0, 1\], got True"),
    "none": (lambda: step_from(None, "step"), r"step must be a number in \(0, 1\], got None"),
    "text": (lambda: step_from("fast"), r'mu must be a number, "1/n" or "n\^-0\.6" \(any power\), got \'fast\''),
    "text above": (lambda: step_from("1.5"), r"mu must be a number in \(0, 1\], got 1\.5"),
    "half a formula": (lambda: step_from("1/m"), r"mu must be a number, .*got '1/m'"),
    "no power": (lambda: step_from("n^-"), r"mu must be a number, .*got 'n\^-'"),
    "power text": (lambda: step_from("1/n^x"), r"mu must be a number, .*got '1/n\^x'"),
    "power zero": (lambda: step_from("n^-0"), r"power must be a finite number > 0, got 0\.0"),
    "power nan": (lambda: step_from("n^-nan"), r"power must be .*got nan"),
    "scale": (lambda: Diminishing(scale=-1), r"scale must be a finite number > 0, got -1"),
    "offset": (lambda: Diminishing(offset=-1), r"offset must be .* of at least 0, got -1"),
    "offset text": (lambda: Diminishing(offset="1"), r"offset must be .*got '1'"),
    "power bool": (lambda: Diminishing(True), r"power must be .*got True"),
    "too large at first": (lambda: Diminishing(scale=2.0), r"a step must lie between 0 and 1, .*begin with 2"),
    "too large text": (lambda: step_from("2/n"), r"a step must lie between 0 and 1, .*begin with 2"),
    "nothing at first": (lambda: Diminishing(1000.0, 1.0, 10.0), r"a step must lie between 0 and 1, .*begin with 0"),
    "unknown": (
        lambda: step_from({"powr": 1.0}),
        r"mu that diminishes has no parameter 'powr'; did you mean",
    ),
    "list": (lambda: step_from([0.1]), r"mu must be a number in \(0, 1\], got \[0\.1\]"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_steps(name):
    call, message = BAD[name]
    with pytest.raises(InvalidRule, match=message):
        call()


def test_rules_keep_them_as_data():
    rule = pt.rule("ql", tau=1.0, mu="n^-0.6")
    assert rule.mu == Diminishing(0.6)
    assert pt.rules.rule_from(json.loads(rule.describe())) == rule
    assert pt.rule("soql", mu="adaptive").mu == "adaptive"
