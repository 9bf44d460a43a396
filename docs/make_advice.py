"""Which rule to take on a map: the study over sixty maps of five kinds (``advice_maps.py``), for ``advice.md``.

``python docs/make_advice.py`` plays it (some ten minutes on one core), writes ``advice.csv``, one row per map and
candidate, and makes the tables and the figure from it; ``--tables`` only makes those. ``--grid`` plays the larger
grid that the candidates were chosen from, on the forty maps for tuning, and prints it.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterable, Mapping

import numpy as np
from advice_maps import KINDS, TUNING, Site, sites
from pages import HERE, markdown, write

import potentia as pt
from potentia.rules import Rule
from potentia.statistics.estimates import Estimate, estimate, paired_difference, tail_mean
from potentia.studies import comparing

TAKEN = "guarded"  # with which the others are compared
CANDIDATES = {  # of those that potentia compares
    TAKEN: "p-sblll:guarded",
    "unilateral": "p-sblll:unilateral",
    "joint": "p-sblll",
    "joint, revision 0.3": "p-sblll (revision 0.3)",
    "BLLL": "blll",
    "LLL": "lll",
    "SLLL, revision 0.6": "slll",
    "unilateral, colder": "p-sblll:unilateral (tau 0.3 to 0.003)",
    "guarded, colder": "p-sblll:guarded (tau 0.3 to 0.003)",
    "SLLL, revision 0.6, colder": "slll (tau 0.3 to 0.003)",
    "unilateral, constant 0.03": "p-sblll:unilateral (tau 0.03)",
}
STEPS, RUNS = 20_000, 6
TABLE = HERE / "advice.csv"
COLUMNS = ("kind", "map", "held_out", "candidate", "share", "distance")


def tau(start: float, stop: float | None = None) -> pt.rules.Relative:
    """A temperature relative to the most that a robot can cover."""
    return pt.rules.Relative(start if stop is None else pt.rules.Geometric(start, stop))


def parallel(tau: object, revision: float = 0.9, **options: object) -> Rule:
    return pt.rule("p-sblll", tau=tau, revision=revision, **options)


def candidates() -> dict[str, Rule]:
    """What the grid left, and the rules that people would ask about, by the names that the page has for them."""
    rules = comparing.candidates()
    return {name: rules[known] for name, known in CANDIDATES.items()}


def grid() -> dict[str, Rule]:
    """Rules, revisions and schedules."""
    falls = [(0.3, 0.01), (0.3, 0.003), (0.3, 0.001), (0.5, 0.003), (0.2, 0.003), (0.2, 0.01), (1.0, 0.01)]
    falls += [(0.1, 0.01), (0.1, 0.003), (0.1, 0.03), (0.3, 0.03)]
    schedules = {f"{start:g} to {stop:g}": tau(start, stop) for start, stop in falls}
    schedules |= {f"constant {level:g}": tau(level) for level in (0.01, 0.03, 0.06, 0.1)}
    out = {}
    for name, schedule in schedules.items():
        for revision in (0.1, 0.3, 0.6, 0.9, 1.0):
            out[f"unilateral, {revision:g}, {name}"] = parallel(schedule, revision, trial="unilateral")
            out[f"guarded, {revision:g}, {name}"] = parallel(schedule, revision, guard=True)
            out[f"joint, {revision:g}, {name}"] = parallel(schedule, revision)
            out[f"SLLL, {revision:g}, {name}"] = pt.rule("slll", tau=schedule, revision=revision)
        out[f"BLLL, {name}"], out[f"LLL, {name}"] = pt.rule("blll", tau=schedule), pt.rule("lll", tau=schedule)
    return out


# Playing ----------------------------------------------------------------------------------------------


def play(
    where: Iterable[Site], rules: Mapping[str, Rule], steps: int = STEPS, runs: int = RUNS
) -> list[dict[str, object]]:
    """The share of the optimum's bound at the end, and how far a robot drove: means over runs, by map and rule.

    Where the worth drifts, the share is the mean over five times of the second half of the run, each of the bound
    then.
    """
    rows: list[dict[str, object]] = []
    for site in where:
        game = site.game
        times = [steps * k // 10 for k in (6, 7, 8, 9, 10)] if game.drifts else [steps]
        bounds = [bound(game, time) for time in times]
        for name, rule in rules.items():
            data = pt.run_batch(game, rule, steps, range(runs), record=("worth_union", "distance"), every=20)
            worth, at = data.worth_union.values, data.time.values
            pairs = zip(times, bounds, strict=True)
            reached = [tail_mean(worth[:, at <= time], at[at <= time], 200) / most for time, most in pairs]
            driven = float(data.driven.mean())
            entries = (site.kind, site.number, int(site.held_out), name, float(np.mean(reached)), driven)
            rows.append(dict(zip(COLUMNS, entries, strict=True)))
        sys.stderr.write(f"{site.name}: {game.describe()}\n")
    return rows


def bound(game: pt.games.Coverage, time: int) -> float:
    """No placement covers more at this time."""
    method = "greedy" if game.drifts else "auto"  # a bound that is a little too large is so for all rules
    return float(pt.analysis.optimum(game.at(time), method=method, time_limit=5.0).bound)


def keep(rows: list[dict[str, object]]) -> None:
    with TABLE.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(row | {k: f"{row[k]:.6g}" for k in ("share", "distance")} for row in rows)


def kept() -> list[dict[str, object]]:
    with TABLE.open(encoding="utf-8") as file:
        return [
            row | {"map": int(row["map"]), "held_out": int(row["held_out"])} | {k: float(row[k]) for k in COLUMNS[4:]}
            for row in csv.DictReader(file)
        ]


# Tables and figure ------------------------------------------------------------------------------------


def values(rows: list[dict[str, object]], name: str, what: str = "share", **where: object) -> np.ndarray:
    """By map, in their order."""
    chosen = (row for row in rows if row["candidate"] == name and all(row[k] == v for k, v in where.items()))
    return np.array([row[what] for row in chosen])


def table(rows: list[dict[str, object]], held_out: int) -> str:
    """Every candidate: what it covers, what it covers more or less than the one to take, and what it drives."""
    lines = []
    for name in candidates():
        share = estimate(values(rows, name, held_out=held_out))
        less = less_than_taken(rows, name, held_out=held_out)
        drive = values(rows, name, "distance", held_out=held_out).mean()
        kinds = [f"{values(rows, name, kind=kind, held_out=held_out).mean():.3f}" for kind in KINDS]
        lines.append([name, f"{share.mean:.3f}", signed(less, name), *kinds, f"{drive:,.0f}"])
    header = ["rule", "all kinds", f"less {TAKEN}'s, paired, 95 %", *KINDS, "cells driven by a robot"]
    return markdown(header, lines)


def less_than_taken(rows: list[dict[str, object]], name: str, **where: object) -> Estimate:
    return paired_difference(values(rows, name, **where), values(rows, TAKEN, **where))


def signed(found: Estimate, name: str) -> str:
    return "–" if name == TAKEN else f"{found.mean:+.3f} [{found.low:+.3f}, {found.high:+.3f}]"


def kinds_table(rows: list[dict[str, object]]) -> str:
    """Those that a reader chooses between, by kind of map, over all its maps."""
    columns = [[row for row in rows if row["kind"] == kind] for kind in KINDS]
    columns.append([row for row in rows if row["kind"] != "drifting"])
    lines = [
        [name, *(signed(less_than_taken(column, name), name) for column in columns)]
        for name in ("unilateral", "guarded, colder", "unilateral, colder", "SLLL, revision 0.6", "BLLL")
    ]
    return markdown([f"less {TAKEN}'s", *KINDS, "all that stand still"], lines)


def draw(rows: list[dict[str, object]]) -> None:
    """Worth against distance, over the held-out maps and over the others."""
    from matplotlib.figure import Figure

    figure = Figure((9.0, 4.6), layout="constrained")
    for axes, held_out in zip(figure.subplots(1, 2, sharey=True), (0, 1), strict=True):
        for k, name in enumerate(candidates()):
            share = estimate(values(rows, name, held_out=held_out))
            drive = values(rows, name, "distance", held_out=held_out).mean()
            mark = "os^DvP*X"[k % 8]
            axes.errorbar(
                drive, share.mean, [[share.mean - share.low], [share.high - share.mean]], fmt=mark, label=name
            )
        axes.set(
            xscale="log",
            xlabel="cells driven by a robot, mean",
            title=("40 maps, tuning", "20 maps, held out")[held_out],
        )
        axes.spines[["top", "right"]].set_visible(False)
    figure.axes[0].set_ylabel("share of the optimum's bound, 95 % over maps")
    handles, labels = figure.axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False)
    figure.savefig(HERE / "advice.png", dpi=110)


def advise(play_again: bool = True) -> None:
    """The page on which rule to take."""
    if play_again:
        keep(play(sites(), candidates()))
    rows = kept()
    write("advice.md", "tuning", table(rows, 0))
    write("advice.md", "held out", table(rows, 1))
    write("advice.md", "kinds", kinds_table(rows))
    draw(rows)


def look_for_candidates() -> None:
    """The grid, best last, with the margin to guarded as it is by default."""
    rows = play(sites(TUNING), grid(), 10_000, 4)
    usual = values(rows, "guarded, 0.9, 0.3 to 0.01")
    for name in sorted(grid(), key=lambda name: values(rows, name).mean()):
        share, drive = values(rows, name), values(rows, name, "distance").mean()
        margin = signed(paired_difference(share, usual), name)
        sys.stdout.write(f"{share.mean():.4f}  {margin:26}  {drive:8,.0f}  {name}\n")


if __name__ == "__main__":
    if "--grid" in sys.argv[1:]:
        look_for_candidates()
    else:
        advise("--tables" not in sys.argv[1:])
