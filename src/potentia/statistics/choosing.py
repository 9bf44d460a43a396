"""Which value of a parameter is best for each rule, and by how much rules differ, each at its best.

The best of several values is chosen by the mean level over seeds, and told with the numbers of the same seeds, so it
flatters: part of what made it the best was luck. How much is told too (:attr:`Chosen.flattery`): each seed's level is
taken at the value that the *other* seeds would have chosen, and the told mean is compared with the mean of these.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from potentia.errors import InvalidInput
from potentia.kernel.checks import OneOf
from potentia.statistics.comparison import Comparison, holm
from potentia.statistics.curves import Curves, compared, short
from potentia.statistics.estimates import Estimate, bootstrap_mean


@dataclass(frozen=True)
class Chosen:
    """The best setting of one rule on one game."""

    game: str
    who: str  # the rule, and what else it was played with
    best: Curves
    value: Any  # of the parameter; None where the rule does not have it
    level: Estimate
    tried: int
    edge: bool  # whether it is the first or the last of the values tried: the best may lie beyond
    flattery: float  # how much the mean owes to having been chosen on the same seeds; NaN where seeds are few


@dataclass(frozen=True)
class Best:
    """The best value for each rule, and rules at their best, seed by seed."""

    axis: str
    lowest: bool
    chosen: list[Chosen]
    comparisons: list[Comparison]  # with the best rule of the same game; p-values corrected for all of them

    def to_dict(self) -> dict[str, Any]:
        """Plain data, for JSON."""
        return {
            "axis": self.axis,
            "best": "lowest" if self.lowest else "highest",
            "chosen": [
                {
                    "game": one.game,
                    "rule": one.who,
                    self.axis: one.value,
                    "point": one.best.name,
                    "level": one.level.to_list(),
                    "tried": one.tried,
                    "edge": one.edge,
                    "flattery": one.flattery,
                }
                for one in self.chosen
            ],
            "comparisons": [one.to_dict() for one in self.comparisons],
        }


def axis_of(found: Sequence[Curves], axis: str | None = None) -> str:
    """The parameter that is meant, or the one that varies for most settings."""
    known = list(dict.fromkeys(name for one in found for name in one.values))
    if not known:
        raise InvalidInput("must be something that varies, got settings in which nothing does", "against", axis)
    if axis is not None:
        return OneOf(*known).of(axis, "against", InvalidInput)
    return max(known, key=lambda name: len({short(one.values[name]) for one in found if name in one.values}))


def best_of(found: Sequence[Curves], axis: str | None = None, *, lowest: bool = False) -> Best:
    """For each rule on each game the value of ``axis`` with the highest mean level, or the lowest.

    What else varies is chosen along: of several values of other parameters of the rule, the best of all together.
    """
    name = axis_of(found, axis)
    sign = -1.0 if lowest else 1.0
    groups: dict[tuple[str, str], list[Curves]] = {}
    for one in found:
        groups.setdefault((one.game, _who(one)), []).append(one)
    chosen = [_chosen(game, who, name, mine, sign) for (game, who), mine in groups.items()]
    several, comparisons = len({one.game for one in chosen}) > 1, []
    for _, mine in itertools.groupby(sorted(chosen, key=lambda one: one.game), key=lambda one: one.game):
        ordered = sorted(mine, key=lambda one: -sign * one.level.mean)
        first = ordered[0].best
        for other in ordered[1:]:
            told = compared(other.best, first)
            comparisons.append(told if several else replace(told, first=other.best.setting, second=first.setting))
    adjusted = holm([one.p_value for one in comparisons]) if comparisons else np.zeros(0)
    corrected = [replace(one, adjusted=float(p)) for one, p in zip(comparisons, adjusted, strict=True)]
    return Best(name, lowest, chosen, corrected)


def _who(one: Curves) -> str:
    """Its labels without the game, which is told apart."""
    return ", ".join(text for key, text in one.labels.items() if key != "game") or "all runs"


def _chosen(game: str, who: str, axis: str, mine: Sequence[Curves], sign: float) -> Chosen:
    levels = [one.levels for one in mine]
    best = int(np.argmax([sign * np.nanmean(each) for each in levels]))
    values = sorted({one.values[axis] for one in mine if axis in one.values}, key=_order)
    value = mine[best].values.get(axis)
    edge = len(values) > 1 and value in (values[0], values[-1]) and not isinstance(value, str)
    told = bootstrap_mean(levels[best])
    return Chosen(game, who, mine[best], value, told, len(mine), edge, _flattery(mine, levels, best, sign))


def _order(value: Any) -> tuple[bool, Any]:
    return (True, str(value)) if not isinstance(value, int | float) else (False, value)


def _flattery(mine: Sequence[Curves], levels: list[NDArray[np.float64]], best: int, sign: float) -> float:
    """By leaving each seed out of the choice that it is judged by."""
    seeds = mine[0].seeds
    if len(mine) < 2 or seeds.size < 3 or not all(np.array_equal(one.seeds, seeds) for one in mine):
        return float("nan") if len(mine) > 1 else 0.0
    table = sign * np.stack(levels)  # (settings, seeds)
    others = np.nansum(table, axis=1, keepdims=True) - np.nan_to_num(table)
    apart = table[others.argmax(axis=0), np.arange(seeds.size)]
    return float(np.nanmean(table[best]) - np.nanmean(apart))
