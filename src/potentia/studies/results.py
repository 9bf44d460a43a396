"""What came out of a study: the level at which each point ends, how soon, and rules compared on the same seeds."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from potentia.errors import InvalidInput
from potentia.kernel.checks import OneOf, Real
from potentia.statistics.comparison import Comparison, compare, holm
from potentia.statistics.estimates import Estimate, area_under_curve, bootstrap_mean
from potentia.statistics.reaching import Reaching, reaching_time
from potentia.studies.axes import text_of
from potentia.studies.datasets import played, present
from potentia.studies.points import dimensions_of
from potentia.studies.store import Study

_LARGEST = 1e300  # sums of larger numbers would overflow
_DISTANCE = "distance"  # recorded in cells, told in the unit of the map
_TAIL = 0.1  # of the run: the level is the mean over its last part
SHOWN = 60  # rows of a table for people; JSON has all


@dataclass(frozen=True)
class Curves:
    """One point of a study over time."""

    labels: dict[str, str]  # which game, belief and rule of several
    values: dict[str, Any]  # what varies, by its short name
    seeds: NDArray[np.int64]
    times: NDArray[np.int64]
    curves: NDArray[np.float64]  # (seeds, times)
    number: int = 0  # of the point

    @property
    def name(self) -> str:
        """What to call it: lll, tau=0.1."""
        return ", ".join([*self.labels.values(), *(f"{k}={_short(v)}" for k, v in self.values.items())]) or "all runs"


@dataclass(frozen=True)
class Level:
    """What one point came to."""

    name: str
    runs: int
    start: float  # mean over runs
    end: Estimate  # mean of the last tenth of each run
    area: Estimate  # mean over the whole run
    reached: Reaching | None  # when runs are so far on the way from their start to their own end


@dataclass(frozen=True)
class Overview:
    """A study in two tables."""

    headline: str
    measure: str
    unit: str  # of a distance: that of the map's cells; otherwise empty
    tail: str
    share: float
    levels: list[Level]
    comparisons: list[Comparison]
    pairs: int  # that could be compared
    whole: str  # what has the rest, where not all was computed
    curves: list[Curves] = field(repr=False)

    @property
    def title(self) -> str:
        """Of the table of levels."""
        return f"{self.label}, {self.tail}"

    @property
    def label(self) -> str:
        """What is measured, with its unit."""
        return f"{self.measure} in {self.unit}" if self.unit else self.measure

    @property
    def header(self) -> list[str]:
        """Of the table of levels."""
        way = f"steps to {self.share:.0%} of the way"
        return ["", "runs", "start", "end [95 % interval]", "mean over the run", way]

    @property
    def rows(self) -> list[list[str]]:
        """The table of levels, for people."""
        return [
            [
                level.name,
                f"{level.runs:,}",
                f"{level.start:.5g}",
                str(level.end),
                str(level.area),
                "-" if level.reached is None else _soon(level.reached),
            ]
            for level in self.levels
        ]

    @property
    def note(self) -> str:
        """Below the table."""
        left = len(self.curves) - len(self.levels)
        cut = f"; {left:,} more points in {self.whole}" if left > 0 else ""
        few = "; with fewer than 20 runs they are too narrow" if any(level.runs < 20 for level in self.levels) else ""
        none = "; none with fewer than 5" if any(level.runs < 5 for level in self.levels) else ""
        unknown = "; ? is an end that so few runs do not tell" if any("?" in row[-1] for row in self.rows) else ""
        return f"intervals by bootstrap over seeds{few}{none}; steps: median and its interval{unknown}{cut}"

    @property
    def compared_note(self) -> str:
        """Below the table of comparisons."""
        left = self.pairs - len(self.comparisons)
        listed = f"corrected for the {len(self.comparisons):,} comparisons listed"
        cut = f"; {self.whole} has {left:,} more and corrects for all" if left > 0 else ""
        return f"on the same seeds; p by flipping signs of paired differences, {listed}{cut}"

    @property
    def compared(self) -> list[list[str]]:
        """The table of comparisons, for people."""
        return [
            [
                f"{c.first} − {c.second}",
                f"{c.pairs}",
                str(c.difference),
                f"{c.effect:.2f}",
                _probability(c.p_value),
                _probability(c.adjusted),
            ]
            for c in self.comparisons
        ]

    def to_dict(self) -> dict[str, Any]:
        """Plain data, for JSON."""
        return {
            "measure": self.measure,
            "unit": self.unit,
            "levels": [
                {
                    "point": level.name,
                    "runs": level.runs,
                    "start": level.start,
                    "end": level.end.to_list(),
                    "area": level.area.to_list(),
                    "reached": None if level.reached is None else level.reached.reached,
                    "median_steps": None if level.reached is None else level.reached.median,
                }
                for level in self.levels
            ],
            "comparisons": [c.to_dict() for c in self.comparisons],
        }


def _short(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else text_of(value)


def _probability(p: float) -> str:
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def _soon(found: Reaching) -> str:
    if np.isnan(found.median):
        return f"{found.reached} of {found.runs} get there"
    ends = [f"{end:,.0f}" if np.isfinite(end) else "?" for end in (found.median_low, found.median_high)]
    return f"{found.median:,.0f} [{ends[0]}, {ends[1]}]"


def overview(
    study: Study,
    measure: str | None = None,
    share: float = 0.9,
    partial: bool = False,
    most: int | None = None,
    whole: str = "overview(study)",
) -> Overview:
    """Levels of one recorder at every point, and paired comparisons: of rules with the first, at the same setting.

    ``most`` is how many levels and how many comparisons to compute, the first ones; left out, all. p-values are
    corrected for those that are computed. ``whole`` is what the tables call the place where the rest is to be had.
    """
    Real(above=0.0, most=1.0).of(share, "share", InvalidInput)
    timed = [name for name in study.record if dimensions_of(name) == ("time",)]
    if not timed:
        raise InvalidInput(f"{study.folder} records nothing over time but {', '.join(study.record) or 'nothing'}")
    chosen = timed[0] if measure is None else OneOf(*timed).of(measure, "measure", InvalidInput)
    found = curves_of(study, chosen, partial)
    unit = "cells" if chosen == _DISTANCE else ""
    lengths = [point.get("length") or {"side": 1.0, "unit": "cells"} for point in study.points]
    if unit and len({length["unit"] for length in lengths}) == 1:  # cells of several units are left as they are
        unit = lengths[0]["unit"]
        found = [replace(one, curves=lengths[one.number]["side"] * one.curves) for one in found]
    for one in found:
        if (np.abs(one.curves) > _LARGEST).any():
            raise InvalidInput(f"{chosen} of {one.name} must be at most {_LARGEST:g} to be averaged, got more")
    ends = [_level(one) for one in found]
    pairs = _pairs(found)
    runs = sum(one.seeds.size for one in found)
    headline = (
        f"{study.specification.name}: {_fixed(study)}{len(study.points):,} points × {len(study.seeds):,} seeds, "
        f"{study.specification.steps:,} steps, potentia {study.manifest['potentia']}"
    )
    if runs < study.num_runs:
        headline += f"; incomplete: {runs:,} of {study.num_runs:,} runs"
    last = max(int(_TAIL * study.specification.steps), study.manifest["every"])
    return Overview(
        headline,
        chosen,
        unit,
        f"end: mean of the last {last:,} steps",
        share,
        [_summary(one, end, share) for one, end in list(zip(found, ends, strict=True))[:most]],
        _compared(found, ends, pairs[:most]),
        len(pairs),
        whole,
        found,
    )


def _fixed(study: Study) -> str:
    """The one game, belief and rule, where there is one: the rows then do not name it."""
    said = []
    for tables in (study.specification.game, study.specification.belief, study.specification.rule):
        if len(tables) == 1:
            parts = [
                f"{name} {_short(entry)}" for name, entry in tables[0].items() if not isinstance(entry, list | dict)
            ]
            said.append(" ".join(part.removeprefix("name ").removeprefix("label ") for part in parts))
    return "; ".join([*said, ""]) if said else ""


def curves_of(study: Study, measure: str, partial: bool = False) -> list[Curves]:
    """One recorder at every point that has runs."""
    names = study.manifest["names"]
    parts: dict[int, tuple[list[int], list[NDArray[np.float64]]]] = {}
    for chunk, arrays in played(study, present(study, partial)):
        seeds, rows = parts.setdefault(chunk.point, ([], []))
        seeds += study.seeds_of(chunk)
        rows.append(arrays[measure])
    out = []
    places = {seed: number for number, seed in enumerate(study.seeds)}
    for number, (seeds, rows) in sorted(parts.items()):
        point, order = study.points[number], np.argsort([places[seed] for seed in seeds])
        numbers, values = np.asarray(seeds, np.int64)[order], np.concatenate(rows)[order]
        varied = {names[key]: entry for key, entry in point["values"].items()}
        times = np.arange(values.shape[1]) * study.manifest["every"]
        out.append(Curves(point["labels"], varied, numbers, times, values, number))
    return out


def _level(one: Curves) -> NDArray[np.float64]:
    """The mean over the last tenth of each run."""
    first = one.times[-1] * (1 - _TAIL)
    return np.nanmean(one.curves[:, (one.times > first) | (one.times == one.times[-1])], axis=1)


def _summary(one: Curves, ends: NDArray[np.float64], share: float) -> Level:
    known = np.isfinite(one.curves)
    skip = 0 if known[:, 0].all() else 1  # a share of revisions is not known before the first
    values, times = one.curves[:, skip:], one.times[skip:]
    reached = None
    if times.size > 1 and known[:, skip:].all():
        way = ends - values[:, 0]
        rising = np.where(way >= 0, 1.0, -1.0)[:, None]
        goal = rising[:, 0] * (values[:, 0] + share * way)
        reached = reaching_time(rising * values, times, goal, scale=np.abs(values[:, 0]))
    area = area_under_curve(values, times) if times.size > 1 else values[:, 0]
    start = float(np.nanmean(values[:, 0])) if values.size else float("nan")
    return Level(one.name, one.seeds.size, start, bootstrap_mean(ends), bootstrap_mean(area), reached)


def _pairs(found: list[Curves]) -> list[tuple[int, int]]:
    """Each rule with the first one at the same setting; where there is one rule, each point with the first."""
    firsts: dict[str, int] = {}
    rules = {one.labels["rule"] for one in found if "rule" in one.labels}
    out = []
    for number, one in enumerate(found):
        rest = {**{k: v for k, v in one.labels.items() if k != "rule"}, **one.values}
        first = firsts.setdefault(text_of(rest) if len(rules) > 1 else "", number)
        if first != number and np.intersect1d(one.seeds, found[first].seeds).size > 1:
            out.append((number, first))
    return out


def _compared(found: list[Curves], ends: list[NDArray[np.float64]], pairs: list[tuple[int, int]]) -> list[Comparison]:
    from xarray import DataArray

    def level(number: int) -> Any:
        return DataArray(ends[number], dims="seed", coords={"seed": found[number].seeds})

    out = [compare(level(one), level(other), names=(found[one].name, found[other].name)) for one, other in pairs]
    adjusted = holm([c.p_value for c in out]) if out else np.zeros(0)
    return [replace(c, adjusted=float(p)) for c, p in zip(out, adjusted, strict=True)]
