"""Adaptive play: everybody plays a best reply to a sample of what was played lately (Young 1993).

Each player draws ``sample`` of the last ``memory`` profiles, the current one included, without replacement and on its
own, and plays an action that is best on average against them, ties even; with probability ε = e^{-1/τ} it makes a
mistake and plays any action. In 2×2 coordination games, with samples that are large enough and at most half of the
memory, the risk-dominant equilibrium is stochastically stable.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar, NamedTuple

import attrs
import numpy as np

from potentia.errors import InvalidRule
from potentia.games import Game
from potentia.kernel.arrays import Floats, Ints
from potentia.kernel.checks import Integer, whole
from potentia.kernel.dispatch import portable
from potentia.kernel.draws import CHOICE, TRIAL, WAKE, below, uniform
from potentia.kernel.journal import REVISIONS, Journal, move
from potentia.kernel.protocol import (
    apply,
    num_actions,
    num_drawn,
    num_players,
    num_reachable,
    plays,
    reachable,
    utility,
)
from potentia.rules.base import Rule, most_options, register, step
from potentia.rules.considers import all_actions
from potentia.rules.drawing import best, mistake
from potentia.rules.schedules import Schedule, ScheduleData, schedule_from, temperature

_MOST_SAMPLES = 2**50


class AdaptiveData(NamedTuple):
    """What compiled code reads."""

    schedule: ScheduleData
    memory: int
    sample: int
    samples: int  # how many there are


class AdaptiveMemory(NamedTuple):
    """The profiles before the current one, the latest first, and room to work in."""

    history: Ints  # (memory - 1, N); -1 where nothing was played yet: as if it had always been as at first
    now: Ints  # (N,)
    then: Ints  # (N,)
    options: Ints
    table: Floats  # (memory, N, A) the utility of each option against each profile
    values: Floats
    drawn: Ints  # (memory,)


@register
@attrs.frozen(repr=False)
class AdaptivePlay(Rule):
    """Everybody plays a best reply to a sample of the last profiles, or any action with probability e^{-1/τ}.

    Parameters
    ----------
    tau : float, str, dict or Schedule
        The temperature, > 0, or how it falls.
    memory : int
        How many of the last profiles are remembered, the present one among them.
    sample : int
        How many of them a player draws.

    Examples
    --------
    >>> rule = pt.rules.AdaptivePlay(tau=0.2, memory=3, sample=1)
    >>> rule.num_states(pt.game("stag-hunt"))  # 4³ histories, and 4 profiles before there is one
    68
    """

    name: ClassVar[str] = "adaptive-play"
    summary: ClassVar[str] = "everybody plays a best reply to a sample of the last profiles, with mistakes (Young)"
    remembers: ClassVar[tuple[str, ...]] = ("history",)
    tau: Schedule = attrs.field(converter=schedule_from)
    memory: int = attrs.field(converter=whole, validator=Integer(1))
    sample: int = attrs.field(converter=whole, validator=Integer(1))

    def __attrs_post_init__(self) -> None:
        if self.sample > self.memory:
            raise InvalidRule(f"must be at most memory, {self.memory}, got {self.sample}", "sample", self.sample)
        if math.comb(self.memory, self.sample) > _MOST_SAMPLES:
            raise InvalidRule(f"must leave at most 2^50 samples of {self.sample}, got {self.memory}", "memory")

    def evaluations(self, game: Game) -> float:
        return self.memory * all_actions(game)

    def data(self, game: Game, horizon: int | None) -> AdaptiveData:
        samples = math.comb(self.memory, self.sample)
        return AdaptiveData(self.tau.on(game).data(horizon), self.memory, self.sample, samples)

    def new_memory(self, game: Game) -> AdaptiveMemory:
        players, widest = game.num_players, most_options(game)
        now, then = np.zeros((2, players), np.int64)
        return AdaptiveMemory(
            np.full((self.memory - 1, players), -1, np.int64),
            now,
            then,
            np.zeros(widest, np.int64),
            np.zeros((self.memory, players, widest)),
            np.zeros(widest),
            np.zeros(self.memory, np.int64),
        )

    def check_memory(self, memory: Any, step: int) -> None:
        if (memory.history < -1).any():
            raise ValueError("history must hold actions")

    def memory_size(self, game: Game) -> int:
        return 8 * self.memory * game.num_players * (1 + most_options(game))

    def num_states(self, game: Game) -> int:
        """Profiles with a history, and those before one.

        Parameters
        ----------
        game : Game
            What is played.

        Returns
        -------
        int
            How many states the exact chain has.
        """
        return int(game.num_profiles) ** self.memory + (game.num_profiles if self.memory > 1 else 0)


@portable
def _draw_rows(rank: int, memory: int, sample: int, samples: int, out: Ints) -> None:
    """The rows of the sample with this rank, in increasing order."""
    left, count, k = sample, samples, 0
    for row in range(memory):
        if left == 0:
            return
        rows = memory - row  # of ``count`` samples of ``left`` of these rows, this share begins with this one
        beginning = count * left // rows
        if rank < beginning:
            out[k] = row
            k += 1
            count = beginning
            left -= 1
        else:
            rank -= beginning
            count -= beginning


@portable
def _tabulate(rule: AdaptiveData, memory: AdaptiveMemory, game: Any, state: Any, players: int) -> None:
    """The utility of each player's options against each remembered profile."""
    for player in range(players):
        memory.now[player] = state.profile[player]
    for row in range(rule.memory):
        for player in range(players):
            past = memory.now[player] if row == 0 else memory.history[row - 1, player]
            if past != state.profile[player]:
                apply(game, state, player, past)
        for player in range(players):
            current = memory.now[player]
            others = num_reachable(game.moves, player, current, num_actions(game, player))
            memory.table[row, player, 0] = utility(game, state, player, current)
            for k in range(others):
                option = reachable(game.moves, player, current, k)
                memory.table[row, player, k + 1] = utility(game, state, player, option)
    for player in range(players):
        if memory.now[player] != state.profile[player]:
            apply(game, state, player, memory.now[player])


@step.register(AdaptiveData)
def _adaptive_play(
    rule: AdaptiveData, memory: AdaptiveMemory, game: Any, state: Any, journal: Journal, key: Any, n: int
) -> None:
    players, drawn = num_players(game), num_drawn(game)
    tau = temperature(rule.schedule, n)
    for row in range(rule.memory - 1):
        for player in range(players):
            if memory.history[row, player] < 0:
                memory.history[row, player] = state.profile[player]
    _tabulate(rule, memory, game, state, players)
    for player in range(players):
        current = memory.now[player]
        memory.then[player] = current
        if not plays(game, state, player):
            continue
        journal.counts[REVISIONS] += 1
        count = 1 + num_reachable(game.moves, player, current, num_actions(game, player))
        if mistake(tau, uniform(key, drawn, n, player, WAKE)):
            index = below(uniform(key, drawn, n, player, CHOICE), count)
        else:
            rank = below(uniform(key, drawn, n, player, TRIAL), rule.samples)
            _draw_rows(rank, rule.memory, rule.sample, rule.samples, memory.drawn)
            for k in range(count):
                memory.values[k] = 0.0
                for row in range(rule.sample):
                    memory.values[k] += memory.table[memory.drawn[row], player, k]
            index = best(memory.values[:count], uniform(key, drawn, n, player, CHOICE))
        memory.then[player] = current if index == 0 else reachable(game.moves, player, current, index - 1)
    for row in range(rule.memory - 1, 0, -1):
        for player in range(players):
            past = memory.now[player] if row == 1 else memory.history[row - 2, player]
            memory.history[row - 1, player] = past
    for player in range(players):
        move(journal, game, state, player, memory.then[player], n)
