"""A game written out, and what tolerances are relative to. Everything exact starts here."""

from __future__ import annotations

from typing import Any

import numpy as np

from potentia.errors import InvalidInput
from potentia.games import Game
from potentia.games.names import profile_words as words
from potentia.games.tabulated import (
    at_first_profile,
    at_places,
    odometer,
    payoff_table,
    place_of,
    profile_at,
    profiles,
    require_fit,
    require_game,
    utility_of,
)
from potentia.kernel.arrays import Floats
from potentia.kernel.checks import Real

__all__ = [
    "Verdict",
    "at_first_profile",
    "at_places",
    "check_tolerance",
    "largest_spread",
    "move_prices",
    "odometer",
    "payoff_table",
    "payoff_tensor",
    "place_of",
    "profile_at",
    "profiles",
    "require_fit",
    "require_game",
    "spread",
    "tensor",
    "utility_of",
    "words",
]


class Verdict:
    """The answer to a question of yes or no, true where it ``holds``."""

    holds: bool

    def __bool__(self) -> bool:
        return self.holds


def move_prices(game: Game) -> Floats:
    """What it costs each player to move from one action to another, (N, A, A); empty where moving is free."""
    prices = game.move_prices()
    return np.zeros((0, 0, 0)) if prices is None else prices


def tensor(game: Game, values: Floats) -> Floats:
    """A value per profile in the shape (A_1, ..., A_N); ``values`` may have further axes in front."""
    return values.reshape(*values.shape[:-1], *game.num_actions)


def payoff_tensor(game: Game) -> Floats:
    """Every utility in the shape (N, A_1, ..., A_N)."""
    return tensor(game, payoff_table(game))


def spread(values: Floats) -> float:
    """Largest minus smallest; what tolerances are relative to."""
    return float(values.max() - values.min()) if values.size else 0.0


def largest_spread(payoffs: Floats) -> float:
    """The largest spread of a player's payoffs, the first axis being the player; what others get plays no part."""
    return max(spread(row) for row in payoffs)


def check_tolerance(tolerance: Any) -> float:
    """A relative tolerance, at least 0 and below 1."""
    return Real(least=0.0, below=1.0).of(tolerance, "tolerance", InvalidInput)
