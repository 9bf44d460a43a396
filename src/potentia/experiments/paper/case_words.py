"""Comparisons in words: one sentence for a claim, and one line for each comparison.

Every sentence has one of four shapes. All one way: "Sooner by 499 steps [118, 880] to 90 % of its own final worth, and
by every other measure". Some the other way: "Fewer by ...; more by ...". Where others merely show less: "Higher by ...
after 2,000 steps; no clear difference after 15,000 steps". And where the runs do not decide: "Undecided: ...".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from potentia.experiments.paper.case_verdicts import FAILS, HOLDS, OPEN, Finding
from potentia.experiments.paper.claims import NOT_SUPPORTED
from potentia.experiments.statistics import Estimate


@dataclass(frozen=True)
class Words:
    """How a comparison is told."""

    more: str  # where the claim holds, as in "sooner"
    less: str  # where the opposite does, as in "later"
    unit: str = ""  # of the difference: "steps", "%" for a share, or nothing
    others: str = "by every other measure"  # where all comparisons agree


# Sentences --------------------------------------------------------------------------------------------


def reason(findings: Sequence[Finding], verdict: str, words: Words) -> str:
    """The sentence of a claim; of several comparisons that agree the first stands for all."""
    merged = _by_one_factor(findings)
    held, failed, undecided = ([finding for finding in merged if finding.sign == sign] for sign in (HOLDS, FAILS, OPEN))
    if not undecided and not (held and failed):
        rest = f", and {words.others}" if len(findings) > 1 else ""
        return _capital(_clause(words, merged[:1]) + rest)
    parts = [_clause(words, those, k == 0) for k, those in enumerate(filter(None, (held, failed)))]
    if held and failed and undecided:
        parts.append(f"no clear difference{_others(len(undecided))}")
    elif undecided:
        parts.append(_undecided(words, undecided, verdict))
    return _begun("; ".join(parts), findings, verdict)


def _clause(words: Words, those: Sequence[Finding], interval: bool = True) -> str:
    """What holds, or its opposite: the first with its numbers, of the others how many they are."""
    first = those[0]
    word = words.more if first.sign == HOLDS else words.less
    rest = f", and{_others(len(those) - 1)}" if len(those) > 1 else ""
    if first.margin:
        return f"{word} {first.said or first.case} ({signed(first.found, words.unit)}){rest}"
    return f"{word} by {size(first.found, words.unit, interval)} {first.said or first.case}{rest}"


def _undecided(words: Words, those: Sequence[Finding], verdict: str) -> str:
    first = those[0]
    numbers = f"{first.said or first.case} ({signed(first.found, words.unit)})"
    if verdict != NOT_SUPPORTED:  # it is less there than elsewhere, and may be none
        return f"no clear difference {numbers}" + (f", nor{_others(len(those) - 1)}" if len(those) > 1 else "")
    asked = words.more if first.margin else f"{words.more} or {words.less}"
    rest = f", nor{_others(len(those) - 1)}" if len(those) > 1 else ""
    return f"{runs(first.found.count)} not tell whether {asked} {numbers}{rest}"


def _begun(text: str, findings: Sequence[Finding], verdict: str) -> str:
    """ "Undecided", where the claim may hold and there are too few runs to say so."""
    short = verdict == NOT_SUPPORTED and all(finding.sign != FAILS for finding in findings)
    return f"Undecided: {text}" if short else _capital(text)


def _others(count: int) -> str:
    return f" in {count} other{'s' if count > 1 else ''}"


def _by_one_factor(findings: Sequence[Finding]) -> list[Finding]:
    """Where one factor alone tells comparisons of different signs apart, the first of each of its values."""
    if len({finding.sign for finding in findings}) < 2 or len(findings[0].key) < 2:
        return list(findings)
    for axis in range(len(findings[0].key)):
        groups: dict[str, list[Finding]] = {}
        for finding in findings:
            groups.setdefault(finding.key[axis], []).append(finding)
        if all(len({finding.sign for finding in group}) == 1 for group in groups.values()):
            return [replace(group[0], said=value) for value, group in groups.items()]
    return list(findings)


def reason_over(findings: Sequence[Finding], verdict: str, words: Words, grid: Sequence[str], axis: str) -> str:
    """The sentence for many comparisons along the last factor, as ranges of it; one clause for each of the others."""
    parts = []
    for rest in dict.fromkeys(f.key[:-1] for f in findings):
        of = {f.key[-1]: f for f in findings if f.key[:-1] == rest}
        clauses = []
        for sign, word in ((HOLDS, words.more), (FAILS, words.less)):
            where = spans(grid, lambda value, of=of, sign=sign: of[value].sign == sign)  # type: ignore[misc]
            if where:
                clauses.append(f"{word} at {_whole(where, grid, axis)}")
        if not clauses:
            clauses.append(f"{runs(next(iter(of.values())).found.count)} not decide at any {axis}")
        parts.append(" ".join((*rest, ", ".join(clauses))))
    signs = {finding.sign for finding in findings}
    elsewhere = ", unclear elsewhere" if OPEN in signs and len(signs) > 1 else ""
    return _begun("; ".join(parts) + elsewhere, findings, verdict)


def _whole(where: str, grid: Sequence[str], axis: str) -> str:
    return f"every {axis}" if where == f"{grid[0]} to {grid[-1]}" else f"{axis} = {where}"


def spans(grid: Sequence[str], chosen: Callable[[str], bool]) -> str:
    """The chosen values of a grid as ranges, as in "0.001 to 0.003 and 0.008"."""
    out: list[list[str]] = []
    for before, value in zip((None, *grid), grid, strict=False):
        if chosen(value):
            if before is not None and out and out[-1][-1] == before:
                out[-1].append(value)
            else:
                out.append([value])
    return " and ".join(part[0] if len(part) == 1 else f"{part[0]} to {part[-1]}" for part in out)


# Lines ------------------------------------------------------------------------------------------------


def evidence(findings: Sequence[Finding], words: Words, axis: str = "") -> list[str]:
    """A line for each comparison: in which circumstances, by how much, and what follows. ``axis`` names the last."""
    out = []
    for finding in findings:
        case = ", ".join((*finding.key[:-1], f"{axis} = {finding.key[-1]}")) if axis else finding.case
        beside = f", {signed_number(-finding.margin)} allowed" if finding.margin else ""
        said = {HOLDS: words.more, FAILS: words.less, OPEN: f"{runs(finding.found.count)} not decide"}[finding.sign]
        out.append(f"{_capital(case)}: {signed(finding.found, words.unit)}{beside}: {said}")
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


def signed(found: Estimate, unit: str = "") -> str:
    """A difference with its sign and its interval, as in "+499 steps [+118, +880]"."""
    style = f"+{_style(found, unit)}"
    mean, low, high = (_text(value, style) for value in (found.mean, found.low, found.high))
    after = f" {unit}" if unit not in ("", "%") else ""
    return mean + after + (f" [{low}, {high}]" if found.low == found.low else "")


def signed_number(value: float, unit: str = "") -> str:
    """A number as :func:`signed` writes it."""
    return _text(value, f"+{_style(Estimate(value, value, value, 1), unit)}")


def percent(found: Estimate) -> str:
    """A share with its interval, as in "70 % [48 %, 85 %]"."""
    mean, low, high = (_text(value, ".0%") for value in (found.mean, found.low, found.high))
    return f"{mean} [{low}, {high}]"


def size(found: Estimate, unit: str = "", interval: bool = True) -> str:
    """How large a difference is, where a word says in which direction."""
    style = _style(found, unit)
    ends = (found.low, found.high) if found.mean >= 0 else (-found.high, -found.low)
    mean, low, high = (_text(value, style) for value in (abs(found.mean), *ends))
    after = f" {unit}" if unit not in ("", "%") else ""
    return mean + after + (f" [{low}, {high}]" if interval else "")


def _capital(text: str) -> str:
    """With a capital, unless it begins with a symbol such as τ."""
    return text[0].upper() + text[1:] if text[0].isascii() else text
