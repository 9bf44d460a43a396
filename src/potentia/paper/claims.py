"""A claim of the paper, what was measured, and the verdict that follows from it.

A verdict is computed from the measurements, never written down beforehand: with other seeds, other games or another
number of runs it may be another one.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from potentia.statistics.estimates import Estimate

SUPPORTED = "supported"
NOT_SUPPORTED = "not supported"  # contradicted by what was measured
DEPENDS = "depends on"  # the verdict goes on with what it depends on
UNDECIDED = "undecided"  # so many runs do not tell


@dataclass(frozen=True)
class Measurement:
    """One number of the evidence, with its interval where it is a mean over runs or a share of games."""

    label: str  # what it is, in a few words
    value: Estimate | float | int | str
    published: float | None = None  # the number printed for the same thing
    unit: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Plain data, for JSON."""
        out: dict[str, Any] = {"label": self.label, "unit": self.unit, "published": self.published}
        if isinstance(self.value, Estimate):
            found = self.value
            return out | {"value": found.mean, "low": found.low, "high": found.high, "count": found.count}
        return out | {"value": self.value}


@dataclass(frozen=True)
class Claim:
    """One claim of the paper and what became of it."""

    name: str  # short and unique, as in "faster"
    kind: str  # "experiment" or "theory"
    title: str  # the claim in one sentence
    where: str  # in the paper
    measured: tuple[Measurement, ...]
    verdict: str  # SUPPORTED, NOT_SUPPORTED, UNDECIDED, or DEPENDS and on what
    reason: str  # one sentence, with the numbers that decide
    evidence: tuple[str, ...] = ()  # where there are several comparisons, a line for each
    counterexample: str | None = None  # where a statement fails: the numbers that show it, in words
    details: dict[str, Any] = field(default_factory=dict)  # plain data for those who want to check

    def to_dict(self) -> dict[str, Any]:
        """Plain data, for JSON."""
        out = dict(vars(self))
        return out | {"evidence": list(self.evidence), "measured": [entry.to_dict() for entry in self.measured]}
