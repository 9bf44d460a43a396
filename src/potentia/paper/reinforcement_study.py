"""Learning from received utilities alone: QL and SOQL in the paper's case study (section 5.2, Fig. 8 to 10).

The paper's world and set-up: five robots, δ = 1.5, K = 3e-5, flags, 15,000 steps, the same starts for every rule. The
paper prints no temperature for QL; the best one is looked for on seeds that the comparison does not use. Whether SOQL
ends in a Nash equilibrium is the subject of :mod:`potentia.paper.equilibrium_study`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from potentia.games import Coverage
from potentia.games.world import published
from potentia.kernel.arrays import Floats, Ints
from potentia.rules import Rule, rule
from potentia.rules.steps import Diminishing
from potentia.statistics.estimates import Estimate, estimate, paired_difference, tail_mean, time_to_share
from potentia.studies.coverage import paper_game
from potentia.studies.coverage_ends import LONG_TAIL, final_worth, learnt, running_worth, settled

if TYPE_CHECKING:
    import xarray

STEPS = 15_000
GRID = (0.001, 0.002, 0.003, 0.004, 0.005, 0.006, 0.007, 0.008, 0.01, 0.02)
BEST = 0.005  # what tuning finds
COLD, HOT = 0.002, 0.01  # the one whose worth is nearest to what was published for QL, and one above the best
LEVEL = 0.15  # of worth, the same for every rule; above what was published for QL
SOQL = "SOQL"  # with the published step
PLAIN = ("SOQL, step 1/n", "SOQL, step n^-0.6")  # they fall from the first step of the run on
ADAPTIVE = "SOQL, Assumption 6"
# The published step at first, then falling as (n + offset)^-power: Σμ = ∞ and Σμ² < ∞ as well.
OFFSETS = {
    f"SOQL, step ∝ 1/(n + {offset:,})" + ("" if power == 1.0 else f"^{power:g}"): (offset, power)
    for offset in (10_000, 100_000)
    for power in (0.6, 1.0)
}
FAIR = 0.02  # an initial score that a robot exceeds in every ninth cell of the map
TOO_HIGH = "SOQL, initial scores 0.05"  # which it exceeds in nine cells


def ql(tau: float) -> str:
    """What Q-learning at this temperature is called."""
    return f"QL, τ = {tau:g}"


def published_soql(**changes: Any) -> Rule:
    """SOQL with the parameters printed in section 5.2."""
    setup = published()["setup"]
    options = {name: setup[name] for name in ("mu", "vartheta", "zeta", "xi")}
    return rule("soql", **options | changes)


def offset_step(offset: float, power: float) -> Diminishing:
    """μ(n) = μ ((1 + offset) / (n + offset))^power: the published step at n = 1."""
    return Diminishing(power, published()["setup"]["mu"] * (1.0 + offset) ** power, offset)


def learners() -> dict[str, Rule]:
    """What is compared on the paper's world; SOQL as published comes first."""
    return {
        SOQL: published_soql(),
        PLAIN[0]: published_soql(mu="1/n"),
        PLAIN[1]: published_soql(mu="n^-0.6"),
        ADAPTIVE: published_soql(mu="adaptive"),
        **{name: published_soql(mu=offset_step(*form)) for name, form in OFFSETS.items()},
        **{ql(tau): rule("ql", tau=tau) for tau in GRID},
    }


def variants() -> dict[str, Rule]:
    """Other forms of SOQL, without an assumption, and with other scores to begin with."""
    return {
        "SOQL, pair form": published_soql(form="pair"),
        "SOQL, without Assumption 7": published_soql(alone=False),
        f"SOQL, initial scores {FAIR:g}": published_soql(initial=FAIR),
        f"{ql(COLD)}, initial scores {FAIR:g}": rule("ql", tau=COLD, initial=FAIR),
        TOO_HIGH: published_soql(initial=0.05),
    }


def wanderers() -> dict[str, Rule]:
    """The rules that lose by flags what they have found."""
    return {name: (learners() | variants())[name] for name in (ql(HOT), TOO_HIGH)}


# What the batches came to -----------------------------------------------------------------------------


def final(data: xarray.Dataset) -> Floats:
    """The final worth (ΣC), by seed."""
    return final_worth(data, "worth_sum")


def reached(data: xarray.Dataset) -> Floats:
    """When each run's mean over 1,000 steps is first at least 0.15, by seed; NaN where it never is."""
    return time_to_share(running_worth(data), data.time.values, LEVEL)


def targets_held(game: Coverage, data: xarray.Dataset) -> Ints:
    """How many targets are covered at the last step, by seed."""
    return np.array([held(game, profile) for profile in data.final.values])


def held(game: Coverage, profile: NDArray[Any]) -> int:
    """How many targets are covered where the robots are so."""
    x, y = game.world.targets.T
    return int((game.cover_counts(profile.astype(np.int64))[y, x] > 0).sum())


def all_targets(game: Coverage, data: xarray.Dataset) -> dict[str, NDArray[np.bool_]]:
    """Which runs find all the targets, in two senses."""
    number = len(game.world.targets)
    return {
        "all covered at the end": targets_held(game, data) == number,
        "all found at some time": data.targets_found.values[:, -1] == number,
    }


@dataclass(frozen=True)
class Learnt:
    """One rule in the paper's set-up, and SOQL beside it."""

    name: str
    worth: Estimate  # ΣC over the last 1,000 steps
    settled: Estimate | None  # step from which it stays above 90 % of that; None where it learns nothing
    reached: Estimate  # step at which it is first at 0.15, over the runs that ever are
    targets: Estimate  # covered at the last step
    all_targets: int  # runs that cover all of them then
    higher: Estimate | None  # SOQL's worth less its, paired
    slower: Estimate | None  # SOQL's settling step less its, paired; None where it learns nothing, too
    later: Estimate | None  # SOQL's first step at 0.15 less its, over the seeds for which both come there


def compare(data: Mapping[str, xarray.Dataset]) -> list[Learnt]:
    """Every batch, and SOQL's less it where both have the same seeds."""
    game, first, out = paper_game(), data[SOQL], []
    for name, batch in data.items():
        held_last = targets_held(game, batch)
        paired = name != SOQL and np.array_equal(batch.seed.values, first.seed.values)
        settles = learnt(batch)
        out.append(
            Learnt(
                name,
                estimate(final(batch)),
                estimate(settled(batch)) if settles else None,
                estimate(reached(batch)),
                estimate(held_last),
                int((held_last == len(game.world.targets)).sum()),
                paired_difference(final(first), final(batch)) if paired else None,
                paired_difference(settled(first), settled(batch)) if paired and settles else None,
                paired_difference(reached(first), reached(batch)) if paired else None,
            )
        )
    return out


def best_tau(tuning: Mapping[float, Estimate]) -> float:
    """QL's best temperature, on the seeds for tuning."""
    return max(tuning, key=lambda tau: tuning[tau].mean)


def nearest_tau(tuning: Mapping[float, Estimate]) -> float:
    """The temperature at which QL covers what was published for it, as nearly as the grid has it."""
    return min(tuning, key=lambda tau: abs(tuning[tau].mean - published()["worth"]["ql"]["mean"]))


def over_time(data: xarray.Dataset, times: Sequence[int]) -> list[float]:
    """ΣC over the 1,000 steps before each of these times, mean over seeds."""
    parts = [data.sel(time=slice(0, time)) for time in times]
    return [float(tail_mean(part.worth_sum.values, part.time.values, LONG_TAIL).mean()) for part in parts]
