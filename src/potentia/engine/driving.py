"""A run that is driven from outside: what may be played, playing it, what changed, and a second run from here.

:func:`apply` is a step like any other, of a rule that does as it is told: the loop that plays it counts, ticks and
records. It is played in plain Python, for there is one of it at a time.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from potentia.beliefs import Believing
from potentia.engine.measuring import Measured
from potentia.engine.requests import check_is_game
from potentia.engine.tier import Tier, copied, rebuilt
from potentia.errors import InvalidRun
from potentia.games import Game
from potentia.kernel.arrays import Ints
from potentia.kernel.cache import jit_disabled
from potentia.kernel.journal import REVISIONS, Journal, move
from potentia.kernel.numbers import is_integer
from potentia.kernel.protocol import plays
from potentia.rules import Rule, rule_from
from potentia.rules.base import step

if TYPE_CHECKING:
    from potentia.engine.columns import Events
    from potentia.engine.runs import Run


class Orders(NamedTuple):
    """Who plays what at this step."""

    players: Ints
    actions: Ints


@step.register(Orders)
def _obey(rule: Orders, memory: Any, game: Any, state: Any, journal: Journal, key: Any, n: int) -> None:
    journal.counts[REVISIONS] += rule.players.shape[0]
    for k in range(rule.players.shape[0]):
        move(journal, game, state, rule.players[k], rule.actions[k], n)


def legal(run: Run, player: int) -> Ints:
    """The actions that a player may play now: the current one and those reachable from it, in order."""
    if not is_integer(player) or not 0 <= player < run.game.num_players:
        raise InvalidRun(f"must be an integer from 0 to {run.game.num_players - 1}, got {player!r}", "player", player)
    current = int(run.state.profile[player])
    if not plays(run.game.plain_data, run.state, int(player)):
        return np.array([current])
    return np.sort(np.append(run.game.reachable(int(player), current), current))


def orders(run: Run, actions: Mapping[int, int]) -> Orders:
    """The same as arrays, if every action is one that its player may play now."""
    if not isinstance(actions, Mapping):
        raise InvalidRun(
            f"must be a mapping such as {{0: 1}}, from players to actions, got {actions!r}", "actions", actions
        )
    for player, action in actions.items():
        allowed = legal(run, player)
        if not is_integer(action) or action not in allowed:
            listed = ", ".join(map(str, allowed[:20].tolist())) + (", ..." if allowed.size > 20 else "")
            raise InvalidRun(f"player {player} may now play {listed}, got {action!r}")
    return Orders(np.array(list(actions), np.int64), np.array(list(actions.values()), np.int64))


def changes(events: list[Events], since: int) -> Events:
    """All changes after a time, from the last stretches back."""
    first = len(events)
    while first and events[first - 1][0].size and events[first - 1][0][-1] > since:
        first -= 1
    parts: list[Any] = [(np.zeros(0, np.int64), np.zeros(0, np.int32), np.zeros(0, np.int32))]
    parts += [[column[part[0] > since] for column in part] for part in events[first:]]
    time, player, action = map(np.concatenate, zip(*parts, strict=True))
    return time, player, action


def branch(run: Run, game: Game | None, rule: Rule | dict[str, Any] | None) -> Run:
    """A second run from here, with the draws of the first."""
    if run.unfinished:
        raise InvalidRun(f"this run was cut off within step {run.step} and cannot be branched; advance it first")
    if run._columns is not None:
        raise InvalidRun("a run whose records go elsewhere cannot be branched")
    other = copy.copy(run)
    parts = (run.state, run.memory, run.journal, run.shadow)
    other.state, other.memory, other.journal, other.shadow = rebuilt(parts, copied(parts))
    other._rows = {name: list(rows) for name, rows in run._rows.items()}
    other._events, other.thoughts, other._sink = list(run._events), list(run.thoughts), None
    if game is not None:
        check_is_game(game)
        if isinstance(run.game, Believing) and not isinstance(game, Believing):
            game = Believing(game, run.game.belief)
        _require_alike(run.game, game)
        other.game, other.state = game, game.recording_state(run.profile, run.record)
        _hand_over(run.state, other.state, run.game.remembers, game.remembers)
        other._own = [Measured(one.name, game, run._mode) for one in run._own]
    if rule is not None:
        other.rule = rule_from(rule)
        other.memory = other.rule.new_memory(other.game)
        _hand_over(run.memory, other.memory, run.rule.remembers, other.rule.remembers)
    other._tools = other.game.new_tools(run.record)
    other._rule_data = other.rule.data(other.game, other.horizon)
    other.compiled = run._mode is True and other.game.compiled
    other._data = other.game.data if other.compiled else other.game.plain_data
    other._tier = Tier(other) if run._mode == "auto" and not jit_disabled() else None
    if game is not None:
        other.game.take_over(other.state, run.game, run.key, run.step)
        other.settle()
    return other


def _require_alike(old: Game, new: Game) -> None:
    if not np.array_equal(old.sizes, new.sizes) or (old.recorders, old.objective) != (new.recorders, new.objective):
        raise InvalidRun(
            f"must have the players, actions and recorders of {old.describe()} to go on from here, "
            f"got {new.describe()}",
            "game",
            new.describe(),
        )


def _hand_over(old: Any, new: Any, before: tuple[str, ...], after: tuple[str, ...]) -> None:
    """What one remembers and the other can: arrays of the same name and form."""
    for name in set(before) & set(after):
        there, here = attrgetter(name)(old), attrgetter(name)(new)
        if there.shape == here.shape and there.dtype == here.dtype:
            here[...] = there
