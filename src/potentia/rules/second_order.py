"""Second-order Q-learning, SOQL (paper, section 4, Eq. 28–29 and Fig. 7).

Utilities are aggregated twice with a constant step μ, and the strategy moves by ϑ towards the best response,

    P_β(n+1) = P_β(n) + μ [u_β(n) - P_β(n)],
    Q_β(n+1) = Q_β(n) + μ [P_β(n) - Q_β(n)],           X(n+1) = (1 - ϑ) X(n) + ϑ BR(Q(n)),

or, as in the pseudo-code (``form="two-step"``), Q_β(n+1) = 2(1-μ) Q_β(n) - (1-μ)² Q_β(n-1) + μ² u_β(n). While one
action is played without pause the two are one sequence, shifted by a step. After a pause they part: the
two-step form has Q_β(n-1) = Q_β(n) and so has forgotten P.

A strategy that has all but settled is perturbed: X̃ = (1 - ρ) X + ρ / |A| with ρ = ξ s((|X|∞ - ζ) / (1 - ζ)) above
ζ and 0 below, s the cubic smoothstep. Assumption 6 is ``mu="adaptive"``, μ = 1 - X̃. Assumption 7 is ``alone=True``:
once all players are in that zone, of those that have drawn anything but their favourite only one plays it.

With constrained moves X has a weight for every action, but a player draws from those in reach and its own,
renormalised, and responds within the reach of where it then is. All weights decay by 1 - ϑ at every step;
each is kept as it was when it last grew, together with that time, so that a step touches only actions in
reach, and ratios of weights survive when the weights themselves would underflow.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, ClassVar, NamedTuple

import attrs
import numpy as np

from potentia.errors import AssumptionBroken, InvalidRule
from potentia.games import Game
from potentia.kernel.arrays import Floats, Ints, frozen
from potentia.kernel.checks import Flag, OneOf, Real, number
from potentia.kernel.dispatch import at, lighter_passes, portable
from potentia.kernel.draws import CHOICE, uniform
from potentia.kernel.journal import Journal
from potentia.kernel.mathematics import exp
from potentia.kernel.protocol import arrives, num_actions, num_drawn, num_players, plays
from potentia.rules.base import register, step
from potentia.rules.score_play import (
    bounded,
    enter,
    let_one_stray,
    listed,
    num_options,
    option,
    options_from,
    perform,
    receive,
    sits_out,
    stand_by,
)
from potentia.rules.scores import (
    NOISE,
    PerAction,
    ScoreMemory,
    Scoring,
    initial_from,
    laid_out,
    new_score_memory,
    per_action_from,
    split,
)
from potentia.rules.steps import SHARE, Diminishing, Step, StepData, StepLike, step_data, step_from, step_size

_TABLE = 2048  # powers of 1 - ϑ that are looked up; later ones are computed, to the same bits
_TIE = 1e-12
ADAPTIVE = "adaptive"


class SOQLData(NamedTuple):
    """What compiled code reads."""

    mu: StepData
    adaptive: bool  # Assumption 6
    vartheta: float
    zeta: float
    xi: float
    alone: bool  # Assumption 7
    pair: bool  # the form of Eq. 28
    decay: bool
    lag: bool
    everywhere: bool  # best responses over all actions, in reach or not
    noise: float
    fading: float  # log(1 - ϑ)
    powers: Floats  # of 1 - ϑ


def _mu_from(value: StepLike) -> Step | str:
    adaptive = isinstance(value, str) and value == ADAPTIVE
    return ADAPTIVE if adaptive else step_from(value, closed=False, words=(ADAPTIVE,))


def _strategies_from(value: Sequence[Sequence[float]] | None) -> PerAction | None:
    return None if value is None else per_action_from(value, "initial_strategies")


@register
@attrs.frozen(repr=False)
class SOQL(Scoring):
    """Second-order Q-learning (Eq. 28–29); the defaults are the paper's.

    Parameters
    ----------
    mu : float, str, dict or Diminishing
        How far a score moves to what was received: a number, "adaptive" for Assumption 6, or a diminishing step such as
        "1/n".
    vartheta : float
        How far a strategy moves to the best response.
    zeta : float
        Once its largest entry is above this, the strategy is perturbed.
    xi : float
        The most by which it is perturbed.
    alone : bool
        Whether one player at a time may stray then (Assumption 7).
    form : {"two-step", "pair"}
        How the two orders are written.
    unplayed : {"keep", "decay"}
        ``"decay"`` reads Eq. 28 to the letter: u_β = 0 for actions not played.
    lag : bool
        Without, it responds to Q(n+1).
    best_response : {"reachable", "global"}
        ``"global"`` looks beyond the actions in reach, at a cost for each.
    noise : float
        The standard deviation of what is added to each received utility.
    initial : float or sequence
        The scores at first: one number, or one per player or per action.
    initial_strategies : sequence, optional
        The shares at first, one per action of each player; uniform if left out.

    Examples
    --------
    >>> run = pt.begin(pt.game("stag-hunt"), pt.rules.SOQL()).advance(50)
    >>> [len(strategy) for strategy in run.strategies]
    [2, 2]
    """

    name: ClassVar[str] = "soql"
    asks_for: ClassVar[float] = 1.0
    summary: ClassVar[str] = "second-order Q-learning: strategies move towards the best response (Eq. 28-29)"
    mu: float | str | Diminishing = attrs.field(default=0.97, converter=_mu_from)
    vartheta: float = attrs.field(default=0.5, converter=number, validator=SHARE)
    zeta: float = attrs.field(default=0.9999, converter=number, validator=SHARE)
    xi: float = attrs.field(default=0.01, converter=number, validator=Real(least=0.0, below=1.0))
    alone: bool = attrs.field(default=True, validator=Flag())
    form: str = attrs.field(default="two-step", validator=OneOf("two-step", "pair"))
    unplayed: str = attrs.field(default="keep", validator=OneOf("keep", "decay"))
    lag: bool = attrs.field(default=True, validator=Flag())
    best_response: str = attrs.field(default="reachable", validator=OneOf("reachable", "global"))
    noise: float = attrs.field(default=0.0, converter=number, validator=NOISE)
    initial: PerAction = attrs.field(default=0.0, converter=initial_from)
    initial_strategies: PerAction | None = attrs.field(default=None, converter=_strategies_from)

    def __attrs_post_init__(self) -> None:
        if self.unplayed == "decay" and not isinstance(self.mu, float):
            raise InvalidRule(f'unplayed="decay" is for a constant mu, got {self.mu!r}')
        if isinstance(self.mu, float) and not self.vartheta < self.mu:
            warnings.warn(
                f"the paper's results on SOQL ask for vartheta < mu < 1, got vartheta {self.vartheta:g} and mu "
                f"{self.mu:g}",
                AssumptionBroken,
                stacklevel=4,
            )

    def data(self, game: Game, horizon: int | None) -> SOQLData:
        fading = math.log1p(-self.vartheta)
        return SOQLData(
            step_data(1.0 if isinstance(self.mu, str) else self.mu),
            self.mu == ADAPTIVE,
            self.vartheta,
            self.zeta,
            self.xi,
            self.alone,
            self.form == "pair",
            self.unplayed == "decay",
            self.lag,
            self.best_response == "global",
            self.noise,
            fading,
            _powers(fading),
        )

    def new_memory(self, game: Game) -> ScoreMemory:
        keeps = self.unplayed == "keep"
        return new_score_memory(
            game,
            self.initial,
            stages=0 if keeps and self.form == "two-step" else 1,
            older=game.num_players,
            strategies=self._first_strategies(game),
            visits=not keeps,
        )

    def _first_strategies(self, game: Game) -> Floats:
        if self.initial_strategies is None:
            return np.repeat(1.0 / game.sizes, game.sizes)
        given = laid_out(self.initial_strategies, game, "initial_strategies", per_player=False)
        for player, part in enumerate(split(given, game)):
            if (part < 0.0).any() or abs(float(part.sum()) - 1.0) > 1e-9:
                raise InvalidRule(
                    f"of player {player} must be probabilities that sum to 1, got {part[:8].tolist()}",
                    "initial_strategies",
                    part[:8].tolist(),
                )
        return given

    @property
    def num_arrays(self) -> int:
        return 6

    def check_memory(self, memory: ScoreMemory, step: int) -> None:
        super().check_memory(memory, step)
        first = memory.first[:-1]
        latest = np.repeat(np.maximum.reduceat(memory.since, first), np.diff(memory.first))  # who is out falls behind
        now = memory.weight * np.exp((latest - memory.since) * math.log1p(-self.vartheta))
        if (np.abs(np.add.reduceat(now, first) - 1.0) > 1e-6).any():
            raise ValueError("a strategy does not sum to 1")

    def scores(self, game: Game, memory: ScoreMemory, step: int) -> tuple[Floats, ...]:
        if self.unplayed == "keep":
            return super().scores(game, memory, step)
        data = self.data(game, None)
        return split(np.array([_faded(data, memory, k, step)[0] for k in range(memory.score.size)]), game)

    def strategies(
        self, game: Game, memory: ScoreMemory, profile: Ints, step: int, horizon: int | None
    ) -> tuple[Floats, ...]:
        """X, over all actions: with constrained moves, before it is restricted to those in reach.

        Parameters
        ----------
        game : Game
            What is played.
        memory : ScoreMemory
            What the run remembers.
        profile : array
            The present profile.
        step : int
            The steps that were played.
        horizon : int or None
            The planned length of the run.

        Returns
        -------
        tuple of arrays
            The strategy of each player.
        """
        return split(memory.weight * np.exp((step - memory.since) * math.log1p(-self.vartheta)), game)


# In compiled code -------------------------------------------------------------------------------------


@lru_cache(maxsize=8)  # a batch of many short runs spent half its time on it
def _powers(fading: float) -> Floats:
    """Of 1 - ϑ, up to where they are computed when needed."""
    return frozen([math.exp(k * fading) for k in range(_TABLE)], np.float64)


@portable
def _power(rule: SOQLData, k: int) -> float:
    """(1 - ϑ)^k."""
    if k < rule.powers.shape[0]:
        return rule.powers[at(k)]
    x = k * rule.fading
    return 0.0 if x < -746.0 else exp(x)  # exp is slow where it underflows


@portable
def perturbation(largest: float, zeta: float, xi: float) -> float:
    """ρ for a strategy whose largest entry is this (Eq. 43)."""
    if largest <= zeta:
        return 0.0
    s = min((largest - zeta) / (1.0 - zeta), 1.0)
    return xi * s * s * (3.0 - 2.0 * s)


@portable
def _weigh(rule: SOQLData, memory: ScoreMemory, game: Any, player: int, current: int) -> None:
    """Write the player's strategy over its options, and its largest entry; it sums to 1."""
    count = num_options(game.moves, game, player, current)
    first, room = memory.first[at(player)], memory.room_at[at(player)]
    start = options_from(game.moves, player, current)
    latest = 0
    for k in range(count):
        latest = max(latest, memory.since[at(first + listed(game.moves, start, current, k))])
    total = 0.0
    largest = 0.0
    favourite = 0
    for k in range(count):
        place = first + listed(game.moves, start, current, k)
        # relative to the weight that grew last: that one is large enough
        weight = memory.weight[at(place)] * _power(rule, latest - memory.since[at(place)])
        memory.room[at(room + k)] = weight
        total += weight
        if weight > largest:
            largest = weight
            favourite = k
    memory.favourite[at(player)] = favourite
    if total > 0.0:
        for k in range(count):
            memory.room[at(room + k)] /= total
        memory.largest[at(player)] = largest / total
    else:  # an initial strategy that has nothing in reach
        for k in range(count):
            memory.room[at(room + k)] = 1.0 / count
        memory.largest[at(player)] = 1.0 / count


@portable
def _draw(rule: SOQLData, memory: ScoreMemory, game: Any, player: int, current: int, unit: float) -> int:
    """Perturb the player's strategy and draw an option from it."""
    count = num_options(game.moves, game, player, current)
    room = memory.room_at[at(player)]
    rho = perturbation(memory.largest[at(player)], rule.zeta, rule.xi)
    reached = 0.0
    if rho > 0.0:
        for k in range(count):
            memory.room[at(room + k)] = (1.0 - rho) * memory.room[at(room + k)] + rho / count
    for k in range(count):
        reached += memory.room[at(room + k)]
        if unit < reached:
            return k
    return memory.favourite[at(player)]


@portable
def _faded(rule: SOQLData, memory: ScoreMemory, place: int, n: int) -> tuple[float, float]:
    """Q and the stage beside it (P, or Q one step earlier) of an action whose utility was 0 since its last update."""
    idle = n - memory.visits[at(place)]
    q, beside = memory.score[at(place)], memory.stage[at(place), 0]
    if idle == 0:
        return q, beside
    keep = 1.0 - rule.mu.scale
    power = exp((idle - 1) * math.log(keep))  # the closed forms of the recursion with u = 0
    if rule.pair:
        return power * keep * q + power * idle * rule.mu.scale * beside, power * keep * beside
    earlier = power * idle * q - power * (idle - 1) * keep * beside
    return keep * (power * (idle + 1) * q - power * idle * keep * beside), earlier


@portable
def _score(rule: SOQLData, memory: ScoreMemory, place: int, n: int) -> float:
    return _faded(rule, memory, place, n)[0] if rule.decay else memory.score[at(place)]


@portable
def _respond(rule: SOQLData, memory: ScoreMemory, game: Any, player: int, current: int, n: int, now: int) -> None:
    """X(n+1) = (1 - ϑ) X(n) + ϑ BR over the options at ``current`` (Eq. 29), by the scores of time ``now``."""
    first = memory.first[at(player)]
    count = num_actions(game, player) if rule.everywhere else num_options(game.moves, game, player, current)
    start = options_from(game.moves, player, current)
    best = -math.inf
    ties = 0
    for k in range(count):
        place = first + (k if rule.everywhere else listed(game.moves, start, current, k))
        score = _score(rule, memory, place, now)
        if score > best:
            best = score
            ties = 1
        elif score == best:
            ties += 1
    least = best
    if rule.decay:  # scores that faded by the closed form and step by step differ by rounding
        least = best - _TIE * abs(best)
        ties = 0
        for k in range(count):
            place = first + (k if rule.everywhere else listed(game.moves, start, current, k))
            ties += _score(rule, memory, place, now) >= least
    for k in range(count):
        place = first + (k if rule.everywhere else listed(game.moves, start, current, k))
        if _score(rule, memory, place, now) >= least:
            old = memory.weight[at(place)] * _power(rule, n + 1 - memory.since[at(place)])
            memory.weight[at(place)] = old + rule.vartheta / ties
            memory.since[at(place)] = n + 1


@portable
def _aggregate(rule: SOQLData, memory: ScoreMemory, player: int, n: int) -> None:
    """The second-order update of the action that was played (Eq. 28, or the recursion of Fig. 7)."""
    action = memory.drawn[at(player)]
    place = memory.first[at(player)] + action
    mu, gain = memory.rate[at(player)], memory.received[at(player)]
    q = memory.score[at(place)]
    beside = 0.0
    if rule.decay:
        q, beside = _faded(rule, memory, place, n)
        memory.visits[at(place)] = n + 1
    elif rule.pair:
        beside = memory.stage[at(place), 0]
    else:  # played at the step before, or idle and so unchanged
        beside = memory.older[at(player)] if n > 0 and action == memory.before[at(player)] else q
    if rule.pair:
        memory.score[at(place)] = bounded(q + mu * (beside - q))
        memory.stage[at(place), 0] = bounded(beside + mu * (gain - beside))
        return
    keep = 1.0 - mu
    memory.score[at(place)] = bounded(2.0 * keep * q - keep * keep * beside + mu * mu * gain)
    if rule.decay:
        memory.stage[at(place), 0] = q
    else:
        memory.older[at(player)] = q


@step.register(SOQLData)
@lighter_passes
def _soql(rule: SOQLData, memory: ScoreMemory, game: Any, state: Any, journal: Journal, key: Any, n: int) -> None:
    players, drawn = num_players(game), num_drawn(game)
    settled = 0
    for player in range(players):
        if sits_out(memory, game, state, player):
            settled += 1
            continue
        if arrives(game, player, n):
            enter(memory, game, player, state.profile[at(player)], n, 0.0, rule.decay)
        _weigh(rule, memory, game, player, state.profile[at(player)])
        settled += memory.largest[at(player)] > rule.zeta
    for player in range(players):
        if plays(game, state, player):
            unit = uniform(key, drawn, n, player, CHOICE)
            memory.drawn[at(player)] = _draw(rule, memory, game, player, state.profile[at(player)], unit)
    if rule.alone and settled == players:
        let_one_stray(memory, players, drawn, key, n)
    mu = step_size(rule.mu, n + 1)
    for player in range(players):
        index = memory.drawn[at(player)]
        if rule.adaptive and plays(game, state, player):  # Assumption 6
            mu = max(0.0, 1.0 - memory.room[at(memory.room_at[at(player)] + index)])
        memory.rate[at(player)] = mu
        memory.drawn[at(player)] = option(game.moves, player, state.profile[at(player)], index)
    perform(memory, game, state)
    receive(memory, game, state, rule.noise, key, n)
    stand_by(memory, game, state, journal, n)
    for player in range(players):
        if not plays(game, state, player):
            continue
        if rule.lag:
            _respond(rule, memory, game, player, state.profile[at(player)], n, n)
            _aggregate(rule, memory, player, n)
        else:
            _aggregate(rule, memory, player, n)
            _respond(rule, memory, game, player, state.profile[at(player)], n, n + 1)
