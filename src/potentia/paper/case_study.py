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

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from potentia.analysis import optimum
from potentia.analysis.placement import Optimum
from potentia.beliefs import Belief, Mixture, SplitMerge
from potentia.engine import begin
from potentia.engine.tier import compile_ahead
from potentia.games import Coverage
from potentia.games.world import published
from potentia.kernel.arrays import Floats, Ints
from potentia.paper import playing, reinforcement_study
from potentia.paper.belief_study import PAIR, literal, pair, published_beliefs, published_link
from potentia.paper.coverage_study import variants
from potentia.paper.reinforcement_study import GRID, SOQL, final, learners, median_seed, published_soql, ql
from potentia.paper.scale import Scale
from potentia.rules import Rule, rule
from potentia.rules.steps import Diminishing
from potentia.statistics.estimates import Estimate, estimate
from potentia.studies.coverage import final_worth, paper_game, paper_rules

if TYPE_CHECKING:
    import xarray

    from potentia.web.recordings import Recording

SHORT = 2000  # steps of Fig. 5
LONG = 20_000  # steps, to see what lasts
LEARNING = reinforcement_study.STEPS  # steps of Fig. 8 and 10
TUNING = 1000  # the first of the seeds on which temperatures are chosen; comparisons use 0, 1, ...
BLLL, P_SBLLL = PAIR
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
    finals: dict[str, Ints]  # profiles over time from one start: BLLL, P-SBLLL, QL twice, SOQL
    recordings: dict[str, Recording]  # the same runs, to be replayed

    @property
    def best_tau(self) -> float:
        """QL's best temperature, on the seeds for tuning."""
        return best_tau(self.tuning)

    @property
    def nearest_tau(self) -> float:
        """The temperature at which QL covers what was published for it, as nearly as the grid has it."""
        return nearest_tau(self.tuning)

    @property
    def crossings(self) -> list[tuple[float, float]]:
        """Between which neighbours of the grid QL covers what was published for it: there may be several."""
        taus, printed = sorted(self.tuning), published()["worth"]["ql"]["mean"]
        above = [self.tuning[tau].mean >= printed for tau in taus]
        return [(taus[k], taus[k + 1]) for k in range(len(taus) - 1) if above[k] != above[k + 1]]


def play(scale: Scale, workers: int = 2, tell: Callable[[str], None] | None = None) -> CaseStudy:
    """Play everything. ``tell`` hears what begins. Ctrl-C raises: half a study has no verdicts."""
    game = paper_game()
    kinds = [(chosen, published_beliefs().get(name)) for name, chosen in pair().items()]
    kinds += [(chosen, None) for chosen in (*_forms().values(), rule("ql", tau=GRID[0]), *learners().values())]
    with compile_ahead(begin(game, one, belief=belief, record=(), horizon=SHORT) for one, belief in kinds):
        return _play(game, scale, workers, tell or (lambda text: None))


def _play(game: Coverage, scale: Scale, workers: int, say: Callable[[str], None]) -> CaseStudy:
    seeds, one = range(scale.runs), {BLLL: pair()[BLLL]}
    short = partial(playing.play, game, steps=SHORT, seeds=seeds, workers=workers)
    long = partial(playing.play, game, steps=LEARNING, record=_LEARNT, every=_LEARNING_EVERY, workers=workers)
    wide = published_link("p-sblll")  # everybody hears everybody
    all_hear: dict[str, Belief] = {BLLL: SplitMerge(communication=wide)}
    say("the optimum")
    best = optimum(game)
    say("BLLL and P-SBLLL, learning the map")
    model = short(pair(), beliefs=published_beliefs())
    say("BLLL and P-SBLLL, knowing it")
    known = short(_forms())
    lasting = short(_forms(), steps=LONG)
    say("BLLL and P-SBLLL, everybody hearing everybody, and with the recipe to the letter")
    heard = short(one, beliefs=all_hear) | {P_SBLLL: model[P_SBLLL]}
    to_the_letter = {name: literal(name.lower()) for name in pair()}
    lettered = short(pair(), seeds=range(scale.literal), beliefs=to_the_letter)
    say("EM with and without the number of targets")  # what was played above is not played again
    targets = len(published()["world"]["weights"])
    numbered = {name: Mixture(targets, communication=published_link(name.lower())) for name in pair()}
    counted = short(pair(), beliefs=numbered)
    mixtures = {
        "EM_N": counted[BLLL],
        "EM_SM": model[BLLL],
        f"EM_N, {P_SBLLL}": counted[P_SBLLL],
        f"EM_SM, {P_SBLLL}": model[P_SBLLL],
        f"EM_N, {HEARD}": short(one, beliefs={BLLL: Mixture(targets, communication=wide)})[BLLL],
        f"EM_SM, {HEARD}": heard[BLLL],
    }
    say("QL and SOQL")
    by_tau: dict[str, Rule] = {ql(tau): rule("ql", tau=tau) for tau in GRID}
    tuned = long(by_tau, seeds=range(TUNING, TUNING + scale.tuning))
    tuning = {tau: estimate(final(tuned[ql(tau)])) for tau in GRID}
    forms = {name: learners()[name] for name in (CONSTANT, *PLAIN, ADAPTIVE)}
    forms |= {name: published_soql(mu=offset_step(*form)) for name, form in OFFSETS.items()}
    learnt = long(forms | by_tau, seeds=seeds)
    say("all four for long")
    shown_taus = list(dict.fromkeys((ql(nearest_tau(tuning)), ql(best_tau(tuning)))))  # one where they are the same
    four = long(pair(), seeds=range(scale.long), beliefs=published_beliefs())
    four |= {name: learnt[name].isel(seed=slice(scale.long)) for name in (*shown_taus, SOQL)}
    longer = long(one, seeds=range(min(scale.heard, scale.long)), beliefs=all_hear)
    say("the run to show")
    shown = median_seed(*four.values())
    late = {name: chosen for name, chosen in by_tau.items() if name in shown_taus} | {SOQL: learners()[SOQL]}
    watch = partial(playing.recordings, game, seed=shown, best=best)
    early = watch(pair(), SHORT, beliefs=published_beliefs(), keyframes=200)
    learning = watch(late, LEARNING, keyframes=500)
    finals = {name: made.profiles(range(SHORT + 1)) for name, made in early.items()}
    rows = range(0, LEARNING + 1, _LEARNING_EVERY)
    finals |= {name: made.profiles(rows) for name, made in learning.items()}
    played = (model, known, lasting, heard, longer, lettered, mixtures, learnt, tuning, four)
    return CaseStudy(scale, game, best, *played, shown, finals, early | learning)


# The parts --------------------------------------------------------------------------------------------


def best_tau(tuning: dict[float, Estimate]) -> float:
    """QL's best temperature, on the seeds for tuning."""
    return max(tuning, key=lambda tau: tuning[tau].mean)


def nearest_tau(tuning: dict[float, Estimate]) -> float:
    """The temperature at which QL covers what was published for it, as nearly as the grid has it."""
    return min(tuning, key=lambda tau: abs(tuning[tau].mean - published()["worth"]["ql"]["mean"]))


def _forms() -> dict[str, Rule]:
    """The two rules, and P-SBLLL unilateral and guarded."""
    known = paper_rules()["p-sblll"]
    named = variants(known.tau, known.revision)  # type: ignore[attr-defined]
    return {P_SBLLL if name == "P-SBLLL, joint" else name: chosen for name, chosen in named.items()}


def offset_step(offset: float, power: float) -> Diminishing:
    """μ(n) = μ ((1 + offset) / (n + offset))^power: the published step at n = 1."""
    return Diminishing(power, published()["setup"]["mu"] * (1.0 + offset) ** power, offset)


def covered(data: xarray.Dataset, measure: str = "worth_sum") -> Floats:
    """What each run covers at its end: the mean of the last 200 steps, or of 1,000 where 15,000 or more are played."""
    if int(data.time.values[-1]) < LEARNING:
        return final_worth(data, measure)
    return final(data.assign(worth_sum=data[measure]))


def printed(name: str, what: str = "mean") -> float | None:
    """What was published of the worth of an algorithm, if anything was."""
    found: float | None = published()["worth"].get(name.lower(), {}).get(what)
    return found
