"""The case study of section 5, played: everything that its claims, tables and figures need.

The paper's world, five robots, δ = 1.5, K = 3e-5, flags, and the published parameters throughout. Seeds are the same
for every algorithm, so that run k of each begins from the same cells and differences are paired. Fig. 5 and 6 compare
BLLL with P-SBLLL over 2,000 steps, Fig. 8 and 9 QL with SOQL over 15,000, Fig. 10 all four. Where the paper prints no
parameter (QL's temperature), a grid of them is played; which one is best, and which one covers what was published, is
found on seeds that the comparisons do not use.

What was published of BLLL is for R_com = 5, of P-SBLLL for R_com = 56, which is everybody. BLLL is therefore also
played with P-SBLLL's communication, so that the two differ in nothing but the rule. How robots learn the map rests on
our readings of section 5 (what is sensed, the scale of the model, optimism about what is unseen); the recipe to the
letter is played beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from potentia.analysis import optimum
from potentia.analysis.placement import Optimum
from potentia.beliefs import Belief, Mixture, SplitMerge
from potentia.engine import begin, run, run_batch
from potentia.engine.tier import compile_ahead
from potentia.games import Coverage
from potentia.games.world import published
from potentia.paper import reinforcement_study
from potentia.paper.belief_study import literal, published_link
from potentia.paper.coverage_study import variants
from potentia.paper.reinforcement_study import GRID, SOQL, final, learners, published_soql, ql
from potentia.paper.scale import Scale
from potentia.rules import Rule, rule
from potentia.rules.steps import Diminishing
from potentia.statistics.estimates import Estimate, estimate
from potentia.studies.coverage import RECORD, final_worth, paper_game, paper_rules, spacing

if TYPE_CHECKING:
    import xarray

SHORT = 2000  # steps of Fig. 5
LONG = 20_000  # steps, to see what lasts
LEARNING = reinforcement_study.STEPS  # steps of Fig. 8 and 10
TUNING = 1000  # the first of the seeds on which temperatures are chosen; comparisons use 0, 1, ...
BLLL, P_SBLLL = "BLLL", "P-SBLLL"
CONSTANT = SOQL  # the published step
PLAIN = ("SOQL, step 1/n", "SOQL, step n^-0.6")  # they fall from the first step of the run on
# The published step at first, then falling as (n + offset)^-power: Σμ = ∞ and Σμ² < ∞ as well.
OFFSETS = {
    f"SOQL, step ∝ 1/(n + {offset:,})" + ("" if power == 1.0 else f"^{power:g}"): (offset, power)
    for offset in (10_000, 100_000)
    for power in (0.6, 1.0)
}
DIMINISHING = (*PLAIN, *OFFSETS)
ADAPTIVE = "SOQL, Assumption 6"
HEARD = "everybody hears everybody"
_LEARNT = ("worth_sum", "worth_union", "moves", "targets_found")
_LEARNING_EVERY = 10


@dataclass(frozen=True)
class CaseStudy:
    """What was played; every dataset has the dimensions ``seed`` and ``time``."""

    scale: Scale
    game: Coverage
    optimum: Optimum  # of the union
    model: dict[str, xarray.Dataset]  # BLLL and P-SBLLL, which learn the map by split and merge; 2,000 steps
    known: dict[str, xarray.Dataset]  # the same where the worth is known, and P-SBLLL in two other forms
    lasting: dict[str, xarray.Dataset]  # the same for 20,000 steps
    heard: dict[str, xarray.Dataset]  # BLLL and P-SBLLL, which learn the map, both with R_com = 56; 2,000 steps
    heard_long: dict[str, xarray.Dataset]  # BLLL so for 15,000 steps; P-SBLLL is the one of ``four``
    literal: dict[str, xarray.Dataset]  # both with the recipe to the letter; 2,000 steps
    mixtures: dict[str, xarray.Dataset]  # EM_N and EM_SM under BLLL; under P-SBLLL; and where all hear each other
    learners: dict[str, xarray.Dataset]  # SOQL in its forms, and QL at each temperature; 15,000 steps
    tuning: dict[float, Estimate]  # ΣC of QL by temperature, on other seeds
    four: dict[str, xarray.Dataset]  # BLLL, P-SBLLL, QL at two temperatures, SOQL; 15,000 steps
    shown: int  # the seed of ``finals``: the one whose ΣC, summed over the algorithms of ``four``, is the median
    finals: dict[str, NDArray[np.int64]]  # profiles over time from one start: BLLL, P-SBLLL, QL twice, SOQL

    @property
    def best_tau(self) -> float:
        """QL's best temperature, on the seeds for tuning."""
        return max(self.tuning, key=lambda tau: self.tuning[tau].mean)

    @property
    def nearest_tau(self) -> float:
        """The temperature at which QL covers what was published for it, as nearly as the grid has it."""
        return min(self.tuning, key=lambda tau: abs(self.tuning[tau].mean - published()["worth"]["ql"]["mean"]))

    @property
    def crossings(self) -> list[tuple[float, float]]:
        """Between which neighbours of the grid QL covers what was published for it: there may be several."""
        taus, printed = sorted(self.tuning), published()["worth"]["ql"]["mean"]
        above = [self.tuning[tau].mean >= printed for tau in taus]
        return [(taus[k], taus[k + 1]) for k in range(len(taus) - 1) if above[k] != above[k + 1]]


def play(scale: Scale, workers: int = 2, tell: Callable[[str], None] | None = None) -> CaseStudy:
    """Play everything. ``tell`` hears what begins. Ctrl-C raises: half a study has no verdicts."""
    game = paper_game()
    kinds = [(chosen, _published_beliefs().get(name)) for name, chosen in _pair().items()]
    kinds += [(chosen, None) for chosen in (*_forms().values(), rule("ql", tau=GRID[0]), *learners().values())]
    with compile_ahead(begin(game, one, belief=belief, record=(), horizon=SHORT) for one, belief in kinds):
        return _play(game, scale, workers, tell or (lambda text: None))


def _play(game: Coverage, scale: Scale, workers: int, say: Callable[[str], None]) -> CaseStudy:
    seeds = range(scale.runs)
    say("the optimum")
    best = optimum(game)
    say("BLLL and P-SBLLL, learning the map")
    model = _batches(game, _pair(), SHORT, seeds, workers, beliefs=_published_beliefs())
    say("BLLL and P-SBLLL, knowing it")
    known = _batches(game, _forms(), SHORT, seeds, workers)
    lasting = _batches(game, _forms(), LONG, seeds, workers)
    say("BLLL and P-SBLLL, everybody hearing everybody, and with the recipe to the letter")
    heard = _batches(game, {BLLL: _pair()[BLLL]}, SHORT, seeds, workers, beliefs=_heard_beliefs())
    heard[P_SBLLL] = model[P_SBLLL]
    to_the_letter = {BLLL: literal("blll"), P_SBLLL: literal("p-sblll")}
    lettered = _batches(game, _pair(), SHORT, range(scale.literal), workers, beliefs=to_the_letter)
    say("EM with and without the number of targets")
    mixtures = _mixtures(game, model, heard, seeds, workers)
    say("QL and SOQL")
    tuning, learnt = _learners(game, scale, workers)
    parts = {"model": model, "known": known, "lasting": lasting, "heard": heard, "literal": lettered}
    late: dict[str, dict[str, xarray.Dataset]] = {"four": {}, "heard_long": {}}
    begun = CaseStudy(
        scale, game, best, **parts, **late, mixtures=mixtures, learners=learnt, tuning=tuning, shown=-1, finals={}
    )
    say("all four for long")
    four = _four(begun, workers)
    longer = _long(game, {BLLL: _pair()[BLLL]}, range(min(scale.heard, scale.long)), workers, _heard_beliefs())
    shown = _median_seed(four)
    say("the run to show")
    return replace(begun, four=four, heard_long=longer, shown=shown, finals=_finals(begun, shown))


# The parts --------------------------------------------------------------------------------------------


def _pair() -> dict[str, Rule]:
    rules = paper_rules()
    return {BLLL: rules["blll"], P_SBLLL: rules["p-sblll"]}


def _forms() -> dict[str, Rule]:
    """The two rules, and P-SBLLL unilateral and guarded."""
    known = paper_rules()["p-sblll"]
    named = variants(known.tau, known.revision)  # type: ignore[attr-defined]
    return {P_SBLLL if name == "P-SBLLL, joint" else name: chosen for name, chosen in named.items()}


def _published_beliefs() -> dict[str, Belief]:
    """A mixture by split and merge, with the published communication of each rule."""
    return {
        BLLL: SplitMerge(communication=published_link("blll")),
        P_SBLLL: SplitMerge(communication=published_link("p-sblll")),
    }


def _heard_beliefs() -> dict[str, Belief]:
    """BLLL with the communication of P-SBLLL."""
    return {BLLL: SplitMerge(communication=published_link("p-sblll"))}


def _batches(
    game: Coverage,
    rules: Mapping[str, Rule],
    steps: int,
    seeds: Sequence[int],
    workers: int,
    *,
    beliefs: Mapping[str, Belief | None] | None = None,
    record: Sequence[str] = RECORD,
    every: int | None = None,
) -> dict[str, xarray.Dataset]:
    out = {}
    for name, chosen in rules.items():
        belief = (beliefs or {}).get(name)
        thin = spacing(steps) if every is None else every
        out[name] = run_batch(game, chosen, steps, seeds, record=record, every=thin, workers=workers, belief=belief)
        if out[name].attrs["interrupted"]:
            raise KeyboardInterrupt
    return out


def _mixtures(
    game: Coverage,
    model: Mapping[str, xarray.Dataset],
    heard: Mapping[str, xarray.Dataset],
    seeds: Sequence[int],
    workers: int,
) -> dict[str, xarray.Dataset]:
    """EM_N knows the number of targets, EM_SM learns it. Those of ``model`` and ``heard`` are not played again."""
    rules, targets = _pair(), len(published()["world"]["weights"])
    numbered: dict[str, Belief] = {
        BLLL: Mixture(targets, communication=published_link("blll")),
        P_SBLLL: Mixture(targets, communication=published_link("p-sblll")),
    }
    counted = _batches(game, rules, SHORT, seeds, workers, beliefs=numbered)
    out = {
        "EM_N": counted[BLLL],
        "EM_SM": model[BLLL],
        f"EM_N, {P_SBLLL}": counted[P_SBLLL],
        f"EM_SM, {P_SBLLL}": model[P_SBLLL],
    }
    wide: dict[str, Belief] = {BLLL: Mixture(targets, communication=published_link("p-sblll"))}
    out[f"EM_N, {HEARD}"] = _batches(game, {BLLL: rules[BLLL]}, SHORT, seeds, workers, beliefs=wide)[BLLL]
    out[f"EM_SM, {HEARD}"] = heard[BLLL]
    return out


def _learners(game: Coverage, scale: Scale, workers: int) -> tuple[dict[float, Estimate], dict[str, xarray.Dataset]]:
    """QL by temperature on the seeds for tuning, and every learner on those of the comparisons."""
    by_tau: dict[str, Rule] = {ql(tau): rule("ql", tau=tau) for tau in GRID}
    tuned = _long(game, by_tau, range(TUNING, TUNING + scale.tuning), workers)
    tuning = {tau: estimate(final(tuned[ql(tau)])) for tau in GRID}
    forms = {name: learners()[name] for name in (CONSTANT, *PLAIN, ADAPTIVE)}
    forms |= {name: published_soql(mu=offset_step(*form)) for name, form in OFFSETS.items()}
    return tuning, _long(game, forms | by_tau, range(scale.runs), workers)


def offset_step(offset: float, power: float) -> Diminishing:
    """μ(n) = μ ((1 + offset) / (n + offset))^power: the published step at n = 1."""
    return Diminishing(power, published()["setup"]["mu"] * (1.0 + offset) ** power, offset)


def _long(
    game: Coverage,
    rules: Mapping[str, Rule],
    seeds: Sequence[int],
    workers: int,
    beliefs: Mapping[str, Belief] | None = None,
) -> dict[str, xarray.Dataset]:
    return _batches(game, rules, LEARNING, seeds, workers, beliefs=beliefs, record=_LEARNT, every=_LEARNING_EVERY)


def _four(study: CaseStudy, workers: int) -> dict[str, xarray.Dataset]:
    """The algorithms of Fig. 10; QL and SOQL need not be played again."""
    seeds = range(study.scale.long)
    out = _long(study.game, _pair(), seeds, workers, _published_beliefs())
    for name in (*_shown_temperatures(study), SOQL):
        out[name] = study.learners[name].isel(seed=slice(len(seeds)))
    return out


def _shown_temperatures(study: CaseStudy) -> list[str]:
    """QL as published, if its worth tells, and QL at its best: one name where they are the same."""
    return list(dict.fromkeys((ql(study.nearest_tau), ql(study.best_tau))))


def _median_seed(four: Mapping[str, xarray.Dataset]) -> int:
    worth = np.sum([final(batch) for batch in four.values()], axis=0)
    first = next(iter(four.values()))
    return int(first.seed.values[np.argsort(worth, kind="stable")[(worth.size - 1) // 2]])


def _finals(study: CaseStudy, seed: int) -> dict[str, NDArray[np.int64]]:
    """Profiles over time from the start of this seed, as long as in the figure of each (Fig. 6 and 9)."""
    beliefs, out = _published_beliefs(), {}
    for name, chosen in _pair().items():
        out[name] = run(study.game, chosen, SHORT, seed, belief=beliefs.get(name)).profiles
    by_tau = {ql(tau): rule("ql", tau=tau) for tau in GRID}
    for name, chosen in (by_tau | {SOQL: learners()[SOQL]}).items():
        if name == SOQL or name in _shown_temperatures(study):
            out[name] = run(study.game, chosen, LEARNING, seed, every=_LEARNING_EVERY).profiles
    return out


def covered(data: xarray.Dataset, measure: str = "worth_sum") -> NDArray[np.float64]:
    """What each run covers at its end: the mean of the last 200 steps, or of 1,000 where 15,000 or more are played."""
    if int(data.time.values[-1]) < LEARNING:
        return final_worth(data, measure)
    return final(data) if measure == "worth_sum" else final(data.assign(worth_sum=data[measure]))


def printed(name: str, what: str = "mean") -> float | None:
    """What was published of the worth of an algorithm, if anything was."""
    found: float | None = published()["worth"].get(name.lower(), {}).get(what)
    return found
