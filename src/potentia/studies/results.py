"""What came out of a study: the level at which each point ends, how soon, and rules compared on the same seeds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from potentia.errors import InvalidInput
from potentia.kernel.checks import Real
from potentia.kernel.texts import counted
from potentia.statistics.comparison import Comparison, holm
from potentia.statistics.curves import PER, TAIL, Curves, compared, mean_known, short, until
from potentia.statistics.estimates import Estimate, area_under_curve, bootstrap_mean
from potentia.statistics.reaching import Reaching, coarse, reaching_time
from potentia.studies.axes import text_of
from potentia.studies.lines import curves_of, incomplete, measure_of
from potentia.studies.store import Study
from potentia.studies.views import soon

COMPARED = ["difference", "pairs", "mean [95 % interval]", "effect d_z", "p", "p, Holm"]
SHOWN = 60  # rows of a table for people; JSON has all


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
    label: str  # what is measured, with its unit
    unit: str
    per: str  # what time counts
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
    def header(self) -> list[str]:
        """Of the table of levels."""
        way = f"{self.per} to {self.share:.0%} of the way"
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
                "-" if level.reached is None else soon(level.reached),
            ]
            for level in self.levels
        ]

    @property
    def note(self) -> str:
        """Below the table."""
        left = len(self.curves) - len(self.levels)
        cut = f"; {counted(left, 'more point')} in {self.whole}" if left > 0 else ""
        few = "; with fewer than 20 runs they are too narrow" if any(level.runs < 20 for level in self.levels) else ""
        none = "; none with fewer than 5" if any(level.runs < 5 for level in self.levels) else ""
        unknown = "; ? is an end that so few runs do not tell" if any("?" in row[-1] for row in self.rows) else ""
        return f"intervals by bootstrap over seeds{few}{none}; {self.per}: median and its interval{unknown}{cut}"

    @property
    def warning(self) -> str | None:
        """Of times along what was spent, where rows lie too far apart for them."""
        told = [(one, level.reached) for one, level in zip(self.curves, self.levels, strict=False) if level.reached]
        return coarse(told) if self.per != PER[0] else None

    @property
    def compared_note(self) -> str:
        """Below the table of comparisons."""
        left = self.pairs - len(self.comparisons)
        listed = f"corrected for the {counted(len(self.comparisons), 'comparison')} listed"
        cut = f"; {self.whole} has {left:,} more and corrects for all" if left > 0 else ""
        apart = f"; {self.apart}" if self.apart else ""
        return f"on the same seeds; p by flipping signs of paired differences, {listed}{cut}{apart}"

    @property
    def apart(self) -> str:
        """That games are not compared, where that is what one would look for."""
        alone = len({one.labels.get("rule") for one in self.curves}) == 1 and len({one.game for one in self.curves}) > 1
        return "different games are not compared" if alone else ""

    @property
    def compared(self) -> list[list[str]]:
        """The table of comparisons, for people."""
        return compared_rows(self.comparisons)

    def to_dict(self) -> dict[str, Any]:
        """Plain data, for JSON."""
        return {
            "measure": self.measure,
            "title": self.title,
            "unit": self.unit,
            "per": self.per,
            "levels": [
                {
                    "point": level.name,
                    "runs": level.runs,
                    "start": level.start,
                    "end": level.end.to_dict(),
                    "area": level.area.to_dict(),
                    "reached": None if level.reached is None else level.reached.reached,
                    f"median_{self.per}": None if level.reached is None else level.reached.median,
                    f"median_{self.per}_interval": None if level.reached is None else level.reached.interval,
                }
                for level in self.levels
            ],
            "comparisons": [c.to_dict() for c in self.comparisons],
        }


def compared_rows(comparisons: Sequence[Comparison]) -> list[list[str]]:
    """Comparisons as a table for people, under ``COMPARED``."""
    return [
        [
            f"{c.first} − {c.second}",
            f"{c.pairs}",
            str(c.difference),
            "-" if np.isnan(c.effect) else f"{c.effect:.2f}",
            _probability(c.p_value),
            _probability(c.adjusted),
        ]
        for c in comparisons
    ]


def _probability(p: float) -> str:
    return "-" if np.isnan(p) else "< 0.001" if p < 0.001 else f"{p:.3f}"


def overview(
    study: Study,
    measure: str | None = None,
    share: float = 0.9,
    partial: bool = False,
    most: int | None = None,
    whole: str = "overview(study)",
    *,
    curves: Sequence[Curves] | None = None,
    where: Mapping[str, Any] | None = None,
) -> Overview:
    """Levels of one recorder at every point, and paired comparisons: of rules with the first, at the same setting.

    ``most`` is how many levels and how many comparisons to compute, the first ones; left out, all. p-values are
    corrected for those that are computed. ``whole`` is what the tables call the place where the rest is to be had.
    ``curves`` are those to tell of, as of :func:`~potentia.studies.lines.curves_of`; left out, all;
    ``where`` is what they were chosen by.
    """
    Real(above=0.0, most=1.0).of(share, "share", InvalidInput)
    wanted = measure_of(study, measure)
    found = curves_of(study, wanted, partial) if curves is None else list(curves)
    ends = [one.levels for one in found]
    pairs = _pairs(found)
    points = f"{len(found):,} of " * bool(where) + counted(len(study.points), "point")
    headline = (
        f"{study.specification.name}: {_fixed(study)}{points} × {counted(len(study.seeds), 'seed')}, "
        f"{counted(study.specification.steps, 'step')}, potentia {study.manifest['potentia']}"
    )
    if missing := incomplete(study, found, where):
        headline += f"; {missing}"
    return Overview(
        headline,
        wanted,
        found[0].measured,
        found[0].unit,
        found[0].per,
        _tail(study, found),
        share,
        [_summary(one, end, share) for one, end in list(zip(found, ends, strict=True))[:most]],
        _compared(found, pairs[:most]),
        len(pairs),
        whole,
        found,
    )


def _tail(study: Study, found: Sequence[Curves]) -> str:
    if found[0].per == "steps":
        last = max(int(TAIL * study.specification.steps), study.manifest["every"])
        return f"end: mean of the last {last:,} steps"
    return f"end: mean of the last tenth of {until(found)}, which all runs have spent"


def _fixed(study: Study) -> str:
    """The one game, belief and rule, where there is one: the rows then do not name it."""
    said = []
    for tables in (study.specification.game, study.specification.belief, study.specification.rule):
        if len(tables) == 1:
            parts = [
                f"{name} {short(entry)}" for name, entry in tables[0].items() if not isinstance(entry, list | dict)
            ]
            said.append(" ".join(part.removeprefix("name ").removeprefix("label ") for part in parts))
    return "; ".join([*said, ""]) if said else ""


def _summary(one: Curves, ends: NDArray[np.float64], share: float) -> Level:
    skip = 0 if np.isfinite(one.curves[:, 0]).all() else 1  # a share of revisions is not known before the first
    values, times = one.curves[:, skip:], one.times[skip:]
    area = area_under_curve(values, times) if times.size > 1 else values[:, 0]
    start = float(mean_known(values[None, :, 0])[0]) if values.size else float("nan")
    reached = _on_the_way(one, ends, share, skip)
    return Level(one.name, one.seeds.size, start, bootstrap_mean(ends), bootstrap_mean(area), reached)


def _on_the_way(one: Curves, ends: NDArray[np.float64], share: float, skip: int) -> Reaching | None:
    """When each run is so far on the way from its start to its own end."""
    values, times = (part[..., skip:] for part in one.rows)
    if values.shape[1] < 2 or not np.isfinite(values).all():
        return None
    way = ends - values[:, 0]
    rising = np.where(way >= 0, 1.0, -1.0)[:, None]
    goal = rising[:, 0] * (values[:, 0] + share * way)
    scale, horizon = np.abs(values[:, 0]), float(one.times[-1])
    return reaching_time(rising * values, times, goal, scale=scale, horizon=horizon)


def _pairs(found: list[Curves]) -> list[tuple[int, int]]:
    """Each rule with the first one at the same setting; where there is one rule, each point with the first of its game.

    Different games have no common scale.
    """
    firsts: dict[str, int] = {}
    rules = {one.labels["rule"] for one in found if "rule" in one.labels}
    out = []
    for number, one in enumerate(found):
        rest = {**{k: v for k, v in one.labels.items() if k != "rule"}, **one.values}
        first = firsts.setdefault(text_of(rest) if len(rules) > 1 else one.game, number)
        if first != number and np.intersect1d(one.seeds, found[first].seeds).size > 1:
            out.append((number, first))
    return out


def _compared(found: list[Curves], pairs: list[tuple[int, int]]) -> list[Comparison]:
    out = [compared(found[one], found[other]) for one, other in pairs]
    adjusted = holm([c.p_value for c in out]) if out else np.zeros(0)
    return [replace(c, adjusted=float(p)) for c, p in zip(out, adjusted, strict=True)]
