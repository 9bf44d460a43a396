"""Where SOQL ends: the convergence theorem, and the perturbation theorem under Assumptions 6 and 7.

The convergence theorem promises a neighbourhood of α_* with probability one; what is shown is a probability above 0 of
staying. The perturbation theorem promises that the estimated equilibrium converges to a Nash equilibrium almost surely.
But strays never end, as ξ is constant, and a stray of one player moves the scores of all others too: under
Assumption 6 by little, μ = 1 - X̃ being about ξ, yet in proportion to what the stray costs them. Where that is much, a
player leaves the equilibrium again and again.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from potentia.analysis import potential, pure_nash
from potentia.analysis.score_hypotheses import likeliest
from potentia.engine import begin
from potentia.experiments.equilibrium_study import STEPS, equilibria, random_games, share
from potentia.experiments.paper.claims import DEPENDS, NOT_SUPPORTED, SUPPORTED, Claim, Measurement
from potentia.experiments.paper.scale import Scale
from potentia.experiments.paper.small_games import in_percent, in_words, number, plain, table_in_words
from potentia.experiments.paper.soql_claims import unperturbed
from potentia.games import NormalForm
from potentia.rules import SOQL, Rule, rule

PERTURBED: dict[str, dict[str, Any]] = {
    "Assumptions 6 and 7": {"mu": "adaptive"},
    "without Assumption 7": {"mu": "adaptive", "alone": False},
    "constant μ = 0.97 instead of Assumption 6": {},
    "constant μ = 0.97, scores by Eq. 28 with P and Q": {"form": "pair"},
    "constant μ = 0.97, responding to Q(n+1)": {"lag": False},
    "μ = 1/n instead of Assumption 6": {"mu": "1/n"},
    "without perturbation": {"mu": "adaptive", "xi": 0.0},
}
_LOOKS = 11  # at the favourites, over the second half of a run
_PURE = 1e-6


def favourites(game: NormalForm, chosen: Rule, seed: int, steps: int = STEPS) -> list[tuple[int, ...]]:
    """Everybody's likeliest action at equal times from the middle of a run to its end."""
    stride = steps // 2 // (_LOOKS - 1)
    run = begin(game, chosen, seed, record=(), horizon=steps).advance(steps - (_LOOKS - 1) * stride)
    later = (likeliest(run.advance(stride).strategies) for _ in range(_LOOKS - 1))
    return [likeliest(run.strategies), *later]


# The convergence theorem ---------------------------------------------------------------------------------


def leaving_game() -> tuple[NormalForm, SOQL]:
    """A player that responds to what it plays and learns better only if it happens to try the other action."""
    options = {"initial": [[0.1, 0.0]], "initial_strategies": [[0.5, 0.5]]}
    return NormalForm([[0.5, 1.0]]), unperturbed(**options)


def staying_probability(vartheta: float, weight: float) -> float:
    """That action 0 is played at every n + 2, n + 3, ...: its share then is 1 - (1-ϑ)^k (1 - weight), weight at n."""
    terms = [1 - (1 - vartheta) ** k * (1 - weight) for k in range(2, 400)]
    return float(np.prod(terms))


def convergence_theorem(scale: Scale) -> Claim:
    """To α_* with probability one? And does every run settle somewhere?"""
    game, chosen = leaving_game()
    runs = at_start = 0
    for seed in range(20 * scale.learners):
        run = begin(game, chosen, seed, horizon=200).advance(200)
        if (run.trace().profiles[1:3] == 0).all():  # α_* = (0) is played at n = 0 and n + 1
            runs += 1
            at_start += likeliest(run.strategies) == (0,)
    exact = staying_probability(chosen.vartheta, 0.5)
    games = random_games(scale.learners)
    settled = nash = 0
    for seed, other in enumerate(games):
        end = begin(other, unperturbed(), seed, record=(), horizon=STEPS).advance(STEPS)
        settled += all(float(x.max()) > 1 - _PURE for x in end.strategies)
        nash += likeliest(end.strategies) in equilibria(other)
    frequency = share(at_start, runs)
    broken = exact < 1.0 and frequency.high < 1.0
    everywhere = settled == len(games)
    missed = f"Only {in_percent(frequency.mean)} of runs converge to α_* in the example"
    verdict, reason = SUPPORTED, f"All {runs:,} runs converge to α_*"
    if broken and everywhere:
        verdict = f"{DEPENDS} which profile α_* is"
        fair = in_percent(nash / len(games))
        reason = f"{missed}; every run on {len(games)} random games settles, {fair} of them at an equilibrium"
    elif broken:
        verdict, reason = (
            NOT_SUPPORTED,
            f"{missed}, and {len(games) - settled} of {len(games)} random games do not settle",
        )
    said = (
        f"One player, utilities {table_in_words(game.payoffs[0])}, Q(n) = [0.1, 0], X(n) = [0.5, 0.5], "
        f"ϑ = {number(chosen.vartheta)}. Action 0 is the best response, its score rises, it is played at n and n + 1: "
        f"all that the proof asks for. It is kept for ever with probability {number(exact)}; else the player tries "
        f"action 1, which pays 1, and ends there. Of {runs:,} runs {at_start:,} converged to action 0."
    )
    return Claim(
        name="soql-convergence",
        kind="theory",
        title="SOQL converges to a neighbourhood of α_* with probability one",
        where="convergence theorem on SOQL, Eq. 42",
        measured=(
            Measurement("share of runs that converge to α_* in the example", frequency),
            Measurement("its exact probability", exact),
            Measurement("random potential games in which X becomes pure, no perturbation", share(settled, len(games))),
            Measurement("random potential games that end at a pure Nash equilibrium", share(nash, len(games))),
        ),
        verdict=verdict,
        reason=reason,
        counterexample=said if broken else None,
        details=plain(game, rule=chosen.spec(), alpha=[0], exact=exact, runs=runs, converged=at_start),
    )


# The perturbation theorem --------------------------------------------------------------------------------


def costly_strays(cost: float = 1000.0) -> NormalForm:
    """A 2×2 potential game with one equilibrium, (0, 0), at which player 0 loses much whenever player 1 strays.

    Player 0 gets 1 at the equilibrium and a safe 0.5 from its other action; player 1's action 0 is dominant.
    """
    first = [[1.0, -cost], [0.5, 0.5]]
    second = [[cost + 2.0, 0.0], [1.0, 0.0]]
    return NormalForm([first, second])


def after_a_stray(game: NormalForm, xi: float) -> float:
    """The lowest score of player 0's settled action after one stray of player 1, by Eq. 44 with X̃ = 1 - ξ/2."""
    mu = xi / 2
    usual, struck = game.utility(0, [0, 0]), game.utility(0, [0, 1])
    before = now = lowest = usual
    for n in range(int(20 / mu)):
        received = struck if n == 0 else usual
        before, now = now, 2 * (1 - mu) * now - (1 - mu) ** 2 * before + mu**2 * received
        lowest = min(lowest, now)
    return lowest


def _ended(games: Sequence[NormalForm], chosen: Rule) -> int:
    return sum(favourites(game, chosen, seed)[-1] in equilibria(game) for seed, game in enumerate(games))


def perturbation_theorem(scale: Scale) -> Claim:
    """Random potential games under the assumptions and without each, and a game where strays cost much."""
    games = random_games(scale.learners)
    ended = {name: _ended(games, rule("soql", **options)) for name, options in PERTURBED.items()}
    full = rule("soql", **PERTURBED["Assumptions 6 and 7"])
    assert isinstance(full, SOQL)
    costly = costly_strays()
    runs = scale.learners
    looks = {steps: [favourites(costly, full, seed, steps) for seed in range(runs)] for steps in (STEPS, 5 * STEPS)}
    at = {steps: sum(one == (0, 0) for one in itertools.chain(*found)) for steps, found in looks.items()}
    stay = {steps: sum(set(one) == {(0, 0)} for one in found) for steps, found in looks.items()}
    all_kept = ended["Assumptions 6 and 7"] == len(games)
    broken = stay[5 * STEPS] < runs
    kept = f"{ended['Assumptions 6 and 7']} of {len(games)} random games end in an equilibrium"
    random_games_end = [
        Measurement(f"random potential games that end in a pure Nash equilibrium, {name}", share(count, len(games)))
        for name, count in ended.items()
    ]
    strays = [
        Measurement(
            f"game with costly strays: runs at the equilibrium at all looks of the second half, {steps:,} steps",
            share(stay[steps], runs),
        )
        for steps in reversed(looks)
    ]
    strays += [
        Measurement(
            f"game with costly strays: share of looks at the equilibrium, {steps:,} steps", count / (runs * _LOOKS)
        )
        for steps, count in at.items()
    ]
    return Claim(
        name="perturbation",
        kind="theory",
        title="Under Assumptions 6 and 7 the estimated equilibrium converges to a Nash equilibrium almost surely",
        where="perturbation theorem, Eq. 43–44",
        measured=(random_games_end[0], *strays, *random_games_end[1:]),
        verdict=SUPPORTED if all_kept and not broken else NOT_SUPPORTED,
        reason=kept
        + (
            f"; but where a stray costs another player much, only {stay[5 * STEPS]} of {runs} runs stay"
            if broken
            else ""
        ),
        counterexample=_costly_words(costly, full, at, runs) if broken else None,
        details=plain(
            costly,
            rule=full.spec(),
            potential=potential(costly).tolist(),
            equilibria=pure_nash(costly).tolist(),
            steps=5 * STEPS,
            seeds=runs,
            looks=_LOOKS,
            at_equilibrium=at[5 * STEPS],
            stayed=stay[5 * STEPS],
            lowest_score=after_a_stray(costly, full.xi),
        ),
    )


def _costly_words(game: NormalForm, chosen: SOQL, at: dict[int, int], runs: int) -> str:
    shares = " and ".join(
        f"{count / (runs * _LOOKS):.0%} of the looks in the second half of {steps:,} steps"
        for steps, count in at.items()
    )
    first, second = (table_in_words(table) for table in game.payoffs)
    usual, safe = (number(game.utility(0, profile)) for profile in ([0, 0], [1, 0]))
    return (
        f"u^0 = {first}, u^1 = {second}, a potential game whose only equilibrium is "
        f"{in_words(pure_nash(game).tolist())}. There player 1 strays with probability {number(chosen.xi / 2)} at a "
        f"step (ξ = {number(chosen.xi)}), for ever. One stray lets player 0's score of action 0 fall from {usual} to "
        f"{number(after_a_stray(game, chosen.xi))}, below the {safe} of its action 1, and it leaves. The favourites "
        f"are the equilibrium at {shares}."
    )
