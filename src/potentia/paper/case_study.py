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

from collections.abc import Iterable
from functools import cached_property
from typing import TYPE_CHECKING, Any

from potentia.analysis import optimum
from potentia.analysis.placement import Optimum
from potentia.engine import begin
from potentia.engine.tier import compile_ahead
from potentia.games import Coverage
from potentia.games.world import published
from potentia.kernel.arrays import Floats, Ints
from potentia.paper import playing
from potentia.paper.kept import Kept
from potentia.paper.played import BLLL, HEARD, LEARNING, LONG, P_SBLLL, SHORT, TUNING, Batches, case_study
from potentia.paper.reinforcement_study import (
    ADAPTIVE,
    GRID,
    OFFSETS,
    PLAIN,
    SOQL,
    best_tau,
    final,
    nearest_tau,
    offset_step,
    ql,
)
from potentia.statistics.estimates import Estimate, estimate
from potentia.studies.coverage import paper_game
from potentia.studies.coverage_ends import final_worth, typical

if TYPE_CHECKING:
    import xarray

    from potentia.paper.scale import Scale
    from potentia.web.recordings import Recording

    Runs = dict[str, xarray.Dataset]

__all__ = ["ADAPTIVE", "BLLL", "HEARD", "LEARNING", "LONG", "OFFSETS", "PLAIN", "P_SBLLL", "SHORT", "TUNING"]
__all__ += ["CaseStudy", "best_tau", "covered", "nearest_tau", "offset_step", "play", "printed"]

CONSTANT = SOQL  # the published step
DIMINISHING = (*PLAIN, *OFFSETS)
PARTS = ("model", "known", "lasting", "heard", "literal", "mixtures", "tuning", "learners", "four", "heard_long")
_LEARNING_EVERY = 10


class CaseStudy:
    """What was played; every dataset has the dimensions ``seed`` and ``time``.

    A part is played, or read where it is kept, when it is asked for: who wants one figure waits for no other.
    """

    def __init__(self, kept: Kept) -> None:
        self.kept = kept

    @property
    def scale(self) -> Scale:
        """How much of everything."""
        return self.kept.scale

    @cached_property
    def game(self) -> Coverage:
        """The paper's."""
        return paper_game()

    @cached_property
    def optimum(self) -> Optimum:
        """Of the union."""
        return optimum(self.game)

    @cached_property
    def model(self) -> Runs:
        """BLLL and P-SBLLL, which learn the map by split and merge; 2,000 steps."""
        return self.kept.batches("model")

    @cached_property
    def known(self) -> Runs:
        """The same where the worth is known, and P-SBLLL in two other forms."""
        return self.kept.batches("known")

    @cached_property
    def lasting(self) -> Runs:
        """The same for 20,000 steps."""
        return self.kept.batches("lasting")

    @cached_property
    def heard(self) -> Runs:
        """BLLL and P-SBLLL, which learn the map, both with R_com = 56; 2,000 steps."""
        return self.kept.batches("heard") | {P_SBLLL: self.model[P_SBLLL]}

    @cached_property
    def heard_long(self) -> Runs:
        """BLLL so for 15,000 steps; P-SBLLL is the one of ``four``."""
        return self.kept.batches("heard long")

    @cached_property
    def literal(self) -> Runs:
        """Both with the recipe to the letter; 2,000 steps."""
        return self.kept.batches("literal")

    @cached_property
    def mixtures(self) -> Runs:
        """EM_N and EM_SM under BLLL; under P-SBLLL; and where all hear each other."""
        counted = self.kept.batches("numbered")
        return {
            "EM_N": counted[BLLL],
            "EM_SM": self.model[BLLL],
            f"EM_N, {P_SBLLL}": counted[P_SBLLL],
            f"EM_SM, {P_SBLLL}": self.model[P_SBLLL],
            f"EM_N, {HEARD}": self.kept.batches("numbered heard")[BLLL],
            f"EM_SM, {HEARD}": self.heard[BLLL],
        }

    @cached_property
    def learners(self) -> Runs:
        """SOQL in its forms, and QL at each temperature; 15,000 steps."""
        return self.kept.batches("learners")

    @cached_property
    def tuning(self) -> dict[float, Estimate]:
        """ΣC of QL by temperature, on other seeds."""
        tuned = self.kept.batches("tuning")
        return {tau: estimate(final(tuned[ql(tau)])) for tau in GRID}

    @cached_property
    def four(self) -> Runs:
        """BLLL, P-SBLLL, QL at two temperatures, SOQL; 15,000 steps."""
        late = {name: self.learners[name].isel(seed=slice(self.scale.long)) for name in (*self._shown_taus, SOQL)}
        return self.kept.batches("four") | late

    @cached_property
    def shown(self) -> int:
        """The seed of ``finals``: the one whose final worth is nearest to the median of all of ``four``."""
        return typical(*self.four.values())

    @cached_property
    def recordings(self) -> dict[str, Recording]:
        """Runs from one start, to be replayed: BLLL, P-SBLLL, QL twice, SOQL."""
        known = case_study()
        early, late = known["model"], known["learners"]
        shown = dict.fromkeys(early.rules, (early, 200))
        shown |= dict.fromkeys((*self._shown_taus, SOQL), (late, 500))
        return {name: self._recording(name, *which) for name, which in shown.items()}

    def _recording(self, name: str, source: Batches, keyframes: int) -> Recording:
        """One of the runs of a batch, step by step."""
        from potentia.web.recordings import read_recording

        self.kept.tell(f"the run to show: {name}")
        one, belief = {name: source.rules[name]}, source.beliefs.get(name)
        options: dict[str, Any] = {"beliefs": {name: belief}, "keyframes": keyframes, "best": self.optimum}
        of: list[Any] = [self.game.fingerprint(), one[name].spec(), None if belief is None else belief.spec()]
        of += [source.steps, self.shown, keyframes, name]

        def make() -> bytes:
            return playing.recordings(self.game, one, source.steps, self.shown, **options)[name].to_bytes()

        return read_recording(self.kept.result("shown", "run", of, make))

    @cached_property
    def finals(self) -> dict[str, Ints]:
        """Profiles over time of these: at every step, or every tenth of the long ones."""
        return {
            name: made.profiles(range(0, made.steps + 1, 1 if made.steps <= SHORT else _LEARNING_EVERY))
            for name, made in self.recordings.items()
        }

    @property
    def _shown_taus(self) -> list[str]:
        """QL as it is shown: one where the two temperatures are the same."""
        return list(dict.fromkeys((ql(self.nearest_tau), ql(self.best_tau))))

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


def play(kept: Kept, parts: Iterable[str] = (*PARTS, "recordings")) -> CaseStudy:
    """The case study with these parts played. Ctrl-C raises: half a study has no verdicts."""
    study, kinds = CaseStudy(kept), dict[Any, Any]()
    for one in filter(kept.missing, case_study().values()):
        for name, chosen in one.rules.items():
            belief = one.beliefs.get(name)
            kinds.setdefault((chosen.name, type(belief)), (chosen, belief))
    options: dict[str, Any] = {"record": (), "horizon": SHORT}
    runs = (begin(study.game, chosen, belief=belief, **options) for chosen, belief in kinds.values())
    with compile_ahead(runs):
        for part in parts:
            getattr(study, part)
    return study


# The parts --------------------------------------------------------------------------------------------


def covered(data: xarray.Dataset, measure: str = "worth_sum") -> Floats:
    """What each run covers at its end."""
    return final_worth(data, measure)


def printed(name: str, what: str = "mean") -> float | None:
    """What was published of the worth of an algorithm, if anything was."""
    found: float | None = published()["worth"].get(name.lower(), {}).get(what)
    return found
