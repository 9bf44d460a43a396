"""A study seen in other ways than point by point: against a parameter, at the best of each rule, by a goal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from potentia.errors import InvalidInput
from potentia.kernel.checks import Real
from potentia.statistics.choosing import Best, apart_from, axis_of, best_place, equals
from potentia.statistics.curves import Curves, in_order, short, until
from potentia.statistics.estimates import FEW, bootstrap_mean
from potentia.statistics.reaching import Reaching, coarse, reaching_of

_SHARE = "%"
_NEAR = 1e-9  # below a goal counts as there
MANY = 20  # runs; intervals by bootstrap of fewer are too narrow


@dataclass(frozen=True)
class View:
    """A table for people, and the same as plain data."""

    header: list[str]
    rows: list[list[str]]
    note: str
    data: Any
    warning: str | None = None


def against(
    found: Sequence[Curves],
    axis: str | None = None,
    *,
    lowest: bool = False,
    optima: Mapping[str, float] | None = None,
    intervals: bool = False,
) -> View:
    """Mean levels, a row for each rule on each game, a column for each value; the best of a row has a star.

    But not where the columns are games: what is best then tells of them, not of rules. ``intervals`` asks for those of
    the means too, in the data.
    """
    name = axis_of(found, axis)
    values = {short(one.values[name]): one.values[name] for one in found if name in one.values}
    columns, rest = in_order(values), any(name not in one.values for one in found)
    across = any(name in one.of_game for one in found)  # the best of a row would tell of its games
    apart = apart_from(found, name)
    table: dict[tuple[str, str], dict[str, Curves]] = {}
    for one in found:
        others = [f"{key}={short(one.values[key])}" for key in apart if key in one.values]
        row = (one.game_without(name), ", ".join([one.who, *others]))
        table.setdefault(row, {})[short(one.values[name]) if name in one.values else ""] = one
    games_of = list(dict.fromkeys(game for game, _ in table))
    games, data, rows = any(games_of), [], []
    for (game, who), mine in sorted(table.items(), key=lambda row: games_of.index(row[0][0])):
        means = {text: one.level for text, one in mine.items()}
        place = None if across else best_place(list(means.values()), lowest)
        same = [] if place is None else equals(list(mine.values()), place)
        best = [list(means)[place] for place in same]
        cells = [f"{means[text]:.5g}{'*' * (text in best)}" if text in means else "" for text in columns]
        last = [f"{means['']:.5g}" if "" in means else ""] if rest else []
        tops = list(dict.fromkeys(optima[one.game] for one in mine.values())) if optima else []
        top = [] if optima is None else [", ".join(map(_known, tops))]
        rows.append([*([game] if games else []), who, *cells, *last, *top])
        told = {"game": game, "rule": who, "levels": [[values.get(text), mean] for text, mean in means.items()]}
        if intervals:
            told["intervals"] = [[values.get(text), bootstrap_mean(one.levels).to_dict()] for text, one in mine.items()]
        data.append(told | ({} if optima is None else {"optimum": tops[0] if len(tops) == 1 else tops}))
    header = [*(["game"] if games else []), f"rule \\ {name}", *columns, *(["without"] if rest else [])]
    note = "mean over seeds of the level at the end"
    if not across:
        note += f"; * the {'lowest' if lowest else 'highest'} of a row"
    if optima is not None:
        header.append("optimum")
        note += "; optimum: no profile has more"
    return View(header, rows, note, data)


def best_view(best: Best, optima: Mapping[str, float] | None = None) -> View:
    """The best value for each rule on each game."""
    games = any(one.game for one in best.chosen)
    along = any(one.best.told(("game", *one.best.labels, *one.best.of_game, best.axis)) for one in best.chosen)
    rows = [
        [
            *([one.game] if games else []),
            one.who,
            one.told + " (at the edge)" * one.edge,
            *([one.best.told(("game", *one.best.labels, *one.best.of_game, best.axis))] if along else []),
            str(one.level),
            "-" if one.tried == 1 or np.isnan(one.flattery) else f"{max(0.0, one.flattery):.2g}",
            *([_known(optima[one.game])] if optima else []),
        ]
        for one in best.chosen
    ]
    header = [*(["game"] if games else []), "rule", f"best {best.axis}", *(["with"] if along else [])]
    header += ["level [95 % interval]", "owed to the choice", *(["optimum"] if optima else [])]
    note = (
        f"best: {'lowest' if best.lowest else 'highest'} mean level over seeds; owed to the choice: by how much it "
        "flatters to choose on the seeds that are told; p-values below are too small for the same reason"
    )
    if any(np.isnan(one.flattery) for one in best.chosen):
        note += "; - where that is not known: it takes 3 seeds, the same for all"
    if any(len(one.equal) > 1 for one in best.chosen):
        note += "; equal: mean levels are the same, and the first is told and compared"
    if any(one.edge for one in best.chosen):
        note += f"; at the edge: the best {best.axis} may lie beyond what was tried"
    counts = [one.level.count for one in best.chosen]
    if counts and min(counts) < MANY:
        note += f"; with fewer than {MANY} runs intervals are too narrow, and with fewer than {FEW} there are none"
    data = best.to_dict()
    for row in data["chosen"] if optima else ():
        row["optimum"] = optima[row["game"]]  # type: ignore[index]
    return View(header, rows, note, data)


def _known(level: float) -> str:
    """An optimum, or that none is known."""
    return "?" if np.isnan(level) else f"{level:.6g}"


def goals(found: Sequence[Curves], goal: str, optima: Mapping[str, float] | None) -> dict[str, float]:
    """By game, the level that ``goal`` is: a number, or a share of the way from the mean start to the optimum."""
    number, is_way = _parsed(goal)
    if not is_way:
        return {one.game: number for one in found}
    share = number / 100
    out = {}
    for game, best in (optima or {}).items():
        if np.isnan(best):
            raise InvalidInput(f"must be a level where no optimum is known, as of {game or 'this game'}", "goal", goal)
        starts = [one.curves[:, 0] for one in found if one.game == game]
        start = float(np.nanmean(np.concatenate(starts)))
        out[game] = start + share * (best - start)
    return out


def beyond(
    found: Sequence[Curves], goal: str, wanted: Mapping[str, float], optima: Mapping[str, float] | None
) -> str | None:
    """That a goal, given as a number, lies above the optimum or above all that was reached, and what may be meant."""
    number, is_way = _parsed(goal)
    told = []
    for game, level in wanted.items() if not is_way else ():
        reached = np.concatenate([one.rows[0].ravel() for one in found if one.game == game])
        most, best = float(np.nanmax(reached, initial=-np.inf)), (optima or {}).get(game, np.nan)
        where, slack = f" ({game})" if game else "", _NEAR * abs(level)
        if level > best + slack:
            told.append(f"the optimum, {best:.6g}{where}")
        elif level > most + slack and np.isfinite(most):
            told.append(f"all that was reached, {most:.6g}{where}")
    if not told:
        return None
    share = f"; did you mean {100 * number if number <= 1 else number:g}%?" if 0 < number <= 100 else ""
    return f"the goal {number:g} lies above {'; '.join(told)}{share}"


def is_share(goal: str | None) -> bool:
    """Whether a goal is a share of the way to the optimum; an error where it is nothing at all."""
    return goal is not None and _parsed(goal)[1]


def _parsed(goal: str) -> tuple[float, bool]:
    text = goal.strip()
    try:
        number = float(text.removesuffix(_SHARE))
    except ValueError:
        raise InvalidInput(f"must be a number, or a share of the way such as 95%, got {goal!r}", "goal", goal) from None
    if not text.endswith(_SHARE):
        return Real().of(number, "goal", InvalidInput), False
    if not 0 < number <= 100:
        raise InvalidInput(f"must be a share above 0% and at most 100%, or a number, got {goal!r}", "goal", goal)
    return number, True


def reaching_view(found: Sequence[Curves], wanted: Mapping[str, float]) -> View:
    """How many runs of each setting reach the goal, and when."""
    rows, data, times = [], [], []
    for one in found:
        got = reaching_of(one, wanted[one.game])
        times.append((one, got))
        rows.append(
            [one.name, f"{wanted[one.game]:.6g}", f"{got.reached} of {got.runs}", soon(got), str(got.restricted)]
        )
        spent = {"reached": got.reached, "runs": got.runs, f"median_{one.per}": {"median": got.median, **got.interval}}
        data.append({"point": one.name, "goal": wanted[one.game], **spent, "restricted": got.restricted.to_dict()})
    per = found[0].per
    horizon = until(found)
    header = ["", "goal", "get there", f"{per}, median", "restricted mean"]
    note = (
        f"runs that never get there count as longer than the {horizon} that were played; the restricted mean "
        f"takes them as {horizon.removesuffix(f' {per}')}; times are those of recorded rows"
    )
    return View(header, rows, note, data, coarse(times))


def soon(found: Reaching) -> str:
    """The median and its interval, or how many get there where fewer than half do."""
    if np.isnan(found.median):
        return f"{found.reached} of {found.runs} get there"
    ends = [f"{end:,.0f}" if np.isfinite(end) else "?" for end in (found.median_low, found.median_high)]
    return f"{found.median:,.0f} [{ends[0]}, {ends[1]}]"
