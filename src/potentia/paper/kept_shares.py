"""How often does a synchronous rule keep the potential maximiser? Exact, over many random games.

For each game and rule three questions: is the stochastically stable set exactly the set of maximisers; is a
maximiser stable at all; is the profile with the largest share of the limit law a maximiser.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from potentia.games import Game, NormalForm, Separable, path_moves, random_potential_game
from potentia.paper.scale import Scale
from potentia.paper.small_games import BLLL, JOINT, SHAPE, best_places, generator, potentials_of, solved
from potentia.statistics.estimates import Estimate, share_of

RULES: dict[str, dict[str, Any]] = {
    "BLLL": BLLL,
    "P-SBLLL, joint": JOINT,
    "P-SBLLL, unilateral": JOINT | {"trial": "unilateral"},
    "P-SBLLL, guarded": JOINT | {"guard": True},
}
KINDS = {
    "potential": "any potential game",
    "separable": "separable",
    "identical": "identical utilities",
    "constrained": "identical utilities, moves along a line",
}
SEED = 1000  # of the first game


@dataclass(frozen=True)
class Shares:
    """Of ``games`` games, in how many the answer was yes."""

    rule: str
    games: int
    exactly: int  # the stable set is the set of maximisers
    kept: int  # some maximiser is stable
    mode: int  # the most visited profile maximises


def random_games(kind: str, count: int, shape: Sequence[int], seed: int) -> list[Game]:
    """Random exact potential games, all standard normal.

    "potential" (any), "separable", "identical" (one utility for all: Assumption 4 as printed) or "constrained"
    (identical, with moves along a line).
    """
    out: list[Game] = []
    for k in range(count):
        if kind == "potential":
            out.append(random_potential_game(shape, seed + k))
        elif kind == "separable":
            random = generator(seed + k)
            out.append(Separable([random.standard_normal(size) for size in shape]))
        elif kind in ("identical", "constrained"):
            phi = generator(seed + k).standard_normal(tuple(shape))
            moves = [path_moves(size) for size in shape] if kind == "constrained" else None
            out.append(NormalForm([phi] * len(shape), potential=phi, moves=moves))
        else:
            raise ValueError(f"unknown kind of games {kind!r}")
    return out


def shares(games: Sequence[Game], rules: dict[str, dict[str, Any]] | None = None) -> list[Shares]:
    """Answer the three questions for every rule over the same games."""
    out = []
    for name, rule in (RULES if rules is None else rules).items():
        exactly = kept = mode = 0
        for game in games:
            best, result = best_places(potentials_of(game)), solved(game, rule)
            stable = set(np.flatnonzero(result.stable).tolist())
            exactly += stable == best
            kept += bool(stable & best)
            mode += int(result.limit.argmax()) in best
        out.append(Shares(name, len(games), exactly, kept, mode))
    return out


@cache
def by_rule(scale: Scale) -> list[dict[str, Any]]:
    """How often each rule keeps the maximisers, on random games of each kind: a row for each kind and rule."""
    rows = []
    for kind, words in KINDS.items():
        for found in shares(random_games(kind, scale.games, SHAPE, SEED + scale.seed)):
            counts = {"exactly": found.exactly, "kept": found.kept, "mode": found.mode}
            rows.append({"kind": kind, "games": words, "rule": found.rule, "count": found.games, **counts})
    return rows


def exactly(rows: list[dict[str, Any]], kind: str, rule: str) -> Estimate:
    """The share of games of a kind in which the stable set of a rule is the set of maximisers."""
    row = next(row for row in rows if row["kind"] == kind and row["rule"] == rule)
    return share_of(row["exactly"], row["count"])
