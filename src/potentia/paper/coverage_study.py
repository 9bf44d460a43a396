"""How far each rule is from the certified optimum, on the paper's world and on random ones.

Two studies. ``as_published``: the paper's set-up (five robots, τ = 5e-4, K = 3e-5, flags, 2,000 steps), with the
worth known. ``annealed``: no flags, no cost of moving, and one schedule for every world, ``tau="auto"``. The
random worlds are those of seeds 0 to 19; the schedule was chosen on the paper's world and on seeds 1000 to 1009.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from potentia.analysis import optimum
from potentia.games import Coverage
from potentia.rules import Rule, rule
from potentia.statistics.estimates import Estimate, estimate, paired_difference
from potentia.studies.coverage import Covered, paper_game, steps_to_share, summarise
from potentia.studies.coverage_ends import final_worth

if TYPE_CHECKING:
    import xarray

WORLDS = range(20)
REVISION = 0.9


def forms(tau: float | str, revision: object) -> dict[str, Rule]:
    """BLLL and P-SBLLL in its three forms."""
    return {
        "BLLL": rule("blll", tau=tau),
        "P-SBLLL": rule("p-sblll", tau=tau, revision=revision),
        "P-SBLLL, unilateral": rule("p-sblll", tau=tau, revision=revision, trial="unilateral"),
        "P-SBLLL, guarded": rule("p-sblll", tau=tau, revision=revision, guard=True),
    }


@dataclass(frozen=True)
class Published:
    """One rule in the paper's set-up."""

    name: str
    covered: Covered
    sooner: Estimate | None  # steps to 90 % of the final worth, less BLLL's from the same starts


def as_published(data: Mapping[str, xarray.Dataset]) -> list[Published]:
    """The rules on the paper's game, from the same starts."""
    best = optimum(paper_game()).bound  # so that a gap in the certificate cannot flatter
    first = steps_to_share(data["BLLL"])
    sooner = {name: paired_difference(steps_to_share(batch), first) for name, batch in data.items() if name != "BLLL"}
    return [Published(name, summarise(batch, best), sooner.get(name)) for name, batch in data.items()]


def shares(game: Coverage, data: Mapping[str, xarray.Dataset]) -> dict[str, Estimate]:
    """The share of the optimum of a game that each rule covers at the end."""
    best = optimum(game).bound
    return {name: estimate(final_worth(batch) / best) for name, batch in data.items()}


def over_worlds(shares: Iterable[Mapping[str, Estimate]], name: str) -> tuple[float, float]:
    """The mean over worlds of a rule's mean share, and the least of them."""
    means = [share[name].mean for share in shares]
    return float(np.mean(means)), float(np.min(means))
