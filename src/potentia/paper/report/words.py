"""Verdicts, numbers and intervals as people read them, on the page and in the terminal."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

from potentia.errors import InvalidInput
from potentia.paper.claims import DEPENDS, IS_VERDICT, NOT_SUPPORTED, SUPPORTED, UNDECIDED, Claim, Measurement, listed
from potentia.statistics.estimates import Estimate

# A word, a sign and a class for each verdict: colour is never the only one.
SIGNS = {
    SUPPORTED: ("✓", "yes"),
    NOT_SUPPORTED: ("✗", "no"),
    DEPENDS: ("◐", "depends"),
    UNDECIDED: ("?", "undecided"),
}
NUMBER = re.compile(r"(−?[\d.,]+(?:e[−+]?\d+)?|–)(?: ([\[(].*|to .*))?$")
_COUNTED = {  # of one, and of several
    SUPPORTED: ("is supported", "are supported"),
    NOT_SUPPORTED: ("is not supported", "are not supported"),
    DEPENDS: [f"{word} on circumstances that the verdict names" for word in ("depends", "depend")],
    UNDECIDED: ("is undecided by so many runs", "are undecided by so many runs"),
}
_HEADLINES = 2


# Verdicts ---------------------------------------------------------------------------------------------


def kind_of(verdict: str) -> str:
    """Which of the four a verdict is."""
    IS_VERDICT.of(verdict, "verdict", InvalidInput)
    return DEPENDS if verdict.startswith(DEPENDS) else verdict


def not_always(verdict: str) -> str:
    """How many runs do, of a statement about every run of which some do; else nothing."""
    found = re.fullmatch(rf"{DEPENDS} the run: (.*) do", verdict)
    return f"{found[1]} runs do" if found else ""


def shown(verdict: str) -> str:
    """A verdict as people read it."""
    often = not_always(verdict)
    return f"not always: {often}" if often else verdict


def in_one_sentence(claims: Sequence[Claim]) -> str:
    """How many claims have which verdict."""
    count = Counter(kind_of(claim.verdict) for claim in claims)
    if not claims:
        return "No claim is judged here."
    shown = [kind for kind in _COUNTED if count[kind]]
    said = [f"{count[kind]} {_COUNTED[kind][count[kind] != 1]}" for kind in shown]
    if misprints := sum(claim.misprint for claim in claims):
        said[shown.index(NOT_SUPPORTED)] += f" ({misprints} of them a misprint)"
    return f"Of {len(claims)} claim{'s' * (len(claims) > 1)}, {listed(said)}."


def headlines(claim: Claim) -> list[Measurement]:
    """The measurements that stand for all, two at most: those beside which a number was published.

    Where several are beside one number, as QL's at every temperature, the nearest to it stands for them.
    """
    beside: dict[tuple[float, str], list[Measurement]] = {}
    for entry in claim.measured:
        if entry.published is not None:
            beside.setdefault((entry.published, entry.unit), []).append(entry)
    nearest = [min(those, key=_distance) for those in beside.values()]
    return (nearest or list(claim.measured))[:_HEADLINES]


def _distance(entry: Measurement) -> float:
    value = entry.value.mean if isinstance(entry.value, Estimate) else entry.value
    if isinstance(value, str) or entry.published is None or math.isnan(value):
        return math.inf
    return abs(float(value) - float(entry.published))


# Cells and sentences ----------------------------------------------------------------------------------


def told(entry: Any, unit: str = "") -> str:
    """A cell as people read it: a mean with its interval, a number, a word."""
    if isinstance(entry, bool):
        return "yes" if entry else "no"
    if hasattr(entry, "item") and not isinstance(entry, Estimate):
        return told(entry.item(), unit)  # NumPy's numbers
    if entry is None or (isinstance(entry, float) and math.isnan(entry)):
        return "–"
    if isinstance(entry, Estimate):
        text = "–" if entry.count == 0 else str(entry).replace("-", "−")
        if entry.mean in (0.0, 1.0) and 0.0 <= entry.low < entry.high <= 1.0:  # all of so many, or none
            text = f"{entry.mean * entry.count:.0f} of {entry.count} {lines(text)[1]}"
    elif isinstance(entry, int):
        text = f"{entry:,}".replace("-", "−")
    elif isinstance(entry, float):
        text = (f"{entry:,.0f}" if 1000 <= abs(entry) < 1e15 else f"{entry:.4g}").replace("-", "−")
    elif isinstance(entry, list | tuple):
        text = ", ".join(told(part) for part in entry)
    else:
        text = str(entry)
    return f"{text} {unit}".strip()


def measured(entry: Measurement) -> str:
    """A measurement's value with its unit."""
    return told(entry.value, entry.unit)


def lines(text: str) -> tuple[str, str]:
    """A number and what follows it, an interval or a bound, which may stand below; or the whole text."""
    found = NUMBER.match(text)
    return (found[1], found[2] or "") if found else (text, "")


def sentence(text: str) -> str:
    """A reason as a sentence begins, unless it begins with a symbol."""
    word = re.match(r"[a-z]+(-[a-z]+)*(?=[ ,:;]|$)", text)
    return text[0].upper() + text[1:] if word and len(word[0]) > 1 else text


def anchor(name: str) -> str:
    """A name as an anchor of the page."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
