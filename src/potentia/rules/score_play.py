"""How rules with scores play, in compiled code: options, drawing, what is received."""

from __future__ import annotations

from typing import Any

import numpy as np

from potentia.games import Game
from potentia.kernel.arrays import Floats
from potentia.kernel.dispatch import at, generic, portable
from potentia.kernel.draws import REWARD, normal_nth
from potentia.kernel.journal import REVISIONS, Journal, note
from potentia.kernel.protocol import Constrained, apply, commit, num_actions, num_players, payoff
from potentia.rules.scores import MOST, ScoreMemory


@generic
def num_options(moves: Any, game: Any, player: int, current: int) -> int:
    """How many actions the player may choose from: all of them, or its own and those in reach."""
    return num_actions(game, player)


@num_options.register(Constrained)
def _num_options(moves: Constrained, game: Any, player: int, current: int) -> int:
    row = moves.row[at(player)] + current
    return moves.ptr[at(row + 1)] - moves.ptr[at(row)] + 1


@generic
def options_from(moves: Any, player: int, current: int) -> int:
    """Where the list of options begins, for :func:`listed`: looked up once and not for each of them."""
    return 0


@options_from.register(Constrained)
def _options_from(moves: Constrained, player: int, current: int) -> int:
    return moves.ptr[at(moves.row[at(player)] + current)] - 1


@generic
def listed(moves: Any, start: int, current: int, index: int) -> int:
    """The index-th of the options that begin at ``start``; with constrained moves the current action is the first."""
    return index


@listed.register(Constrained)
def _listed(moves: Constrained, start: int, current: int, index: int) -> int:
    return current if index == 0 else moves.targets[at(start + index)]


@portable
def option(moves: Any, player: int, current: int, index: int) -> int:
    """The index-th option of the player, to look up a single one."""
    return listed(moves, options_from(moves, player, current), current, index)


@portable
def perform(memory: ScoreMemory, game: Any, state: Any) -> None:
    """Everybody plays what it has drawn, for a first look; :func:`stand_by` lets it stand."""
    for player in range(num_players(game)):
        memory.before[at(player)] = state.profile[at(player)]
        apply(game, state, player, memory.drawn[at(player)])


@portable
def receive(memory: ScoreMemory, game: Any, state: Any, noise: float, key: Any, n: int) -> None:
    """What each player gets at the joint profile, with noise if asked for."""
    players = num_players(game)
    for player in range(players):
        gain = payoff(game, state, player)
        if noise > 0.0:
            gain += noise * normal_nth(key, players, n, player, REWARD, 0)
        memory.received[at(player)] = gain


@portable
def stand_by(memory: ScoreMemory, game: Any, state: Any, journal: Journal, n: int) -> None:
    """What was performed stands, and is noted."""
    players = num_players(game)
    journal.counts[REVISIONS] += players
    for player in range(players):
        if memory.drawn[at(player)] != memory.before[at(player)]:
            commit(game, state, player)
            note(journal, player, memory.before[at(player)], memory.drawn[at(player)], n)


@portable
def bounded(score: float) -> float:
    """A score within what can be added and subtracted."""
    return min(max(score, -MOST), MOST)


def shares(game: Game, memory: ScoreMemory, player: int, current: int, count: int) -> Floats:
    """The weights of a player's options, which lie in ``memory.weights``, as a strategy over all its actions."""
    chosen = np.zeros(game.sizes[player])
    for k in range(count):
        chosen[option(game.moves, player, current, k)] = memory.weights[k]
    return chosen / chosen.sum()
