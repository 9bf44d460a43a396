"""From paired differences to a verdict.

A claim is put as comparisons, each oriented so that it holds where the mean difference is above 0; with a margin, where
it is above -margin ("as good as"). A comparison holds if its whole interval does, fails if its whole interval is on the
other side, and is open otherwise. Intervals of a claim with k comparisons are those of level 1 - 0.05/k, so that all of
them hold together with a confidence of 95 % (Bonferroni).

The claim is supported if every comparison holds, and not supported if none does. Where some hold it depends on what
tells these from the others, provided that others differ from them: they fail, or their interval is below. Where the
others are merely open, the runs do not decide; the claim is then not supported, and its reason, which
``case_words`` writes, begins with "Undecided".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from potentia.experiments.paper.claims import DEPENDS, NOT_SUPPORTED, SUPPORTED, Claim, Measurement
from potentia.experiments.statistics import Estimate, paired_difference

HOLDS, OPEN, FAILS = 1, 0, -1
MARGIN = 0.05  # of the worth that "as good as" is measured by
_LEVEL = 0.05


@dataclass(frozen=True)
class Finding:
    """One comparison: in which circumstances, and by how much the claim holds there."""

    key: tuple[str, ...]  # one entry for each factor
    found: Estimate
    margin: float = 0.0
    said: str = ""  # the circumstances as a sentence has them, if otherwise than ``case``

    @property
    def sign(self) -> int:
        """Whether it holds."""
        if self.found.low > -self.margin:
            return HOLDS
        return FAILS if self.found.high < -self.margin else OPEN

    @property
    def case(self) -> str:
        """The circumstances in words."""
        return ", ".join(self.key)

    def above(self, other: Finding) -> bool:
        """Whether this one holds, and the other one fails or holds by less at best."""
        if self.sign != HOLDS or other.sign == HOLDS:
            return False
        return other.sign == FAILS or other.found.high + other.margin < self.found.low + self.margin


# Differences ------------------------------------------------------------------------------------------


def difference(first: ArrayLike, second: ArrayLike, comparisons: int = 1) -> Estimate:
    """The mean of first - second over seeds, with an interval for one of so many comparisons."""
    from scipy import stats

    found = paired_difference(first, second)
    if comparisons == 1 or found.count < 2:
        return found
    freedom = found.count - 1
    wider = float(stats.t.ppf(1 - _LEVEL / 2 / comparisons, freedom) / stats.t.ppf(1 - _LEVEL / 2, freedom))
    half = wider * (found.high - found.low) / 2
    return Estimate(found.mean, found.mean - half, found.mean + half, found.count)


def difference_of_shares(first: ArrayLike, second: ArrayLike, comparisons: int = 1) -> Estimate:
    """The share of runs in which the first is true less that of the second, paired.

    Of the runs in which they differ, the interval is Clopper and Pearson's, so that it excludes 0 where McNemar's
    exact test rejects. Where they never differ, runs like these show no difference and exclude none: it reaches as far
    as the share of differing runs may, in either direction.
    """
    from scipy.stats import binomtest

    one, other = np.asarray(first, bool), np.asarray(second, bool)
    only, differ = int((one & ~other).sum()), int((one != other).sum())
    level = 1 - _LEVEL / comparisons
    if differ == 0:
        most = float(binomtest(0, one.size).proportion_ci(level).high)
        return Estimate(0.0, -most, most, one.size)
    ends = binomtest(only, differ).proportion_ci(level)
    scale = differ / one.size
    return Estimate((2 * only - differ) / one.size, (2 * ends.low - 1) * scale, (2 * ends.high - 1) * scale, one.size)


def restricted(times: NDArray[np.float64], horizon: float) -> NDArray[np.float64]:
    """Times, with the horizon for runs that never came there; means of these are restricted mean times."""
    return np.where(np.isnan(times), horizon, times)


# Verdicts ---------------------------------------------------------------------------------------------


def judge(findings: Sequence[Finding], factors: Sequence[str]) -> str:
    """The verdict; of the factors, it depends on those along which alone the answer changes."""
    signs = [finding.sign == HOLDS for finding in findings]
    if all(signs):
        return SUPPORTED
    pairs = [(a, b) for a, b in permutations(findings, 2) if a.above(b)]
    if not pairs:
        return NOT_SUPPORTED
    changing = [factor for axis, factor in enumerate(factors) if any(_apart(a, b) == {axis} for a, b in pairs)]
    return f"{DEPENDS} {' and '.join(changing or factors)}"


def _apart(a: Finding, b: Finding) -> set[int]:
    """In which factors two comparisons differ."""
    return {axis for axis, (x, y) in enumerate(zip(a.key, b.key, strict=True)) if x != y}


def experiment(
    name: str,
    title: str,
    where: str,
    measured: Sequence[Measurement],
    verdict: str,
    reason: str,
    evidence: Sequence[str] = (),
    **details: Any,
) -> Claim:
    """A claim about what was played."""
    return Claim(name, "experiment", title, where, tuple(measured), verdict, reason, tuple(evidence), details=details)
