"""Score dynamics as a rule to play (paper, section 2.2, Eq. 6 and 9; n-fold aggregation, section 4).

Each player adds up what each of its actions would have paid against the others' present ones, and plays by a
smoothed best response to the sums (Eq. 7),

    P_β(n+1) = P_β(n) + μ(n) [u(β, α^{-i}) - T P_β(n)],      X(n+1) = SBR(P(n)).

With ``order`` n there are n stages, each of which aggregates the one before: the Euler steps of p^(n) = u for
T = 0. A player learns of the actions it could have chosen; with constrained moves the others keep their scores.
"""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import attrs

from potentia.errors import InvalidRule
from potentia.games import Game
from potentia.kernel.arrays import Floats, Ints
from potentia.kernel.checks import Flag, Integer, Real, number, whole
from potentia.kernel.dispatch import at, portable
from potentia.kernel.draws import CHOICE, REWARD, normal_nth, uniform
from potentia.kernel.journal import Journal
from potentia.kernel.protocol import num_drawn, num_players, payoff, plays, utility
from potentia.rules.base import register, step
from potentia.rules.choice import pick
from potentia.rules.considers import all_actions
from potentia.rules.penalties import Gibbs, Penalty, PenaltyData, choice_weights, penalty_from
from potentia.rules.schedules import Schedule, ScheduleData, schedule_from, temperature
from potentia.rules.score_play import bounded, listed, num_options, option, options_from, perform, shares, stand_by
from potentia.rules.scores import NOISE, PerAction, ScoreMemory, Scoring, initial_from, new_score_memory
from potentia.rules.steps import Diminishing, Step, StepData, step_data, step_from, step_size

MOST_STAGES = 8


class ScoreData(NamedTuple):
    """What compiled code reads."""

    schedule: ScheduleData
    penalty: PenaltyData
    mu: StepData
    discount: float
    order: int
    lag: bool
    noise: float


ORDER = Integer(1, MOST_STAGES)  # how often utilities are aggregated


@register
@attrs.frozen(repr=False)
class Score(Scoring):
    """Discounted scores of any order, and any choice map (Eq. 6, 7 and 9).

    ``mu`` is a number, "1/n", "n^-0.6" or a :class:`Diminishing`; ``discount`` is T; ``choice`` is "gibbs", "burg",
    "tsallis" or a penalty such as ``Tsallis(0.3)``. ``initial`` scores and ``noise`` are those of ``ql``.

    Parameters
    ----------
    tau : float, str, dict or Schedule
        The temperature, > 0, or how it falls.
    mu : float, str, dict or Diminishing
        How far a score moves to what was received: a number, ``"1/n"``, ``"n^-0.6"`` or a :class:`Diminishing`.
    discount : float
        T, how fast scores fade; 0 for plain sums.
    order : int
        How often utilities are aggregated.
    choice : str, dict or Penalty
        The choice map, by its penalty.
    lag : bool
        Whether a step chooses by the scores before it; without, by those after it.
    noise : float
        The standard deviation of what is added to each received utility.
    initial : float or sequence
        The scores at first: one number, or one per player or per action.

    Examples
    --------
    >>> run = pt.begin(pt.game("prisoners-dilemma"), pt.rules.Score(tau=0.1, mu=0.5), start=[0, 0]).advance(30)
    >>> [strategy.round(3).tolist() for strategy in run.strategies]
    [[0.0, 1.0], [0.0, 1.0]]
    """

    name: ClassVar[str] = "score"
    summary: ClassVar[str] = "smoothed best response to discounted scores of any order (Eq. 6 and 9)"
    tau: Schedule = attrs.field(converter=schedule_from)
    mu: Step = attrs.field(default=Diminishing(), converter=step_from)
    discount: float = attrs.field(default=1.0, converter=number, validator=Real(least=0.0))
    order: int = attrs.field(default=1, converter=whole, validator=ORDER)
    choice: Penalty = attrs.field(default=Gibbs(), converter=penalty_from)
    lag: bool = attrs.field(default=True, validator=Flag())
    noise: float = attrs.field(default=0.0, converter=number, validator=NOISE)
    initial: PerAction = attrs.field(default=0.0, converter=initial_from)

    def __attrs_post_init__(self) -> None:
        largest = step_size(step_data(self.mu), 1)
        if self.discount * largest > 1.0:
            raise InvalidRule(
                f"must be a number from 0 to {1.0 / largest:g}, one over the largest step, got {self.discount!r}",
                "discount",
                self.discount,
            )

    def evaluations(self, game: Game) -> float:
        return all_actions(game)

    def data(self, game: Game, horizon: int | None) -> ScoreData:
        return ScoreData(
            self.tau.on(game).data(horizon),
            self.choice.data(),
            step_data(self.mu),
            self.discount,
            self.order,
            self.lag,
            self.noise,
        )

    def new_memory(self, game: Game) -> ScoreMemory:
        total = int(game.sizes.sum())
        memory = new_score_memory(game, self.initial, stages=self.order - 1, older=total, since=True)
        memory.stage[:] = 0.0  # an initial score is one of the last stage: its derivatives are 0
        return memory

    @property
    def num_arrays(self) -> int:
        return 2 + self.order

    def strategies(
        self, game: Game, memory: ScoreMemory, profile: Ints, step: int, horizon: int | None
    ) -> tuple[Floats, ...]:
        data, out = self.data(game, horizon), []
        for player, current in enumerate(profile.tolist()):
            count = _choose(data, memory, game.plain_data, player, current, step)
            out.append(shares(game, memory, player, current, count))
        return tuple(out)


@portable
def _choose(rule: ScoreData, memory: ScoreMemory, game: Any, player: int, current: int, n: int) -> int:
    """Write the weights of the player's options at step n; return how many there are."""
    count = num_options(game.moves, game, player, current)
    first = memory.first[at(player)]
    start = options_from(game.moves, player, current)
    for k in range(count):
        place = first + listed(game.moves, start, current, k)
        # what was updated at the last step still counts as it was before
        old = rule.lag and n > 0 and memory.since[at(place)] == n
        memory.values[at(k)] = memory.older[at(place)] if old else memory.score[at(place)]
    choice_weights(rule.penalty, memory.values, count, temperature(rule.schedule, n), memory.weights)
    return count


@step.register(ScoreData)
def _score(rule: ScoreData, memory: ScoreMemory, game: Any, state: Any, journal: Journal, key: Any, n: int) -> None:
    players, drawn = num_players(game), num_drawn(game)
    for player in range(players):
        current = state.profile[at(player)]
        if not plays(game, state, player):
            memory.drawn[at(player)] = current
            continue
        count = _choose(rule, memory, game, player, current, n)
        total = 0.0
        for k in range(count):
            total += memory.weights[at(k)]
        index = pick(memory.weights, count, total, uniform(key, drawn, n, player, CHOICE))
        memory.drawn[at(player)] = option(game.moves, player, current, index)
    perform(memory, game, state)
    mu = step_size(rule.mu, n + 1)
    for player in range(players):
        if not plays(game, state, player):
            continue
        current = memory.before[at(player)]
        first = memory.first[at(player)]
        start = options_from(game.moves, player, current)
        for k in range(num_options(game.moves, game, player, current)):
            action = listed(game.moves, start, current, k)
            played = action == memory.drawn[at(player)]
            gain = payoff(game, state, player) if played else utility(game, state, player, action)
            if rule.noise > 0.0:
                gain += rule.noise * normal_nth(key, drawn, n, player, REWARD, k)
            _aggregate(rule, memory, first + action, mu, gain, n)
    stand_by(memory, game, state, journal, n)


@portable
def _aggregate(rule: ScoreData, memory: ScoreMemory, place: int, mu: float, gain: float, n: int) -> None:
    """One Euler step of every stage, each fed by the one before as it was (Eq. 6)."""
    for stage in range(rule.order - 1):
        score = memory.stage[at(place), at(stage)]
        memory.stage[at(place), at(stage)] = bounded(score + mu * (gain - rule.discount * score))
        gain = score
    score = memory.score[at(place)]
    memory.older[at(place)] = score
    memory.since[at(place)] = n + 1
    memory.score[at(place)] = bounded(score + mu * (gain - rule.discount * score))
