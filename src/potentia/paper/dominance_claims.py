"""Dominated strategies in the continuous dynamics p^(n) = u (section 4, quoted from Laraki & Mertikopoulos).

Strictly dominated strategies die at every order; weakly dominated ones may survive at order 1 and die from order 2
on. The paper's definition of "weakly dominated", u(α, x) ≤ u(β, x) for all x, includes equal actions: each then
"dominates" the other, and they cannot both die. A finite trajectory shows shares below a bound, not limits. For strict
dominance there is one that tends to 0: from uniform strategies, the score of an action that is worse by at least m
lags behind by m t^n / n!, so that under Gibbs its share is at most exp(-m t^n / n!).
"""

from __future__ import annotations

import math

from potentia.analysis import dominated, dynamics, fates
from potentia.analysis.extinction import Fate
from potentia.games import NormalForm
from potentia.paper.claims import DEPENDS, SUPPORTED, Judged, claim, share, whether
from potentia.paper.scale import Scale
from potentia.paper.small_games import generator, number, plain, table_in_words

DEAD = 1e-3
_ORDERS = (1, 2, 3)
_ROUNDING, _LEAST = 1e-4, 1e-9  # of the numerical solution
_HORIZON = {1: 40.0, 2: 40.0, 3: 20.0}


def strict_games(count: int, seed: int = 0) -> list[NormalForm]:
    """Random 3×2 games: player 0's last action is dominated by the first, in every other game by a mixture only."""
    out = []
    for k in range(count):
        random = generator(seed + k)
        payoffs = random.standard_normal((2, 3, 2))
        if k % 2:
            payoffs[0, 0], payoffs[0, 1] = [3.0, 0.0], [0.0, 3.0]
            payoffs[0, 2] = random.uniform(0.2, 0.8, 2)
        else:
            payoffs[0, 2] = payoffs[0, 0] - random.uniform(0.5, 1.5, 2)
        out.append(NormalForm(payoffs))
    return out


def weak_games(count: int, seed: int = 50) -> list[NormalForm]:
    """2×2 games: player 0's D is as good as U against L and worse against R, which L dominates for player 1.

    The first is the one in which D keeps exactly one third at order 1.
    """
    out = [NormalForm([[[1, 1], [1, 0]], [[1, 0], [1, 0]]])]
    for k in range(1, count):
        random = generator(seed + k)
        better, worse, gap, height = random.uniform(0.5, 1.5, 4).tolist()
        own = [[height, height], [height, height - worse]]
        out.append(NormalForm([own, [[better, 0.0], [gap, 0.0]]]))
    return out


def _number_of(scale: Scale) -> int:
    return max(6, scale.games // 25)


def _ends(games: list[NormalForm], order: int, strict: bool) -> list[Fate]:
    """Every action that is dominated strictly, or else only weakly, and its share at the end."""
    out = []
    for game in games:
        found = dynamics(game, order=order, horizon=_HORIZON[order], points=3, rtol=1e-7, atol=1e-9)
        out += [fate for fate in fates(found, DEAD) if fate.dominated.strict == strict]
    return out


def _within(fate: Fate, order: int) -> bool:
    """Whether a strictly dominated action is within the bound that tends to 0."""
    time = _HORIZON[order] ** order / math.factorial(order)
    return bool(fate.share <= math.exp(-fate.dominated.margin * time) * (1 + _ROUNDING) + _LEAST)


@claim(
    "strictly-dominated",
    "In the continuous dynamics of any order strictly dominated strategies become extinct",
    "section 4, quoted (Theorem 4.1 of Laraki & Mertikopoulos)",
)
def strictly_dominated(scale: Scale) -> Judged:
    """At orders 1 to 3, by actions and by mixtures."""
    games = strict_games(_number_of(scale), scale.seed)
    found = {order: [_within(fate, order) for fate in _ends(games, order, strict=True)] for order in _ORDERS}
    every = [within for those in found.values() for within in those]
    return Judged(
        {
            f"order {order}: dominated actions within the bound exp(−m tⁿ/n!)": share(those)
            for order, those in found.items()
        },
        *whether(
            all(every),
            f"All {len(every)} shares are within a bound that tends to 0, also where only a mixture dominates",
            f"{every.count(False)} of {len(every)} dominated actions keep more than the bound",
        ),
    )


@claim(
    "weakly-dominated",
    "Weakly dominated strategies may survive first-order dynamics and become extinct from order 2 on",
    "section 4, quoted (Theorem 4.3 of Laraki & Mertikopoulos)",
)
def weakly_dominated(scale: Scale) -> Judged:
    """They survive at order 1, die from order 2 on; as printed, the word covers equal actions too."""
    games = weak_games(_number_of(scale), 50 + scale.seed)
    died = {order: [fate.died for fate in _ends(games, order, strict=False)] for order in _ORDERS}
    first = float(dynamics(games[0], order=1, horizon=_HORIZON[1], points=3).final[0][1])
    equal, kept = equal_actions()
    verdict, reason = whether(
        not all(died[1]) and all(died[2]) and all(died[3]),
        f"{died[1].count(False)} of {len(died[1])} live on at order 1, from order 2 on all die",
        "A weakly dominated action lives on at order 2 or 3, or none does at order 1",
    )
    if verdict == SUPPORTED and kept > DEAD:
        verdict = f"{DEPENDS} what weakly dominated means"
        reason += "; but as printed (≤ everywhere) the word includes equal actions, which live on"
    said = (
        f"One player, utilities {table_in_words(equal.payoffs[0])}: as printed each action weakly dominates the other; "
        f"at order 2 both keep {number(kept)}."
    )
    label = f"weakly dominated actions whose share falls below {DEAD:g}"
    return Judged(
        {f"order {order}: {label}": share(those) for order, those in died.items()}
        | {
            "share of the weakly dominated action at order 1, first game": first,
            "share of an equal action at order 2": kept,
        },
        verdict,
        reason,
        (),
        said if kept > DEAD else None,
        plain(equal, order=2, horizon=_HORIZON[2], share=kept) | {"survivor": plain(games[0], share=first)},
    )


def equal_actions() -> tuple[NormalForm, float]:
    """Two actions that pay the same, and what the second keeps at order 2."""
    game = NormalForm([[1.0, 1.0]])
    assert not dominated(game, weakly=True)  # not in the usual sense, which asks for < somewhere
    return game, float(dynamics(game, order=2, horizon=_HORIZON[2], points=3).final[0][1])
