"""Beliefs without a model of the world: the truth, and the mean of what was received."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import attrs
import numpy as np
from numpy.typing import NDArray

from potentia.beliefs.base import Belief, estimate, learn, register
from potentia.games import Game
from potentia.kernel import memory
from potentia.kernel.arrays import frozen, starts, strides
from potentia.kernel.checks import OneOf, Real, number
from potentia.kernel.dispatch import at, portable
from potentia.kernel.protocol import num_players, plays, utility


class KnownData(NamedTuple):
    """What compiled code reads: a record needs a field."""

    known: bool


class KnownMind(NamedTuple):
    """There is nothing to remember: an empty array."""

    nothing: NDArray[np.float64]


@register
@attrs.frozen(repr=False)
class Known(Belief):
    """The truth: players know the utility of actions that they have not played. Any game.

    Examples
    --------
    >>> game, rule = pt.game("stag-hunt"), pt.rule("lll", tau=0.5)
    >>> runs = [pt.run(game, rule, 50, seed=1, belief=belief) for belief in (None, pt.beliefs.Known())]
    >>> (runs[0].profiles == runs[1].profiles).all().item()
    True
    """

    name: ClassVar[str] = "known"
    summary: ClassVar[str] = "the truth: the game is known"

    def data(self, game: Game) -> KnownData:
        return KnownData(True)

    def new_mind(self, game: Game) -> KnownMind:
        return KnownMind(np.zeros(0))


@estimate.register(KnownData)
def _known(belief: KnownData, mind: Any, game: Any, state: Any, player: int, action: int) -> float:
    return utility(game, state, player, action)


class MeanData(NamedTuple):
    """What compiled code reads."""

    initial: float
    first: NDArray[np.int64]  # (N,) where a player's entries begin
    strides: NDArray[np.int64]  # (N,) of profiles in C order; empty: by own action


class MeanMind(NamedTuple):
    """What was received, by player and action or profile."""

    mean: NDArray[np.float64]
    times: NDArray[np.int64]


@register
@attrs.frozen(repr=False)
class RunningMean(Belief):
    """The mean of what a player received so far, by its own ``"action"`` or by the whole ``"profile"``.

    Each step, every player notes the utility that it receives. Any game whose tables fit into memory.

    Parameters
    ----------
    per : {"action", "profile"}
        What the means are of.
    initial : float
        What is expected of an action, or profile, never played: high is optimistic.

    Examples
    --------
    >>> belief = pt.beliefs.RunningMean(initial=5.0)
    >>> pt.run(pt.game("prisoners-dilemma"), pt.rule("best-response"), 40, belief=belief).final.tolist()
    [1, 1]
    """

    name: ClassVar[str] = "running-mean"
    summary: ClassVar[str] = "the mean of what a player received, by action or by profile"
    remembers: ClassVar[tuple[str, ...]] = ("mean", "times")
    per: str = attrs.field(default="action", validator=OneOf("action", "profile"))
    initial: float = attrs.field(default=0.0, converter=number, validator=Real(least=-1e300, most=1e300))

    def _entries(self, game: Game) -> list[int]:
        if self.per == "profile":
            return [game.num_profiles] * game.num_players
        return game.sizes.tolist()

    def data(self, game: Game) -> MeanData:
        memory.require(self.mind_size(game), f"a running mean per {self.per}", 'use per="action"')
        first = starts(self._entries(game)[:-1])
        return MeanData(self.initial, first, strides(game.sizes) if self.per == "profile" else frozen([], np.int64))

    def new_mind(self, game: Game) -> MeanMind:
        entries = sum(self._entries(game))
        return MeanMind(np.zeros(entries), np.zeros(entries, np.int64))

    def mind_size(self, game: Game) -> int:
        return 16 * sum(self._entries(game))

    def check_mind(self, game: Game, mind: MeanMind) -> None:
        if (mind.times < 0).any() or not np.isfinite(mind.mean).all():
            raise ValueError("the mean of what was received is none")


@portable
def _entry(belief: MeanData, state: Any, player: int, action: int) -> int:
    if belief.strides.shape[0] == 0:
        return belief.first[at(player)] + action
    index = 0
    for other in range(belief.strides.shape[0]):
        index += belief.strides[other] * (action if other == player else state.profile[other])
    return belief.first[at(player)] + index


@estimate.register(MeanData)
def _expected(belief: MeanData, mind: MeanMind, game: Any, state: Any, player: int, action: int) -> float:
    entry = _entry(belief, state, player, action)
    return mind.mean[entry] if mind.times[entry] else belief.initial


@learn.register(MeanData)
def _learn(
    belief: MeanData, mind: MeanMind, game: Any, state: Any, moved: NDArray[np.uint8], key: Any, step: int
) -> None:
    for player in range(num_players(game)):
        if not plays(game, state, player):
            continue
        action = state.profile[player]
        entry = _entry(belief, state, player, action)
        mind.times[entry] += 1
        mind.mean[entry] += (utility(game, state, player, action) - mind.mean[entry]) / mind.times[entry]
