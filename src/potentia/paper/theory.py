"""Every lemma, proposition and theorem of the paper, checked on small games, each with a verdict.

Checks are exact where the statement is about resistances, stable states, potentials or closed forms, and by runs where
it is about SOQL's long run. A verdict follows from what was found: a counterexample that satisfies the hypotheses
makes a statement not supported; where only some readings of a hypothesis have one, it depends on the reading.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from potentia.analysis import Stability, stability
from potentia.games import Game, game
from potentia.paper.claims import Claim
from potentia.paper.convergence_claims import convergence_theorem, perturbation_theorem
from potentia.paper.coverage_claims import coverage_potential, coverage_separable
from potentia.paper.dominance_claims import strictly_dominated, weakly_dominated
from potentia.paper.resistance_claims import resistance_lemma, reversal_lemma, stable_state
from potentia.paper.scale import Scale
from potentia.paper.small_games import JOINT
from potentia.paper.soql_claims import closed_forms, lock_in_probability, lock_in_proposition
from potentia.paper.stability_claims import (
    blll,
    by_rule,
    finite_improvement_theorem,
    general_theorem,
    separable_proposition,
)


def check(scale: Scale, tell: Callable[[str], None] | None = None) -> list[Claim]:
    """All claims of the paper's theory, in its order; ``tell`` hears of each before it is checked."""
    say = tell or (lambda _: None)
    say("how often each rule keeps the maximisers")
    rows = by_rule(scale)
    parts: dict[str, Callable[[], Claim]] = {
        "finite improvement": lambda: finite_improvement_theorem(scale),
        "stochastically stable states": lambda: stable_state(scale),
        "the BLLL theorem": lambda: blll(scale, rows),
        "the resistance lemma": lambda: resistance_lemma(scale),
        "the reversal lemma": lambda: reversal_lemma(scale),
        "the separable proposition": lambda: separable_proposition(scale, rows),
        "the general theorem": lambda: general_theorem(scale, rows),
        "strictly dominated strategies": lambda: strictly_dominated(scale),
        "weakly dominated strategies": lambda: weakly_dominated(scale),
        "SOQL's closed forms": lambda: closed_forms(scale),
        "SOQL's lock-in": lambda: lock_in_proposition(scale),
        "SOQL's probability of staying": lambda: lock_in_probability(scale),
        "SOQL's convergence theorem": lambda: convergence_theorem(scale),
        "the perturbation theorem": lambda: perturbation_theorem(scale),
        "the coverage potential": lambda: coverage_potential(scale),
        "separable coverage": lambda: coverage_separable(scale),
    }
    claims = []
    for name, run in parts.items():
        say(name)
        claims.append(run())
    return claims


@dataclass(frozen=True)
class FiguresData:
    """What the figures of this part are drawn from.

    ``stability`` has the least-resistance trees (Fig. 1): to ``stable``, the profile that joint P-SBLLL keeps, and to
    ``maximiser``, which maximises Φ. ``shares`` has a row for each kind of games and rule.
    """

    game: Game
    stability: Stability
    stable: tuple[int, ...]
    maximiser: tuple[int, ...]
    shares: list[dict[str, Any]]


def figures_data(claims: Iterable[Claim]) -> FiguresData:
    """From the claims of :func:`check`: the trees of the game ``double-step``, and the shares of games by rule."""
    double = game("double-step")
    found = stability(double, JOINT)
    shares = next(claim.details["shares"] for claim in claims if claim.name == "general")
    stable = tuple(int(a) for a in found.stable_profiles[0])
    best = max(((double.potential((a, b)), (a, b)) for a in range(2) for b in range(2)), key=lambda one: one[0])
    return FiguresData(double, found, stable, best[1], shares)
