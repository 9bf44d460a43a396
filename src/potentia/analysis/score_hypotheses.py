"""What the paper's results about rules with scores ask for (section 4), and what play on this very game shows.

Assumption 6: steps are 1 - X̃. Assumption 7: once all players are in the perturbation zone, no more than one of
them plays anything but its favourite at a step. SOQL itself asks for ϑ < μ < 1, stochastic approximation for
Σ μ(n) = ∞ and Σ μ(n)² < ∞. The perturbation theorem then promises a pure Nash equilibrium almost surely. Scores
are real numbers, so there is no finite chain to solve: the promise is compared with runs.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from potentia.analysis.equilibria import as_set, pure_nash
from potentia.analysis.hypotheses import Row
from potentia.engine import begin
from potentia.games import Game
from potentia.kernel.arrays import Floats
from potentia.rules import QL, SOQL, Rule, Score
from potentia.rules.second_order import ADAPTIVE

RUNS, STEPS = 50, 20_000


def score_rows(game: Game, rule: Rule) -> dict[str, Row]:
    """One row for each hypothesis that concerns this rule; none for rules without scores."""
    if not isinstance(rule, QL | SOQL | Score):
        return {}
    endless, squares = _sums(rule)
    rows = {"endless": Row("Σ μ(n) = ∞", *endless), "squares": Row("Σ μ(n)² < ∞", *squares)}
    return rows | (_soql_rows(game, rule) if isinstance(rule, SOQL) else {})


def _soql_rows(game: Game, rule: SOQL) -> dict[str, Row]:
    return {
        "6": Row.of(
            "Assumption 6: steps are 1 - X̃",
            rule.mu == ADAPTIVE,
            "an action that is seldom played learns at once, the favourite hardly at all",
            f'mu is {rule.mu} for every action, likely or not; give mu="adaptive"',
        ),
        "7": Row("Assumption 7: one player strays at a time", *_alone(game, rule)),
        "steps": Row("ϑ < μ < 1", *_order_of_steps(rule)),
        "perturbed": Row.of(
            "ξ > 0: settled strategies are perturbed",
            rule.xi > 0.0,
            f"a settled player strays with probability up to xi = {rule.xi:g}",
            "xi is 0: what a player has settled on it never leaves to try something else",
        ),
        "exact": Row.of(
            "utilities are received without noise",
            rule.noise == 0.0,
            "noise is 0",
            f"noise has standard deviation {rule.noise:g}, and one play moves a score almost all the way",
        ),
        "lag": Row.of(
            "Eq. 29: strategies respond to Q(n)",
            rule.lag,
            "to the scores before the update, as printed",
            "lag is False: they respond to Q(n+1)",
        ),
    }


def _alone(game: Game, rule: SOQL) -> tuple[bool, str]:
    if rule.xi == 0.0:
        return True, "nobody is perturbed: xi is 0"
    if rule.alone:
        return True, "of several that would stray from their favourites at a step, one does"
    stray = rule.xi * (1.0 - 1.0 / game.sizes)  # at the most, for a strategy that has settled
    nobody = float(np.prod(1.0 - stray))
    one = nobody * float((stray / (1.0 - stray)).sum())
    return False, f"two or more stray in {1.0 - nobody - one:.2g} of the steps once all have settled"


def _order_of_steps(rule: SOQL) -> tuple[bool, str]:
    if isinstance(rule.mu, float):
        return rule.vartheta < rule.mu, f"vartheta is {rule.vartheta:g}, mu {rule.mu:g}"
    falls = f"falls below ϑ = {rule.vartheta:g}"
    if rule.mu == ADAPTIVE:
        return False, f"μ = 1 - X̃ of the favourite {falls} as it settles: Assumption 6 excludes it"
    return False, f"μ(n) = {rule.mu} {falls}"


def _sums(rule: QL | SOQL | Score) -> tuple[tuple[bool | None, str], tuple[bool | None, str]]:
    """Whether the steps sum to infinity, and their squares to less, each with its evidence."""
    if isinstance(rule.mu, str):  # adaptive
        return (None, "μ = 1 - X̃ depends on play"), (None, "μ = 1 - X̃ depends on play")
    if isinstance(rule.mu, float):
        soql = isinstance(rule, SOQL)
        said = ", as the paper has it for SOQL" if soql else ": scores never come to rest where utilities vary"
        return (True, "mu is constant"), (False, f"mu is constant{said}")
    counted = ", n the times an action was played" if isinstance(rule, QL) and rule.count == "visits" else ""
    said = f"μ(n) = {rule.mu}{counted}"
    return (rule.mu.endless, said), (rule.mu.square_summable, said)


def likeliest(strategies: Sequence[Floats]) -> tuple[int, ...]:
    """Each player's likeliest action."""
    return tuple(int(np.argmax(x)) for x in strategies)


def ended_in_equilibrium(game: Game, rule: Rule, runs: int = RUNS, steps: int = STEPS) -> NDArray[np.bool_]:
    """Whether players' likeliest actions at the end of each run are a pure Nash equilibrium (of the moves allowed)."""
    nash = as_set(pure_nash(game, within_moves=True))
    ends = (begin(game, rule, seed, record=()).advance(steps).strategies for seed in range(runs))
    return np.array([likeliest(strategies) in nash for strategies in ends])
