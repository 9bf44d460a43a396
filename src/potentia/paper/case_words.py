"""Comparisons in words: one sentence for a claim, and one line for each comparison.

Every sentence has one of four shapes. All one way: "Sooner by 499 steps [118, 880] to 90 % of its own final worth, and
by every other measure". Some the other way: "Fewer ...; more ...". Where others merely show less: "Higher by ... after
2,000 steps; no clear difference after 15,000 steps". And where the runs do not decide: "20 runs do not tell whether
...", or "Sooner by ...; undecided ...". A sentence has 180 letters at most: one that is longer leaves out intervals,
then how many others agree.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, product
from typing import Any

import numpy as np
from attrs import Factory, define

from potentia.kernel.arrays import Floats
from potentia.paper.case_verdicts import FAILS, HOLDS, MARGIN, OPEN, Finding, judge, restricted, rule_applied
from potentia.paper.claims import DEPENDS, Judged, Measurement
from potentia.statistics.estimates import Estimate, estimate

LONGEST = 180  # letters of a sentence
WITHIN = f"within {100 * MARGIN:.0f} %"
LEARNS_NOTHING = "learns nothing"  # in the place of the step at which such runs settle
RATIO = "times"  # the unit of a difference that is the logarithm of a ratio


@dataclass(frozen=True)
class Words:
    """How a comparison is told."""

    more: str  # where the claim holds, as in "sooner"
    less: str  # where the opposite does, as in "later"
    unit: str = ""  # of the difference: "steps", "%" for a share, "times" for the logarithm of a ratio, or nothing
    others: str = "by every other measure"  # where all comparisons agree


# Sentences --------------------------------------------------------------------------------------------


def reason(findings: Sequence[Finding], verdict: str, words: Words, longest: int = LONGEST) -> str:
    """The sentence of a claim; of several comparisons that agree the first stands for all."""
    merged = _by_one_factor(findings)
    for counts, interval in product((True, False), (True, False)):
        text = _capital(_sentence(merged, len(findings), verdict, words, interval, counts))
        if len(text) <= longest:
            break
    return text


def _sentence(merged: Sequence[Finding], number: int, verdict: str, words: Words, interval: bool, counts: bool) -> str:
    held, failed, undecided = ([finding for finding in merged if finding.sign == sign] for sign in (HOLDS, FAILS, OPEN))
    if not undecided and not (held and failed):
        rest = f", and {words.others}" if number > 1 else ""
        return _clause(words, merged[:1], interval, counts) + rest
    parts = [_clause(words, those, interval and k == 0, counts) for k, those in enumerate(filter(None, (held, failed)))]
    if held and failed and undecided:
        parts += [f"no clear difference{_others(len(undecided))}"] if counts else []
    elif undecided:
        parts.append(_undecided(words, undecided, verdict, interval, counts, alone=not parts))
    return "; ".join(parts)


def _clause(words: Words, those: Sequence[Finding], interval: bool = True, counts: bool = True) -> str:
    """What holds, or its opposite: the first with its numbers, of the others how many they are."""
    first = those[0]
    word = words.more if first.sign == HOLDS else words.less
    rest = f", and{_others(len(those) - 1)}" if len(those) > 1 and counts else ""
    if words.unit == RATIO or first.margin:
        return f"{word} {_numbers(first, words, interval)}{rest}"
    least = "at least " if first.at_least else ""
    return f"{word} by {least}{size(first.found, words.unit, interval)} {first.said or first.case}{rest}"


def _numbers(finding: Finding, words: Words, interval: bool) -> str:
    return f"{finding.said or finding.case} ({signed(finding.found, words.unit, interval)})"


def _undecided(words: Words, those: Sequence[Finding], verdict: str, interval: bool, counts: bool, alone: bool) -> str:
    first = those[0]
    if verdict.startswith(DEPENDS):  # it is less there than elsewhere, and may be none
        said, joined = "no clear difference", ", nor"
    elif not alone:
        said, joined = "undecided", ", and"
    else:
        asked = words.more if first.margin else f"{words.more} or {words.less}"
        said, joined = f"{runs(first.found.count)} not tell whether {asked}", ", nor"
    rest = joined + _others(len(those) - 1) if len(those) > 1 and counts else ""
    return f"{said} {_numbers(first, words, interval)}{rest}"


def _others(count: int) -> str:
    return f" in {count} other{'s' if count > 1 else ''}"


def _by_one_factor(findings: Sequence[Finding]) -> list[Finding]:
    """Where one factor alone tells comparisons of different signs apart, the first of each of its values."""
    if len({finding.sign for finding in findings}) < 2 or len(findings[0].key) < 2:
        return list(findings)
    for axis in range(len(findings[0].key)):
        if not all(finding.key[axis] for finding in findings):
            continue
        groups: dict[str, list[Finding]] = {}
        for finding in findings:
            groups.setdefault(finding.key[axis], []).append(finding)
        if all(len({finding.sign for finding in group}) == 1 for group in groups.values()):
            return [replace(group[0], said=value) for value, group in groups.items()]
    return list(findings)


def reason_over(findings: Sequence[Finding], words: Words, grid: Sequence[str], axis: str) -> str:
    """The sentence for many comparisons along the last factor, as ranges of it; one clause for each of the others."""
    text = _over(findings, words, grid, axis)
    return text if len(text) <= LONGEST else _over(findings, words, grid, axis, brief=True)


def _over(findings: Sequence[Finding], words: Words, grid: Sequence[str], axis: str, brief: bool = False) -> str:
    """If ``brief``, the factor is named once."""
    parts, named = [], False
    for rest in dict.fromkeys(f.key[:-1] for f in findings):
        of = {f.key[-1]: f for f in findings if f.key[:-1] == rest}
        clauses = []
        for sign, word in ((HOLDS, words.more), (FAILS, words.less)):
            where = spans(grid, [value for value in grid if of[value].sign == sign].__contains__)
            if where:
                clauses.append(f"{word} at {_whole(where, grid, axis, named)}")
                named = brief
        if not clauses:
            clauses.append(f"{runs(next(iter(of.values())).found.count)} not decide at any {axis}")
        parts.append(" ".join((*rest, ", ".join(clauses))))
    signs = {finding.sign for finding in findings}
    elsewhere = ", unclear elsewhere" if OPEN in signs and len(signs) > 1 else ""
    return _capital("; ".join(parts) + elsewhere)


def _whole(where: str, grid: Sequence[str], axis: str, named: bool) -> str:
    if where == f"{grid[0]} to {grid[-1]}":
        return f"every {axis}"
    return where if named else f"{axis} = {where}"


def spans(grid: Sequence[str], chosen: Callable[[str], bool]) -> str:
    """The chosen values of a grid as ranges, as in "0.001 to 0.003 and 0.008"."""
    parts = [list(group) for so, group in groupby(grid, chosen) if so]
    return " and ".join(part[0] if len(part) == 1 else f"{part[0]} to {part[-1]}" for part in parts)


# Lines ------------------------------------------------------------------------------------------------


def evidence(findings: Sequence[Finding], words: Words, axis: str = "") -> list[str]:
    """A line for each comparison: in which circumstances, by how much, and what follows. ``axis`` names the last."""
    out = []
    for finding in findings:
        case = ", ".join((*filter(None, finding.key[:-1]), f"{axis} = {finding.key[-1]}")) if axis else finding.case
        allowed = signed_number(-finding.margin, words.unit)
        allowed = allowed.replace("−", "±") if finding.equal else allowed
        beside = f", {allowed} allowed" if finding.margin else ""
        said = {HOLDS: words.more, FAILS: words.less, OPEN: f"{runs(finding.found.count)} not decide"}[finding.sign]
        least = ", at least" if finding.at_least else ""
        out.append(f"{_capital(case)}: {signed(finding.found, words.unit)}{least}{beside}: {said}")
    return out


def runs(count: int) -> str:
    """ "20 runs do", "1 run does": the subject of a sentence."""
    return "1 run does" if count == 1 else f"{count} runs do"


# Numbers ----------------------------------------------------------------------------------------------


def _style(found: Estimate, unit: str) -> str:
    if unit == "%":
        return ".0%"
    return ",.0f" if max(abs(found.mean), abs(found.high - found.low)) >= 10 else ".4f"


def _text(value: float, style: str) -> str:
    return f"{value:{style}}".replace("-", "−").replace("%", " %")


def signed(found: Estimate, unit: str = "", interval: bool = True) -> str:
    """A difference with its sign and its interval, as in "+499 steps [+118, +880]"; a ratio as "0.62 times [...]"."""
    ends = (found.mean, found.low, found.high)
    if found.mean != found.mean:
        return "not defined"
    if unit == RATIO:  # oriented so that more of it is a smaller ratio
        mean, high, low = (f"{math.exp(-value):.2f}" for value in ends)
    else:
        mean, low, high = (_text(value, f"+{_style(found, unit)}") for value in ends)
    return _measured(mean, unit, low, high, interval and found.low == found.low)


def _measured(mean: str, unit: str, low: str, high: str, interval: bool) -> str:
    return mean + (f" {unit}" if unit not in ("", "%") else "") + (f" [{low}, {high}]" if interval else "")


def signed_number(value: float, unit: str = "") -> str:
    """A number as :func:`signed` writes it."""
    return _text(value, f"+{_style(Estimate(value, value, value, 1), unit)}")


def percent(found: Estimate) -> str:
    """A share with its interval, as in "70 % [48 %, 85 %]"."""
    return size(found, "%")


def size(found: Estimate, unit: str = "", interval: bool = True) -> str:
    """How large a difference is, where a word says in which direction."""
    ends = (found.low, found.high) if found.mean >= 0 else (-found.high, -found.low)
    mean, low, high = (_text(value, _style(found, unit)) for value in (abs(found.mean), *ends))
    return _measured(mean, unit, low, high, interval)


def _capital(text: str) -> str:
    """With a capital, unless it begins with a symbol such as τ."""
    return text[0].upper() + text[1:] if text[0].isascii() else text


# Claims -----------------------------------------------------------------------------------------------


@define
class Comparisons:
    """The comparisons of a claim as they are made, with the measurements beside them, in order."""

    words: Words
    findings: list[Finding] = Factory(list)
    measured: list[Measurement] = Factory(list)

    def note(self, label: str, value: Any, published: float | None = None, unit: str = "") -> None:
        """A measurement that decides nothing; of an array, which has a value for each run, the mean."""
        found = estimate(value) if isinstance(value, np.ndarray) else value
        self.measured.append(Measurement(label, found, published, unit))

    def times(self, label: str, steps: Floats, horizon: float, published: float | None = None) -> None:
        """A measurement of when something was first so, in steps; runs in which it never was count with the horizon."""
        never, count = int(np.isnan(steps).sum()), steps.size
        if never == count:
            self.note(label, f"never (0 of {count} runs)", published)
            return
        least = f", at least (never in {never} of {count} runs)" if never else ""
        self.note(label + least, restricted(steps, horizon), published, "steps")

    def add(self, key: tuple[str, ...], found: Estimate, label: str, unit: str = "", **more: Any) -> None:
        """A comparison, and its measurement; ``more`` is of the finding."""
        self.findings.append(Finding(key, found, **more))
        self.note(label, found, None, unit)

    def judged(
        self,
        factors: Sequence[str],
        lines: Sequence[str] = (),
        *,
        measure: int | None = None,
        own: str = "",
        over: Callable[[Sequence[Finding], Words], str] | None = None,
        **details: Any,
    ) -> Judged:
        """What follows from all of them; ``over`` writes the sentence where the last factor is τ."""
        verdict = judge(self.findings, factors, measure, own)
        said = over(self.findings, self.words) if over else reason(self.findings, verdict, self.words)
        applied = f"Why this verdict: {rule_applied(self.findings, verdict, measure, own)}"
        told = [*evidence(self.findings, self.words, "τ" if over else ""), applied, *lines]
        return Judged(self.measured, verdict, said, told, details=details)
