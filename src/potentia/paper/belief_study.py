"""What beliefs are worth: model-based learning against known worth, an optimistic constant and no model.

Three studies. ``on_paper_world``: the paper's set-up (five robots, τ = 5e-4, K = 3e-5, flags, 2,000 steps).
``on_random_worlds``: the random worlds of seeds 0 to 19 over 1,200 steps, paired by world and seed. ``learning``: how
beliefs improve over a run. The optimism of the mixture and the share of the constant were chosen on the paper's world
and on the random worlds of seeds 1000 to 1005.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from potentia.analysis import optimum
from potentia.beliefs import Belief, Communication, Constant, Mixture, SplitMerge
from potentia.games import Coverage, random_world
from potentia.games.world import published
from potentia.rules import Rule
from potentia.statistics.estimates import Estimate, estimate
from potentia.studies.coverage import paper_rules
from potentia.studies.coverage_ends import final_worth

if TYPE_CHECKING:
    import xarray

STEPS = 1200
WORLDS = range(20)
RUNS = 50
PAIR = ("BLLL", "P-SBLLL")
OPTIMISTIC = Constant(share=0.6)
NO_MODEL = Constant()
KNOWN, DEFAULT = "known", "split and merge (default)"


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


def others() -> dict[str, Belief]:
    """What is compared with the published beliefs on the paper's world."""
    return {
        DEFAULT: SplitMerge(),
        "optimistic constant": OPTIMISTIC,
        "split and merge without optimism": SplitMerge(optimism=0.0),
        "no model": NO_MODEL,
    }


def cases(rule: str) -> dict[str, tuple[str, str]]:
    """Each belief that a rule is played with on the paper's world: where in the list that is, and as what."""
    targets, apart = len(published()["world"]["weights"]), f"beliefs {rule}"
    return {
        KNOWN: ("known", rule),
        DEFAULT: (apart, DEFAULT),
        "split and merge, published communication": ("model", rule),
        f"EM, {targets} targets known, published communication": ("numbered", rule),
        **{name: (apart, name) for name in others() if name != DEFAULT},
        "the recipe to the letter": ("literal", rule),
    }


def on_paper_world(data: Mapping[str, Mapping[str, xarray.Dataset]]) -> list[Scored]:
    """Every case, from the same starts and with the same draws; ``data`` by entry of the list."""
    out: list[Scored] = []
    for rule in reversed(PAIR):
        worth = {
            name: estimate(final_worth(data[entry][key], "worth_sum")) for name, (entry, key) in cases(rule).items()
        }
        out += [Scored(rule, name, found, found.mean / worth[KNOWN].mean) for name, found in worth.items()]
    return out


@dataclass(frozen=True)
class Compared:
    """One belief over worlds: its covered worth as a share of the optimum, and the default's less its, paired."""

    belief: str
    share: Estimate
    behind: Estimate | None  # by how much it is behind the default; the worlds are the sample


def on_worlds() -> dict[str, Belief | None]:
    """What is compared on random worlds."""
    return {
        DEFAULT: SplitMerge(),
        "optimistic constant": OPTIMISTIC,
        "constant 0.002": Constant(0.002),
        "no model": NO_MODEL,
        KNOWN: None,
    }


def on_random_worlds(data: Sequence[Mapping[str, xarray.Dataset]]) -> list[Compared]:
    """P-SBLLL with several beliefs on random worlds, paired by world and seed; ``data`` by world."""
    setup, shares = published()["setup"], dict[str, list[float]]()
    for number, played in zip(WORLDS, data, strict=False):
        best = optimum(Coverage(random_world(number), setup["robots"], setup["delta"], K=setup["K"])).bound
        for name, batch in played.items():
            shares.setdefault(name, []).append(float(final_worth(batch).mean()) / best)
    first = np.array(shares[DEFAULT])
    return [
        Compared(name, estimate(values), None if name == DEFAULT else estimate(first - np.array(values)))
        for name, values in shares.items()
    ]


def learning() -> dict[str, Belief]:
    """Of which it is told how they improve over a run of P-SBLLL."""
    targets = len(published()["world"]["weights"])
    return {"split and merge": SplitMerge(), f"EM, {targets} targets known": Mixture(targets)}
