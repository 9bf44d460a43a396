"""A game of one's own that says who interacts, as a sum of functions of a player and those who interact with it.

Welfare is the sum of utilities. So is an exact potential, up to a constant: players leave their first action one after
the other, and each step changes Φ by what it changes the utility of who makes it.

All this holds where those who were not named really play no part. Tables cannot tell: in them, who is not named plays
its first action. So the sum is compared with the game itself, at the profile that is found and at some that are drawn.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from potentia.analysis.buckets import Function
from potentia.analysis.enumeration import by_machine
from potentia.analysis.graphical import total
from potentia.analysis.tables import at_first_profile, odometer, utility_of
from potentia.errors import InvalidGame, NotPotentialGame, TooLarge
from potentia.games import Game
from potentia.games.names import short
from potentia.games.own import Custom
from potentia.kernel import memory, protocol
from potentia.kernel.arrays import Floats, Ints
from potentia.kernel.cache import Entry
from potentia.kernel.numbers import in_words
from potentia.kernel.protocol import Interactions

_COMPILED, _PLAIN = 2**24, 2**20  # utilities in all tables, by machine code and in Python
_BYTES = 24  # of an entry of a table, while tables are joined
_UTILITIES = 4096  # of profiles that are drawn
_LEAST, _MOST = 4, 64  # of these profiles
_CLOSE = 1e-7  # relative to the largest number: differences that may be rounding
_PLAYERS = 40  # of a profile in a line of text


def some_actions(profile: Ints, names: tuple[str, ...] | None = None) -> str:
    """A profile in a line of text, however many players there are; by the names of its actions, where it has some."""
    more = f" and {profile.size - _PLAYERS:,} more players" if profile.size > _PLAYERS else ""
    if names:
        return f"({', '.join(map(short, names[:_PLAYERS]))}){more}"
    return f"{tuple(profile[:_PLAYERS].tolist())}{more}"


def says_who_interacts(game: Game) -> bool:
    """Whether it is known, without a warning, that some players do not interact."""
    if game.groups is None if isinstance(game, Custom) else type(game).interactions is Game.interactions:
        return False
    known = game.interactions
    if not isinstance(known, Interactions) or game.num_players in np.bincount(known.groups):  # a group of all
        return False
    return any(len(scope) < game.num_players for scope in _neighbourhoods(game))


def _neighbourhoods(game: Game) -> list[tuple[int, ...]]:
    """Each player and those who interact with it, in rising order."""
    known = game.interactions
    assert isinstance(known, Interactions)
    members: list[list[int]] = [[] for _ in range(known.num_groups)]
    for player in range(game.num_players):
        for group in known.groups[known.ptr[player] : known.ptr[player + 1]].tolist():
            members[group].append(player)
    return [
        tuple(sorted({player}.union(*(members[g] for g in known.groups[known.ptr[player] : known.ptr[player + 1]]))))
        for player in range(game.num_players)
    ]


def _tabulate_one(game: Any, state: Any, player: int, those: Ints, out: Floats) -> None:
    """u^i of every profile of those players."""
    protocol.settle(game, state)
    for place in range(out.size):
        out[place] = protocol.utility(game, state, player, state.profile[player])
        odometer(game, state, those)


_tabulate_one_entry = Entry(_tabulate_one)


class Local:
    """The functions, one of each player, that sum to the potential less a constant, or to the welfare.

    Raises
    ------
    TooLarge
        There are too many utilities to compute.
    InvalidGame
        At a profile that was drawn a utility depends on a player who was not named.
    NotPotentialGame
        The same of the potential, and no such player is found.
    """

    def __init__(self, game: Game, objective: str) -> None:
        self.game, self.objective = game, objective
        self._scopes = _neighbourhoods(game)
        self.functions = self._tables()
        self._largest = max(float(np.abs(table).max()) for _, table in self.functions)
        self.constant = 0.0 if objective == "welfare" else game.potential(np.zeros(game.num_players, np.int64))
        random = np.random.default_rng(0)
        for _ in range(min(_MOST, max(_LEAST, _UTILITIES // game.num_players))):
            # some play the same, from few to nearly all: crowds may be what somebody who was not named feels
            same = random.integers(game.sizes.max()) % game.sizes
            drawn = np.where(random.random(game.num_players) < random.random(), same, random.integers(game.sizes))
            self.value(drawn)

    def _tables(self) -> list[Function]:
        game, sizes = self.game, self.game.num_actions
        scopes = [tuple(k for k in own if sizes[k] > 1 or k == player) for player, own in enumerate(self._scopes)]
        if self.objective == "potential":  # those behind have not left their first action yet
            scopes = [tuple(k for k in scope if k <= player) for player, scope in enumerate(scopes)]
        counts = [math.prod(sizes[k] for k in scope) for scope in scopes]
        compiled = sum(counts) <= _COMPILED and by_machine(game, sum(counts))
        most = _COMPILED if compiled or sum(counts) > _COMPILED else _PLAIN
        what = (
            f"the optimum of this game, whose utilities depend on up to {max(map(len, scopes))} players each, "
            f"{in_words(sum(counts))} utilities in all,"
        )
        advice = (
            "where utilities are sums over edges write the game as Coordination(graph, payoff), which needs "
            "no such tables; or sample: run_batch(..., record='best')"
        )
        if sum(counts) > most:
            raise TooLarge(f"{what} is too large: up to {most:,} are computed; {advice}")
        memory.require(_BYTES * sum(counts), what, advice)
        functions = []
        for player, (scope, count) in enumerate(zip(scopes, counts, strict=True)):
            flat = np.empty(count)
            at_first_profile(_tabulate_one_entry, game, compiled, player, np.array(scope, np.int64), flat)
            table = flat.reshape([sizes[k] for k in scope])
            if self.objective == "potential":
                table -= np.take(table, [0], axis=scope.index(player))
            functions.append(Function(scope, table))
        return functions

    def value(self, profile: Ints) -> float:
        """What the game itself says its objective is, which is what the functions make of it, or an error is raised."""
        if self.objective == "potential":
            value = self.game.potential(profile)
            apart = abs(value - self.constant - total(self.functions, profile))
            if apart > _CLOSE * max(abs(value), abs(self.constant), self._largest):
                for player in range(self.game.num_players):
                    before = np.where(np.arange(self.game.num_players) < player, profile, 0)
                    after = before.copy()
                    after[player] = profile[player]
                    self._require_named(player, before)
                    self._require_named(player, after)
                raise NotPotentialGame(
                    f"the game's potential at {some_actions(profile)} is {apart:g} apart from what utilities and "
                    "interactions make of it; potentia.testing.check_game looks for the reason",
                    evidence=profile,
                )
            return value
        welfare = 0.0
        for player, (scope, table) in enumerate(self.functions):
            value = utility_of(self.game, player, profile)
            welfare += value
            of_table = float(table[tuple(profile[k] for k in scope)])
            if not self._close(value, of_table):
                self._require_named(player, profile)
                raise InvalidGame(
                    f"of player {player} at {some_actions(profile)} is {value} in Python and {of_table} by machine "
                    "code, with the first action of all with whom it does not interact",
                    "utility",
                )
        return welfare

    def _close(self, one: float, other: float) -> bool:
        return abs(one - other) <= _CLOSE * max(abs(one), abs(other), self._largest)

    def _require_named(self, player: int, profile: Ints) -> None:
        """Those who were not named return to their first action, one after the other; the utility must not change."""
        before, here = profile, utility_of(self.game, player, profile)
        for other in sorted(set(np.flatnonzero(profile).tolist()) - set(self._scopes[player])):
            after = before.copy()
            after[other] = 0
            there = utility_of(self.game, player, after)
            if not self._close(here, there):
                raise InvalidGame(
                    f"player {player}'s utility depends on player {other}'s action, but interactions do not say so: it "
                    f"is {here} at {some_actions(before)} and {there} where player {other} takes action 0; name all "
                    "who interact, or nobody"
                )
            before, here = after, there
