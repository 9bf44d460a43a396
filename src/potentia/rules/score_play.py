"""How rules with scores play, in compiled code: options, drawing, what is received."""

from __future__ import annotations

from typing import Any

import numpy as np

from potentia.games import Game
from potentia.kernel.arrays import Floats
from potentia.kernel.dispatch import at, generic, portable
from potentia.kernel.draws import PRIORITY, REWARD, below, normal_nth, uniform
from potentia.kernel.journal import REVISIONS, Journal, note
from potentia.kernel.protocol import Constrained, apply, commit, num_actions, num_drawn, num_players, payoff, plays
from potentia.rules.considers import own_place
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
def enter(memory: ScoreMemory, game: Any, player: int, current: int, n: int, clock: float, dated: bool) -> None:
    """A player that comes later begins at step n with its first scores and strategy: nothing has faded.

    ``dated``: visits hold times.
    """
    first = memory.first[at(player)]
    memory.older[at(player)] = memory.score[at(first + current)]
    for action in range(num_actions(game, player)):
        place = at(first + action)
        if memory.since.shape[0]:
            memory.since[place] = n
        if memory.fade.shape[0]:
            memory.fade[place] = clock
        if dated:
            memory.visits[place] = n


@portable
def sits_out(memory: ScoreMemory, game: Any, state: Any, player: int) -> bool:
    """Whether the player does not take part; what it plays is then its favourite option, and what it draws."""
    if plays(game, state, player):
        return False
    memory.favourite[at(player)] = own_place(game.moves, state.profile, player)
    memory.drawn[at(player)] = memory.favourite[at(player)]
    return True


@portable
def let_one_stray(memory: ScoreMemory, players: int, drawn: int, key: Any, n: int) -> None:
    """Assumption 7: of the players that have drawn anything but their favourite, one may play it."""
    strays = 0
    for player in range(players):
        strays += memory.drawn[at(player)] != memory.favourite[at(player)]
    if strays < 2:
        return
    chosen = below(uniform(key, drawn, n, 0, PRIORITY), strays)
    for player in range(players):
        if memory.drawn[at(player)] != memory.favourite[at(player)]:
            if chosen != 0:
                memory.drawn[at(player)] = memory.favourite[at(player)]
            chosen -= 1


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
            gain += noise * normal_nth(key, num_drawn(game), n, player, REWARD, 0)
        memory.received[at(player)] = gain


@portable
def stand_by(memory: ScoreMemory, game: Any, state: Any, journal: Journal, n: int) -> None:
    """What was performed stands, and is noted."""
    revised = 0
    for player in range(num_players(game)):
        revised += int(plays(game, state, player))
        if memory.drawn[at(player)] != memory.before[at(player)]:
            commit(game, state, player)
            note(journal, player, memory.before[at(player)], memory.drawn[at(player)], n)
    journal.counts[REVISIONS] += revised


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
