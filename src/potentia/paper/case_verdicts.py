"""From paired differences to a verdict.

A claim is put as comparisons, each oriented so that it holds where the mean difference is above 0; with a margin, where
it is above -margin ("as good as"), or, for a claim of equality, within ±margin. A comparison holds if its whole
interval does, fails if its whole interval is on the other side, and is open otherwise. Intervals of a claim with k
comparisons are those of level 1 - 0.05/k, so that all of them hold together with a confidence of 95 % (Bonferroni);
within a claim, not over all claims. An interval of 95 % within ±margin is two one-sided tests (TOST) at 2.5 % each.

The claim is supported if every comparison holds. Where some hold and others do not, it depends on what tells these
apart, provided that they are shown to differ: the others fail, or by the same measure their whole interval is below
that of one that holds. Where none holds and some fail, it is not supported: what was measured contradicts it. Else the
runs do not decide.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import permutations

import numpy as np
from numpy.typing import ArrayLike

from potentia.kernel.arrays import Floats
from potentia.paper.claims import DEPENDS, NOT_SUPPORTED, SUPPORTED, UNDECIDED, listed
from potentia.statistics.estimates import Estimate, paired_difference

HOLDS, OPEN, FAILS = 1, 0, -1
MARGIN = 0.05  # of the worth that "as good as" is measured by
_LEVEL = 0.05


@dataclass(frozen=True)
class Finding:
    """One comparison: in which circumstances, and by how much the claim holds there."""

    key: tuple[str, ...]  # one entry for each factor, empty where the factor has no meaning
    found: Estimate
    margin: float = 0.0
    said: str = ""  # the circumstances as a sentence has them, if otherwise than ``case``
    equal: bool = False  # whether the claim is one of equality
    at_least: bool = False  # whether the difference is larger than found: the later of the two never came there

    @property
    def sign(self) -> int:
        """Whether it holds."""
        low, high = self.found.low, self.found.high
        if self.equal and low > self.margin:
            return FAILS
        if low > -self.margin and (not self.equal or high < self.margin):
            return HOLDS
        return FAILS if high < -self.margin else OPEN

    @property
    def case(self) -> str:
        """The circumstances in words."""
        return ", ".join(filter(None, self.key))

    def above(self, other: Finding, measure: int | None = None) -> bool:
        """Whether this one holds, and the other one fails or, by the same measure, holds by less at best."""
        if self.sign != HOLDS or other.sign == HOLDS:
            return False
        if other.sign == FAILS:
            return True
        if self.equal or (measure is not None and self.key[measure] != other.key[measure]):
            return False
        return other.found.high + other.margin < self.found.low + self.margin


# Differences ------------------------------------------------------------------------------------------


difference = paired_difference  # with an interval for one of so many comparisons


def log_ratio(first: ArrayLike, second: ArrayLike, comparisons: int = 1) -> Estimate:
    """The logarithm of the ratio of two paired means, first over second; the interval by the delta method.

    Its exponential is above 0, as a ratio of counts is. NaN where a mean is not above 0.
    """
    one, other = np.asarray(first, np.float64), np.asarray(second, np.float64)
    means = float(one.mean()), float(other.mean())
    if not (min(means) > 0.0 and math.isfinite(max(means))):
        return Estimate(math.nan, math.nan, math.nan, one.size)
    middle = math.log(means[0] / means[1])
    if one.size < 2:
        return Estimate(middle, math.nan, math.nan, one.size)
    error = float((one / means[0] - other / means[1]).std(ddof=1)) / math.sqrt(one.size)
    half = _student(one.size, comparisons) * error
    return Estimate(middle, middle - half, middle + half, one.size)


@cache
def _student(count: int, comparisons: int = 1) -> float:
    from scipy import stats

    return float(stats.t.ppf(1 - _LEVEL / 2 / comparisons, count - 1))


def difference_of_shares(first: ArrayLike, second: ArrayLike, comparisons: int = 1) -> Estimate:
    """The share of runs in which the first is true less that of the second, paired, with Tango's score interval.

    Tango (1998), Statistics in Medicine 17, 891-908: the differences that a score test does not reject, with the
    number of runs as the sample. It excludes 0 where McNemar's test without correction rejects.
    """
    one, other = np.asarray(first, bool), np.asarray(second, bool)
    only, opposite = int((one & ~other).sum()), int((~one & other).sum())
    level = _LEVEL / 2 / comparisons
    high = _tango(only, opposite, one.size, level)
    low = -_tango(opposite, only, one.size, level)
    return Estimate((only - opposite) / one.size, low, high, one.size)


def _tango(only: int, opposite: int, size: int, level: float) -> float:
    """The upper end: the largest difference whose score is not below the quantile."""
    from scipy.optimize import brentq
    from scipy.special import ndtri

    most = float(-ndtri(level))

    def score(apart: float) -> float:
        linear = (2 * size - only + opposite) * apart - only - opposite
        root = math.sqrt(max(linear * linear + 8 * size * opposite * apart * (1 - apart), 0.0))
        least = (root - linear) / (4 * size)  # of the opposite share, the most likely one at this difference
        spread = math.sqrt(max(size * (2 * least + apart * (1 - apart)), 0.0))
        return only - opposite - size * apart + most * spread  # 0 where the score is at the quantile

    found = (only - opposite) / size
    if found >= 1.0 or score(1.0) >= 0.0:
        return 1.0
    inner = found + 1e-12  # at ``found`` itself the score of runs that never differ is 0
    return float(brentq(score, inner, 1.0, xtol=1e-12))


def restricted(times: Floats, horizon: float) -> Floats:
    """Times, with the horizon for runs that never came there; means of these are restricted mean times."""
    return np.where(np.isnan(times), horizon, times)


def later_never(first: Floats, second: Floats, found: Estimate) -> bool:
    """Whether runs of the later one alone never came there, so that the difference of their times is larger."""
    later, sooner = (first, second) if found.mean > 0 else (second, first)
    return bool(np.isnan(later).any() and not np.isnan(sooner).any())


# Verdicts ---------------------------------------------------------------------------------------------


def judge(findings: Sequence[Finding], factors: Sequence[str], measure: int | None = None, own: str = "") -> str:
    """The verdict; of the factors, it depends on those along which alone the answer changes.

    ``measure`` is the factor that says what is measured: sizes of differences compare where it is the same. ``own`` is
    the value of a factor that is the paper's own: a claim that holds there throughout is supported although so many
    runs leave it open elsewhere, as long as it is contradicted nowhere.
    """
    signs = {finding.sign for finding in findings}
    if signs == {HOLDS}:
        return SUPPORTED
    if HOLDS not in signs:
        return NOT_SUPPORTED if FAILS in signs else UNDECIDED
    pairs = [(a, b) for a, b in permutations(findings, 2) if a.above(b, measure)]
    if not pairs:
        there = [finding.sign for finding in findings if own and own in finding.key]
        return SUPPORTED if set(there) == {HOLDS} else UNDECIDED
    changing = [factor for axis, factor in enumerate(factors) if any(_apart(a, b) == {axis} for a, b in pairs)]
    return f"{DEPENDS} {listed(changing or factors)}"


def rule_applied(findings: Sequence[Finding], verdict: str, measure: int | None = None, own: str = "") -> str:
    """Which of the rules gave the verdict, in words."""
    held, failed, undecided = ([one for one in findings if one.sign == sign] for sign in (HOLDS, FAILS, OPEN))
    count = len(findings)
    if verdict == SUPPORTED and undecided:
        are = "is" if len(undecided) == 1 else "are"
        elsewhere = f"elsewhere {len(undecided)} of {count} in all {are} open and none fails"
        return f"every comparison in the paper's own setting holds; {elsewhere}"
    if verdict == SUPPORTED:
        return "every comparison holds"
    if verdict == NOT_SUPPORTED:
        return f"no comparison holds, {len(failed)} of {count} {_verb(len(failed), 'fail')}"
    if verdict == UNDECIDED and not held:
        return "no comparison holds, and none fails"
    if verdict == UNDECIDED:
        how = "none fails, and none is clearly smaller than one that holds by the same measure"
        return f"{len(held)} of {count} comparisons {_verb(len(held), 'hold')}; {how}"
    below = sum(any(one.above(other, measure) for one in held) for other in undecided)
    told = [f"{len(held)} of {count} comparisons {_verb(len(held), 'hold')}"]
    told += [f"{len(failed)} {_verb(len(failed), 'fail')}"] * bool(failed)
    told += [
        f"{below} of those open {'is' if below == 1 else 'are'} clearly smaller than one that holds by the same measure"
    ] * (below > 0)
    return "; ".join(told)


def _verb(count: int, word: str) -> str:
    return f"{word}s" if count == 1 else word


def _apart(a: Finding, b: Finding) -> set[int]:
    """In which factors two comparisons differ."""
    return {axis for axis, (x, y) in enumerate(zip(a.key, b.key, strict=True)) if x != y and x and y}
