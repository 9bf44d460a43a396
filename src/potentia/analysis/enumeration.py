"""The best profile of a game by looking at all of them, of which none is kept."""

from __future__ import annotations

from typing import Any

import numpy as np

from potentia.analysis.potentials import potential
from potentia.analysis.tables import at_first_profile, at_places, odometer
from potentia.errors import TooLarge
from potentia.games import Game, NormalForm
from potentia.kernel import protocol
from potentia.kernel.arrays import Floats, Ints
from potentia.kernel.cache import Entry
from potentia.kernel.numbers import in_words

_CHUNK = 2**16  # profiles of a table summed at once
_BY_PYTHON = 30_000  # utilities; compiling takes longer than this many calls
MOST = 2**27  # profiles, by machine code: a minute or so
_MOST_PLAIN = 2**20  # the same in Python


def best_listed(game: Game, objective: str) -> tuple[Ints, float | None]:
    """The first profile in C order that is best; and its value, where it can be had from the table alone."""
    if objective == "potential" and not game.has_potential:
        table = potential(game).reshape(-1)
        place = int(table.argmax())
        return at_places(game, np.array([place]))[0], float(table[place])
    if isinstance(game, NormalForm):
        return at_places(game, np.array([_of_table(game, objective)]))[0], None
    return at_places(game, np.array([_of_kernel(game, objective)]))[0], None


def _of_table(game: NormalForm, objective: str) -> int:
    if objective == "potential":
        return int(game.data.phi.argmax())
    rows, best, place = game.data.payoffs, -np.inf, 0
    for begin in range(0, rows.shape[1], _CHUNK):
        sums = rows[:, begin : begin + _CHUNK].sum(axis=0)
        if sums.max() > best:
            best, place = float(sums.max()), begin + int(sums.argmax())
    return place


def by_machine(game: Game, utilities: int) -> bool:
    """Whether so many utilities, or potentials, are worth compiling for; where that fails one warning says why."""
    return utilities > _BY_PYTHON and game.compiled


def can_be_listed(game: Game, objective: str) -> bool:
    """Whether :func:`best_listed` goes through all profiles of a game that is no table."""
    return game.num_profiles <= _reach(game, objective)[0]


def _reach(game: Game, objective: str) -> tuple[int, bool]:
    """How many profiles are gone through, and whether by machine code."""
    each = 1 if objective == "potential" else game.num_players
    if game.num_profiles > MOST or by_machine(game, each * game.num_profiles):
        return MOST, True
    return _MOST_PLAIN // each, False


def _of_kernel(game: Game, objective: str) -> int:
    most, compiled = _reach(game, objective)
    if game.num_profiles > most:
        raise TooLarge(
            f"the optimum of this game needs all of its {in_words(game.num_profiles)} profiles, and up to {most:,} are "
            "gone through; say who interacts (interactions= of custom), where not all do; write it as Separable, "
            "Coordination or Congestion, which are solved at any size; or sample: run_batch(..., record='best')"
        )
    out, those = np.array([-np.inf, 0.0]), np.arange(game.num_players)
    at_first_profile(_largest_entry, game, compiled, those, out, game.num_profiles, objective == "potential")
    return int(out[1])


def _largest(game: Any, state: Any, those: Ints, out: Floats, count: int, potentials: bool) -> None:
    """The largest value, and the number of the first profile that has it."""
    protocol.settle(game, state)
    for place in range(count):
        value = protocol.potential(game, state) if potentials else protocol.welfare(game, state)
        if value > out[0]:
            out[0], out[1] = value, place
        odometer(game, state, those)


_largest_entry = Entry(_largest)
