"""Q-learning (paper, section 4, Eq. 27): each player keeps a value for each of its actions.

The value of the action that was played moves towards what the player received, and actions are drawn by the
Boltzmann map,

    Q_β(n+1) = Q_β(n) + μ(n) [u(n) - Q_β(n)],      X_β(n+1) ∝ exp(Q_β(n) / τ).

Read to the letter, u_β(n) = 0 for an action that was not played, so that its value decays; ``unplayed="decay"``
does that. Strategies follow the values before the update, as printed; ``lag=False`` uses those after it.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar, NamedTuple

import attrs
import numpy as np

from potentia.errors import InvalidRule
from potentia.games import Game
from potentia.kernel.arrays import Floats, Ints
from potentia.kernel.checks import Flag, OneOf, number
from potentia.kernel.dispatch import at, portable
from potentia.kernel.draws import CHOICE, uniform
from potentia.kernel.journal import Journal
from potentia.kernel.mathematics import exp
from potentia.kernel.protocol import arrives, num_drawn, num_players, plays
from potentia.rules.base import register, step
from potentia.rules.choice import logit_pick, logit_weights
from potentia.rules.schedules import Schedule, ScheduleData, schedule_from, temperature
from potentia.rules.score_play import (
    bounded,
    enter,
    listed,
    num_options,
    option,
    options_from,
    perform,
    receive,
    shares,
    stand_by,
)
from potentia.rules.scores import NOISE, PerAction, ScoreMemory, Scoring, initial_from, new_score_memory, split
from potentia.rules.steps import Diminishing, Step, StepData, step_data, step_from, step_size

_LEAST = math.ldexp(1.0, -53)  # a step of 1 forgets everything; its logarithm must stay finite


class QLData(NamedTuple):
    """What compiled code reads."""

    schedule: ScheduleData
    mu: StepData
    visits: bool  # steps count the visits of an action
    decay: bool
    lag: bool
    noise: float


@register
@attrs.frozen(repr=False)
class QL(Scoring):
    """Q-learning with Boltzmann choice (Eq. 27).

    ``mu`` is a number, "1/n", "n^-0.6" or a :class:`Diminishing`, where n counts the steps of the run
    (``count="steps"``) or the times this action was played (``"visits"``). ``initial`` values are one number, or
    one per player or per action. ``noise`` is the standard deviation of what is added to each received utility.

    Parameters
    ----------
    tau : float, str, dict or Schedule
        The temperature, > 0, or how it falls.
    mu : float, str, dict or Diminishing
        How far a score moves to what was received: a number, ``"1/n"``, ``"n^-0.6"`` or a :class:`Diminishing`.
    count : {"visits", "steps"}
        What n counts: how often this action was played, or the steps of the run.
    unplayed : {"keep", "decay"}
        What becomes of the scores of actions that were not played.
    lag : bool
        Whether a step chooses by the scores before it; without, by those after it.
    noise : float
        The standard deviation of what is added to each received utility.
    initial : float or sequence
        The scores at first: one number, or one per player or per action.

    Examples
    --------
    >>> run = pt.begin(pt.game("prisoners-dilemma"), pt.rules.QL(tau=0.1)).advance(200)
    >>> [score.argmax().item() for score in run.scores]
    [0, 0]
    """

    name: ClassVar[str] = "ql"
    asks_for: ClassVar[float] = 1.0
    summary: ClassVar[str] = "Q-learning with Boltzmann choice: players know only what they receive (Eq. 27)"
    tau: Schedule = attrs.field(converter=schedule_from)
    mu: Step = attrs.field(default=Diminishing(), converter=step_from)
    count: str = attrs.field(default="visits", validator=OneOf("visits", "steps"))
    unplayed: str = attrs.field(default="keep", validator=OneOf("keep", "decay"))
    lag: bool = attrs.field(default=True, validator=Flag())
    noise: float = attrs.field(default=0.0, converter=number, validator=NOISE)
    initial: PerAction = attrs.field(default=0.0, converter=initial_from)

    def __attrs_post_init__(self) -> None:
        if self.unplayed == "decay" and self.count == "visits" and not isinstance(self.mu, float):
            raise InvalidRule(
                'unplayed="decay" lets values fade at every step, so mu must count steps: give count="steps"'
            )

    def data(self, game: Game, horizon: int | None) -> QLData:
        return QLData(
            self.tau.on(game).data(horizon),
            step_data(self.mu),
            self.count == "visits",
            self.unplayed == "decay",
            self.lag,
            self.noise,
        )

    def new_memory(self, game: Game) -> ScoreMemory:
        fading, counted = self.unplayed == "decay", self.count == "visits" and not isinstance(self.mu, float)
        return new_score_memory(game, self.initial, older=game.num_players, visits=counted, fading=fading)

    def scores(self, game: Game, memory: ScoreMemory, step: int) -> tuple[Floats, ...]:
        faded = np.exp(memory.clock[0] - memory.fade) if memory.fade.size else 1.0
        return split(memory.score * faded, game)

    def strategies(
        self, game: Game, memory: ScoreMemory, profile: Ints, step: int, horizon: int | None
    ) -> tuple[Floats, ...]:
        data, out = self.data(game, horizon), []
        for player, current in enumerate(profile.tolist()):
            count = _look(data, memory, game.plain_data, player, current, step)
            logit_weights(memory.values, count, temperature(data.schedule, step), memory.weights)
            out.append(shares(game, memory, player, current, count))
        return tuple(out)


@portable
def _value(rule: QLData, memory: ScoreMemory, place: int, clock: float) -> float:
    if rule.decay:
        return memory.score[at(place)] * exp(clock - memory.fade[at(place)])
    return memory.score[at(place)]


@portable
def _look(rule: QLData, memory: ScoreMemory, game: Any, player: int, current: int, n: int) -> int:
    """Write the values that the player's choice at step n goes by; return how many."""
    count = num_options(game.moves, game, player, current)
    first = memory.first[at(player)]
    lagging = rule.lag and n > 0
    clock = memory.clock[1] if lagging else memory.clock[0]
    start = options_from(game.moves, player, current)
    for k in range(count):
        action = listed(game.moves, start, current, k)
        if lagging and action == current:  # what it played last
            memory.values[at(k)] = memory.older[at(player)]
        else:
            memory.values[at(k)] = _value(rule, memory, first + action, clock)
    return count


@step.register(QLData)
def _ql(rule: QLData, memory: ScoreMemory, game: Any, state: Any, journal: Journal, key: Any, n: int) -> None:
    players, drawn = num_players(game), num_drawn(game)
    tau = temperature(rule.schedule, n)
    for player in range(players):
        current = state.profile[at(player)]
        if not plays(game, state, player):
            memory.drawn[at(player)] = current
            continue
        if arrives(game, player, n):
            enter(memory, game, player, current, n, memory.clock[1] if rule.lag else memory.clock[0], False)
        count = _look(rule, memory, game, player, current, n)
        index = logit_pick(memory.values, count, tau, uniform(key, drawn, n, player, CHOICE), memory.weights)
        memory.drawn[at(player)] = option(game.moves, player, current, index)
    perform(memory, game, state)
    receive(memory, game, state, rule.noise, key, n)
    stand_by(memory, game, state, journal, n)
    mu = step_size(rule.mu, n + 1)
    fading = memory.clock[0] + math.log1p(-min(mu, 1.0 - _LEAST)) if rule.decay else 0.0
    for player in range(players):
        if not plays(game, state, player):
            continue
        place = memory.first[at(player)] + memory.drawn[at(player)]
        value = _value(rule, memory, place, memory.clock[0])
        if rule.visits and memory.visits.shape[0]:
            memory.visits[at(place)] += 1
            mu = step_size(rule.mu, memory.visits[at(place)])
        memory.older[at(player)] = value
        memory.score[at(place)] = bounded(value + mu * (memory.received[at(player)] - value))
        if rule.decay:
            memory.fade[at(place)] = fading
    memory.clock[1] = memory.clock[0]
    memory.clock[0] = fading
