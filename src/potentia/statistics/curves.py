"""Runs of one setting over time: what figures draw, and what levels, comparisons and times are taken from.

A *level* is the mean over the last tenth of a run. Time may be steps, or what a run has spent by then: revisions, or
evaluations of a utility. Rules that wake many players, or look at many actions, are compared fairly only by those.
Along them runs differ in length, so all are cut to what the shortest has spent (:func:`spent`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from potentia.errors import InvalidInput
from potentia.kernel.checks import OneOf
from potentia.statistics.comparison import Comparison, compare

TAIL = 0.1  # of a run: the level is the mean over its last part
PER = ("steps", "revisions", "evaluations")
_ROWS = 200  # along what was spent, at most so many


@dataclass(frozen=True)
class Curves:
    """One setting over time."""

    labels: Mapping[str, str]  # which game, belief and rule of several
    values: Mapping[str, Any]  # what varies, by its short name
    seeds: NDArray[np.int64]
    times: NDArray[Any]
    curves: NDArray[np.float64]  # (seeds, times)
    number: int = 0  # of the setting among all
    game: str = ""  # settings of one game have one scale
    label: str = ""  # what is measured, for people
    unit: str = ""  # of what is measured
    revisions: NDArray[np.float64] | None = field(default=None, repr=False)  # by then, (seeds, times), where known
    evaluations: float = np.nan  # of a utility in each revision, where that is one number
    per: str = "steps"  # what times count
    shared: frozenset[str] = frozenset()  # those of the values that are the same in all settings

    @property
    def name(self) -> str:
        """What to call it: lll, tau=0.1."""
        told = (f"{k}={short(v)}" for k, v in self.values.items() if k not in self.shared)
        return ", ".join([*self.labels.values(), *told]) or "all runs"

    @property
    def setting(self) -> str:
        """The same without the game, for where that is told apart."""
        said = self.game.split(", ")
        return ", ".join(part for part in self.name.split(", ") if part not in said) or self.name

    @property
    def measured(self) -> str:
        """What is measured, with its unit."""
        return f"{self.label} in {self.unit}" if self.unit else self.label

    @property
    def who(self) -> str:
        """The rule, and the belief, game or dataset where there are several."""
        return ", ".join(self.labels.values())

    @property
    def levels(self) -> NDArray[np.float64]:
        """The mean over the last tenth of each run; NaN where nothing is known there."""
        first = self.times[-1] * (1 - TAIL)
        last = self.curves[:, (self.times > first) | (self.times == self.times[-1])]
        known = np.count_nonzero(~np.isnan(last), axis=1)
        return np.where(known > 0, np.nansum(last, axis=1) / np.maximum(known, 1), np.nan)


def compared(one: Curves, other: Curves) -> Comparison:
    """The levels of two settings on the seeds that both have."""
    both, mine, theirs = np.intersect1d(one.seeds, other.seeds, assume_unique=True, return_indices=True)
    found = compare(one.levels[mine], other.levels[theirs], names=(one.name, other.name))
    return replace(found, left_out=found.left_out + one.seeds.size + other.seeds.size - 2 * both.size)


def short(value: Any) -> str:
    """A value of a parameter, for people."""
    return f"{value:.6g}" if isinstance(value, float) else value if isinstance(value, str) else _listed(value)


def _listed(value: Any) -> str:
    return "[" + ", ".join(map(short, value)) + "]" if isinstance(value, list | tuple) else str(value)


def spent(found: Sequence[Curves], per: str) -> list[Curves]:
    """The same runs along what they have spent, up to what the shortest of all has.

    At each count stands the last record that had spent no more.
    """
    OneOf(*PER).of(per, "per", InvalidInput)
    if per == "steps" or not found:
        return list(found)
    counts = [_counts(one, per) for one in found]
    most = min(float(count[:, -1].min()) for count in counts)
    if most <= 0:
        raise InvalidInput(f"{per} must be more than none in every run, got a run without")
    rows = min(_ROWS, max(len(one.times) for one in found) - 1)
    grid = np.linspace(0.0, most, rows + 1)
    out = []
    for one, count in zip(found, counts, strict=True):
        at = [np.searchsorted(run, grid, side="right") - 1 for run in count]
        out.append(replace(one, times=grid, curves=np.take_along_axis(one.curves, np.array(at), axis=1), per=per))
    return out


def _counts(one: Curves, per: str) -> NDArray[np.float64]:
    if one.revisions is None:
        raise InvalidInput(
            f"of {one.name} must have been recorded where a step is not one revision: record revisions too", "revisions"
        )
    if per == "revisions":
        return one.revisions
    if np.isnan(one.evaluations):
        raise InvalidInput(
            f"in a revision of {one.name} must be one number: players differ in their actions, or it is not told",
            "evaluations",
        )
    return one.evaluations * one.revisions


def chosen(found: Sequence[Curves], where: Mapping[str, Any]) -> list[Curves]:
    """Those whose labels and values are these; a list is any of its entries."""
    out = list(found)
    for name, wanted in where.items():
        known = dict.fromkeys(key for one in found for key in (*one.labels, *one.values))
        OneOf(*known).of(name, "where", InvalidInput)
        wishes = wanted if isinstance(wanted, list | tuple) else [wanted]
        there = {short(_of(one, name)) for one in found if name in one.labels or name in one.values}
        for wish in wishes:
            if not any(_same(_of(one, name), wish) for one in found):
                raise InvalidInput(f"{name} must be one of {', '.join(sorted(there))}, got {wish}", "where", wish)
        out = [one for one in out if any(_same(_of(one, name), wish) for wish in wishes)]
    if not out:
        told = ", ".join(f"{name}={short(entry)}" for name, entry in where.items())
        raise InvalidInput(f"must leave something of the study, got {told}, which no point has together", "where", told)
    return out


def _of(one: Curves, name: str) -> Any:
    return one.labels[name] if name in one.labels else one.values.get(name)


def _same(value: Any, wish: Any) -> bool:
    if value is None:
        return False
    try:
        return float(value) == float(wish)
    except (TypeError, ValueError):
        return short(value) == str(wish)
