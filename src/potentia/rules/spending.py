"""What a revision costs: how many times a player asks for its utility."""

from __future__ import annotations

import numpy as np

from potentia.games import Game
from potentia.kernel.protocol import Constrained
from potentia.rules.base import Rule
from potentia.rules.considers import ALL


def evaluations(rule: Rule, game: Game) -> float:
    """Utilities that one revision of the rule asks for: of every action, or of the present one and each trial.

    Rules with scores are told one payoff. NaN where it is not one number: players differ in their actions, moves are
    constrained, or the rule is somebody's own.
    """
    if rule.keeps_scores:
        return 1.0
    place = rule.point()
    if place is None:
        return np.nan
    if place.considers.kind != ALL:
        return 1.0 + place.considers.k
    alike = int(game.sizes.min()) == int(game.sizes.max()) and not isinstance(game.moves, Constrained)
    return float(game.sizes.max()) if alike else np.nan
