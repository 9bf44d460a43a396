"""What beliefs are worth: model-based learning against known worth, an optimistic constant and no model.

Three studies. ``on_paper_world``: the paper's set-up (five robots, τ = 5e-4, K = 3e-5, flags, 1,200 steps, mean of
the last 200). ``on_random_worlds``: the same on the random worlds of seeds 0 to 19, paired by world and seed.
``while_learning``: how beliefs improve over a run. The optimism of the mixture and the share of the constant were
chosen on the paper's world and on the random worlds of seeds 1000 to 1005.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from potentia.analysis import optimum
from potentia.beliefs import Belief, Communication, Constant, Mixture, SplitMerge
from potentia.games import Coverage, random_world
from potentia.games.world import published
from potentia.paper.playing import play
from potentia.rules import Rule
from potentia.statistics.estimates import Estimate, estimate
from potentia.studies.coverage import final_worth, paper_game, paper_rules

if TYPE_CHECKING:
    import xarray

STEPS = 1200
WORLDS = range(20)
PAIR = ("BLLL", "P-SBLLL")
OPTIMISTIC = Constant(share=0.6)
NO_MODEL = Constant()
_EVERY = 10


def published_link(rule: str) -> Communication:
    """R_com and the experience ratios of the published set-up, for "blll" or "p-sblll"."""
    setup = published()["setup"]
    ratio = setup["K_com_experience"]
    return Communication(setup["R_com_blll" if rule == "blll" else "R_com_psblll"], ratio, ratio)


def pair() -> dict[str, Rule]:
    """BLLL and P-SBLLL as published."""
    return {name: paper_rules()[name.lower()] for name in PAIR}


def published_beliefs() -> dict[str, Belief]:
    """A mixture by split and merge, with the published communication of each rule."""
    return {name: SplitMerge(communication=published_link(name.lower())) for name in PAIR}


def literal(rule: str) -> SplitMerge:
    """The recipe to the letter: the density taken for the worth, repetitions, only the own cell sensed."""
    setup = published()["setup"]
    return SplitMerge(
        communication=published_link(rule),
        sense="cell",
        weighting="repeat",
        V=setup["V"],
        f_mode=setup["f_mode"],
        sample="cells",
        calibrated=False,
        recall=False,
        optimism=0.0,
    )


@dataclass(frozen=True)
class Scored:
    """One rule with one belief on the paper's world."""

    rule: str
    belief: str
    worth: Estimate
    share: float  # of the same rule's worth where the field is known


def cases() -> dict[tuple[str, str], tuple[Rule, Belief | None]]:
    """What is compared on the paper's world."""
    targets = len(published()["world"]["weights"])
    out: dict[tuple[str, str], tuple[Rule, Belief | None]] = {}
    for name in reversed(PAIR):
        link = published_link(name.lower())
        beliefs: dict[str, Belief | None] = {
            "known": None,
            "split and merge (default)": SplitMerge(),
            "split and merge, published communication": SplitMerge(communication=link),
            f"EM, {targets} targets known, published communication": Mixture(targets, communication=link),
            "optimistic constant": OPTIMISTIC,
            "split and merge without optimism": SplitMerge(optimism=0.0),
            "no model": NO_MODEL,
            "the recipe to the letter": literal(name.lower()),
        }
        out |= {(name, belief): (pair()[name], chosen) for belief, chosen in beliefs.items()}
    return out


def on_paper_world(seeds: Sequence[int], workers: int = 2) -> list[Scored]:
    """Every case on the paper's world, from the same starts and with the same draws."""
    game, out = paper_game(), []
    known: dict[str, float] = {}
    for (rule, name), (chosen, belief) in cases().items():
        data = _played(game, chosen, {name: belief}, seeds, workers, "worth_sum")[name]
        worth = estimate(final_worth(data, "worth_sum"))
        known.setdefault(rule, worth.mean)
        out.append(Scored(rule, name, worth, worth.mean / known[rule]))
    return out


def _played(
    game: Coverage, rule: Rule, beliefs: Mapping[str, Belief | None], seeds: Sequence[int], workers: int, record: str
) -> dict[str, xarray.Dataset]:
    """One rule with each of these beliefs."""
    rules = dict.fromkeys(beliefs, rule)
    return play(game, rules, STEPS, seeds, beliefs=beliefs, record=record, every=_EVERY, workers=workers)


@dataclass(frozen=True)
class Compared:
    """One belief over worlds: its covered worth as a share of the optimum, and the default's less its, paired."""

    belief: str
    share: Estimate
    behind: Estimate | None  # by how much it is behind the default; the worlds are the sample


def on_random_worlds(seeds: Sequence[int], worlds: Iterable[int] = WORLDS, workers: int = 2) -> list[Compared]:
    """P-SBLLL with several beliefs on random worlds, paired by world and seed."""
    beliefs: Mapping[str, Belief | None] = {
        "split and merge (default)": SplitMerge(),
        "optimistic constant": OPTIMISTIC,
        "constant 0.002": Constant(0.002),
        "no model": NO_MODEL,
        "known": None,
    }
    setup, rule = published()["setup"], paper_rules()["p-sblll"]
    shares: dict[str, list[float]] = {name: [] for name in beliefs}
    for number in worlds:
        game = Coverage(random_world(number), setup["robots"], setup["delta"], K=setup["K"])
        best = optimum(game).bound
        for name, data in _played(game, rule, beliefs, seeds, workers, "worth_union").items():
            shares[name].append(float(final_worth(data).mean()) / best)
    first = np.array(next(iter(shares.values())))
    return [
        Compared(name, estimate(values), estimate(first - np.array(values)) if k else None)
        for k, (name, values) in enumerate(shares.items())
    ]


def while_learning(seeds: Sequence[int], steps: int = STEPS, workers: int = 2) -> dict[str, xarray.Dataset]:
    """Belief error, parameter error and number of components over a run of P-SBLLL."""
    targets = len(published()["world"]["weights"])
    out: dict[str, xarray.Dataset] = {}
    beliefs = {"split and merge": SplitMerge(), f"EM, {targets} targets known": Mixture(targets)}
    for name, belief in beliefs.items():
        rules, record = {name: paper_rules()["p-sblll"]}, ("worth_sum", *belief.recorders)
        out |= play(paper_game(), rules, steps, seeds, beliefs=beliefs, record=record, every=_EVERY, workers=workers)
    return out
