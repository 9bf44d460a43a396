"""A place at the table: one player is driven from outside, the others play a rule of ours with their usual draws.

At each step the others revise first, by the profile that there is; then the driven player's action takes effect. To the
rule it looks like a player that does not take part in revising, so nobody draws anything else than in a run without it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from potentia.engine import Run, begin
from potentia.engine.requests import checked_integer
from potentia.envs.calling import Calls
from potentia.envs.making import Acting, Observation, Reward
from potentia.envs.observing import is_legal, show, show_legal
from potentia.envs.setting import Setting, setting_from
from potentia.envs.stepping import reward, total
from potentia.errors import InvalidRun
from potentia.games import Game
from potentia.kernel import protocol
from potentia.kernel.arrays import Floats, Ints
from potentia.kernel.cache import Compiled, Entry
from potentia.kernel.journal import Journal, note
from potentia.kernel.protocol import apply, commit
from potentia.rules import Rule, rule_from
from potentia.rules.base import step


class SeatedData(NamedTuple):
    """A game as the others' rule sees it: one player does not take part. The state is the game's own."""

    moves: Any
    game: Any
    player: int


class SeatData(NamedTuple):
    """What compiled code reads and writes at each step."""

    rule: Any  # the data of the others' rule
    player: int
    how: int  # the reward
    wanted: Ints  # (1,) the action that the player wants
    received: Floats  # (1,)
    legal: NDArray[np.bool_]  # (1,) whether it may be played


@step.register(SeatData)
def _play(rule: SeatData, memory: Any, game: Any, state: Any, journal: Journal, key: Any, n: int) -> None:
    step(rule.rule, memory, SeatedData(game.moves, game, rule.player), state, journal, key, n)
    player, action = rule.player, rule.wanted[0]
    before = state.profile[player]
    rule.legal[0] = is_legal(game, state, player, action)
    if rule.legal[0]:
        apply(game, state, player, action)
    after = state.profile[player]
    rule.received[0] = reward(game, state, rule.how, player, before, total(game, state, rule.how))
    if after != before:
        commit(game, state, player)
        note(journal, player, before, after, n)


@protocol.plays.register(SeatedData)
def _plays(game: SeatedData, state: Any, player: int) -> bool:
    return player != game.player and protocol.plays(game.game, state, player)


@protocol.num_players.register(SeatedData)
def _num_players(game: SeatedData) -> int:
    return protocol.num_players(game.game)


@protocol.num_actions.register(SeatedData)
def _num_actions(game: SeatedData, player: int) -> int:
    return protocol.num_actions(game.game, player)


@protocol.num_drawn.register(SeatedData)
def _num_drawn(game: SeatedData) -> int:
    return protocol.num_drawn(game.game)


@protocol.num_arrived.register(SeatedData)
def _num_arrived(game: SeatedData, state: Any) -> int:
    return protocol.num_arrived(game.game, state)


@protocol.arrives.register(SeatedData)
def _arrives(game: SeatedData, player: int, time: int) -> bool:
    return protocol.arrives(game.game, player, time)


@protocol.utility.register(SeatedData)
def _utility(game: SeatedData, state: Any, player: int, action: int) -> float:
    return protocol.utility(game.game, state, player, action)


@protocol.utilities.register(SeatedData)
def _utilities(game: SeatedData, state: Any, player: int, out: Floats) -> None:
    protocol.utilities(game.game, state, player, out)


@protocol.compare.register(SeatedData)
def _compare(game: SeatedData, state: Any, player: int, trial: int) -> tuple[float, float]:
    return protocol.compare(game.game, state, player, trial)


@protocol.payoff.register(SeatedData)
def _payoff(game: SeatedData, state: Any, player: int) -> float:
    return protocol.payoff(game.game, state, player)


@protocol.apply.register(SeatedData)
def _apply(game: SeatedData, state: Any, player: int, action: int) -> None:
    protocol.apply(game.game, state, player, action)


@protocol.commit.register(SeatedData)
def _commit(game: SeatedData, state: Any, player: int) -> None:
    protocol.commit(game.game, state, player)


def _look(game: Any, state: Any, view: Any, player: int, seen: Any, mask: NDArray[np.int8]) -> None:
    show(view, game, state, player, seen, 0)
    show_legal(game, state, player, mask, 0)


_look_entry = Entry(_look)


class Seated(Rule):
    """A rule whose players have company; it draws what the rule alone draws."""

    name = "seated"

    def __init__(self, rule: Rule, player: int, how: int) -> None:
        self.rule, self.player, self.how = rule, player, how
        self.wanted, self.received = np.zeros(1, np.int64), np.zeros(1)
        self.legal = np.ones(1, np.bool_)
        self.remembers = rule.remembers  # type: ignore[misc]

    def data(self, game: Game, horizon: int | None) -> SeatData:
        return SeatData(self.rule.data(game, horizon), self.player, self.how, self.wanted, self.received, self.legal)

    def new_memory(self, game: Game) -> Any:
        return self.rule.new_memory(game)

    def memory_size(self, game: Game) -> int:
        return self.rule.memory_size(game)

    def evaluations(self, game: Game) -> float:
        return self.rule.evaluations(game)

    def spec(self) -> dict[str, Any]:
        return self.rule.spec()

    def describe(self) -> str:
        return self.rule.describe()


class Seat:
    """One player's place in a run, for whoever has a loop of their own: a policy that is trained, a person who plays.

    Parameters
    ----------
    game, rule, seed : Game, Rule, int
        As of :func:`potentia.begin`; the others play the rule, from the same start and with the same draws.
    player : int
        Who is driven.
    observation, reward, actions, strict : str, str, str, bool
        As of :func:`potentia.envs.parallel_env`.
    steps : int
        The planned length, for temperatures that fall over the run.
    start, record, every, events, compiled : optional
        As of :func:`potentia.begin`.

    Raises
    ------
    InvalidRun
        For options that make no sense.

    Examples
    --------
    >>> import potentia as pt
    >>> seat = pt.learners.Seat(pt.game("ring", players=5), pt.rule("lll", tau=0.1), 0, player=2, observation="full")
    >>> len(seat.observation["observation"]), seat.mask.tolist()
    (5, [1, 1])
    >>> reward = seat.step(1)
    >>> int(seat.run.profile[2]), seat.run.step
    (1, 1)
    """

    def __init__(
        self,
        game: Game,
        rule: Rule | dict[str, Any],
        seed: int = 0,
        *,
        player: int = 0,
        observation: Observation = "own",
        reward: Reward = "utility",
        actions: Acting = "own",
        strict: bool = False,
        steps: int = 100,
        start: ArrayLike | None = None,
        record: str | Iterable[str] = ("profile",),
        every: int = 1,
        events: Iterable[str] | None = None,
        compiled: Compiled = "auto",
    ) -> None:
        self.setting: Setting = setting_from(game, steps, reward, observation, strict, compiled, events, actions)
        game = self.setting.game
        self.player = checked_integer(player, "player", 0, game.num_players - 1)
        self._rule = Seated(rule_from(rule), self.player, self.setting.how)
        if game.runs_user_code and compiled == "auto":
            compiled = False  # to compare what it plays with machine code it would have to be driven again
        options: dict[str, Any] = {"record": record, "every": every, "horizon": steps, "compiled": compiled}
        self.run: Run = begin(game, self._rule, seed, start=start, **options)
        self._look = Calls(_look_entry, game, compiled)
        self._size = self.setting.choices[self.player]
        self.observation: dict[str, NDArray[Any]] = self._observed()

    @property
    def mask(self) -> NDArray[np.int8]:
        """1 for each action that the player may play now."""
        return self.observation["action_mask"]

    def step(self, action: int) -> float:
        """The others revise, and this player plays an action; what it receives.

        Parameters
        ----------
        action : int
            One that the mask forbids leaves the player where it is; :attr:`illegal` tells so.

        Returns
        -------
        float
            The reward; ``observation`` is what the player sees then.

        Raises
        ------
        InvalidRun
            For what is none of the player's actions; with ``strict`` for one that it may not play now.
        """
        wanted = np.asarray(action)
        if wanted.size != 1 or wanted.dtype.kind not in "iu" or not 0 <= int(wanted.item()) < self._size:
            told = f"must be an integer from 0 to {self._size - 1} for player {self.player}"
            raise InvalidRun(f"{told}, got {action!r:.60}", "action", action)
        chosen = int(wanted.item())
        if self.setting.strict and not self.mask[chosen]:
            raise InvalidRun(f"player {self.player} may not play {chosen} now, as its mask says", "action", chosen)
        compass, nowhere = self.setting.compass, np.zeros(1, np.bool_)
        self._rule.wanted[0] = chosen
        if compass is not None:
            here = self.run.state.profile[[self.player]]
            _, self._rule.wanted[:], nowhere = compass.actions(here, np.array([chosen]), False)
        self.run.advance(1)
        self._rule.legal &= ~nowhere
        self.observation = self._observed()
        return float(self._rule.received[0])

    @property
    def illegal(self) -> bool:
        """Whether the last action was one that the player may not play."""
        return not self._rule.legal[0]

    def _observed(self) -> dict[str, NDArray[Any]]:
        setting = self.setting
        seen = np.zeros((1, setting.width), setting.dtype)
        mask = np.zeros((1, int(setting.game.sizes[self.player])), np.int8)
        state = self.run.state
        if self._look.direct is not None:
            self._look.direct(self._look.data, state, setting.view, self.player, seen, mask)
        else:
            self._look(state, self.run.step, setting.view, self.player, seen, mask)
        if setting.compass is not None:
            mask = setting.compass.masks(state.profile[[self.player]], mask)
        own = seen[0, : setting.widths[self.player]]
        return {"observation": own.reshape(setting.shape) if len(setting.shape) > 1 else own, "action_mask": mask[0]}
