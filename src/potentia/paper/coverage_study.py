"""How far each rule is from the certified optimum, on the paper's world and on random ones.

Two studies. ``as_published``: the paper's set-up (five robots, τ = 5e-4, K = 3e-5, flags, 2,000 steps), with the
worth known. ``annealed``: no flags, no cost of moving, and one schedule for every world, ``tau="auto"``. The
random worlds are those of seeds 0 to 19; the schedule was chosen on the paper's world and on seeds 1000 to 1009.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from potentia.analysis import optimum
from potentia.games import Coverage, World, paper_world, random_world
from potentia.paper.playing import play
from potentia.rules import Rule, rule
from potentia.statistics.estimates import Estimate, estimate, paired_difference
from potentia.studies.coverage import (
    Covered,
    cover,
    final_worth,
    paper_game,
    paper_rules,
    spacing,
    steps_to_share,
    summarise,
)

WORLDS = range(20)
REVISION = 0.9


def variants(tau: float | str, revision: object) -> dict[str, Rule]:
    """BLLL and P-SBLLL in its three forms."""
    return {
        "BLLL": rule("blll", tau=tau),
        "P-SBLLL, joint": rule("p-sblll", tau=tau, revision=revision),
        "P-SBLLL, unilateral": rule("p-sblll", tau=tau, revision=revision, trial="unilateral"),
        "P-SBLLL, guarded": rule("p-sblll", tau=tau, revision=revision, guard=True),
    }


@dataclass(frozen=True)
class Published:
    """One rule in the paper's set-up."""

    name: str
    covered: Covered
    sooner: Estimate | None  # steps to 90 % of the final worth, less BLLL's from the same starts


def as_published(seeds: Iterable[int], steps: int = 2000, workers: int = 2) -> list[Published]:
    """The rules on the paper's game, from the same starts."""
    game = paper_game()
    known = paper_rules()["p-sblll"]
    rules = variants(known.tau, known.revision)  # type: ignore[attr-defined]
    data = cover(game, rules, steps, seeds, workers=workers)
    best = optimum(game).bound  # so that a gap in the certificate cannot flatter
    first = steps_to_share(data["BLLL"])
    sooner = {name: paired_difference(steps_to_share(batch), first) for name, batch in data.items() if name != "BLLL"}
    return [Published(name, summarise(batch, best), sooner.get(name)) for name, batch in data.items()]


@dataclass(frozen=True)
class Share:
    """One rule on one world: the share of the optimum that it covers at the end."""

    world: str
    robots: int
    steps: int
    name: str
    share: Estimate


def _shares(
    world: World, robots: int, steps: int, names: Sequence[str], seeds: Sequence[int], workers: int
) -> list[Share]:
    game, every = Coverage(world, robots, flags=False), min(spacing(steps), 20)
    best, known = optimum(game).bound, variants("auto", REVISION)
    rules = {name: known[name] for name in names}
    data = play(game, rules, steps, seeds, record="worth_union", every=every, workers=workers)
    return [Share(world.name, robots, steps, name, estimate(final_worth(batch) / best)) for name, batch in data.items()]


def annealed(
    seeds: Sequence[int], names: Sequence[str], steps: int = 20_000, robots: Iterable[int] = (5, 20), workers: int = 2
) -> list[Share]:
    """Shares on the paper's world with so many robots."""
    return [share for n in robots for share in _shares(paper_world(), n, steps, names, seeds, workers)]


def on_random_worlds(
    seeds: Sequence[int], names: Sequence[str], steps: int, worlds: Iterable[int] = WORLDS, workers: int = 2
) -> list[Share]:
    """Shares of five robots on each of the random worlds."""
    return [share for n in worlds for share in _shares(random_world(n), 5, steps, names, seeds, workers)]


def over_worlds(shares: Iterable[Share], name: str) -> tuple[float, float]:
    """The mean over worlds of a rule's mean share, and the least of them."""
    means = [share.share.mean for share in shares if share.name == name]
    return float(np.mean(means)), float(np.min(means))
