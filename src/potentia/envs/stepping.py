"""One step of an environment, and of many copies of one, in compiled code.

A step is what it is in a run: everybody plays its action, players receive their utilities at the new profile, what was
played stands, and what goes on by itself happens (``tick``). So the same actions make the same states, to the bit.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from potentia.envs.observing import is_legal, show, show_again, show_legal
from potentia.envs.stacking import copy_of
from potentia.kernel.arrays import Floats, Ints
from potentia.kernel.cache import Entry
from potentia.kernel.dispatch import at, portable
from potentia.kernel.protocol import (
    apply,
    commit,
    num_actions,
    num_players,
    open_run,
    payoff,
    potential,
    settle,
    tick,
    welfare,
)

UTILITY, POTENTIAL, MARGINAL_POTENTIAL, MARGINAL_WELFARE = range(4)


@portable
def check(game: Any, state: Any, strict: bool, actions: Ints, first: int) -> int:
    """0 if all actions may be tried; the number of a player from 1 for one that is none of its actions, and less
    than 0 for one that it may not play now, where that is an error."""
    for player in range(num_players(game)):
        action = actions[at(first + player)]
        if action < 0 or action >= num_actions(game, player):
            return first + player + 1
        if strict and not is_legal(game, state, player, action):
            return -(first + player + 1)
    return 0


@portable
def total(game: Any, state: Any, how: int) -> float:
    """What is the same for all players: the potential, or the sum of utilities; 0 where nobody asks."""
    if how == UTILITY:
        return 0.0
    return welfare(game, state) if how == MARGINAL_WELFARE else potential(game, state)


@portable
def reward(game: Any, state: Any, how: int, player: int, before: int, value: float) -> float:
    """What a player receives for a step that has been tried, and does not stand yet; ``value`` is the total now."""
    if how == UTILITY:
        return payoff(game, state, player)
    after = state.profile[at(player)]
    if how == POTENTIAL:
        return value
    if after == before:
        return 0.0
    apply(game, state, player, before)
    without = total(game, state, how)
    apply(game, state, player, after)
    return value - without


@portable
def play(
    game: Any,
    state: Any,
    how: int,
    actions: Ints,
    before: Ints,
    rewards: Floats,
    illegal: NDArray[np.bool_],
    key: Any,
    n: int,
    first: int,
) -> None:
    """One step from time n, with the actions, rewards and marks from ``first`` on; who is marked stays."""
    players = num_players(game)
    for player in range(players):
        before[at(player)] = state.profile[at(player)]
    for player in range(players):
        if not illegal[at(first + player)]:
            apply(game, state, player, actions[at(first + player)])
    value = total(game, state, how)
    for player in range(players):
        rewards[at(first + player)] = reward(game, state, how, player, before[at(player)], value)
    for player in range(players):
        if state.profile[at(player)] != before[at(player)]:
            commit(game, state, player)
    tick(game, state, key, n)


def observe(game: Any, state: Any, view: Any, seen: Any, masks: NDArray[np.int8], key: Any, opening: bool) -> None:
    """What players observe now; at the beginning of an episode the state is made from its profile first."""
    if opening:
        settle(game, state)
        open_run(game, state, key)
    for player in range(num_players(game)):
        show(view, game, state, player, seen, player)
        show_legal(game, state, player, masks, player)


def advance(
    game: Any,
    state: Any,
    view: Any,
    how: int,
    strict: bool,
    actions: Ints,
    before: Ints,
    rewards: Floats,
    illegal: NDArray[np.bool_],
    seen: Any,
    masks: NDArray[np.int8],
    key: Any,
    n: int,
) -> int:
    """One step, and what players observe then; nothing, where :func:`check` finds something."""
    wrong = check(game, state, strict, actions, 0)
    if wrong != 0:
        return wrong
    for player in range(num_players(game)):
        illegal[at(player)] = not is_legal(game, state, player, actions[at(player)])
    play(game, state, how, actions, before, rewards, illegal, key, n, 0)
    for player in range(num_players(game)):
        show(view, game, state, player, seen, player)
        show_legal(game, state, player, masks, player)
    return 0


def observe_all(
    game: Any, states: Any, view: Any, seen: Any, masks: NDArray[np.int8], keys: NDArray[np.uint64], opening: bool
) -> None:
    """The same as :func:`observe` for many copies; masks are cleared first."""
    players = num_players(game)
    for copy in range(keys.shape[0]):
        state = copy_of(states, copy)
        if opening:
            settle(game, state)
            open_run(game, state, keys[copy])
        for player in range(players):
            row = copy * players + player
            for action in range(num_actions(game, player)):
                masks[row, action] = 0
            show(view, game, state, player, seen, row)
            show_legal(game, state, player, masks, row)


def advance_all(
    game: Any,
    states: Any,
    view: Any,
    how: int,
    strict: bool,
    actions: Ints,
    before: Ints,
    rewards: Floats,
    illegal: NDArray[np.bool_],
    seen: Any,
    masks: NDArray[np.int8],
    keys: NDArray[np.uint64],
    n: int,
) -> int:
    """The same as :func:`advance` for many copies; ``masks`` tell what is legal, which is quicker than to ask again."""
    players, copies = num_players(game), keys.shape[0]
    for copy in range(copies):
        wrong = check(game, copy_of(states, copy), strict, actions, copy * players)
        if wrong != 0:
            return wrong
    for copy in range(copies):
        state = copy_of(states, copy)
        for player in range(players):
            row = at(copy * players + player)
            illegal[row] = masks[row, at(actions[row])] == 0
        play(game, state, how, actions, before, rewards, illegal, keys[copy], n, copy * players)
        for player in range(players):
            row = copy * players + player
            show(view, game, state, player, seen, row)
            show_again(game, state, player, before[at(player)], masks, row)
    return 0


observe_entry = Entry(observe)
advance_entry = Entry(advance)
observe_all_entry = Entry(observe_all)
advance_all_entry = Entry(advance_all)
