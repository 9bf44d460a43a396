"""What a player that revises considers: the second axis of the map of rules.

Its whole action set, as far as it is in reach; ``k`` trial actions, drawn without replacement; or one trial action each
that everybody who revises tries at once. The present action is always among them. A kind of one's own is a
:class:`Considers` with a ``name``; its ``moves_on`` may say which actions come into question at all.
"""

from __future__ import annotations

import math
from abc import ABC
from typing import Any, ClassVar, NamedTuple

import attrs

from potentia.errors import InvalidRule
from potentia.games import Game
from potentia.kernel.arrays import Ints
from potentia.kernel.checks import Flag, Integer, whole
from potentia.kernel.dispatch import at, generic, portable, separate
from potentia.kernel.draws import TRIAL, below, uniform, uniform_nth
from potentia.kernel.protocol import Complete, Constrained, Moves, num_actions, num_reachable, reachable, utility
from potentia.kernel.registry import Checked, Registry

ALL, TRIALS, JOINT = range(3)

_registry: Registry[Considers] = Registry("considers", InvalidRule)
register = _registry.register


def all_actions(game: Game) -> float:
    """How many actions each player has; NaN where players differ."""
    return float(game.sizes[0]) if game.sizes.min() == game.sizes.max() else math.nan


class ConsidersData(NamedTuple):
    """What compiled code reads."""

    kind: int
    k: int
    include_current: bool


class Considers(Checked, ABC):
    """What is considered. Subclasses are frozen classes of attrs, one field per parameter.

    Examples
    --------
    >>> pt.rule("blll", tau=0.1).axes().considers
    Trial(k=1, include_current=False)
    """

    name: ClassVar[str]
    summary: ClassVar[str] = ""
    kind: ClassVar[int] = ALL
    invalid: ClassVar[type[InvalidRule]] = InvalidRule
    k: int = 1
    include_current: bool = False

    def moves_on(self, game: Game) -> Moves:
        """The actions in question from each action of a player: all in reach, unless a subclass says otherwise.

        Parameters
        ----------
        game : Game
            What is played.

        Returns
        -------
        Moves
            What :attr:`Game.moves` is.
        """
        return game.moves

    def evaluations(self, game: Game) -> float:
        """How many utilities are asked for: of the present action and each trial, or of all; NaN if not one number.

        Parameters
        ----------
        game : Game
            What is played.

        Returns
        -------
        float
            For one revision.
        """
        if self.kind != ALL:
            return math.nan if self.include_current else 1.0 + self.k
        return all_actions(game) if isinstance(self.moves_on(game), Complete) else math.nan

    def data(self, game: Game) -> ConsidersData:
        """What compiled code reads.

        Parameters
        ----------
        game : Game
            What is played.

        Returns
        -------
        ConsidersData
            A NamedTuple.
        """
        if self.k > 1:
            self._require_enough(game)
        return ConsidersData(self.kind, self.k, self.include_current)

    def _require_enough(self, game: Game) -> None:
        moves = self.moves_on(game)
        for player, size in enumerate(game.num_actions):
            for action in range(1 if isinstance(moves, Complete) else size):
                there = int(num_reachable(moves, player, action, size)) + self.include_current
                if there < self.k:
                    where = f"player {player} has {there} to try at action {action}"
                    raise InvalidRule(f"must be at most the number of actions to try, {where}, got {self.k}", "k")


@register
@attrs.frozen
class Everything(Considers):
    """Every action in reach.

    Examples
    --------
    >>> rule = pt.rule(who="all", considers=pt.rules.Everything(), chooses="best")
    >>> rule.evaluations(pt.game("stag-hunt"))
    2.0
    """

    name: ClassVar[str] = "all"
    summary: ClassVar[str] = "every action in reach"


@register
@attrs.frozen
class Trial(Considers):
    """``k`` trial actions, drawn uniformly without replacement, against the others' present actions.

    Parameters
    ----------
    k : int
        How many.
    include_current : bool
        Whether the present action may be drawn as the trial.

    Examples
    --------
    >>> rule = pt.rule(who="one", considers=pt.rules.Trial(k=2), chooses="best")
    >>> rule.evaluations(pt.game("ring", players=4))
    3.0
    """

    name: ClassVar[str] = "trial"
    summary: ClassVar[str] = "k random trial actions"
    kind: ClassVar[int] = TRIALS
    k: int = attrs.field(default=1, converter=whole, validator=Integer(1))
    include_current: bool = attrs.field(default=False, validator=Flag())


@register
@attrs.frozen
class JointTrial(Considers):
    """One trial action each, tried by all that revise at once (Eq. 10).

    Parameters
    ----------
    include_current : bool
        Whether the present action may be drawn as the trial.

    Examples
    --------
    >>> rule = pt.rule(who="independent", considers=pt.rules.JointTrial(), chooses="logit", revision=0.5, tau=0.1)
    >>> rule.evaluations(pt.game("stag-hunt"))
    2.0
    """

    name: ClassVar[str] = "joint-trial"
    summary: ClassVar[str] = "one trial action each, tried by all at once"
    kind: ClassVar[int] = JOINT
    include_current: bool = attrs.field(default=False, validator=Flag())


@portable
def draw_trial(
    game: Any, moves: Any, state: Any, player: int, include_current: bool, key: Any, players: int, n: int
) -> int:
    """A trial action, uniform over those in question; the current one counts only on request."""
    current = state.profile[at(player)]
    others = num_reachable(moves, player, current, num_actions(game, player))
    count = others + 1 if include_current else others
    index = 0 if count == 1 else below(uniform(key, players, n, player, TRIAL), count)
    if index >= others:
        return current
    return reachable(moves, player, current, index)


@generic
def own_place(moves: Any, profile: Ints, player: int) -> int:
    """Where among what :func:`survey` lists the present action is."""
    return profile[player]


@own_place.register(Constrained)
def _own_place(moves: Constrained, profile: Ints, player: int) -> int:
    return 0


@separate
def draw_trials(
    considers: ConsidersData,
    moves: Any,
    memory: Any,
    game: Any,
    state: Any,
    player: int,
    key: Any,
    players: int,
    n: int,
) -> int:
    """The present action and k others, drawn without replacement, with their utilities; return how many."""
    current = state.profile[player]
    options = memory.options
    others = num_reachable(moves, player, current, num_actions(game, player))
    for k in range(others):
        options[k] = reachable(moves, player, current, k)
    count = others
    if considers.include_current:
        options[count] = current
        count += 1
    drawn = min(considers.k, count)
    for k in range(drawn):  # the first of a shuffle
        other = k + below(uniform_nth(key, players, n, player, TRIAL, k), count - k)
        chosen = options[other]
        options[other] = options[k]
        options[k] = chosen
    number = 1
    memory.values[0] = utility(game, state, player, current)
    for k in range(drawn):  # the present one, if drawn, is there already
        if options[k] != current:
            action = options[k]
            options[k] = options[number - 1]
            options[number - 1] = action
            memory.values[number] = utility(game, state, player, action)
            number += 1
    return number
