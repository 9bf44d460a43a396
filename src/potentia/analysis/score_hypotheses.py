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

from potentia.analysis.arrays import Floats
from potentia.analysis.equilibria import pure_nash
from potentia.analysis.hypotheses import Row
from potentia.engine import begin
from potentia.games import Game
from potentia.rules import QL, SOQL, Rule, Score
from potentia.rules.second_order import ADAPTIVE

RUNS, STEPS = 50, 20_000


def score_rows(game: Game, rule: Rule) -> dict[str, Row]:
    """One row for each hypothesis that concerns this rule; none for rules without scores."""
    if not isinstance(rule, QL | SOQL | Score):
        return {}
    rows = {"endless": _endless(rule), "squares": _squares(rule)}
    if isinstance(rule, SOQL):
        rows |= {"6": _adaptive(rule), "7": _alone(game, rule), "steps": _order_of_steps(rule)}
        rows |= {"perturbed": _perturbed(rule), "exact": _without_noise(rule), "lag": _as_printed(rule)}
    return rows


def _adaptive(rule: SOQL) -> Row:
    name = "Assumption 6: steps are 1 - X̃"
    if rule.mu == ADAPTIVE:
        return Row(name, True, "an action that is seldom played learns at once, the favourite hardly at all")
    return Row(name, False, f'mu is {rule.mu} for every action, likely or not; give mu="adaptive"')


def _alone(game: Game, rule: SOQL) -> Row:
    name = "Assumption 7: one player strays at a time"
    if rule.xi == 0.0:
        return Row(name, True, "nobody is perturbed: xi is 0")
    if rule.alone:
        return Row(name, True, "of several that would stray from their favourites at a step, one does")
    stray = rule.xi * (1.0 - 1.0 / game.sizes)  # at the most, for a strategy that has settled
    nobody = float(np.prod(1.0 - stray))
    one = nobody * float((stray / (1.0 - stray)).sum())
    return Row(name, False, f"two or more stray in {1.0 - nobody - one:.2g} of the steps once all have settled")


def _perturbed(rule: SOQL) -> Row:
    name = "ξ > 0: settled strategies are perturbed"
    if rule.xi > 0.0:
        return Row(name, True, f"a settled player strays with probability up to xi = {rule.xi:g}")
    return Row(name, False, "xi is 0: what a player has settled on it never leaves to try something else")


def _without_noise(rule: SOQL) -> Row:
    name = "utilities are received without noise"
    if rule.noise == 0.0:
        return Row(name, True, "noise is 0")
    return Row(
        name, False, f"noise has standard deviation {rule.noise:g}, and one play moves a score almost all the way"
    )


def _as_printed(rule: SOQL) -> Row:
    name = "Eq. 29: strategies respond to Q(n)"
    if rule.lag:
        return Row(name, True, "to the scores before the update, as printed")
    return Row(name, False, "lag is False: they respond to Q(n+1)")


def _order_of_steps(rule: SOQL) -> Row:
    name = "ϑ < μ < 1"
    if isinstance(rule.mu, float):
        return Row(name, rule.vartheta < rule.mu, f"vartheta is {rule.vartheta:g}, mu {rule.mu:g}")
    if rule.mu == ADAPTIVE:
        return Row(
            name,
            False,
            f"μ = 1 - X̃ of the favourite falls below ϑ = {rule.vartheta:g} as it settles: Assumption 6 excludes it",
        )
    return Row(name, False, f"μ(n) = {rule.mu} falls below ϑ = {rule.vartheta:g}")


def _endless(rule: QL | SOQL | Score) -> Row:
    name = "Σ μ(n) = ∞"
    if rule.mu == ADAPTIVE:
        return Row(name, None, "μ = 1 - X̃ depends on play")
    if isinstance(rule.mu, float):
        return Row(name, True, "mu is constant")
    assert not isinstance(rule.mu, str)
    return Row(name, rule.mu.endless, f"μ(n) = {rule.mu}{_counted(rule)}")


def _squares(rule: QL | SOQL | Score) -> Row:
    name = "Σ μ(n)² < ∞"
    if rule.mu == ADAPTIVE:
        return Row(name, None, "μ = 1 - X̃ depends on play")
    if isinstance(rule.mu, float):
        soql = isinstance(rule, SOQL)
        said = ", as the paper has it for SOQL" if soql else ": scores never come to rest where utilities vary"
        return Row(name, False, f"mu is constant{said}")
    assert not isinstance(rule.mu, str)
    return Row(name, rule.mu.square_summable, f"μ(n) = {rule.mu}{_counted(rule)}")


def _counted(rule: Rule) -> str:
    return ", n the times an action was played" if isinstance(rule, QL) and rule.count == "visits" else ""


def likeliest(strategies: Sequence[Floats]) -> tuple[int, ...]:
    """Each player's likeliest action."""
    return tuple(int(np.argmax(x)) for x in strategies)


def ended_in_equilibrium(game: Game, rule: Rule, runs: int = RUNS, steps: int = STEPS) -> NDArray[np.bool_]:
    """Whether players' likeliest actions at the end of each run are a pure Nash equilibrium (of the moves allowed)."""
    nash = {tuple(profile) for profile in pure_nash(game, within_moves=True).tolist()}
    ends = (begin(game, rule, seed, record=()).advance(steps).strategies for seed in range(runs))
    return np.array([likeliest(strategies) in nash for strategies in ends])
