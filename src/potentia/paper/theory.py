"""Every lemma, proposition and theorem of the paper, checked on small games, each with a verdict.

Checks are exact where the statement is about resistances, stable states, potentials or closed forms, and by runs where
it is about SOQL's long run. A verdict follows from what was found: a counterexample that satisfies the hypotheses
makes a statement not supported; where only some readings of a hypothesis have one, it depends on the reading.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import asdict, dataclass
from typing import Any

from potentia.analysis import Stability, stability
from potentia.games import Game, game
from potentia.paper.claims import Claim, Declared, declared_in
from potentia.paper.kept import Kept
from potentia.paper.scale import Scale
from potentia.paper.small_games import JOINT, all_profiles

# in the order of the paper
MODULES = tuple(
    f"{name}_claims" for name in ("quoted", "resistance", "stability", "dominance", "soql", "convergence", "coverage")
)


def check(kept: Kept, names: Collection[str] | None = None) -> list[Claim]:
    """All claims of the paper's theory, in its order, or those of these names; what was checked before is read."""
    return [_checked(declared, kept) for declared in declared_in(*MODULES) if names is None or declared.name in names]


def _checked(declared: Declared[Scale], kept: Kept) -> Claim:
    kept.tell(declared.name)
    of = {"claim": declared.name, "scale": asdict(kept.scale)}
    path = kept.result("claims", declared.name.replace(" ", "-"), of, lambda: declared(kept.scale).to_json().encode())
    return Claim.from_json(path.read_text("utf-8"))


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
