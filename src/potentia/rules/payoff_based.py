"""Payoff-based log-linear learning: players know what they receive and nothing else (Marden & Shamma 2012, section 5).

A player that did not try anything tries another action with probability ε^m, ε = e^{-1/τ}. One that did compares what
it now receives with what it received before, by binary logit, and keeps the new action or goes back. In a potential
game whose moves connect all actions and can be undone, exactly the potential maximisers are stochastically stable if m
is large: two trials at once are then too rare to matter.
"""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import attrs
import numpy as np

from potentia.games import Game
from potentia.kernel.arrays import Floats, Ints
from potentia.kernel.checks import Real, number
from potentia.kernel.draws import CHOICE, TRIAL, WAKE, below, uniform
from potentia.kernel.journal import REVISIONS, Journal, move
from potentia.kernel.protocol import num_actions, num_drawn, num_players, num_reachable, payoff, plays, reachable
from potentia.rules.base import Rule, register, step
from potentia.rules.drawing import accept, rarely
from potentia.rules.schedules import Schedule, ScheduleData, schedule_from, temperature


class PayoffBasedData(NamedTuple):
    """What compiled code reads."""

    schedule: ScheduleData
    m: float


class PayoffBasedMemory(NamedTuple):
    """What is remembered of a trial, and room to work in."""

    tried: Ints  # (N,) whether the present action is a trial
    before: Ints  # (N,) the action before it; 0 where there is none
    received: Floats  # (N,) what that gave; 0 where there is none
    then: Ints  # (N,)


@register
@attrs.frozen(repr=False)
class PayoffBased(Rule):
    """Everybody tries another action with probability e^{-m/τ}, and keeps it by binary logit on what it receives.

    Parameters
    ----------
    tau : float, str, dict or Schedule
        The temperature, > 0, or how it falls.
    m : float
        How rare trials are, > 0, in units of utility.

    Examples
    --------
    >>> rule = pt.rules.PayoffBased(tau=0.5, m=1.0)
    >>> pt.run(pt.game("stag-hunt"), rule, 200, seed=1).revisions
    100
    """

    name: ClassVar[str] = "payoff-based"
    summary: ClassVar[str] = "tries with probability e^(-m/tau), keeps by what was received (Marden & Shamma)"
    remembers: ClassVar[tuple[str, ...]] = ("tried", "before", "received")
    asks_for: ClassVar[float] = 1.0
    tau: Schedule = attrs.field(converter=schedule_from)
    m: float = attrs.field(converter=number, validator=Real(above=0.0))

    def data(self, game: Game, horizon: int | None) -> PayoffBasedData:
        return PayoffBasedData(self.tau.on(game).data(horizon), self.m)

    def new_memory(self, game: Game) -> PayoffBasedMemory:
        players = game.num_players
        tried, before, then = np.zeros((3, players), np.int64)
        return PayoffBasedMemory(tried, before, np.zeros(players), then)

    def check_memory(self, memory: Any, step: int) -> None:
        if not np.isin(memory.tried, (0, 1)).all() or (memory.before < 0).any():
            raise ValueError("tried must be 0 or 1, and before an action")

    def memory_size(self, game: Game) -> int:
        return 32 * game.num_players


@step.register(PayoffBasedData)
def _payoff_based(
    rule: PayoffBasedData, memory: PayoffBasedMemory, game: Any, state: Any, journal: Journal, key: Any, n: int
) -> None:
    players, drawn = num_players(game), num_drawn(game)
    tau = temperature(rule.schedule, n)
    for player in range(players):
        current = state.profile[player]
        memory.then[player] = current
        if not plays(game, state, player):
            continue
        if memory.tried[player]:
            now = payoff(game, state, player)
            unit = uniform(key, drawn, n, player, CHOICE)
            if not accept(memory.received[player], now, tau, unit):
                memory.then[player] = memory.before[player]
            memory.tried[player], memory.before[player], memory.received[player] = 0, 0, 0.0
            journal.counts[REVISIONS] += 1
            continue
        others = num_reachable(game.moves, player, current, num_actions(game, player))
        if others > 0 and rarely(rule.m, tau, uniform(key, drawn, n, player, WAKE)):
            memory.received[player] = payoff(game, state, player)
            memory.tried[player], memory.before[player] = 1, current
            journal.counts[REVISIONS] += 1
            index = below(uniform(key, drawn, n, player, TRIAL), others)
            memory.then[player] = reachable(game.moves, player, current, index)
    for player in range(players):
        move(journal, game, state, player, memory.then[player], n)
