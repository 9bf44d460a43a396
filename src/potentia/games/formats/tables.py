"""Any game that fits, as a table of payoffs."""

from __future__ import annotations

import numpy as np

from potentia.errors import InvalidGame
from potentia.games.base import Game
from potentia.games.normal_form import NormalForm
from potentia.games.tabulated import payoff_table, profiles
from potentia.kernel.arrays import Floats
from potentia.kernel.protocol import Constrained


def tabulated(game: Game) -> NormalForm:
    """The same game as a NormalForm, with its moves, names, title and potential."""
    if type(game) is NormalForm:
        return game
    if game.move_prices() is not None:
        raise InvalidGame(f"{game.describe()} charges for moving, which a table of payoffs by profile cannot hold")
    table = payoff_table(game)
    return NormalForm(
        table.reshape(game.num_players, *game.num_actions),
        potential=_potential(game, table) if game.has_potential else None,
        moves=game.moves if isinstance(game.moves, Constrained) else None,
        players=game.player_names,
        actions=game.action_names,
        title=game.known_as,
        unit=game.payoff_unit,
    )


def _potential(game: Game, table: Floats) -> Floats:
    """Φ of every profile."""
    values = np.array([game.potential(profile) for profile in profiles(game)])
    return values.reshape(game.num_actions)
