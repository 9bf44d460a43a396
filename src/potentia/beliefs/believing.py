"""A game as its players see it: what they have is true, what else they could have is what they believe.

The current utility comes from the game; the utility of an action that is only tried comes from the belief. The
rules play such a game as any other, so each of them has a model-based form.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from hashlib import sha256
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from potentia.beliefs.base import Belief, belief_from, estimate, judge, learn, pending
from potentia.games import Game
from potentia.kernel import protocol
from potentia.kernel.cache import Compiled
from potentia.kernel.dispatch import at, separate
from potentia.kernel.protocol import Moves


class BelievingData(NamedTuple):
    """What compiled code reads."""

    sizes: NDArray[np.int64]
    moves: Moves
    game: Any
    belief: Any
    own: int  # the game's own recorders come first


class BelievingState(NamedTuple):
    """The game's state and the players' mind."""

    profile: NDArray[np.int64]  # the game's
    home: NDArray[np.int64]  # (N,) the actions that stand
    moved: NDArray[np.uint8]  # (N,) whether the player's action changed in this step
    game: Any
    mind: Any


class Believing(Game):
    """A game and what its players believe of it.

    Runs make it of a game and ``belief=``; it is a game like any other.

    Parameters
    ----------
    game : Game
        What is played.
    belief : Belief or dict
        What players think of actions that they have not played.

    Examples
    --------
    >>> game = pt.beliefs.Believing(pt.game("stag-hunt"), pt.belief("running-mean", initial=5.0))
    >>> pt.run(game, pt.rule("best-response"), 20).final.tolist()
    [1, 1]
    """

    def __init__(self, game: Game, belief: Belief | dict[str, Any]) -> None:
        belief = belief_from(belief)
        self.game, self.belief = game, belief
        self._belief_data = belief.data(game)
        self.sizes, self.moves = game.sizes, game.moves
        self.start = game.start
        self.newer = tuple(f"game.{name}" for name in game.newer)
        self.totals = game.totals
        self.recorders = (*game.recorders, *belief.recorders)
        self.remembers = (*(f"game.{n}" for n in game.remembers), *(f"mind.{n}" for n in belief.remembered(game)))
        self._seal()

    def utility(self, player: int, profile: Sequence[int] | NDArray[np.int64]) -> float:
        return self.game.utility(player, profile)

    def move_utility(self, player: int, profile: Sequence[int] | NDArray[np.int64], action: int) -> float:
        return self.game.move_utility(player, profile, action)

    def potential(self, profile: Sequence[int] | NDArray[np.int64]) -> float:
        return self.game.potential(profile)

    @property
    def memoryless(self) -> bool:
        return False

    def disagreement(self, profile: NDArray[np.int64]) -> str | None:
        return self.game.disagreement(profile)

    def interacting(self, player: int, other: int) -> bool | NDArray[np.bool_]:
        return self.game.interacting(player, other)

    def diagnose(self, profile: NDArray[np.int64]) -> str | None:
        return self.game.diagnose(profile)

    def _wrapped(self, data: Any) -> BelievingData:
        return BelievingData(self.sizes, self.moves, data, self._belief_data, len(self.game.recorders))

    def _build(self) -> BelievingData:
        return self._wrapped(self.game.data)

    @property
    def plain_data(self) -> BelievingData:
        return self._wrapped(self.game.plain_data)

    @property
    def kernel_data(self) -> BelievingData:
        return self._wrapped(self.game.kernel_data)

    def new_state(self, profile: NDArray[np.int64]) -> BelievingState:
        return self.recording_state(profile, ())

    def recording_state(self, profile: NDArray[np.int64], record: tuple[str, ...]) -> BelievingState:
        return BelievingState(
            profile,
            profile.copy(),
            np.zeros(profile.size, np.uint8),
            self.game.recording_state(profile, record),
            self.belief.new_mind(self.game),
        )

    @property
    def state_size(self) -> int:
        return self.game.state_size + 9 * self.num_players + self.belief.mind_size(self.game)

    def total(self, state: BelievingState, name: str) -> NDArray[np.float64]:
        return self.game.total(state.game, name)

    def check_state(self, state: BelievingState) -> None:
        self.game.check_state(state.game)
        self.belief.check_mind(self.game, state.mind)

    def lives(self, state: BelievingState) -> NDArray[np.int64] | None:
        return self.game.lives(state.game)

    def take_over(self, state: BelievingState, before: Game, key: Any, step: int) -> None:
        self.game.take_over(state.game, before.game if isinstance(before, Believing) else before, key, step)

    def fingerprint(self) -> str:
        belief = json.dumps(self.belief.spec_on(self.game), sort_keys=True)
        return sha256(f"{self.game.fingerprint()} {belief}".encode()).hexdigest()[:32]

    def new_tools(self, record: tuple[str, ...]) -> Any:
        return self.belief.new_tools(self.game, record)

    def think(
        self, state: BelievingState, tools: Any, key: Any, step: int, compiled: Compiled
    ) -> Sequence[tuple[float, ...]] | None:
        return self.belief.think(self.game, state.mind, tools, key, step, compiled)

    def beliefs(self, state: BelievingState, compiled: Compiled) -> tuple[Any, ...]:
        return self.belief.views(self.game, state.mind, compiled)

    def __repr__(self) -> str:
        return f"{self.game!r} with the belief {self.belief!r}"

    def _repr_html_(self) -> str:
        return f"{self.game._repr_html_()}{self.belief._repr_html_()}"

    def describe(self) -> str:
        return f"{self.game.describe()} with the belief {self.belief.name}"

    def identity(self) -> str:
        # without the belief: runs with one seed then differ by what players believe and by no draw
        return self.game.identity()


# The game's own, asked for when needed; their types are those of Game.
for _name in (
    *("scale", "signal", "objective", "has_potential", "interactions"),
    *("runs_user_code", "compiled", "uncompilable", "compiled_otherwise"),
):
    setattr(Believing, _name, property(attrgetter(f"game.{_name}")))


@protocol.utility.register(BelievingData)
def _utility(game: BelievingData, state: BelievingState, player: int, action: int) -> float:
    if action == state.home[at(player)]:
        return protocol.utility(game.game, state.game, player, action)
    return estimate(game.belief, state.mind, game.game, state.game, player, action)


@protocol.payoff.register(BelievingData)
def _payoff(game: BelievingData, state: BelievingState, player: int) -> float:
    return protocol.payoff(game.game, state.game, player)


@protocol.apply.register(BelievingData)
def _apply(game: BelievingData, state: BelievingState, player: int, action: int) -> None:
    protocol.apply(game.game, state.game, player, action)


@protocol.commit.register(BelievingData)
def _commit(game: BelievingData, state: BelievingState, player: int) -> None:
    protocol.commit(game.game, state.game, player)
    if state.home[at(player)] != state.profile[at(player)]:
        state.home[at(player)] = state.profile[at(player)]
        state.moved[at(player)] = 1


@protocol.settle.register(BelievingData)
def _settle(game: BelievingData, state: BelievingState) -> None:
    protocol.settle(game.game, state.game)
    for player in range(game.sizes.shape[0]):
        state.home[player] = state.profile[player]
        state.moved[player] = 0


@protocol.plays.register(BelievingData)
def _plays(game: BelievingData, state: BelievingState, player: int) -> bool:
    return protocol.plays(game.game, state.game, player)


@protocol.arrives.register(BelievingData)
def _arrives(game: BelievingData, player: int, time: int) -> bool:
    return protocol.arrives(game.game, player, time)


@protocol.num_arrived.register(BelievingData)
def _num_arrived(game: BelievingData, state: BelievingState) -> int:
    return protocol.num_arrived(game.game, state.game)


@protocol.num_drawn.register(BelievingData)
def _num_drawn(game: BelievingData) -> int:
    return protocol.num_drawn(game.game)


@protocol.open_run.register(BelievingData)
def _open_run(game: BelievingData, state: BelievingState, key: Any) -> None:
    protocol.open_run(game.game, state.game, key)
    for player in range(game.sizes.shape[0]):
        state.moved[player] = 1
    digest(game, state, key, -1)


@protocol.tick.register(BelievingData)
def _tick(game: BelievingData, state: BelievingState, key: Any, step: int) -> None:
    protocol.tick(game.game, state.game, key, step)
    for player in range(game.sizes.shape[0]):
        if protocol.arrives(game.game, player, step + 1):
            state.moved[player] = 1  # it looks around, as everybody did in the beginning
    digest(game, state, key, step)


@separate
def digest(game: BelievingData, state: BelievingState, key: Any, step: int) -> None:
    """Let those who moved look around, and all learn."""
    learn(game.belief, state.mind, game.game, state.game, state.moved, key, step)
    for player in range(game.sizes.shape[0]):
        state.moved[player] = 0


@protocol.waiting.register(BelievingData)
def _waiting(game: BelievingData, state: BelievingState) -> bool:
    return pending(game.belief, state.mind)


@protocol.potential.register(BelievingData)
def _potential(game: BelievingData, state: BelievingState) -> float:
    return protocol.potential(game.game, state.game)


@protocol.welfare.register(BelievingData)
def _welfare(game: BelievingData, state: BelievingState) -> float:
    return protocol.welfare(game.game, state.game)


@protocol.measure.register(BelievingData)
def _measure(game: BelievingData, state: BelievingState, which: int) -> float:
    if which < game.own:
        return protocol.measure(game.game, state.game, which)
    return judge(game.belief, state.mind, game.game, state.game, which - game.own)
