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
from potentia.paper.claims import Claim, declared_in
from potentia.paper.scale import Scale
from potentia.paper.small_games import JOINT, all_profiles

# in the order of the paper
MODULES = tuple(
    f"{name}_claims" for name in ("quoted", "resistance", "stability", "dominance", "soql", "convergence", "coverage")
)


def check(scale: Scale, tell: Callable[[str], None] | None = None) -> list[Claim]:
    """All claims of the paper's theory, in its order; ``tell`` hears the name of each before it is checked."""
    claims = []
    for declared in declared_in(*MODULES):
        if tell is not None:
            tell(declared.name)
        claims.append(declared(scale))
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
    best = max(all_profiles(double.num_actions), key=double.potential)
    return FiguresData(double, found, stable, best, shares)
