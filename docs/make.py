"""Write what the docs show from what the package computes: ``python docs/make.py``.

Tables go between their marks in the pages, figures beside them. ``--only`` with ``stability``, ``coverage``,
``beliefs``, ``forgetting``, ``dynamics``, ``reinforcement``, ``channels``, ``replay``, ``laboratory``, ``studio`` or
``advice`` makes one part; the coverage study takes about five minutes, forgetting three, the advice ten; the replay,
the laboratory and the studio need Playwright and a chromium. Robots of the first parts, and learners, are played from
the list that ``potentia reproduce`` plays from (``potentia.paper.played``), and kept where it keeps them.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from make_advice import advise
from make_channels import compare
from make_forgetting import forget
from make_replay import laboratory, replay
from make_scores import follow, reinforce
from make_studio import studio
from pages import HERE, kept, markdown, write

import potentia as pt
from potentia.games.world import published
from potentia.paper import belief_study, coverage_study, played
from potentia.paper.kept_shares import by_rule
from potentia.paper.scale import FULL
from potentia.paper.small_games import SHAPE
from potentia.studies import coverage
from potentia.studies.coverage_ends import typical

if TYPE_CHECKING:
    import xarray

    from potentia.paper.kept import Kept


# Exact analysis ---------------------------------------------------------------------------------------


def table_of_shares() -> str:
    """How often each rule keeps the maximiser: in the games of the report."""
    answers = ("exactly", "kept", "mode")
    rows = [
        [row["games"], row["rule"], *(f"{row[name] / row['count']:.1%}" for name in answers)] for row in by_rule(FULL)
    ]
    columns = ["stable set = maximisers", "a maximiser is stable", "most visited profile maximises"]
    shape = "×".join(str(a) for a in SHAPE)
    return markdown(["games", "rule", *columns], rows) + (
        f"\n\n{FULL.games:,} random games each, those of the report; {shape} actions, standard normal, revision 0.3, "
        "no closed form used; `make docs` writes it."
    )


def stability() -> None:
    """The page on exact analysis: joint P-SBLLL on the game that it leaves the maximiser of."""
    write("analysis.md", "shares", table_of_shares())
    game = pt.game("double-step")
    rule = pt.rule("p-sblll", tau=0.1, revision=0.3)
    result = pt.analysis.stability(game, rule)
    taus = np.geomspace(0.03, 6.0, 40)
    laws = pt.analysis.laws_over_tau(game, rule, taus)
    drawn = pt.figures.stability_figure(
        result, taus=taus, laws=laws, title="p-sblll, revision 0.3, trial joint, on double-step"
    )
    drawn.savefig(HERE / "stability.png", dpi=110)


# Coverage ---------------------------------------------------------------------------------------------


def table_as_published(data: dict[str, xarray.Dataset]) -> str:
    """The rules in the paper's set-up."""
    rows = []
    for found in coverage_study.as_published(data):
        got, sooner = found.covered, found.sooner
        difference = "–" if sooner is None else f"{sooner.mean:.0f} [{sooner.low:.0f}, {sooner.high:.0f}]"
        rows.append(
            [
                found.name,
                str(got.worth_sum),
                str(got.worth_union),
                str(got.share),
                f"{got.steps_to_90.mean:.0f}",
                difference,
                f"{got.rejected:.1%}",
                f"{got.targets_found.mean:.2f}",
            ]
        )
    header = ["rule", "ΣC", "union", "of the optimum", "steps to 90 % of its final worth", "less BLLL's, paired"]
    return markdown([*header, "trials rejected", "targets found, of 3"], rows) + (
        "\n\nMeans with 95 % intervals (Student's t). P-SBLLL uses Eq. 53. The optimum is of the union."
    )


def table_annealed(full: Kept) -> str:
    """Shares of the optimum under one schedule."""
    columns: dict[str, list[str]] = {}
    for robots in (5, 20):
        game = pt.games.Coverage(pt.games.paper_world(), robots, flags=False)
        found = coverage_study.shares(game, full.batches(f"annealed {robots}"))
        columns[f"paper's world, {robots} robots, {played.LONG:,} steps"] = list(map(str, found.values()))
    names, worlds = list(found), list(coverage_study.WORLDS)
    games = [pt.games.Coverage(pt.games.random_world(world), flags=False, robots=5) for world in worlds]
    for steps in (played.LONG, played.LONGEST):
        data = [full.batches(f"annealed world {world}, {steps}") for world in worlds]
        shares = [coverage_study.shares(*pair) for pair in zip(games, data, strict=True)]
        means = [coverage_study.over_worlds(shares, name) for name in names]
        title = f"{len(worlds)} random worlds, {steps:,} steps"
        columns[title] = [f"{mean:.4f} (least {least:.3f})" for mean, least in means]
    return markdown(
        ["rule", *columns], [[name, *(column[k] for column in columns.values())] for k, name in enumerate(names)]
    )


def cover() -> None:
    """The page on coverage."""
    full = kept(FULL)
    whole = full.batches("known")
    write("coverage.md", "published", table_as_published(whole))
    write("coverage.md", "annealed", table_annealed(full))
    game, rules = coverage.paper_game(), coverage.paper_rules()
    data = {name: whole[name.upper()] for name in rules}
    known = {name: published()["worth"][name] for name in rules}
    best = pt.analysis.optimum(game)
    drawn = pt.figures.worth_figure(data, optimum=best, published=known, measure="worth_sum", band="middle")
    drawn.savefig(HERE / "worth.png", dpi=110)
    panels = {}
    for name, batch in data.items():
        seed = typical(batch)
        panels[f"{name}, seed {seed}"] = pt.run(game, rules[name], 2000, seed).profiles
    pt.figures.configuration_figure(game, panels).savefig(HERE / "configurations.png", dpi=110)
    pt.figures.revision_figure(pt.rules.SignalRevision()).savefig(HERE / "revision.png", dpi=110)


# Beliefs ----------------------------------------------------------------------------------------------


def table_of_beliefs(full: Kept) -> str:
    """Beliefs on the paper's world."""
    worth = published()["worth"]
    printed = {
        ("P-SBLLL", "split and merge, published communication"): worth["p-sblll"],
        ("BLLL", "split and merge, published communication"): worth["em_split_merge"],
        ("BLLL", "EM, 3 targets known, published communication"): worth["em_known_components"],
    }
    rows = []
    names = {entry for rule in belief_study.PAIR for entry, _ in belief_study.cases(rule).values()}
    for found in belief_study.on_paper_world({name: full.batches(name) for name in names}):
        known = printed.get((found.rule, found.belief))
        paper = "–" if known is None else f"{known['mean']:.4f} ({known['low']:.4f} to {known['high']:.4f})"
        rows.append([found.rule, found.belief, str(found.worth), f"{found.share:.3f}", paper])
    return markdown(["rule", "belief", "ΣC", "of the same rule's with the worth known", "published"], rows)


def table_over_worlds(full: Kept) -> str:
    """Beliefs over random worlds."""
    rows = []
    data = [full.batches(f"beliefs world {world}") for world in belief_study.WORLDS]
    for found in belief_study.on_random_worlds(data):
        behind = found.behind
        difference = "–" if behind is None else f"{behind.mean:+.4f} [{behind.low:+.4f}, {behind.high:+.4f}]"
        rows.append([found.belief, f"{found.share.mean:.4f}", difference])
    return markdown(
        ["belief", "covered worth (union), share of the optimum", "the default's less its, paired, 95 %"], rows
    )


def table_of_learning(data: dict[str, xarray.Dataset]) -> str:
    """How beliefs improve over a run."""
    times = (0, 100, 300, 600, 1200)
    names = {
        "belief_error": "relative error of the field",
        "parameter_error": "error of the parameters",
        "right_number": "right number of targets",
        "components": "components",
        "cells_known": "cells seen, of 1,600",
    }
    rows = []
    for belief, batch in data.items():
        for name, words in names.items():
            values = batch[name].mean("seed").sel(time=list(times)).values
            rows.append([belief, words, *(f"{v:.0f}" if name == "cells_known" else f"{v:.2f}" for v in values)])
    return markdown(["belief", "", *(f"step {time:,}" for time in times)], rows)


def believe() -> None:
    """The page on beliefs."""
    full = kept(FULL)
    write("beliefs.md", "beliefs", table_of_beliefs(full))
    write("beliefs.md", "worlds", table_over_worlds(full))
    data = full.batches("learning")
    write("beliefs.md", "learning", table_of_learning(data))
    pt.figures.learning_figure(data).savefig(HERE / "learning.png", dpi=110)
    game, rule = coverage.paper_game(), coverage.paper_rules()["p-sblll"]
    apart = pt.beliefs.SplitMerge(communication=belief_study.published_link("blll"))
    trace = pt.run(game, rule, belief_study.STEPS, seed=0, belief=apart)
    pt.figures.belief_figure(game, trace.beliefs).savefig(HERE / "beliefs.png", dpi=110)
    pt.figures.proposals_figure(trace.proposals, robots=game.robots, steps=belief_study.STEPS, number=3).savefig(
        HERE / "proposals.png", dpi=110
    )


PARTS: dict[str, Callable[[], None]] = {
    "stability": stability,
    "coverage": cover,
    "beliefs": believe,
    "forgetting": forget,
    "dynamics": follow,
    "reinforcement": reinforce,
    "channels": compare,
    "replay": replay,
    "laboratory": laboratory,
    "studio": studio,
    "advice": advise,
}


def main(arguments: list[str]) -> None:
    asked = arguments[1:] if arguments[:1] == ["--only"] else list(PARTS)
    for name in asked:
        PARTS[name]()


if __name__ == "__main__":
    main(sys.argv[1:])
