"""Which value of a parameter is best for each rule, and by how much rules differ, each at its best.

The best of several values is chosen by the mean level over seeds, and told with the numbers of the same seeds, so it
flatters: part of what made it the best was luck. How much is told too (:attr:`Chosen.flattery`): each seed's level is
taken at the value that the *other* seeds would have chosen, and the told mean is compared with the mean of these.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from potentia.errors import InvalidInput
from potentia.kernel.checks import OneOf
from potentia.statistics.comparison import Comparison, holm
from potentia.statistics.curves import Curves, compared, in_order, is_number, mean_known, short
from potentia.statistics.estimates import Estimate, bootstrap_mean

_ROUNDING = 1e-9  # of sums in another order


@dataclass(frozen=True)
class Chosen:
    """The best setting of one rule on one game."""

    game: str
    who: str  # the rule, and what else it was played with
    best: Curves
    value: Any  # of the parameter; None where the rule does not have it
    equal: list[Any]  # the values whose levels are the same, this one too
    told: str  # these, for people
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
                    "value": one.value,
                    "equal": one.equal,
                    "point": one.best.name,
                    "level": one.level.to_dict(),
                    "tried": one.tried,
                    "edge": one.edge,
                    "flattery": one.flattery,
                }
                for one in self.chosen
            ],
            "comparisons": [one.to_dict() for one in self.comparisons],
        }


def axis_of(found: Sequence[Curves], axis: str | None = None, *, of_rules: bool = False) -> str:
    """The parameter that is meant; left out, the one of rules or beliefs that has the most values."""
    known = {name: name in one.of_game for one in found for name in one.values}
    mine = [name for name, of_game in known.items() if not of_game]
    if axis is not None and known:
        OneOf(*known).of(axis, "against", InvalidInput)
        if not (of_rules and known[axis]):
            return axis
    if not mine:
        said = "no parameter of rules or beliefs varies in these settings: there are no values to choose from"
        raise InvalidInput(said if axis is None else f"{said}, got {axis!r}")
    if axis is not None:
        told = ", ".join(mine)
        raise InvalidInput(f"must be a parameter of rules or beliefs ({told}), got {axis!r}", "against", axis)
    return max(mine, key=lambda name: len({short(one.values[name]) for one in found if name in one.values}))


def apart_from(found: Sequence[Curves], axis: str) -> list[str]:
    """What else of rules and beliefs varies, and does not merely go along with the axis, as what is zipped with it."""
    names = dict.fromkeys(key for one in found for key in one.values if key != axis and key not in one.of_game)
    seen: dict[tuple[str, str, str, str], set[str]] = {}
    for one in found:
        for name in names:
            if name in one.values:
                place = (name, one.game, one.who, short(one.values.get(axis)))
                seen.setdefault(place, set()).add(short(one.values[name]))
    return [name for name in names if any(len(those) > 1 for place, those in seen.items() if place[0] == name)]


def best_place(levels: ArrayLike, lowest: bool = False) -> int | None:
    """Where the best of the levels that are known stands, the first of equals; None where none is known."""
    known = np.asarray(levels, np.float64)
    if not known.size or np.isnan(known).all():
        return None
    return int(np.nanargmin(known) if lowest else np.nanargmax(known))


def equals(found: Sequence[Curves], best: int) -> list[int]:
    """The places of those whose mean level is that of the best but for rounding, the best too."""
    scale = _ROUNDING * float(np.nanmax(np.abs(found[best].levels)))
    return [place for place, one in enumerate(found) if abs(one.level - found[best].level) <= scale]


def best_of(found: Sequence[Curves], axis: str | None = None, *, lowest: bool = False) -> Best:
    """For each rule on each game the value of ``axis`` with the highest mean level, or the lowest.

    What else varies is chosen along: of several values of other parameters of the rule, the best of all together.
    Rules of which no level is known are left out.
    """
    name = axis_of(found, axis, of_rules=True)
    groups: dict[tuple[str, str], list[Curves]] = {}
    for one in found:
        groups.setdefault((one.game, one.who), []).append(one)
    games = list(dict.fromkeys(game for game, _ in groups))  # rules of one game stand together
    ordered = sorted(groups.items(), key=lambda group: games.index(group[0][0]))
    each = (_chosen(game, who, name, mine, lowest) for (game, who), mine in ordered)
    chosen = [one for one in each if one is not None]
    return Best(name, lowest, chosen, [told for _, told in compared_with_best([one.best for one in chosen], lowest)])


def compared_with_best(found: Sequence[Curves], lowest: bool = False) -> list[tuple[Curves, Comparison]]:
    """Each setting with the best of its game, the nearest first; p-values are corrected for all of them."""
    known = sorted((one for one in found if np.isfinite(one.level)), key=lambda one: one.level, reverse=not lowest)
    games, out = list(dict.fromkeys(one.game for one in found)), list[tuple[Curves, Comparison]]()
    for game in games:
        mine = [one for one in known if one.game == game]
        for other in mine[1:]:
            told = compared(other, mine[0])
            names: dict[str, Any] = {} if len(games) > 1 else {"first": other.setting, "second": mine[0].setting}
            out.append((other, replace(told, **names)))
    adjusted = holm([told.p_value for _, told in out]) if out else np.zeros(0)
    return [(one, replace(told, adjusted=float(p))) for (one, told), p in zip(out, adjusted, strict=True)]


def _chosen(game: str, who: str, axis: str, mine: Sequence[Curves], lowest: bool) -> Chosen | None:
    best = best_place([one.level for one in mine], lowest)
    if best is None:
        return None
    value = mine[best].values.get(axis)
    tried = {short(one.values[axis]): one.values[axis] for one in mine if axis in one.values}
    order = [key for key in in_order(tried) if is_number(tried[key])]
    same = [mine[place] for place in equals(mine, best)]
    equal = {short(one.values[axis]): one.values[axis] for one in same if axis in one.values}
    keys = in_order(equal)
    edge = len(order) > 1 and len(same) == 1 and short(value) in (order[0], order[-1]) and is_number(value)
    told = bootstrap_mean(mine[best].levels)
    listed, flattery = [equal[key] for key in keys], _flattery(mine, best, lowest)
    return Chosen(game, who, mine[best], value, listed, _equal(keys, order), told, len(mine), edge, flattery)


def _equal(keys: Sequence[str], order: Sequence[str]) -> str:
    """Values that are equally good: 0.1, or 0.1, 0.3 (equal), or 0.1 to 0.5 (equal) where all between them are."""
    if not keys:
        return "-"
    first = order.index(keys[0]) if keys[0] in order else 0
    row = len(keys) > 2 and list(keys) == list(order[first : first + len(keys)])
    return (f"{keys[0]} to {keys[-1]}" if row else ", ".join(keys)) + " (equal)" * (len(keys) > 1)


def _flattery(mine: Sequence[Curves], best: int, lowest: bool) -> float:
    """By leaving each seed out of the choice that it is judged by; of equals the one that was chosen is taken."""
    seeds = mine[0].seeds
    if len(mine) == 1:
        return 0.0
    if seeds.size < 3 or not all(np.array_equal(one.seeds, seeds) for one in mine):
        return float("nan")
    table = (-1.0 if lowest else 1.0) * np.stack([one.levels for one in mine])  # (settings, seeds)
    apart = np.empty(seeds.size)
    for seed in range(seeds.size):
        others = mean_known(np.delete(table, seed, axis=1))
        again = best_place(others)
        again = best if again is None or others[best] == others[again] else again
        apart[seed] = table[again, seed]
    return float(mean_known(table[best : best + 1])[0] - mean_known(apart[None])[0])


def typical_seed(levels: Sequence[tuple[Sequence[int], ArrayLike]]) -> int:
    """The seed to show several settings side by side with: in each of them nearest to the median level.

    ``levels`` has the seeds of each setting and their levels. A seed that most settings have is taken before others,
    and of equals the first. Levels that are not known rank last.
    """
    away: dict[int, list[int]] = {}
    for seeds, values in levels:
        ranks = np.argsort(np.argsort(np.asarray(values, np.float64), kind="stable"))
        for seed, rank in zip(seeds, ranks.tolist(), strict=True):
            away.setdefault(int(seed), []).append(abs(rank - (ranks.size - 1) // 2))
    most = max(map(len, away.values()))
    known = (seed for seed, ranks in away.items() if len(ranks) == most)
    return min(known, key=lambda seed: (max(away[seed]), sum(away[seed]), seed))
