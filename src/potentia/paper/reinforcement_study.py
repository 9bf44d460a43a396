"""Learning from received utilities alone: QL and SOQL in the paper's case study (section 5.2, Fig. 8 to 10).

The paper's world and set-up: five robots, δ = 1.5, K = 3e-5, flags, 15,000 steps, the same starts for every rule.
What a run comes to is the mean of its last 1,000 steps. The paper prints no temperature for QL; ``tuned`` looks for
the best one, on seeds that the comparison does not use. Whether SOQL ends in a Nash equilibrium is the subject of
:mod:`potentia.paper.equilibrium_study`.
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
from potentia.paper import playing
from potentia.paper.belief_study import pair, published_beliefs
from potentia.rules import Rule, rule
from potentia.statistics.estimates import (
    Estimate,
    estimate,
    moving_mean,
    paired_difference,
    settling_time,
    tail_mean,
    time_to_share,
)
from potentia.studies.coverage import paper_game, typical

if TYPE_CHECKING:
    import xarray

STEPS = 15_000
SEEDS = range(20)
TUNING = range(1000, 1010)  # seeds
GRID = (0.001, 0.002, 0.003, 0.004, 0.005, 0.006, 0.007, 0.008, 0.01, 0.02)
BEST = 0.005  # what ``tuned`` finds
COLD, HOT = 0.002, 0.01  # the one whose worth is nearest to what was published for QL, and one above the best
WINDOW = 1000  # steps
SETTLED = 0.9  # of the run's own final worth
LEVEL = 0.15  # of worth, the same for every rule; above what was published for QL
SOQL = "SOQL"
FAIR = 0.02  # an initial score that a robot exceeds in every ninth cell of the map
TOO_HIGH = "SOQL, initial scores 0.05"  # which it exceeds in nine cells
_EVERY = 10


def ql(tau: float) -> str:
    """What Q-learning at this temperature is called."""
    return f"QL, τ = {tau:g}"


def published_soql(**changes: Any) -> Rule:
    """SOQL with the parameters printed in section 5.2."""
    setup = published()["setup"]
    options = {name: setup[name] for name in ("mu", "vartheta", "zeta", "xi")}
    return rule("soql", **options | changes)


def learners() -> dict[str, Rule]:
    """What is compared on the paper's world; SOQL as published comes first."""
    return {
        SOQL: published_soql(),
        **{ql(tau): rule("ql", tau=tau) for tau in (COLD, BEST, HOT)},
        "SOQL, Assumption 6": published_soql(mu="adaptive"),
        "SOQL, step 1/n": published_soql(mu="1/n"),
        "SOQL, step n^-0.6": published_soql(mu="n^-0.6"),
        "SOQL, pair form": published_soql(form="pair"),
        "SOQL, without Assumption 7": published_soql(alone=False),
        f"SOQL, initial scores {FAIR:g}": published_soql(initial=FAIR),
        f"{ql(COLD)}, initial scores {FAIR:g}": rule("ql", tau=COLD, initial=FAIR),
        TOO_HIGH: published_soql(initial=0.05),
    }


def play(
    rules: Mapping[str, Rule],
    seeds: Sequence[int] = SEEDS,
    steps: int = STEPS,
    *,
    beliefs: playing.Beliefs | None = None,
    flags: bool = True,
    workers: int = 2,
) -> dict[str, xarray.Dataset]:
    """A batch of each rule on the paper's game, from the same starts; with a belief where one is named."""
    game, record = paper_game(flags=flags), ("worth_sum", "worth_union")
    return playing.play(game, rules, steps, seeds, beliefs=beliefs, record=record, every=_EVERY, workers=workers)


# What the batches came to -----------------------------------------------------------------------------


def final(data: xarray.Dataset) -> Floats:
    """The worth covered over the last 1,000 steps (ΣC), by seed."""
    return tail_mean(data.worth_sum.values, data.time.values, WINDOW)


def settled(data: xarray.Dataset) -> Floats:
    """From when on each run's mean over 1,000 steps stays above 90 % of its own final worth, by seed."""
    goal = final(data)
    # what is above the goal is as good as the goal: only falling below it counts
    return settling_time(np.minimum(_running(data), goal[:, None]), data.time.values, goal, 1.0 - SETTLED)


def reached(data: xarray.Dataset) -> Floats:
    """When each run's mean over 1,000 steps is first at least 0.15, by seed; NaN where it never is."""
    return time_to_share(_running(data), data.time.values, LEVEL)


def _running(data: xarray.Dataset) -> Floats:
    times = data.time.values
    return moving_mean(data.worth_sum.values, max(1, WINDOW // int(times[1] - times[0])))


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
    settled: Estimate  # step from which it stays above 90 % of that
    reached: Estimate  # step at which it is first at 0.15, over the runs that ever are
    targets: Estimate  # covered at the last step
    all_targets: int  # runs that cover all of them then
    higher: Estimate | None  # SOQL's worth less its, paired
    slower: Estimate | None  # SOQL's settling step less its, paired
    later: Estimate | None  # SOQL's first step at 0.15 less its, over the seeds for which both come there


def compare(data: Mapping[str, xarray.Dataset]) -> list[Learnt]:
    """Every batch, and SOQL's less it where both have the same seeds."""
    game, first, out = paper_game(), data[SOQL], []
    for name, batch in data.items():
        held_last = targets_held(game, batch)
        paired = name != SOQL and np.array_equal(batch.seed.values, first.seed.values)
        out.append(
            Learnt(
                name,
                estimate(final(batch)),
                estimate(settled(batch)),
                estimate(reached(batch)),
                estimate(held_last),
                int((held_last == len(game.world.targets)).sum()),
                paired_difference(final(first), final(batch)) if paired else None,
                paired_difference(settled(first), settled(batch)) if paired else None,
                paired_difference(reached(first), reached(batch)) if paired else None,
            )
        )
    return out


def tuned(grid: Sequence[float] = GRID, seeds: Sequence[int] = TUNING, workers: int = 2) -> dict[float, Estimate]:
    """The final worth of QL by temperature; ``BEST`` is where it is largest."""
    data = play({ql(tau): rule("ql", tau=tau) for tau in grid}, seeds, workers=workers)
    return {tau: estimate(final(data[ql(tau)])) for tau in grid}


def by_temperature(grid: Sequence[float] = GRID, seeds: Sequence[int] = SEEDS, workers: int = 2) -> dict[float, Learnt]:
    """SOQL against QL at each temperature, on the seeds of the comparison."""
    rules = {SOQL: published_soql(), **{ql(tau): rule("ql", tau=tau) for tau in grid}}
    return dict(zip(grid, compare(play(rules, seeds, workers=workers))[1:], strict=True))


def with_and_without_flags(
    seeds: Sequence[int] = SEEDS, times: Sequence[int] = (3000, 6000, STEPS), workers: int = 2
) -> dict[tuple[str, bool], tuple[float, ...]]:
    """The rules that wander, by name and flags: ΣC over the 1,000 steps before each of these times, mean over seeds."""
    rules = {name: learners()[name] for name in (ql(HOT), TOO_HIGH)}
    out = {}
    for flags in (True, False):
        for name, batch in play(rules, seeds, flags=flags, workers=workers).items():
            until = [batch.sel(time=slice(0, time)) for time in times]
            out[name, flags] = tuple(float(final(part).mean()) for part in until)
    return out


# All four ---------------------------------------------------------------------------------------------


def four(seeds: Sequence[int], steps: int = STEPS, workers: int = 2) -> dict[str, xarray.Dataset]:
    """The algorithms of Fig. 10: BLLL and P-SBLLL, which learn a model, against QL and SOQL, which do not.

    The former have the published communication and a mixture by split and merge. They know their utility function
    and play on what they believe of the map; the latter know only what they receive.
    """
    rules = pair() | {name: learners()[name] for name in (ql(COLD), ql(BEST), SOQL)}
    return play(rules, seeds, steps, beliefs=published_beliefs(), workers=workers)


def final_configurations(names: Sequence[str], seed: int, steps: int = STEPS) -> dict[str, Ints]:
    """Profiles over time of the named learners, from the same start (Fig. 9)."""
    rules = {f"{name}, seed {seed}": learners()[name] for name in names}
    return playing.profiles(paper_game(), rules, steps, seed)


def median_seed(*batches: xarray.Dataset) -> int:
    """The seed whose final worth, summed over these batches, is the median: the run to show."""
    return typical(batches[0], np.sum([final(batch) for batch in batches], axis=0))
