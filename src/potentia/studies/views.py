"""A study seen in other ways than point by point: against a parameter, at the best of each rule, by a goal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from potentia.errors import InvalidInput
from potentia.kernel.checks import Real
from potentia.statistics.choosing import Best, axis_of
from potentia.statistics.curves import Curves, short
from potentia.statistics.estimates import FEW
from potentia.statistics.reaching import Reaching, reaching_time

_SHARE = "%"


@dataclass(frozen=True)
class View:
    """A table for people, and the same as plain data."""

    header: list[str]
    rows: list[list[str]]
    note: str
    data: Any


def against(
    found: Sequence[Curves], axis: str | None = None, *, lowest: bool = False, optima: Mapping[str, float] | None = None
) -> View:
    """Mean levels, a row for each rule on each game, a column for each value; the best of a row has a star."""
    name = axis_of(found, axis)
    values = {short(one.values[name]): one.values[name] for one in found if name in one.values}
    columns = sorted(values, key=lambda text: (isinstance(values[text], str), values[text]))
    rest = any(name not in one.values for one in found)
    table: dict[tuple[str, str], dict[str, Curves]] = {}
    for one in found:
        others = [f"{key}={short(entry)}" for key, entry in one.values.items() if key != name]
        apart = [text for text in others if text not in one.game.split(", ")]
        who = ", ".join([*(text for key, text in one.labels.items() if key != "game"), *apart])
        table.setdefault((one.game, who), {})[short(one.values[name]) if name in one.values else ""] = one
    games_of = dict.fromkeys(game for game, _ in table)
    games, data, rows = any(games_of), [], []
    for (game, who), mine in sorted(table.items(), key=lambda row: list(games_of).index(row[0][0])):
        means = {text: float(np.nanmean(one.levels)) for text, one in mine.items()}
        best = (min if lowest else max)(means, key=lambda text: means[text])
        cells = [f"{means[text]:.5g}{'*' * (text == best)}" if text in means else "" for text in columns]
        last = [f"{means['']:.5g}" if "" in means else ""] if rest else []
        top = [] if optima is None else [f"{optima[game]:.6g}"]
        rows.append([*([game] if games else []), who or "all runs", *cells, *last, *top])
        told = {"game": game, "rule": who, "levels": [[values.get(text), mean] for text, mean in means.items()]}
        data.append(told | ({} if optima is None else {"optimum": optima[game]}))
    header = [*(["game"] if games else []), f"rule \\ {name}", *columns, *(["without"] if rest else [])]
    note = f"mean over seeds of the level at the end; * the {'lowest' if lowest else 'highest'} of a row"
    if optima is not None:
        header.append("optimum")
        note += "; optimum: no profile has more"
    return View(header, rows, note, data)


def best_view(best: Best) -> View:
    """The best value for each rule on each game."""
    games = any(one.game for one in best.chosen)
    rows = [
        [
            *([one.game] if games else []),
            one.who,
            "-" if one.value is None else short(one.value) + (" (at the edge)" if one.edge else ""),
            str(one.level),
            "-" if one.tried == 1 else "?" if np.isnan(one.flattery) else f"{max(0.0, one.flattery):.2g}",
        ]
        for one in best.chosen
    ]
    header = [*(["game"] if games else []), "rule", f"best {best.axis}", "level [95 % interval]", "owed to the choice"]
    note = (
        f"best: {'lowest' if best.lowest else 'highest'} mean level over seeds; owed to the choice: by how much it "
        "flatters to choose on the seeds that are told"
    )
    if any(one.edge for one in best.chosen):
        note += f"; at the edge: the best {best.axis} may lie beyond what was tried"
    if any(one.level.count < FEW for one in best.chosen):
        note += f"; no interval with fewer than {FEW} runs"
    return View(header, rows, note, best.to_dict())


def goals(found: Sequence[Curves], goal: str, optima: Mapping[str, float] | None) -> dict[str, float]:
    """By game, the level that ``goal`` is: a number, or a share of the way from the mean start to the optimum."""
    text = goal.strip()
    try:
        number = float(text.removesuffix(_SHARE))
    except ValueError:
        raise InvalidInput(f"must be a number, or a share of the way such as 95%, got {goal!r}", "goal", goal) from None
    if not text.endswith(_SHARE):
        number = Real().of(number, "goal", InvalidInput)
        return {one.game: number for one in found}
    share = Real(above=0.0, most=100.0).of(number, "goal", InvalidInput) / 100
    out = {}
    for game, best in (optima or {}).items():
        starts = [one.curves[:, 0] for one in found if one.game == game]
        start = float(np.nanmean(np.concatenate(starts)))
        out[game] = start + share * (best - start)
    return out


def is_share(goal: str | None) -> bool:
    """Whether a goal is a share of the way to the optimum."""
    return goal is not None and goal.strip().endswith(_SHARE)


def reaching_view(found: Sequence[Curves], wanted: Mapping[str, float]) -> View:
    """How many runs of each setting reach the goal, and when."""
    rows, data = [], []
    for one in found:
        got = reaching_time(one.curves, one.times, wanted[one.game])
        rows.append(
            [one.name, f"{wanted[one.game]:.6g}", f"{got.reached} of {got.runs}", soon(got), str(got.restricted)]
        )
        median = [got.median, got.median_low, got.median_high]
        spent = {"reached": got.reached, "runs": got.runs, f"median_{one.per}": median}
        data.append({"point": one.name, "goal": wanted[one.game], **spent, "restricted": got.restricted.to_list()})
    per, horizon = found[0].per, found[0].times[-1]
    header = ["", "goal", "get there", f"{per}, median", "restricted mean"]
    note = (
        f"runs that never get there count as longer than the {horizon:,.0f} {per} that were played; the restricted "
        f"mean takes them as {horizon:,.0f}"
    )
    return View(header, rows, note, data)


def soon(found: Reaching) -> str:
    """The median and its interval, or how many get there where fewer than half do."""
    if np.isnan(found.median):
        return f"{found.reached} of {found.runs} get there"
    ends = [f"{end:,.0f}" if np.isfinite(end) else "?" for end in (found.median_low, found.median_high)]
    return f"{found.median:,.0f} [{ends[0]}, {ends[1]}]"
