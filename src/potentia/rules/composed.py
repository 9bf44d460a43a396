"""The map of rules: who revises × what they consider × how they choose.

The paper relaxes log-linear learning in who revises and in what they consider. Both are axes here, and how players
choose is the third. Every composition is played by one kernel, with switches, and solved by one enumeration
(:mod:`potentia.analysis.chains.laws`) from the same declaration. A composition that equals a rule with a name is that
rule.
"""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any, ClassVar, NamedTuple

import attrs
import numpy as np

from potentia.errors import InvalidRule
from potentia.games import Game
from potentia.kernel.arrays import Floats, Ints
from potentia.kernel.checks import Flag, Real, number
from potentia.kernel.draws import CHOICE, uniform
from potentia.kernel.journal import REVISIONS, Journal, move, note
from potentia.kernel.mathematics import exp
from potentia.kernel.protocol import Interactions, Moves, Proximity, apply, commit, num_drawn, plays, utility
from potentia.kernel.registry import REQUIRED, Registry, built, parameters_of
from potentia.rules import chooses as choosing
from potentia.rules import considers as considering
from potentia.rules import who as waking
from potentia.rules.base import Axes, Rule, in_rule, new_memory, pick_one, register, registered, step, survey, surveyed
from potentia.rules.chooses import PAIR, Better, Chooses, Metropolis, Mistakes, draw_option, option_terms, pair_terms
from potentia.rules.considers import (
    ALL,
    JOINT,
    Considers,
    ConsidersData,
    Everything,
    JointTrial,
    Trial,
    draw_trial,
    draw_trials,
    own_place,
)
from potentia.rules.guard import keep_champions
from potentia.rules.revision import RevisionData, awaken, follows_signal, revision_data
from potentia.rules.schedules import Constant, Schedule, ScheduleData, schedule_from, temperature
from potentia.rules.who import One, Who

_AXES: dict[str, tuple[type, Registry[Any]]] = {
    "who": (Who, waking._registry),
    "considers": (Considers, considering._registry),
    "chooses": (Chooses, choosing._registry),
}
_NO_TAU = Constant(1.0)  # of a choice without noise, which does not read it


class ComposedData(NamedTuple):
    """What compiled code reads."""

    schedule: ScheduleData
    one: bool
    revision: RevisionData
    guard: bool
    interactions: Interactions | Proximity
    considers: ConsidersData
    moves: Moves
    chooses: Any


class ComposedMemory(NamedTuple):
    """Room to work in: that of :class:`Memory`, and for terms."""

    values: Floats
    weights: Floats
    options: Ints
    awake: Ints
    trial: Ints
    before: Floats
    after: Floats
    champion: Ints
    link: Ints
    highest: Floats
    exponents: Floats
    pair: Floats


class _OnTheMap(Rule):
    """A rule that is played by the kernel of compositions."""

    remembers: ClassVar[tuple[str, ...]] = ("highest",)

    def data(self, game: Game, horizon: int | None) -> ComposedData:
        axes = self.on_the_map()
        tau: Schedule = getattr(axes.chooses, "tau", _NO_TAU)
        revision = waking.waking(axes, game)
        return ComposedData(
            tau.on(game).data(horizon),
            revision is None,
            revision_data(1.0 if revision is None else revision, game),
            axes.who.guard,
            game.interactions if axes.who.guard else game.no_interactions,
            axes.considers.data(game),
            axes.considers.moves_on(game),
            axes.chooses.data(),
        )

    def on_the_map(self) -> Axes:
        """Where on the map it is."""
        found = self.axes()
        assert found is not None
        return found

    def new_memory(self, game: Game) -> ComposedMemory:
        axes = self.on_the_map()
        near = game.interactions if axes.who.guard else None
        room = new_memory(
            game,
            synchronous=True,
            groups=0 if near is None else near.num_groups,
            linked=isinstance(near, Proximity),
            signal=follows_signal(waking.waking(axes, game) or 1.0),
            moves=axes.considers.moves_on(game),
        )
        return ComposedMemory(*room, np.zeros(room.values.size), np.zeros(PAIR))

    def memory_size(self, game: Game) -> int:
        groups = game.interactions.num_groups if self.on_the_map().who.guard else 0
        return 2 * super().memory_size(game) + 56 * game.num_players + 8 * groups


def _read(axis: str, value: Any) -> Any:
    base, registry = _AXES[axis]
    found = registry.make(value, {}) if isinstance(value, str) else registry.read(value)
    if not isinstance(found, base):
        raise InvalidRule(f"must be {_words(axis)} or an object of one, got {value!r}", axis, value)
    return found


def _who_from(value: Any) -> Who:
    found: Who = waking.settled(_read("who", value))
    return found


def _considers_from(value: Any) -> Considers:
    found: Considers = _read("considers", value)
    return found


def _chooses_from(value: Any) -> Chooses:
    found: Chooses = _read("chooses", value)
    return found


def _words(axis: str) -> str:
    return ", ".join(f'"{word}"' for word in _AXES[axis][1].registered())


@register
@attrs.frozen(repr=False)
class Composed(_OnTheMap):
    """A point of the map: ``rule(who="independent", considers="trial", chooses="best", revision=0.3)``.

    The parameters of the three axes stand beside their words. Objects do, too, in the place of the words:
    ``rule(who=Independent(0.3, guard=True), considers=Trial(k=2), chooses=Mistakes(0.1))``.

    Parameters
    ----------
    who : Who or str
        Who revises.
    considers : Considers or str
        What is considered.
    chooses : Chooses or str
        How is chosen.

    Examples
    --------
    >>> from potentia.rules import Composed, Independent, Mistakes, Trial
    >>> rule = Composed(Independent(0.3, guard=True), Trial(k=2), Mistakes(0.1))
    >>> rule.called, rule.revision, rule.k
    ('independent × trial × mistakes', 0.3, 2)
    """

    name: ClassVar[str] = "composed"
    summary: ClassVar[str] = "any who × considers × chooses, with the parameters of the three"
    who: Who = attrs.field(converter=_who_from)
    considers: Considers = attrs.field(converter=_considers_from)
    chooses: Chooses = attrs.field(converter=_chooses_from)

    def __attrs_post_init__(self) -> None:
        _check_meaning(self.who, self.considers, self.chooses)

    @property
    def called(self) -> str:
        return " × ".join(part.name for part in self.axes())

    def axes(self) -> Axes:
        return Axes(self.who, self.considers, self.chooses)

    def __getattr__(self, name: str) -> Any:
        """``tau``, ``revision``, ``k``, ...: the parameters of the three."""
        if not name.startswith("_"):
            for axis in _AXES:
                part = object.__getattribute__(self, axis)
                if name in parameters_of(type(part)):
                    return getattr(part, name)
        raise AttributeError(f"{self.describe()} has no {name}")

    def spec(self) -> dict[str, Any]:
        parts = {axis: getattr(self, axis) for axis in _AXES}
        return {"rule": self.name, **{axis: part.name for axis, part in parts.items()}, **_parameters(self.axes())}

    @classmethod
    def from_parameters(cls, parameters: dict[str, Any]) -> Rule:
        """The rule at these words, objects and parameters: one with a name, where it is one.

        Parameters
        ----------
        parameters : dict
            Words or objects of the axes, and the parameters of those.

        Returns
        -------
        Rule
            The rule.
        """
        given = dict(parameters)
        if given.get("who") == "groups" and "groups" not in given and "revision" in given:
            given["groups"] = given.pop("revision")
        parts, taken = {}, set(_AXES)
        for axis, (_, registry) in _AXES.items():
            value = given.get(axis)
            if value is None:
                raise InvalidRule(f"is missing: give {_words(axis)}, or an object of one", axis)
            if isinstance(value, str):
                kind = registry.kind(value)
                known = [name for name in parameters_of(kind) if name in given]
                taken.update(known)
                try:
                    value = built(kind, {name: given[name] for name in known}, f'{axis}="{value}"', InvalidRule)
                except InvalidRule as error:
                    odd = [name for name in given if get_close_matches(name, parameters_of(kind)) and name not in known]
                    raise InvalidRule(f"{error}; got {', '.join(odd)}") if odd else error from None
            parts[axis] = value
        for name, value in given.items():
            if name not in taken:
                where = " × ".join(str(getattr(part, "name", part)) for part in parts.values())
                said = f"is no parameter of {where}, which has {_listed(parts)}"
                objects = {axis: part for axis, part in parts.items() if isinstance(part, _AXES[axis][0])}
                inside = [axis for axis, part in objects.items() if name in parameters_of(type(part))]
                if inside:
                    said = f"stands beside {inside[0]}={parts[inside[0]]!r}: give it inside"
                raise InvalidRule(said, name, value)
        made = cls(**parts)
        if type(made.who) is One and type(made.considers) is JointTrial:  # its joint trial is its own
            made = cls(made.who, Trial(1, made.considers.include_current), made.chooses)
        return _by_name(made) or made


def parameters_at(words: Mapping[str, Any]) -> tuple[str, ...]:
    """The axes and the parameters that a composition of these words has."""
    kinds = [registry.kind(words[axis]) for axis, (_, registry) in _AXES.items() if axis in words]
    return (*_AXES, *(name for kind in kinds for name in parameters_of(kind)))


def kinds_of_axes() -> dict[str, dict[str, Any]]:
    """The classes behind the words of each axis."""
    return {axis: registry.registered() for axis, (_, registry) in _AXES.items()}


def _listed(parts: dict[str, Any]) -> str:
    known = [p for axis, p in parts.items() if isinstance(p, _AXES[axis][0])]
    return ", ".join(name for part in known for name in parameters_of(type(part))) or "none"


def _parameters(axes: Axes) -> dict[str, Any]:
    """The parameters of the three, as plain data."""
    out: dict[str, Any] = {}
    for part in axes:
        for name in parameters_of(type(part)):
            if name in out:
                raise InvalidRule(f"is a parameter of two axes of {axes}: rename one", name)
            out[name] = in_rule(getattr(part, name))
    if isinstance(out.get("groups"), dict):
        out["groups"] = out["groups"]["groups"]
    return out


def _check_meaning(who: Who, considers: Considers, chooses: Chooses) -> None:
    _parameters(Axes(who, considers, chooses))
    if type(chooses.data()) not in option_terms.table:
        kind = type(chooses.data()).__name__
        raise InvalidRule(f"{chooses.name} needs option_terms, registered for {kind}", "chooses", chooses)
    if chooses.pairs_only and (considers.kind == ALL or considers.k > 1):
        said = f'"{considers.name}"' + (f" with k={considers.k}" if considers.k > 1 else "")
        raise InvalidRule(f'must be "trial" with k=1 or "joint-trial" for {chooses.name}, got {said}', "considers")
    waking.check_vanishing(getattr(who, "revision", None), chooses)


def _by_name(made: Composed) -> Rule | None:
    """The rule with a name that is at this point of the map."""
    axes = made.axes()
    given = {name: getattr(part, name) for part in axes for name in parameters_of(type(part))}
    given["trial"] = "joint" if axes.considers.kind == JOINT else "unilateral"
    if hasattr(axes.who, "revision"):
        given["revision"] = axes.who.revision
    for kind in registered().values():
        if vars(kind).get("words", ("",) * 3)[2] != axes.chooses.name:  # those of others inherit their words
            continue
        wanted = parameters_of(kind)
        if any(default is REQUIRED and name not in given for name, default in wanted.items()):
            continue
        try:
            found = kind(**{name: given[name] for name in wanted if name in given})
        except InvalidRule:  # such as groups, which wake nobody independently
            continue
        if found.axes() == axes:
            return found
    return None


@step.register(ComposedData)
def _composed(
    rule: ComposedData, memory: ComposedMemory, game: Any, state: Any, journal: Journal, key: Any, n: int
) -> None:
    players = num_drawn(game)
    tau = temperature(rule.schedule, n)
    awake = 1
    if rule.one:
        memory.awake[0] = pick_one(game, state, key, n)
        awake = int(plays(game, state, memory.awake[0]))
    else:
        awake = awaken(rule.revision, game, state, memory.highest, tau, key, n, memory.awake)
    if rule.guard:
        awake = keep_champions(rule.interactions, memory, state, awake, key, players, n)
    journal.counts[REVISIONS] += awake
    if rule.considers.kind != JOINT:
        for k in range(awake):
            player, everything = memory.awake[k], rule.considers.kind == ALL
            current = own_place(rule.moves, state.profile, player) if everything else 0
            if everything:
                count = survey(rule.moves, memory, game, state, player)
            else:
                count = draw_trials(rule.considers, rule.moves, memory, game, state, player, key, players, n)
            unit = uniform(key, players, n, player, CHOICE)
            index = draw_option(
                rule.chooses, memory.values, count, current, tau, unit, memory.weights, memory.exponents
            )
            if everything:
                memory.trial[k] = surveyed(rule.moves, memory, index)
            else:  # the present action and then those that were drawn
                memory.trial[k] = memory.options[index - 1] if index > 0 else state.profile[player]
        for k in range(awake):
            move(journal, game, state, memory.awake[k], memory.trial[k], n)
        return
    for k in range(awake):
        player = memory.awake[k]
        memory.trial[k] = draw_trial(game, rule.moves, state, player, rule.considers.include_current, key, players, n)
        memory.before[k] = utility(game, state, player, state.profile[player])
    for k in range(awake):  # everybody awake tries at once; ``trial`` then holds the way back
        player, trial = memory.awake[k], memory.trial[k]
        memory.trial[k] = state.profile[player]
        apply(game, state, player, trial)
    for k in range(awake):
        memory.after[k] = utility(game, state, memory.awake[k], state.profile[memory.awake[k]])
    for k in range(awake):
        player, back = memory.awake[k], memory.trial[k]
        pair_terms(rule.chooses, memory.before[k], memory.after[k], tau, 0.0, memory.pair)
        yes = memory.pair[0] * exp(-memory.pair[1] / tau)
        no = memory.pair[2] * exp(-memory.pair[3] / tau)
        if uniform(key, players, n, player, CHOICE) * (yes + no) >= yes:
            apply(game, state, player, back)
        elif back != state.profile[player]:
            commit(game, state, player)
            note(journal, player, back, state.profile[player], n)


# Those with names ----------------------------------------------------------------------------------------


@register
@attrs.frozen(repr=False)
class BetterReply(_OnTheMap):
    """One random player takes a uniformly random better action, or stays with probability ``inertia``.

    ``rule("better-reply", who="all", inertia=0.5)`` lets everybody revise at once (Young 2004).

    Parameters
    ----------
    inertia : float
        The probability to stay anyway, below 1.

    Examples
    --------
    >>> trace = pt.run(pt.game("prisoners-dilemma"), pt.rules.BetterReply(inertia=0.2), 60, start=[0, 0])
    >>> trace.final.tolist()
    [1, 1]
    """

    name: ClassVar[str] = "better-reply"
    summary: ClassVar[str] = "one random player takes a random better action, with inertia"
    words = ("one", "all", "better")
    inertia: float = attrs.field(default=0.0, converter=number, validator=Real(least=0.0, below=1.0))

    def axes(self) -> Axes:
        return Axes(One(), Everything(), Better(self.inertia))


@register
@attrs.frozen(repr=False)
class MetropolisRule(_OnTheMap):
    """One random player takes a trial action with probability min(1, e^{gain/τ}) (Metropolis et al. 1953).

    Parameters
    ----------
    tau : float, str, dict or Schedule
        The temperature, > 0, or how it falls.
    include_current : bool
        Whether the present action may be drawn as the trial.

    Examples
    --------
    >>> game = pt.game("stag-hunt")
    >>> pt.analysis.chain(game, pt.rules.MetropolisRule(tau=1.0)).stationary().round(3).tolist()
    [0.11, 0.04, 0.04, 0.81]
    """

    name: ClassVar[str] = "metropolis"
    summary: ClassVar[str] = "one random player takes a trial action with probability min(1, e^(gain/tau))"
    words = ("one", "trial", "metropolis")
    tau: Schedule = attrs.field(converter=schedule_from)
    include_current: bool = attrs.field(default=False, validator=Flag())

    def axes(self) -> Axes:
        return Axes(One(), Trial(1, self.include_current), Metropolis(self.tau))


@register
@attrs.frozen(repr=False)
class MistakesRule(_OnTheMap):
    """One random player plays a best response, or with probability e^{-1/τ} any action (Kandori, Mailath & Rob 1993).

    ``rule("mistakes", who="all", tau=0.2)`` lets everybody revise at once.

    Parameters
    ----------
    tau : float, str, dict or Schedule
        The temperature, > 0, or how it falls.

    Examples
    --------
    >>> pt.analysis.stability(pt.game("stag-hunt"), pt.rules.MistakesRule(tau=0.2)).stable.tolist()
    [True, False, False, True]
    """

    name: ClassVar[str] = "mistakes"
    summary: ClassVar[str] = "one random player plays a best response, or any action with probability e^(-1/tau)"
    words = ("one", "all", "mistakes")
    tau: Schedule = attrs.field(converter=schedule_from)

    def axes(self) -> Axes:
        return Axes(One(), Everything(), Mistakes(self.tau))
