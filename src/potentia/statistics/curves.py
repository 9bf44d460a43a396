"""Runs of one setting over time: what figures draw, and what levels, comparisons and times are taken from.

A *level* is the mean over the last tenth of a run. Time may be steps, or what a run has spent by then: revisions, or
evaluations of a utility. Rules that wake many players, or look at many actions, are compared fairly only by those.
Along them runs differ in length, so those of one game are cut to what the shortest has spent (:func:`spent`).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from potentia.errors import InvalidInput
from potentia.kernel.checks import OneOf
from potentia.kernel.texts import counted
from potentia.statistics.comparison import Comparison, compare
from potentia.statistics.estimates import is_data_array

TAIL = 0.1  # of a run: the level is the mean over its last part
_NONE = "none"  # of a parameter that a setting does not have
PER = ("steps", "revisions", "evaluations")


class Records(NamedTuple):
    """What was recorded of runs that are followed along what they have spent."""

    values: NDArray[np.float64]  # (seeds, records)
    spent: NDArray[np.float64]  # by then, (seeds, records)
    steps: NDArray[Any]  # of the records


@dataclass(frozen=True)
class Curves:
    """One setting over time."""

    labels: Mapping[str, str]  # which game, belief and rule of several
    values: Mapping[str, Any]  # what varies, by its short name
    seeds: NDArray[np.int64]
    times: NDArray[Any]
    curves: NDArray[np.float64]  # (seeds, times)
    number: int = 0  # of the setting among all
    of_game: frozenset[str] = frozenset()  # which of the values are the game's: settings of one game have one scale
    label: str = ""  # what is measured, for people
    unit: str = ""  # of what is measured
    revisions: NDArray[np.float64] | None = field(default=None, repr=False)  # by then, (seeds, times), where known
    evaluations: float = np.nan  # of a utility in each revision, where that is one number
    per: str = "steps"  # what times count
    shared: frozenset[str] = frozenset()  # those of the values that are the same in all settings
    records: Records | None = field(default=None, repr=False)  # along what was spent

    @property
    def name(self) -> str:
        """What to call it: lll, tau=0.1."""
        return self.told() or "all runs"

    @property
    def setting(self) -> str:
        """The same without the game, for where that is told apart."""
        return ", ".join([*self._who, *self.told_values()]) or "all runs"

    @property
    def game(self) -> str:
        """The game, in the words in which games differ; empty where there is one."""
        return self.game_without(None)

    def game_without(self, axis: str | None) -> str:
        """The same without what stands on an axis."""
        label = [self.labels["game"]] if "game" in self.labels else []
        return ", ".join([*label, *self._said(key for key in self.values if key in self.of_game and key != axis)])

    @property
    def who(self) -> str:
        """The rule, and the belief or dataset where there are several."""
        return ", ".join(self._who) or "all runs"

    def told(self, leave_out: Sequence[str] = ()) -> str:
        """Its labels and values, but for those that are told elsewhere."""
        labels = [text for key, text in self.labels.items() if key not in leave_out]
        return ", ".join([*labels, *self._said(key for key in self.values if key not in leave_out)])

    def told_values(self) -> list[str]:
        """The values that are not the game's, as tau=0.1."""
        return self._said(key for key in self.values if key not in self.of_game)

    @property
    def _who(self) -> list[str]:
        return [text for key, text in self.labels.items() if key != "game"]

    def _said(self, names: Any) -> list[str]:
        return [f"{key}={short(self.values[key])}" for key in names if key not in self.shared]

    @property
    def measured(self) -> str:
        """What is measured, with its unit."""
        return f"{self.label} in {self.unit}" if self.unit else self.label

    @property
    def rows(self) -> tuple[NDArray[np.float64], NDArray[Any]]:
        """The values that were recorded, and when: at times of all runs, or (seeds, records) along what was spent."""
        return (self.curves, self.times) if self.records is None else self.records[:2]

    @property
    def every(self) -> float:
        """Steps between two rows; 1 where there is one row."""
        steps = self.times if self.records is None else self.records.steps
        return float(steps[1] - steps[0]) if len(steps) > 1 else 1.0

    @property
    def span(self) -> float:
        """What lies between two rows that were recorded: steps, or what was spent on the average."""
        values, times = self.rows
        return float(np.mean(times[..., -1] - times[..., 0])) / max(1, values.shape[1] - 1)

    @property
    def levels(self) -> NDArray[np.float64]:
        """The mean over the last tenth of each run; NaN where nothing is known there."""
        first = self.times[-1] * (1 - TAIL)
        return mean_known(self.curves[:, (self.times > first) | (self.times == self.times[-1])])

    @property
    def level(self) -> float:
        """The mean of the levels that are known."""
        return float(mean_known(self.levels[None])[0])


def mean_known(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """The mean of what is known of each row; NaN where nothing is."""
    known = np.count_nonzero(~np.isnan(rows), axis=1)
    return np.where(known > 0, np.nansum(rows, axis=1) / np.maximum(known, 1), np.nan)


def compared(one: Curves, other: Curves) -> Comparison:
    """The levels of two settings on the seeds that both have."""
    both, mine, theirs = np.intersect1d(one.seeds, other.seeds, assume_unique=True, return_indices=True)
    found = compare(one.levels[mine], other.levels[theirs], names=(one.name, other.name))
    return replace(found, left_out=found.left_out + one.seeds.size + other.seeds.size - 2 * both.size)


def short(value: Any) -> str:
    """A value of a parameter, for people."""
    if isinstance(value, bool) or value is None:
        return json.dumps(value)
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(short, value)) + "]"
    return json.dumps(value, sort_keys=True) if isinstance(value, dict) else str(value)


def in_order(values: Mapping[str, Any]) -> list[str]:
    """The keys of values in a total order: numbers ascending, then the others as they were given."""
    numbers = [key for key, value in values.items() if is_number(value)]
    return sorted(numbers, key=lambda key: values[key]) + [key for key in values if key not in numbers]


def is_number(value: Any) -> bool:
    """A number, and not yes or no."""
    return isinstance(value, int | float) and not isinstance(value, bool)


# Along what was spent ---------------------------------------------------------------------------------


def spent(found: Sequence[Curves], per: str) -> list[Curves]:
    """The same runs along what they have spent; those of one game up to what the shortest of them has.

    At each count stands the last record that had spent no more, NaN before the first. There are as many counts as
    records; when a run first is somewhere is read off its records themselves (:attr:`Curves.rows`).
    """
    OneOf(*PER).of(per, "per", InvalidInput)
    if any(one.per not in ("steps", per) for one in found):
        raise InvalidInput(f"must be that of the curves, {found[0].per}, got {per}", "per", per)
    if per == "steps" or all(one.per == per for one in found):
        return list(found)
    counts = [_counts(one, per) for one in found]
    grids = {}
    for game in dict.fromkeys(one.game for one in found):
        mine = [(one, count) for one, count in zip(found, counts, strict=True) if one.game == game]
        shortest, least = min(mine, key=lambda both: float(both[1][:, -1].min()))
        most = float(least[:, -1].min())
        if not most > 0:
            raise InvalidInput(f"must be more than none in every run, got none in a run of {shortest.name}", per)
        grids[game] = np.linspace(0.0, most, max(len(one.times) for one, _ in mine))
    out = []
    for one, count in zip(found, counts, strict=True):
        grid = grids[one.game]
        at = np.array([np.searchsorted(run, grid, side="right") - 1 for run in count])
        rows = np.where(at < 0, np.nan, np.take_along_axis(one.curves, at, axis=1))
        out.append(
            replace(
                one, times=grid, curves=rows, records=Records(one.curves, count, one.times), per=per, revisions=None
            )
        )
    return out


def seeds_of(found: Sequence[Curves]) -> str:
    """How many seeds settings have, for people: 40 seeds, or 5 to 40 seeds where some have fewer."""
    least, most = (choose(one.seeds.size for one in found) for choose in (min, max))
    return f"{least:,} to " * (least < most) + counted(most, "seed")


def until(found: Sequence[Curves]) -> str:
    """Up to when runs are followed, for people: 4,000 revisions, or 3,050 to 4,000 where games differ."""
    ends = dict.fromkeys(f"{float(choose(one.times[-1] for one in found)):,.0f}" for choose in (min, max))
    return f"{' to '.join(ends)} {found[0].per}{' (by game)' * (len(ends) > 1)}"


def _counts(one: Curves, per: str) -> NDArray[np.float64]:
    if one.revisions is None:
        said = f"of {one.name} must have been recorded where a step is not one revision: record revisions too"
        raise InvalidInput(said, "revisions")
    if per == "revisions":
        return one.revisions
    if np.isnan(one.evaluations):
        raise InvalidInput(
            f"in a revision of {one.name} must be one number, and are not: players differ in their actions, moves are "
            "constrained, or the rule does not tell; nor does the dataset of a study: give the study itself",
            "evaluations",
        )
    return one.evaluations * one.revisions


# Which of them ----------------------------------------------------------------------------------------


def chosen(found: Sequence[Curves], where: Mapping[str, Any]) -> list[Curves]:
    """Those whose labels and values are these; a list is any of its entries, "none" or NaN those that lack it."""
    out = list(found)
    for name, wanted in where.items():
        known = dict.fromkeys(key for one in found for key in (*one.labels, *one.values))
        if not known:
            got = ", ".join(map(str, _listed(wanted)))
            raise InvalidInput(f"must be left out where nothing varies, got {name}={got}", "where", name)
        OneOf(*known).of(name, "where", InvalidInput)
        wishes = _listed(wanted)
        there = {short(value) if value is not None else _NONE: value for value in (_of(one, name) for one in found)}
        for wish in wishes:
            if not any(_same(_of(one, name), wish) for one in found):
                raise InvalidInput(f"{name} must be one of {', '.join(in_order(there))}, got {wish}", "where", wish)
        out = [one for one in out if any(_same(_of(one, name), wish) for wish in wishes)]
    if not out:
        told = ", ".join(f"{name}={short(entry)}" for name, entry in where.items())
        raise InvalidInput(f"must leave something of the study, got {told}, which no point has together", "where", told)
    return out


def _listed(wanted: Any) -> list[Any]:
    """Any of these: a list, a range, an array; or just this."""
    given = wanted.values if is_data_array(wanted) else wanted
    plain = given.tolist() if isinstance(given, np.ndarray | np.generic) else given
    return list(plain) if isinstance(plain, list | tuple | range | set | frozenset) else [plain]


def _of(one: Curves, name: str) -> Any:
    return one.labels[name] if name in one.labels else one.values.get(name)


def _same(value: Any, wish: Any) -> bool:
    """Whether a value is what was asked for: the same number, or what people read of it."""
    if value is None:
        return wish is None or str(wish).strip().lower() in (_NONE, "nan")
    if short(value) == short(wish) or str(value) == str(wish):
        return True
    try:
        return is_number(value) and (float(value) == float(wish) or short(float(value)) == short(float(wish)))
    except (TypeError, ValueError):
        return False
