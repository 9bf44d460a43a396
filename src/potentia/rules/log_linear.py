"""Log-linear learning and its relatives (paper, sections 2.2 and 3).

================  =====================  ===========================  ==================================
name              who revises            what it considers            guarantee in potential games
================  =====================  ===========================  ==================================
``lll``           one random player      its whole action set, Eq. 3  Gibbs law e^{Φ/τ}; maximisers stable
``slll``          a random group         its whole action set         under Marden & Shamma's conditions
``blll``          one random player      one trial action             maximisers stable (Assumptions 1–2)
``p-sblll``       players that wake      one trial action each,       separable games (Assumptions 1–3);
                  independently          Eq. 10–11                    not in general
================  =====================  ===========================  ==================================

References: Blume 1993; Marden & Shamma 2012; Hasanbeig & Pavel.
"""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import attrs

from potentia.games import Game
from potentia.kernel.checks import Flag, OneOf
from potentia.kernel.dispatch import at
from potentia.kernel.draws import CHOICE, uniform
from potentia.kernel.journal import REVISIONS, Journal, move, note
from potentia.kernel.protocol import Interactions, Proximity, apply, commit, compare, num_drawn, plays, utility
from potentia.rules.base import Axes, Memory, Rule, new_memory, pick_one, register, step, survey, surveyed
from potentia.rules.choice import binary_logit, logit_pick
from potentia.rules.chooses import Logit
from potentia.rules.considers import Everything, JointTrial, Trial, draw_trial
from potentia.rules.guard import keep_champions
from potentia.rules.revision import (
    Revision,
    RevisionData,
    awaken,
    follows_signal,
    revision_data,
    revision_from,
    revision_or_groups_from,
)
from potentia.rules.schedules import Schedule, ScheduleData, schedule_from, temperature
from potentia.rules.who import One, who_by

# LLL --------------------------------------------------------------------------------------------------


class LLLData(NamedTuple):
    """What compiled code reads."""

    schedule: ScheduleData


@register
@attrs.frozen(repr=False)
class LLL(Rule):
    """Log-linear learning: one random player redraws its action by the logit map (Eq. 3).

    Parameters
    ----------
    tau : float, str, dict or Schedule
        The temperature, > 0, or how it falls.

    Examples
    --------
    In the long run it plays the potential maximiser, more surely the colder it is:

    >>> game = pt.game("stag-hunt")
    >>> for tau in (1.0, 0.3):
    ...     print(pt.analysis.chain(game, pt.rules.LLL(tau)).stationary().round(3).tolist())
    [0.11, 0.04, 0.04, 0.81]
    [0.001, 0.0, 0.0, 0.999]
    """

    name: ClassVar[str] = "lll"
    summary: ClassVar[str] = "one random player redraws its action by the logit map (Eq. 3)"
    words = ("one", "all", "logit")
    tau: Schedule = attrs.field(converter=schedule_from)

    def axes(self) -> Axes:
        return Axes(One(), Everything(), Logit(self.tau))

    def data(self, game: Game, horizon: int | None) -> LLLData:
        return LLLData(self.tau.on(game).data(horizon))


@step.register(LLLData)
def _lll(rule: LLLData, memory: Memory, game: Any, state: Any, journal: Journal, key: Any, n: int) -> None:
    players = num_drawn(game)
    player = pick_one(game, state, key, n)
    if not plays(game, state, player):
        return
    unit = uniform(key, players, n, player, CHOICE)
    count = survey(game.moves, memory, game, state, player)
    index = logit_pick(memory.values, count, temperature(rule.schedule, n), unit, memory.weights)
    journal.counts[REVISIONS] += 1
    move(journal, game, state, player, surveyed(game.moves, memory, index), n)


# SLLL -------------------------------------------------------------------------------------------------


class SLLLData(NamedTuple):
    """What compiled code reads."""

    schedule: ScheduleData
    revision: RevisionData


@register
@attrs.frozen(repr=False)
class SLLL(Rule):
    """Synchronous log-linear learning: every player that wakes redraws its action against the others' old ones.

    Parameters
    ----------
    tau : float, str, dict or Schedule
        The temperature, > 0, or how it falls.
    revision : float, sequence, Groups, Vanishing, SignalRevision or dict
        The probability to wake, as for :class:`PSBLLL`, or groups that wake together.

    Examples
    --------
    >>> rule = pt.rules.SLLL(tau=0.1, revision=0.3)
    >>> pt.run(pt.game("stag-hunt"), rule, 200, seed=2).revisions  # about 0.3 of 2 · 200
    122
    """

    name: ClassVar[str] = "slll"
    summary: ClassVar[str] = "players that wake, or a random group, redraw by the logit map at once"
    remembers: ClassVar[tuple[str, ...]] = ("highest",)
    words = ("independent", "all", "logit")
    tau: Schedule = attrs.field(converter=schedule_from)
    revision: Revision = attrs.field(converter=revision_or_groups_from)

    def axes(self) -> Axes:
        return Axes(who_by(self.revision), Everything(), Logit(self.tau))

    def data(self, game: Game, horizon: int | None) -> SLLLData:
        return SLLLData(self.tau.on(game).data(horizon), revision_data(self.revision, game))

    def new_memory(self, game: Game) -> Memory:
        return new_memory(game, synchronous=True, signal=follows_signal(self.revision))

    def memory_size(self, game: Game) -> int:
        return super().memory_size(game) + 48 * game.num_players


@step.register(SLLLData)
def _slll(rule: SLLLData, memory: Memory, game: Any, state: Any, journal: Journal, key: Any, n: int) -> None:
    players = num_drawn(game)
    tau = temperature(rule.schedule, n)
    awake = awaken(rule.revision, game, state, memory.highest, tau, key, n, memory.awake)
    for k in range(awake):
        player = memory.awake[k]
        count = survey(game.moves, memory, game, state, player)
        unit = uniform(key, players, n, player, CHOICE)
        index = logit_pick(memory.values, count, tau, unit, memory.weights)
        memory.trial[k] = surveyed(game.moves, memory, index)
    for k in range(awake):
        move(journal, game, state, memory.awake[k], memory.trial[k], n)
    journal.counts[REVISIONS] += awake


# BLLL -------------------------------------------------------------------------------------------------


class BLLLData(NamedTuple):
    """What compiled code reads."""

    schedule: ScheduleData
    include_current: bool


@register
@attrs.frozen(repr=False)
class BLLL(Rule):
    """Binary log-linear learning: one random player compares its action with one reachable trial action.

    Parameters
    ----------
    tau : float, str, dict or Schedule
        The temperature, > 0, or how it falls.
    include_current : bool
        Whether the present action may be drawn as the trial.

    Examples
    --------
    >>> game = pt.game("stag-hunt")
    >>> pt.analysis.stability(game, pt.rules.BLLL(tau=0.1)).stable.tolist()
    [False, False, False, True]
    """

    name: ClassVar[str] = "blll"
    summary: ClassVar[str] = "one random player compares its action with one reachable trial action"
    words = ("one", "trial", "logit")
    tau: Schedule = attrs.field(converter=schedule_from)
    include_current: bool = attrs.field(default=False, validator=Flag())

    def axes(self) -> Axes:
        return Axes(One(), Trial(1, self.include_current), Logit(self.tau))

    def data(self, game: Game, horizon: int | None) -> BLLLData:
        return BLLLData(self.tau.on(game).data(horizon), self.include_current)


@step.register(BLLLData)
def _blll(rule: BLLLData, memory: Memory, game: Any, state: Any, journal: Journal, key: Any, n: int) -> None:
    players = num_drawn(game)
    player = pick_one(game, state, key, n)
    if not plays(game, state, player):
        return
    trial = draw_trial(game, game.moves, state, player, rule.include_current, key, players, n)
    journal.counts[REVISIONS] += 1
    current = state.profile[at(player)]
    now, then = compare(game, state, player, trial)
    accept = binary_logit(now, then, temperature(rule.schedule, n))
    accepted = uniform(key, players, n, player, CHOICE) < accept
    move(journal, game, state, player, trial if accepted else current, n)


# P-SBLLL ----------------------------------------------------------------------------------------------


class PSBLLLData(NamedTuple):
    """What compiled code reads."""

    schedule: ScheduleData
    revision: RevisionData
    joint: bool
    guard: bool
    include_current: bool
    interactions: Interactions | Proximity


@register
@attrs.frozen(repr=False)
class PSBLLL(Rule):
    """Partial-synchronous binary log-linear learning (Eq. 10–11).

    ``trial="joint"`` evaluates the joint trial profile, as the paper does; ``"unilateral"`` the player's
    own change alone. With ``guard=True`` an awake player revises only if its random priority beats that
    of every awake player it interacts with, so that no two interacting players move at once.

    Parameters
    ----------
    tau : float, str, dict or Schedule
        The temperature, > 0, or how it falls.
    revision : float, sequence, Vanishing, SignalRevision or dict
        The probability to wake: one number, one per player, or one per player and action.
    trial : {"joint", "unilateral"}
        What a trial action is compared in: the joint trial profile, or the player's own change.
    guard : bool
        Whether only players that do not interact with each other revise at once.
    include_current : bool
        Whether the present action may be drawn as the trial.

    Examples
    --------
    >>> rule = pt.rules.PSBLLL(tau=0.1, revision=0.5, guard=True)
    >>> rule.revision, rule.trial
    (0.5, 'joint')
    """

    name: ClassVar[str] = "p-sblll"
    summary: ClassVar[str] = "players that wake compare their action with one trial action each (Eq. 10-11)"
    remembers: ClassVar[tuple[str, ...]] = ("highest",)
    words = ("independent", "joint-trial", "logit")
    tau: Schedule = attrs.field(converter=schedule_from)
    revision: Revision = attrs.field(converter=revision_from)
    trial: str = attrs.field(default="joint", validator=OneOf("joint", "unilateral"))
    guard: bool = attrs.field(default=False, validator=Flag())
    include_current: bool = attrs.field(default=False, validator=Flag())

    def axes(self) -> Axes:
        joint = self.trial == "joint"
        considers = JointTrial(self.include_current) if joint else Trial(1, self.include_current)
        return Axes(who_by(self.revision, self.guard), considers, Logit(self.tau))

    def data(self, game: Game, horizon: int | None) -> PSBLLLData:
        interactions = game.interactions if self.guard else game.no_interactions
        return PSBLLLData(
            self.tau.on(game).data(horizon),
            revision_data(self.revision, game),
            self.trial == "joint",
            self.guard,
            self.include_current,
            interactions,
        )

    def new_memory(self, game: Game) -> Memory:
        groups = game.interactions.num_groups if self.guard else 0
        linked = self.guard and isinstance(game.interactions, Proximity)
        return new_memory(game, synchronous=True, groups=groups, linked=linked, signal=follows_signal(self.revision))

    def memory_size(self, game: Game) -> int:
        groups = game.interactions.num_groups if self.guard else 0
        return super().memory_size(game) + 56 * game.num_players + 8 * groups


@step.register(PSBLLLData)
def _p_sblll(rule: PSBLLLData, memory: Memory, game: Any, state: Any, journal: Journal, key: Any, n: int) -> None:
    players = num_drawn(game)
    tau = temperature(rule.schedule, n)
    awake = awaken(rule.revision, game, state, memory.highest, tau, key, n, memory.awake)
    if rule.guard:
        awake = keep_champions(rule.interactions, memory, state, awake, key, players, n)
    journal.counts[REVISIONS] += awake
    for k in range(awake):
        player = memory.awake[at(k)]
        memory.trial[at(k)] = draw_trial(game, game.moves, state, player, rule.include_current, key, players, n)
        if rule.joint:
            memory.before[at(k)] = utility(game, state, player, state.profile[at(player)])
        else:
            memory.before[at(k)], memory.after[at(k)] = compare(game, state, player, memory.trial[at(k)])
    if rule.joint:
        # Everybody awake tries at once; ``trial`` then holds the way back.
        for k in range(awake):
            player, trial = memory.awake[at(k)], memory.trial[at(k)]
            memory.trial[at(k)] = state.profile[at(player)]
            apply(game, state, player, trial)
        for k in range(awake):
            player = memory.awake[at(k)]
            memory.after[at(k)] = utility(game, state, player, state.profile[at(player)])
    for k in range(awake):
        player = memory.awake[at(k)]
        accept = binary_logit(memory.before[at(k)], memory.after[at(k)], tau)
        accepted = uniform(key, players, n, player, CHOICE) < accept
        if not rule.joint:
            if accepted:
                move(journal, game, state, player, memory.trial[at(k)], n)
        elif not accepted:
            apply(game, state, player, memory.trial[at(k)])
        elif memory.trial[at(k)] != state.profile[at(player)]:
            commit(game, state, player)
            note(journal, player, memory.trial[at(k)], state.profile[at(player)], n)
