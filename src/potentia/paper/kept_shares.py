"""How often does a synchronous rule keep the potential maximiser? Exact, over many random games.

For each game and rule three questions: is the stochastically stable set exactly the set of maximisers; is a
maximiser stable at all; is the profile with the largest share of the limit law a maximiser.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from potentia.analysis import stability
from potentia.analysis.auditing import maximisers
from potentia.games import Game, NormalForm, Separable, path_moves, random_potential_game

RULES: dict[str, dict[str, Any]] = {
    "BLLL": {"rule": "blll", "tau": 1.0},
    "P-SBLLL, joint": {"rule": "p-sblll", "tau": 1.0, "revision": 0.3},
    "P-SBLLL, unilateral": {"rule": "p-sblll", "tau": 1.0, "revision": 0.3, "trial": "unilateral"},
    "P-SBLLL, guarded": {"rule": "p-sblll", "tau": 1.0, "revision": 0.3, "guard": True},
}


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
            random = np.random.Generator(np.random.PCG64(seed + k))
            out.append(Separable([random.standard_normal(size) for size in shape]))
        elif kind in ("identical", "constrained"):
            phi = np.random.Generator(np.random.PCG64(seed + k)).standard_normal(tuple(shape))
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
            phi = np.array([game.potential(tuple(profile)) for profile in np.ndindex(game.num_actions)])
            best = set(maximisers(phi).tolist())
            result = stability(game, rule, method="contraction")  # no theorem taken for granted
            stable = set(np.flatnonzero(result.stable).tolist())
            exactly += stable == best
            kept += bool(stable & best)
            mode += int(result.limit.argmax()) in best
        out.append(Shares(name, len(games), exactly, kept, mode))
    return out
