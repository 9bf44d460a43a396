"""The pages on score dynamics and on reinforcement learning; ``make.py`` calls these."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from pages import HERE, kept, markdown, write

import potentia as pt
from potentia.games.world import published
from potentia.paper import equilibrium_study, reinforcement_study
from potentia.paper.case_study import CaseStudy
from potentia.paper.case_words import LEARNS_NOTHING
from potentia.paper.scale import QUICK

if TYPE_CHECKING:
    import xarray

    from potentia.games import NormalForm
    from potentia.statistics import Estimate

# Score dynamics ---------------------------------------------------------------------------------------

CHOICES = {"Gibbs": pt.rules.Gibbs(), "Tsallis, q = 0.5": pt.rules.Tsallis(0.5), "Burg": pt.rules.Burg()}


def weakly_dominated() -> pt.games.NormalForm:
    """The worked example: player 0 chooses U or D, player 1 L or R."""
    return pt.games.NormalForm([[[1, 1], [1, 0]], [[1, 0], [1, 0]]])


def table_of_weakly_dominated() -> str:
    """What becomes of D."""
    times, rows = (10.0, 100.0, 1000.0), []
    for name, choice in CHOICES.items():
        for order in (1, 2, 3):
            shares = []
            for time in times:
                found = pt.analysis.dynamics(weakly_dominated(), choice=choice, order=order, horizon=time, points=2)
                shares.append(f"{found.final[0][1]:.4g}")
            rows.append([name, str(order), *shares])
    return markdown(["choice map", "order", *(f"share of D at t = {time:g}" for time in times)], rows)


def table_of_euler() -> str:
    """Euler's error at several steps."""
    game, steps = pt.game("random-potential"), (0.04, 0.02, 0.01, 0.005)
    kinds = {"T = 0": {}, "T = 0.5": {"discount": 0.5}, "order 2, T = 0.5": {"discount": 0.5, "order": 2}}
    kinds["T = 0.5, lagged (Eq. 9)"] = {"discount": 0.5, "lagged": True}
    rows = []
    for name, choice in CHOICES.items():
        for kind, options in kinds.items():
            found = pt.analysis.convergence_order(game, choice, horizon=4.0, steps=steps, **options)
            rows.append([name, kind, *(f"{error:.2e}" for error in found.errors), f"{found.order:.3f}"])
    return markdown(["choice map", "dynamics", *(f"μ = {step:g}" for step in steps), "order"], rows)


def table_of_played() -> str:
    """The same for the rule that draws actions."""
    game, steps = pt.game("random-potential"), (0.04, 0.01, 0.0025)
    kinds = {"T = 0": {}, "order 2, T = 0.5": {"discount": 0.5, "order": 2}}
    rows = []
    for name, choice in CHOICES.items():
        for kind, options in kinds.items():
            found = pt.analysis.played_order(game, choice, steps=steps, seeds=50, **options)
            rows.append([name, kind, *(f"{error:.2e}" for error in found.errors), f"{found.order:.3f}"])
    return markdown(["choice map", "dynamics", *(f"μ = {step:g}" for step in steps), "order"], rows)


def table_of_rest_points() -> str:
    """How many there are, and how far from Nash."""
    game, rows = pt.games.NormalForm([[[2, 0], [0, 1]]] * 2), []
    for name, choice in CHOICES.items():
        for discount in (0.02, 0.1, 0.3, 0.5, 1.0):
            points = pt.analysis.rest_points(game, choice, discount=discount)
            first = [f"{p.strategies[0][0]:.4f}{'' if p.stable else ' (unstable)'}" for p in points]
            gains = [p.regret for p in points if p.stable]
            rows.append([name, f"{discount:g}", ", ".join(first), f"{min(gains):.2g}"])
    return markdown(["choice map", "T", "rest points: share of action 0", "least gain by deviating"], rows)


def follow() -> None:
    """The page on score dynamics."""
    write("dynamics.md", "weak", table_of_weakly_dominated())
    write("dynamics.md", "rest", table_of_rest_points())
    write("dynamics.md", "euler", table_of_euler())
    write("dynamics.md", "played", table_of_played())
    game = pt.game("stag-hunt")
    drawn = pt.figures.portrait_figure(*pt.analysis.portrait(game, discount=0.2), title="Stag hunt: Gibbs, T = 0.2")
    drawn.savefig(HERE / "portrait.png", dpi=110)
    wins = np.array([[0.0, -1.0, 1.0], [1.0, 0.0, -1.0], [-1.0, 1.0, 0.0]])
    rock = pt.games.NormalForm([wins, -wins])
    begins = {"T = 0": 0.0, "T = 0.1": 0.1}
    paths = [
        pt.analysis.dynamics(rock, start=[[0.6, 0.2, 0.2]] * 2, discount=rate, horizon=40.0, points=2001)
        for rate in begins.values()
    ]
    drawn = pt.figures.simplex_figure(
        paths, labels=["rock", "paper", "scissors"], title=f"Gibbs, {' (blue) and '.join(begins)} (orange)"
    )
    drawn.savefig(HERE / "simplex.png", dpi=110)
    found = pt.analysis.dynamics(weakly_dominated(), horizon=10.0)
    drawn = pt.figures.scores_figure(found, "A weakly dominated action (1 of player 0) keeps a third: Gibbs, order 1")
    drawn.savefig(HERE / "scores.png", dpi=110)


# Reinforcement ----------------------------------------------------------------------------------------


def signed(estimate: Estimate | None, form: str) -> str:
    """A paired difference with its interval."""
    if estimate is None:
        return "–"
    return "{0:{f}} [{1:{f}}, {2:{f}}]".format(estimate.mean, estimate.low, estimate.high, f=form)


def table_of_learners(data: dict[str, xarray.Dataset]) -> str:
    """Rules on the paper's world, and SOQL less each."""
    rows = []
    for found in reinforcement_study.compare(data):
        runs = found.worth.count
        rows.append(
            [
                found.name,
                signed(found.worth, ".4f"),
                signed(found.higher, "+.4f"),
                f"{found.settled.mean:,.0f}" if found.settled else LEARNS_NOTHING,
                signed(found.slower, "+,.0f"),
                f"{found.reached.mean:,.0f} ({found.reached.count} of {runs})" if found.reached.count else "never",
                f"{found.targets.mean:.2f} ({found.all_targets} of {runs})",
            ]
        )
    header = ["rule", "ΣC", "SOQL's less it", "settles at step", "SOQL's less it", "at 0.15 first (runs)"]
    return markdown([*header, "targets covered at the end (runs with all 3)"], rows)


def table_of_temperatures(study: CaseStudy) -> str:
    """QL by temperature: on the seeds for choosing one, and against SOQL."""
    apart, rows = study.tuning, []
    learnt = {found.name: found for found in reinforcement_study.compare(study.learners)}
    for tau in apart:
        found = learnt[reinforcement_study.ql(tau)]
        both = found.reached.count
        rows.append(
            [
                f"{tau:g}",
                f"{apart[tau].mean:.4f}",
                f"{found.worth.mean:.4f}",
                signed(found.higher, "+.4f"),
                signed(found.slower, "+,.0f"),
                f"{signed(found.later, '+,.0f')} ({both})" if both > 1 else f"– ({both})",
            ]
        )
    header = ["τ of QL", "ΣC, seeds 1000 to 1009", "ΣC, seeds 0 to 19", "SOQL higher by", "SOQL settles later by"]
    return markdown([*header, "SOQL at 0.15 later by (runs of QL that come there)"], rows)


def table_of_flags(flagged: dict[str, xarray.Dataset], free: dict[str, xarray.Dataset]) -> str:
    """Rules that wander, with flags and without."""
    times = (3000, 6000, reinforcement_study.STEPS)
    rows = [
        [name, word, *(f"{worth:.4f}" for worth in reinforcement_study.over_time(data[name], times))]
        for word, data in (("yes", flagged), ("no", free))
        for name in free
    ]
    return markdown(["rule", "flags", *(f"ΣC up to step {time:,}" for time in times)], rows)


def table_of_equilibria(games: list[NormalForm]) -> str:
    """Where SOQL ends on random games."""
    rows = []
    longer = 5 * equilibrium_study.STEPS
    table = {found.name: found for found in equilibrium_study.table(games)}
    name = equilibrium_study.CONSTANT
    table[f"{name}, {longer:,} steps"] = equilibrium_study.end(name, games, longer)
    for name, found in table.items():
        share = found.at_nash
        counts = [str(n) for n in (found.failed, found.passing, found.stuck)]
        rows.append(
            [
                name,
                f"{share.mean:.0%} [{share.low:.0%}, {share.high:.0%}]",
                f"{found.time_at_nash:.0%}",
                *(counts if found.failed else ["0", "–", "–"]),
            ]
        )
    header = ["SOQL", "argmax X is a Nash equilibrium", "share of steps at one", "failed", "passing", "stuck"]
    return markdown(header, rows)


def table_of_trials(games: list[NormalForm]) -> tuple[str, str, equilibrium_study.Trial]:
    """What one player's trial does to the others, and one of them in full."""
    found = [equilibrium_study.trials(name, games) for name in (equilibrium_study.CONSTANT, equilibrium_study.ADAPTIVE)]
    rows = [[one.name, *(str(n) for n in (one.count, one.by_trier, one.by_others, one.elsewhere))] for one in found]
    header = [
        "SOQL",
        "trials",
        "changed the trier's best score",
        "changed another player's",
        "elsewhere 50 steps later",
    ]
    shown = equilibrium_study.example(found[0], games)
    own = shown.equilibrium[shown.bystander]
    scores = [
        [f"{action}{', its own' * (action == own)}", f"{before:.3f}", f"{after:.3f}", f"{worth:.3f}"]
        for action, (before, after, worth) in enumerate(zip(shown.before, shown.after, shown.worths, strict=True))
    ]
    told = markdown([f"action of player {shown.bystander}", "score before", "after", "what it pays there"], scores)
    players = " × ".join(str(size) for size in games[shown.game].num_actions)
    return (
        markdown(header, rows),
        f"{told}\n\nGame {shown.game} ({players} actions), equilibrium {shown.equilibrium}, step {shown.step:,}: "
        f"player {shown.trier} tries action {shown.tried}, player {shown.bystander} receives {shown.received:.3f}.",
        shown,
    )


def reinforce() -> None:
    """The page on reinforcement learning."""
    quick = kept(QUICK)
    study = CaseStudy(quick)
    ql, soql = reinforcement_study.ql, reinforcement_study.SOQL
    steps = (ql(tau) for tau in (reinforcement_study.COLD, reinforcement_study.BEST, reinforcement_study.HOT))
    shown = {name: study.learners[name] for name in (soql, *steps)}
    forms = (reinforcement_study.ADAPTIVE, *reinforcement_study.PLAIN)
    others = quick.batches("variants")
    data = shown | {name: study.learners[name] for name in forms} | others
    write("reinforcement.md", "learners", table_of_learners(data))
    write("reinforcement.md", "temperatures", table_of_temperatures(study))
    write("reinforcement.md", "flags", table_of_flags(study.learners | others, quick.batches("without flags")))
    games = equilibrium_study.random_games()
    write("reinforcement.md", "equilibria", table_of_equilibria(games))
    trials, example, trial = table_of_trials(games)
    write("reinforcement.md", "trials", trials)
    write("reinforcement.md", "example", example)
    write("reinforcement.md", "algorithms", table_of_learners(study.four))
    known = published()["worth"]
    pt.figures.reinforcement_figure(shown, published={key: known[key] for key in ("soql", "ql")}).savefig(
        HERE / "soql.png", dpi=110
    )
    profiles = {f"{name}, seed {study.shown}": run for name, run in study.finals.items() if "QL" in name}
    pt.figures.configuration_figure(study.game, profiles).savefig(
        HERE / "soql_configurations.png", dpi=110, bbox_inches="tight"
    )
    printed = {key: known[key] for key in ("blll", "p-sblll", "ql", "soql")}
    pt.figures.algorithms_figure(study.four, published=printed).savefig(HERE / "algorithms.png", dpi=110)
    watched = pt.begin(games[trial.game], pt.rule("soql"), trial.game, horizon=equilibrium_study.STEPS, record=())
    watched.advance(trial.step - 20)
    pt.figures.values_figure(
        pt.engine.watch_on(watched, 80), title=f"SOQL, μ = 0.97, on game {trial.game}: player {trial.trier} tries, "
        f"player {trial.bystander} leaves"
    ).savefig(HERE / "values.png", dpi=110)  # fmt: skip
